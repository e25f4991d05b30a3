package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// can says that a request is none that the peer answers.
func (c *Client) can(has string) error {
	if c.about.Can(has) {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", c.name, has, ErrUnsupported)
}

// driven says that a request is none for a peer that owns its weights.
func (c *Client) driven(op string) error {
	if !c.observed {
		return nil
	}
	return fmt.Errorf("%s: %s in observed mode: %w", c.name, op, ErrUnsupported)
}

// Start asks for the weights that the model has.
func (c *Client) Start(dst []float64) error {
	_, err := c.ask(&request{op: "get", want: "w", dst: dst})
	return err
}

// At moves the point.
func (c *Client) At(w []float64) error {
	if err := c.driven("at"); err != nil {
		return err
	}
	_, err := c.ask(&request{op: "at", vectors: c.weights("w", w)})
	return err
}

// Loss asks for the loss over the rows at w, or at the point.
func (c *Client) Loss(w []float64) (Figures, error) { return c.figures("loss", w) }

// Eval asks for the loss over the test rows.
func (c *Client) Eval(w []float64) (Figures, error) {
	if err := c.can(HasEval); err != nil {
		return Figures{}, err
	}
	return c.figures("eval", w)
}

func (c *Client) figures(op string, w []float64) (f Figures, err error) {
	h, err := c.ask(&request{op: op, vectors: c.weights("w", w), loss: true})
	if err != nil {
		return Figures{}, err
	}
	return f, c.numbers(op, h, field{"loss", &f.Loss}, field{"error_rate", &f.Error}, field{"rmse", &f.RMSE})
}

// field is a number of a head and where it goes.
type field struct {
	key string
	dst *float64
}

// numbers reads fields; what is none breaks the client.
func (c *Client) numbers(op string, h head, fields ...field) (err error) {
	for _, f := range fields {
		if *f.dst, err = h.number(f.key); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.breaks(op, 0, err)
		}
	}
	return nil
}

// GradientTo asks for the gradient at the point, and how well the weights do there.
func (c *Client) GradientTo(dst []float64) (Figures, error) { return c.gradient(dst, nil, nil) }

// RowsGradientTo asks for the gradient of the mean loss over some rows at w; nil: over all.
func (c *Client) RowsGradientTo(dst, w []float64, rows []int) (float64, error) {
	var picked []outgoing
	if rows != nil {
		if err := c.can(HasRows); err != nil {
			return 0, err
		}
		picked = []outgoing{{name: "rows", ints: rows}}
	}
	f, err := c.gradient(dst, w, picked)
	return f.Loss, err
}

func (c *Client) gradient(dst, w []float64, rows []outgoing) (f Figures, err error) {
	if err := c.can(HasGradient); err != nil {
		return f, err
	}
	h, err := c.ask(&request{op: "grad", vectors: append(c.weights("w", w), rows...), want: "g", dst: dst, loss: true})
	if err != nil {
		return f, err
	}
	return f, c.numbers("grad", h, field{"loss", &f.Loss}, field{"error_rate", &f.Error}, field{"rmse", &f.RMSE})
}

// HessianTo asks for the product of the Hessian at the point with v.
func (c *Client) HessianTo(dst, v []float64) error { return c.product(HasHessian, dst, v) }

// GaussNewtonTo asks for the product of the generalized Gauss–Newton matrix at the point with v.
func (c *Client) GaussNewtonTo(dst, v []float64) error { return c.product(HasGaussNewton, dst, v) }

// DiagonalTo asks for the diagonal of that matrix.
func (c *Client) DiagonalTo(dst []float64) error { return c.product(HasDiagonal, dst, nil) }

// UpdateTo asks an observed peer for the last change of the weights.
func (c *Client) UpdateTo(dst []float64) error {
	if err := c.can(HasUpdate); err != nil {
		return err
	}
	_, err := c.ask(&request{op: HasUpdate, want: "u", dst: dst})
	return err
}

func (c *Client) product(op string, dst, v []float64) error {
	if err := c.can(op); err != nil {
		return err
	}
	_, err := c.ask(&request{op: op, vectors: c.weights("v", v), want: op, dst: dst})
	return err
}

// Set gives the peer its weights.
func (c *Client) Set(w []float64) error {
	if err := c.driven("set"); err != nil {
		return err
	}
	_, err := c.ask(&request{op: "set", vectors: c.weights("w", w), last: true})
	return err
}

// longEvent is how many bytes of JSON surely fit a head, where each may become six.
const longEvent = maxHead / 8

// Tell gives the peer an event of the run, in JSON.
func (c *Client) Tell(text []byte) error {
	if err := c.can(HasEvents); err != nil {
		return err
	}
	if len(text) > longEvent || !json.Valid(text) {
		return fmt.Errorf("%s: an event of %d bytes: %w", c.name, len(text), ErrUnsupported)
	}
	_, err := c.ask(&request{op: HasEvents, keys: map[string]any{"event": json.RawMessage(text)}, last: true})
	return err
}

// Step is what an observed peer says of itself between two steps of its optimizer. What it leaves out is NaN or "".
type Step struct {
	Step      int
	Loss      float64
	Rate      float64 // of plain gradient descent or SGD
	Momentum  float64
	Optimizer string
}

// Next waits for the next step of an observed peer, for as long as that takes: from then on it answers requests until
// On. That the context ends is no harm: Next may be called again. At the end of the peer the error is an io.EOF to
// errors.Is.
func (c *Client) Next(ctx context.Context) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.broken != nil:
		return Step{}, c.broken
	case !c.observed || c.open:
		panic("peer: Next of a peer that waits for requests")
	}
	_ = c.conn.SetDeadline(time.Time{}) // a closed connection tells so when it is used
	woken := make(chan struct{})
	wait := context.AfterFunc(ctx, func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		close(woken)
	})
	_, err := c.in.r.Peek(1)
	if !wait() {
		<-woken // or the deadline below may be before it
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return Step{}, context.Cause(ctx)
		}
	}
	var step Step
	if err == nil {
		_ = c.conn.SetDeadline(time.Now().Add(c.options.Answer))
		step, err = c.step()
	}
	if err != nil {
		return Step{}, c.breaks("step", c.options.Answer, err)
	}
	c.open, c.failed = true, nil
	return step, nil
}

func (c *Client) step() (s Step, err error) {
	h, err := c.in.next()
	if err != nil {
		return s, midway(err)
	}
	if op, _ := h.text("op"); op != "step" {
		return s, fmt.Errorf("it sends %.20q where a step was due", op)
	}
	if s.Step, err = h.count("step", 0); err != nil {
		return s, err
	}
	for _, f := range []field{{"loss", &s.Loss}, {"rate", &s.Rate}, {"momentum", &s.Momentum}} {
		if *f.dst, err = h.number(f.key); err != nil {
			return s, err
		}
	}
	if s.Optimizer, err = h.text("optimizer"); err != nil {
		return s, err
	}
	s.Optimizer = line(s.Optimizer)
	return s, c.in.end()
}

// On lets an observed peer go on.
func (c *Client) On() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.broken != nil:
		return c.broken
	case !c.open:
		return nil
	}
	c.open = false
	_ = c.conn.SetDeadline(time.Now().Add(c.options.Answer))
	if err := c.out.frame(map[string]any{"op": "on"}, c.dtype, nil); err != nil {
		return c.breaks("on", c.options.Answer, err)
	}
	return nil
}
