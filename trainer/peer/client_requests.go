package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"newtop/internal/routine"
)

// Start asks for the weights that the model has.
func (c *Client) Start(dst []float64) error {
	_, err := c.ask(&request{op: "get", want: "w", dst: dst})
	return err
}

// At moves the point.
func (c *Client) At(w []float64, rows []int) error {
	_, err := c.ask(&request{op: "at", driven: true, name: "w", vector: w, rows: rows, needs: sampled(rows)})
	return err
}

// sampled is what loss and at need for such rows.
func sampled(rows []int) []string {
	if rows == nil {
		return nil
	}
	return []string{HasSample}
}

// Loss asks for the loss over the rows at w, or at the point.
func (c *Client) Loss(w []float64, rows []int) (Metrics, error) {
	return c.measure(&request{op: "loss", name: "w", vector: w, rows: rows, needs: sampled(rows)})
}

// Eval asks for the loss over the test rows.
func (c *Client) Eval(w []float64) (Metrics, error) {
	return c.measure(&request{op: "eval", needs: []string{HasEval}, name: "w", vector: w})
}

// GradientTo asks for the gradient at the point, and how well the weights do there.
func (c *Client) GradientTo(dst []float64) (Metrics, error) {
	return c.measure(&request{op: "grad", needs: []string{HasGradient}, want: "g", dst: dst})
}

// RowsGradientTo asks for the gradient of the mean loss over some rows at w; nil: over all.
func (c *Client) RowsGradientTo(dst, w []float64, rows []int) (float64, error) {
	q := request{op: "grad", name: "w", vector: w, rows: rows, want: "g", dst: dst}
	if rows != nil {
		q.needs = append(q.needs, HasRows)
	}
	q.needs = append(q.needs, HasGradient)
	f, err := c.measure(&q)
	return f.Loss, err
}

// HessianTo asks for the product of the Hessian at the point with v.
func (c *Client) HessianTo(dst, v []float64) error { return c.product(HasHessian, dst, v) }

// GaussNewtonTo asks for the product of the generalized Gauss–Newton matrix at the point with v.
func (c *Client) GaussNewtonTo(dst, v []float64) error { return c.product(HasGaussNewton, dst, v) }

// DiagonalTo asks for the diagonal of that matrix.
func (c *Client) DiagonalTo(dst []float64) error { return c.product(HasDiagonal, dst, nil) }

// FactorsTo asks for Kronecker factors.
func (c *Client) FactorsTo(dst, w []float64, rows []int, draws []float64, sizes []int) error {
	_, err := c.ask(&request{op: HasFactors, needs: []string{HasFactors}, name: "w", vector: w, rows: rows,
		draws: draws, keys: map[string]any{"sizes": sizes}, want: HasFactors, dst: dst})
	return err
}

// UpdateTo asks an observed peer for the last change of the weights.
func (c *Client) UpdateTo(dst []float64) error {
	_, err := c.ask(&request{op: HasUpdate, needs: []string{HasUpdate}, want: "u", dst: dst})
	return err
}

func (c *Client) product(op string, dst, v []float64) error {
	_, err := c.ask(&request{op: op, needs: []string{op}, name: "v", vector: v, want: op, dst: dst})
	return err
}

// Set gives the peer its weights.
func (c *Client) Set(w []float64) error {
	_, err := c.ask(&request{op: "set", driven: true, name: "w", vector: w, last: true})
	return err
}

// longEvent is how many bytes of JSON surely fit a head, where each may become six.
const longEvent = maxHeader / 8

// SendEvent gives the peer an event of the run, in JSON.
func (c *Client) SendEvent(text []byte) error {
	if len(text) > longEvent || !json.Valid(text) {
		return fmt.Errorf("%s: an event of %d bytes: %w", c.wire.name, len(text), ErrUnsupported)
	}
	_, err := c.ask(&request{op: HasEvents, needs: []string{HasEvents},
		keys: map[string]any{"event": json.RawMessage(text)}, last: true})
	return err
}

// Step is what an observed peer says of itself between two steps of its optimizer. What it leaves out is NaN or "".
type Step struct {
	Step      int
	Loss      float64
	Rate      float64 // of plain gradient descent or SGD
	Momentum  float64
	Pause     float64 // seconds for which it may stand still
	Optimizer string
}

// NextStep waits for the next step of an observed peer, for as long as that takes: from then on it answers requests
// until On. That the context ends is no harm: NextStep may be called again. At the end of the peer the error is an
// io.EOF to errors.Is.
func (c *Client) NextStep(ctx context.Context) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.wire.broken != nil:
		return Step{}, c.wire.broken
	case !c.observed || c.open:
		panic("peer: Next of a peer that waits for requests")
	}
	_ = c.wire.conn.SetDeadline(time.Time{}) // a closed connection tells so when it is used
	woken := make(chan struct{})
	wait := context.AfterFunc(ctx, routine.Guard(func() {
		_ = c.wire.conn.SetReadDeadline(time.Unix(1, 0))
		close(woken)
	}))
	_, err := c.wire.in.r.Peek(1)
	if !wait() {
		<-woken // or the deadline below may be before it
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return Step{}, context.Cause(ctx)
		}
	}
	var step Step
	if err == nil {
		_ = c.wire.conn.SetDeadline(time.Now().Add(c.options.Answer))
		step, err = c.wire.step()
	}
	if err != nil {
		return Step{}, c.wire.fail("step", c.options.Answer, err)
	}
	c.open, c.wire.failed = true, nil
	return step, nil
}

// Continue lets an observed peer continue.
func (c *Client) Continue() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.wire.broken != nil:
		return c.wire.broken
	case !c.open:
		return nil
	}
	c.open = false
	_ = c.wire.conn.SetDeadline(time.Now().Add(c.options.Answer))
	if err := c.wire.out.frame(map[string]any{"op": "on"}, c.wire.dtype, nil); err != nil {
		return c.wire.fail("on", c.options.Answer, err)
	}
	return nil
}
