package peer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
)

const (
	unsteady          = 1e-4 // how far two answers to the same question may lie apart, relative to the longer one
	symmetric         = 1e-4 // how far uᵀAv and vᵀAu may lie apart, relative to what such numbers are
	vanishing         = 1e-12
	differenceTries   = 7    // steps that differences are taken with, each a quarter of the one before
	steadyDifferences = 0.05 // how far differences with two of them lie apart where they mean something
)

// check asks the model twice for what must not change: its loss, gradient and products at the weights that it begins
// with. It holds a product with the Hessian against differences of gradients. It returns an error if what comes is of
// no use, and notes what is worth knowing.
func (m *Model) check() error {
	for _, f := range m.about.Findings {
		if f.Fatal {
			return fmt.Errorf("%s: %s", m.about.Name, f)
		}
		m.notes = append(m.notes, f.String())
	}
	n := m.Dim()
	g, v, u := make([]float64, n), make([]float64, n), make([]float64, n)
	first, second := make([]float64, n), make([]float64, n)
	metrics, err := m.end.GradientTo(g)
	if err != nil {
		return err
	}
	if !(metrics.Loss-metrics.Loss == 0) || !(floats.Norm(g, 2) >= 0) {
		return fmt.Errorf(
			"%s: the loss or the gradient at the weights that it begins with is not finite: expected numbers",
			m.about.Name)
	}
	// computed again, and not what is kept at the point
	if _, err := m.end.RowsGradientTo(second, m.start, nil); err != nil {
		return err
	}
	if err := m.steady("gradients", g, second); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 0x70656572))
	for _, x := range [][]float64{v, u} {
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		floats.Scale(1/floats.Norm(x, 2), x)
	}
	bends := false // whether the Hessian is known to be more than 0
	for _, p := range []struct {
		request, name string
		apply         func(dst, v []float64) error
	}{
		{HasHessian, "products with the Hessian", m.end.HessianTo},
		{HasGaussNewton, "products with the Gauss–Newton matrix", m.end.GaussNewtonTo},
	} {
		if !m.about.Can(p.request) {
			continue
		}
		err := p.apply(first, v)
		if err == nil {
			err = p.apply(second, v)
		}
		if errors.Is(err, ErrUnsupported) {
			m.drop(p.request)
			continue
		}
		if err != nil {
			return err
		}
		if err := m.steady(p.name, first, second); err != nil {
			return err
		}
		if err := p.apply(second, u); err != nil {
			return err
		}
		if d := skew(first, second, v, u); d > symmetric && !m.about.rounds() {
			m.drop(p.request)
			m.notes = append(m.notes, fmt.Sprintf("%s are not symmetric, by %.1g: they are not used%s", p.name, d,
				m.about.because()))
			continue
		}
		switch {
		case p.request == HasGaussNewton && bends && floats.Norm(first, 2) <= vanishing:
			m.drop(HasGaussNewton)
			m.drop(HasDiagonal)
			m.flat = "the loss is linear in the outputs, so that its Gauss–Newton matrix is 0: expected outputs " +
				"before the last function of the model, as logits, or a method without that matrix, as tr-newton"
			m.notes = append(m.notes, m.flat)
		case p.request == HasHessian:
			bends = floats.Norm(first, 2) > vanishing
			if err := m.honest(first, v); err != nil {
				return err
			}
		}
	}
	if !m.about.Can(HasHessian) {
		m.notes = append(m.notes, "products with the Hessian are formed from differences of gradients, 2 each")
	}
	return nil
}

// skew returns how far uᵀAv and vᵀAu are apart, relative to what they would be at random: ‖Av‖/√n for unit vectors.
func skew(av, au, v, u []float64) float64 {
	scale := max(floats.Norm(av, 2), floats.Norm(au, 2)) / math.Sqrt(float64(len(v)))
	if scale == 0 {
		return 0
	}
	return math.Abs(floats.Dot(u, av)-floats.Dot(v, au)) / scale
}

// rounds reports whether the model is known to compute with 16 bits, whose products are symmetric to two digits.
func (a *About) rounds() bool { return strings.Contains(a.because(), "16 bits") }

// drop leaves a request out of what the model answers.
func (m *Model) drop(request string) {
	about := *m.about
	about.Has = nil
	for _, has := range m.about.Has {
		if has != request {
			about.Has = append(about.Has, has)
		}
	}
	m.about = &about
}

// steady returns an error if two answers to the same question are far apart, and notes if they are not the same.
func (m *Model) steady(name string, a, b []float64) error {
	if same(a, b) {
		return nil
	}
	d := apart(a, b)
	text := fmt.Sprintf("two %s at the same weights differ by %.1g of their norm", name, d)
	if !(d <= unsteady) {
		return fmt.Errorf("%s: %s: expected the same numbers twice%s", m.about.Name, text, m.about.because())
	}
	m.notes = append(m.notes, text+": a resumed run won't have the same digits")
	return nil
}

// honest holds a product against differences of gradients. A net that bends, as where a ReLU or a pool switches, has
// none that agree at any step; products are wrong where differences agree with one another and not with them.
func (m *Model) honest(product, v []float64) error {
	n := len(v)
	differences, before := make([]float64, n), make([]float64, n)
	tolerance := 1e-4
	if m.about.Single {
		tolerance = 0.05
	}
	least, step := math.Inf(1), m.step(m.start, v)
	for k := range differenceTries {
		if err := m.differenceTo(differences, m.start, v, step, nil); err != nil {
			return err
		}
		d := apart(product, differences)
		if !(d > tolerance) {
			return nil
		}
		if k > 0 && apart(before, differences) < min(steadyDifferences, d/4) {
			return fmt.Errorf(
				"%s: a product with the Hessian and differences of gradients are %.1g of their norm apart: expected "+
					"at most %.1g%s",
				m.about.Name, d, tolerance, m.about.because())
		}
		least, step = min(least, d), step/4
		before, differences = differences, before
	}
	m.notes = append(m.notes, fmt.Sprintf(
		"products with the Hessian and differences of gradients are %.1g of their norm apart: the loss bends, as "+
			"with ReLU or pools, "+
			"or the products are wrong", least))
	return nil
}

// apart returns how far two vectors are apart, relative to the longer one.
func apart(a, b []float64) float64 {
	d := floats.Distance(a, b, 2)
	if d == 0 {
		return 0
	}
	return d / max(floats.Norm(a, 2), floats.Norm(b, 2))
}

// because names what the model has that spoils curvature.
func (a *About) because() string {
	var all []string
	for _, f := range a.Findings {
		all = append(all, f.String())
	}
	if all == nil {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}
