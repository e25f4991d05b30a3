package peer

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestHangs(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", func(t *testing.T) {
		for _, op := range []string{"hello", "hv"} {
			release := make(chan struct{})
			f := &fake{n: 3, spoil: func(is string, b []byte) []byte {
				if is == op {
					<-release
				}
				return b
			}}
			c, err := greeted(t, f, Options{Answer: 50 * time.Millisecond, Hello: 50 * time.Millisecond})
			if err == nil {
				err = everything(c)
			}
			close(release)
			if err == nil || !strings.Contains(err.Error(), op+" within 50ms (ModelTimeout)") {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

// Another goroutine, or the context, breaks a request off at once.
func TestInterrupt(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, how := range []string{"interrupt", "close", "context"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			near, far := sockets(t)
			reached, served := make(chan struct{}), make(chan struct{})
			f := &fake{conn: far, n: 3, spoil: func(op string, b []byte) []byte {
				if op == "hv" {
					close(reached)
					_, _ = io.ReadAll(far) // until it is closed
				}
				return b
			}}
			go func() { defer close(served); f.serve(); far.Close() }()
			c, err := New(ctx, near, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mine := errors.New("enough")
			go func() {
				<-reached
				switch how {
				case "interrupt":
					c.Interrupt(mine)
				case "close":
					c.Close()
				default:
					cancel()
				}
			}()
			x := make([]float64, 3)
			want := map[string]error{"interrupt": mine, "close": errClosed, "context": context.Canceled}[how]
			if err := c.HessianTo(x, x); !errors.Is(err, want) {
				t.Error(err)
			}
			if err := c.At(x, nil); !errors.Is(err, want) {
				t.Error(err)
			}
			c.Close()
			<-served
		})
	}
}

func TestObserved(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", func(t *testing.T) {
		release := make(chan struct{})
		c, err := greeted(t, &fake{n: 3, observed: true, spoil: func(op string, b []byte) []byte {
			if op == "step" {
				<-release
			}
			return b
		}}, Options{})
		if err != nil || !c.observed {
			t.Fatal(err)
		}
		if _, err := NewModel(c); err == nil || !strings.Contains(err.Error(), "newtop watch -- PROGRAM") {
			t.Error("it is to be trained:", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := c.NextStep(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(release)
		x := make([]float64, 3)
		for i := range 2 {
			s, err := c.NextStep(t.Context())
			if err != nil || s.Step != 100*(i+1) || !math.IsNaN(s.Loss) || s.Rate != 0.1 || !math.IsNaN(s.Momentum) || s.Optimizer != "SGD" {
				t.Errorf("%+v, %v", s, err)
			}
			if err := c.UpdateTo(x); err != nil || x[1] != 2 {
				t.Error(x, err)
			}
			if err := c.At(x, nil); !errors.Is(err, ErrUnsupported) {
				t.Error(err)
			}
			if err := c.Continue(); err != nil {
				t.Error(err)
			}
			if _, err := c.Loss(nil, nil); !errors.Is(err, ErrUnsupported) {
				t.Error("asked between two steps:", err)
			}
		}
		if _, err := c.NextStep(t.Context()); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// An observed peer that ends within the frame of a step is told of as well.
func TestStepIsCut(t *testing.T) {
	for at, length := 0, 1; at < length; at += 1 + at/8 {
		f := &fake{n: 3, observed: true}
		f.spoil = func(op string, b []byte) []byte {
			if op != "step" {
				return b
			}
			length = len(b)
			_, _ = f.conn.Write(b[:at])
			return nil
		}
		t.Run("", func(t *testing.T) {
			c, err := greeted(t, f, Options{Answer: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.NextStep(t.Context())
			_, again := c.NextStep(t.Context())
			told(t, errors.Join(err, again, c.Continue()), "closed the connection")
		})
	}
}
