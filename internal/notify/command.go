package notify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// patience is how long a command may take.
const patience = 30 * time.Second

// command is run by sh, on Windows by cmd. It learns of the alert from its environment, and nobody sees what it prints.
type command struct {
	text    string
	environ []string
	limit   time.Duration // 0: patience
}

func (c *command) String() string {
	const most = 40
	text := []rune(oneLine(c.text))
	if len(text) > most {
		return "cmd=" + string(text[:most]) + "…"
	}
	return "cmd=" + string(text)
}

func (c *command) bring(ctx context.Context, m *Message) error {
	limit := c.limit
	if limit == 0 {
		limit = patience
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	p := shell(ctx, c.text)
	p.Env = append(append([]string(nil), c.environ...),
		"NEWTOP_ALERT="+plain(m.Text), "NEWTOP_KIND="+m.Kind.String(), "NEWTOP_EPOCH="+strconv.Itoa(m.Epoch),
		"NEWTOP_RUN="+plain(m.Run))
	err := p.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("took longer than %v", limit)
	case ctx.Err() != nil:
		return errors.New("was stopped at newtop's end")
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return fmt.Errorf("ended with status %d", exit.ExitCode())
	}
	return err
}

// plain is a text that an environment can hold.
func plain(text string) string { return strings.ReplaceAll(text, "\x00", "") }
