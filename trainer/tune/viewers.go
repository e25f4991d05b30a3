package tune

import (
	"context"
	"io"
	"sync"
)

// Board is the newest state.
func (s *Search) Board() *Board { return s.viewers.newest() }

// Wait blocks until there is a newer Board than seen and returns it; io.EOF after the last one was seen.
func (s *Search) Wait(ctx context.Context, seen *Board) (*Board, error) {
	for {
		board, changed, closed := s.viewers.state()
		switch {
		case board != seen:
			return board, nil
		case closed:
			return nil, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// viewers hands boards out. Changed is closed, and made anew, with every new board.
type viewers struct {
	mu      sync.Mutex
	board   *Board
	changed chan struct{}
	closed  bool
}

func (v *viewers) init() { v.changed = make(chan struct{}) }

func (v *viewers) newest() *Board {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.board
}

func (v *viewers) state() (*Board, <-chan struct{}, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.board, v.changed, v.closed
}

func (v *viewers) put(b *Board) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.board = b
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *viewers) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	close(v.changed)
	v.changed = make(chan struct{})
}
