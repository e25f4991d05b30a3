package umbridge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"newtop/trainer/peer"
)

// About describes the model.
func (c *Client) About() *peer.About { return &c.about }

// Start gives the first weights, which are the client's own: see the package.
func (c *Client) Start(dst []float64) error {
	c.check(dst)
	copy(dst, c.start)
	return c.err
}

// At keeps the weights: each request carries them.
func (c *Client) At(w []float64) error {
	c.check(w)
	copy(c.point, w)
	return c.err
}

// Loss evaluates the model.
func (c *Client) Loss(w []float64) (peer.Figures, error) {
	if w == nil {
		w = c.point
	}
	c.check(w)
	f := peer.LossAlone(math.NaN())
	if c.err != nil {
		return f, c.err
	}
	err := c.evaluate(w)
	if err == nil {
		f.Loss = c.loss()
	}
	return f, c.keep(err)
}

// GradientTo evaluates the model, but where Loss did so just before at the same weights, and its gradient.
func (c *Client) GradientTo(dst []float64) (peer.Figures, error) {
	loss, err := c.RowsGradientTo(dst, c.point, nil)
	return peer.LossAlone(loss), err
}

// RowsGradientTo is GradientTo at other weights. Of rows the protocol knows nothing.
func (c *Client) RowsGradientTo(dst, w []float64, rows []int) (loss float64, err error) {
	c.check(dst)
	c.check(w)
	switch {
	case c.err != nil:
		return math.NaN(), c.err
	case rows != nil:
		return math.NaN(), unsupported("rows")
	}
	loss, err = c.gradientAt(dst, w)
	return loss, c.keep(err)
}

// HessianTo asks for the products of all pairs of inputs.
func (c *Client) HessianTo(dst, v []float64) error {
	c.check(dst)
	c.check(v)
	switch {
	case c.err != nil:
		return c.err
	case !c.about.Can(peer.HasHessian):
		return unsupported("products with the Hessian")
	}
	return c.keep(c.hessianAt(dst, c.point, v))
}

// GaussNewtonTo asks for Jᵀ(J v).
func (c *Client) GaussNewtonTo(dst, v []float64) error {
	c.check(dst)
	c.check(v)
	switch {
	case c.err != nil:
		return c.err
	case !c.about.Can(peer.HasGaussNewton):
		return unsupported("products with the Gauss–Newton matrix")
	}
	err := c.jacobianAt(c.jacobianV, c.point, v)
	if err == nil {
		err = c.transposedAt(dst, c.point, c.jacobianV)
	}
	return c.keep(err)
}

// Eval is not answered: the protocol knows no test rows.
func (c *Client) Eval([]float64) (peer.Figures, error) {
	return peer.LossAlone(math.NaN()), unsupported("test rows")
}

// DiagonalTo is not answered: the protocol has no such request.
func (c *Client) DiagonalTo([]float64) error { return unsupported("the diagonal") }

// Set does nothing: the server has no weights.
func (c *Client) Set(w []float64) error {
	c.check(w)
	return c.err
}

// Hurry breaks a request that is under way, and all that follow.
func (c *Client) Hurry(error) { c.cancel() }

// Close ends the connection. It may be called again.
func (c *Client) Close() error {
	c.cancel()
	c.http.CloseIdleConnections()
	if c.err == nil {
		c.err = errors.New("umbridge: closed")
	}
	return nil
}

func unsupported(what string) error { return fmt.Errorf("umbridge: %s: %w", what, peer.ErrUnsupported) }

func (c *Client) check(w []float64) {
	if len(w) != c.about.Dim {
		panic(fmt.Sprintf("umbridge: a vector of %d numbers, of %d weights", len(w), c.about.Dim))
	}
}

// keep remembers an error after which all methods fail.
func (c *Client) keep(err error) error {
	if !errors.Is(err, peer.ErrUnsupported) {
		c.err = err
	}
	return err
}

// evaluate learns the output at w. JSON has no weights that are not finite, and the output at those is NaN.
func (c *Client) evaluate(w []float64) error {
	c.unused = false
	c.output = slices.Grow(c.output[:0], c.outputs)[:c.outputs]
	if !finite(w) {
		fill(c.output, math.NaN())
	} else {
		var reply struct {
			Output [][]number `json:"output"`
		}
		const path = "/Evaluate"
		if err := c.call(path, c.request().input(w).bytes(), &reply, maxInfo+maxNumber*c.outputs); err != nil {
			return err
		}
		if len(reply.Output) != 1 {
			return &answerError{path, "", fmt.Sprintf("expected one output vector, found %d", len(reply.Output))}
		}
		if err := put(c.output, reply.Output[0], path); err != nil {
			return err
		}
	}
	c.outputOf = append(c.outputOf[:0], w...)
	c.unused = true
	return nil
}

// loss is that of the last output.
func (c *Client) loss() float64 {
	if !c.squares {
		return c.sign * c.output[0]
	}
	sum := 0.0
	for _, f := range c.output {
		sum += f * f
	}
	return sum / 2
}

// gradientAt is Jᵀ F for least squares, and the model's own otherwise, of which sens is always 1: not all models heed
// it.
func (c *Client) gradientAt(dst, w []float64) (loss float64, err error) {
	if !c.unused || !slices.Equal(c.outputOf, w) {
		if err := c.evaluate(w); err != nil {
			return math.NaN(), err
		}
	}
	c.unused = false // so that asking twice is evaluating twice
	if c.squares {
		return c.loss(), c.transposedAt(dst, w, c.output)
	}
	return c.loss(), c.slopeAt(dst, w)
}

// slopeAt is the gradient of a loss that is one number.
func (c *Client) slopeAt(dst, w []float64) error {
	err := c.transposedAt(dst, w, one)
	c.orient(dst)
	return err
}

var one = []float64{1}

func (c *Client) orient(v []float64) {
	for i := range v {
		v[i] *= c.sign
	}
}

// transposedAt is the product of the transposed Jacobian with sens.
func (c *Client) transposedAt(dst, w, sens []float64) error {
	if !finite(w) || !finite(sens) {
		fill(dst, math.NaN())
		return nil
	}
	for i, n := range c.inputs {
		if n > 0 {
			r := c.request().index("outWrt", 0).index("inWrt", i).vector("sens", sens).input(w)
			if err := c.product(dst[:n], "/Gradient", r); err != nil {
				return err
			}
		}
		dst = dst[n:]
	}
	return nil
}

// jacobianAt is the product of the Jacobian with v.
func (c *Client) jacobianAt(dst, w, v []float64) error {
	fill(dst, 0)
	if !finite(w) || !finite(v) {
		fill(dst, math.NaN())
		return nil
	}
	part := make([]float64, c.outputs)
	for i, n := range c.inputs {
		if n > 0 {
			r := c.request().index("outWrt", 0).index("inWrt", i).vector("vec", v[:n]).input(w)
			if err := c.product(part, "/ApplyJacobian", r); err != nil {
				return err
			}
			add(dst, part)
		}
		v = v[n:]
	}
	return nil
}

// product sends a request whose output is a vector.
func (c *Client) product(dst []float64, path string, r request) error {
	var reply struct {
		Output []number `json:"output"`
	}
	if err := c.call(path, r.bytes(), &reply, maxInfo+maxNumber*len(dst)); err != nil {
		return err
	}
	return put(dst, reply.Output, path)
}

func put(dst []float64, v []number, path string) error {
	if len(v) != len(dst) {
		return &answerError{path, "", fmt.Sprintf("expected an output of %d numbers, found %d", len(dst), len(v))}
	}
	for i, x := range v {
		dst[i] = float64(x)
	}
	return nil
}

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

func fill(v []float64, x float64) {
	for i := range v {
		v[i] = x
	}
}

func add(dst, v []float64) {
	for i, x := range v {
		dst[i] += x
	}
}
