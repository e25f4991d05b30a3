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

// refusal makes an error of one that the peer reports.
func (w *wire) refusal(op string, h header) (refusal, err error) {
	var e struct{ Kind, Message string }
	if err := h.read("error", &e); err != nil {
		return nil, err
	}
	message := line(e.Message)
	switch e.Kind {
	case "unsupported":
		return fmt.Errorf("%s: %s: %w: %s", w.name, op, ErrUnsupported, message), nil
	case "memory":
		w.failed = fmt.Errorf("%s: no memory for %s: %s", w.name, op, message)
	default:
		w.failed = fmt.Errorf("%s: %s failed: %s", w.name, op, message)
	}
	return w.failed, nil
}

// line makes a line of a text of the peer's that a terminal shows as it is.
func line(text string) string {
	if r := []rune(text); len(r) > longMessage {
		text = string(r[:longMessage]) + "…"
	}
	return format.Printable(text)
}

// fail ends the connection, and says why in a line that all methods return from now on.
func (w *wire) fail(op string, patience time.Duration, err error) error {
	w.conn.Close()
	cause := w.cause.Load()
	switch {
	case cause != nil && *cause != errEnded:
		w.broken = fmt.Errorf("%s: %s was broken off: %w", w.name, op, *cause)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.broken = configFields.Errorf("%s: no answer to %s within %v ({ModelTimeout})", w.name, op, patience)
		if op == "hello" {
			w.broken = configFields.Errorf("%s: no hello within %v ({ModelTimeout})", w.name, patience)
		}
	case gone(err):
		w.broken = w.ending(op, errors.Is(err, io.ErrUnexpectedEOF))
	default:
		w.broken = fmt.Errorf("%s: %s: %w", w.name, op, err)
	}
	return w.broken
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
func (w *wire) ending(op string, midway bool) error {
	if w.program != nil {
		if how, ended := w.program.how(); ended {
			return &EndedError{fmt.Sprintf("%s ended at %s: %s", w.name, op, how)}
		}
	}
	if midway {
		return &EndedError{fmt.Sprintf("%s closed the connection within a frame, at %s", w.name, op)}
	}
	return &EndedError{fmt.Sprintf("%s closed the connection at %s", w.name, op)}
}

// EndedError says how a peer has ended. It is an io.EOF to errors.Is.
type EndedError struct{ text string }

func (e *EndedError) Error() string { return e.text }

// Unwrap makes it an end.
func (*EndedError) Unwrap() error { return io.EOF }
