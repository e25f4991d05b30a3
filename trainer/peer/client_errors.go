package peer

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"newtop/internal/fields"
	"newtop/internal/format"
)

// configFields are those of a trainer.Config that errors name.
var configFields = fields.Names{"ModelTimeout": true}

// longMessage is how many characters of a peer's texts are shown.
const longMessage = 300

// refusal makes an error of one that the peer tells.
func (c *Client) refusal(op string, h head) (told, err error) {
	var e struct{ Kind, Message string }
	if err := h.read("error", &e); err != nil {
		return nil, err
	}
	message := line(e.Message)
	switch e.Kind {
	case "unsupported":
		return fmt.Errorf("%s: %s: %w: %s", c.name, op, ErrUnsupported, message), nil
	case "memory":
		c.failed = fmt.Errorf("%s: no memory for %s: %s", c.name, op, message)
	default:
		c.failed = fmt.Errorf("%s: %s failed: %s", c.name, op, message)
	}
	return c.failed, nil
}

// line makes a line of a text of the peer's that a terminal shows as it is.
func line(text string) string {
	if r := []rune(text); len(r) > longMessage {
		text = string(r[:longMessage]) + "…"
	}
	return format.Printable(text)
}

// breaks ends the connection, and says why in a line that all methods return from now on.
func (c *Client) breaks(op string, patience time.Duration, err error) error {
	c.conn.Close()
	cause := c.cause.Load()
	switch {
	case cause != nil && *cause != errEnded:
		c.broken = fmt.Errorf("%s: %s was broken off: %w", c.name, op, *cause)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.broken = configFields.Errorf("%s: no answer to %s within %v ({ModelTimeout})", c.name, op, patience)
		if op == "hello" {
			c.broken = configFields.Errorf("%s: no hello within %v ({ModelTimeout})", c.name, patience)
		}
	case gone(err):
		c.broken = c.ending(op, errors.Is(err, io.ErrUnexpectedEOF))
	default:
		c.broken = fmt.Errorf("%s: %s: %w", c.name, op, err)
	}
	return c.broken
}

// gone reports whether an error is the end of a connection.
func gone(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

// ending says how a peer has ended that is gone.
func (c *Client) ending(op string, midway bool) error {
	if c.program != nil {
		if how, ended := c.program.how(); ended {
			return &EndedError{fmt.Sprintf("%s ended at %s: %s", c.name, op, how)}
		}
	}
	if midway {
		return &EndedError{fmt.Sprintf("%s closed the connection within a frame, at %s", c.name, op)}
	}
	return &EndedError{fmt.Sprintf("%s closed the connection at %s", c.name, op)}
}

// EndedError says how a peer has ended. It is an io.EOF to errors.Is.
type EndedError struct{ text string }

func (e *EndedError) Error() string { return e.text }

// Unwrap makes it an end.
func (*EndedError) Unwrap() error { return io.EOF }
