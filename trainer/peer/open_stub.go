package peer

import (
	"context"
	"errors"
	"time"
)

type Options struct {
	Timeout time.Duration
	Seed    uint64
	Threads int
}

func Open(ctx context.Context, model string, o Options) (Endpoint, error) { return nil, errors.New("stub") }
