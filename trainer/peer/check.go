package peer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// How far two answers to the same question, and a product and its differences, may lie apart, relative to the greater one, before
// the model is refused.
const (
	unsteady  = 1e-4
	dishonest = 0.3
)

// check asks the model twice for what must not change: its loss, gradient and products at the weights that it begins with. It holds
// a product with the Hessian against differences of gradients. It returns an error if what comes is of no use, and notes what is
// worth knowing.
func (m *Model) check() error {
	for _, f := range m.about.Findings {
		if f.Fatal {
			return fmt.Errorf("%s: %s", m.about.Name, f)
		}
	}
	n := m.Dim()
	g, v, first, second := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	figures, err := m.end.GradientTo(g)
	if err != nil {
		return err
	}
	if !(figures.Loss-figures.Loss == 0) || !(floats.Norm(g, 2) >= 0) {
		return fmt.Errorf("%s: the loss or the gradient at the weights that it begins with is not finite: expected numbers", m.about.Name)
	}
	if _, err := m.end.GradientTo(second); err != nil {
		return err
	}
	if err := m.steady("gradients", g, second); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 0x70656572))
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(v, 2), v)
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
		err := errors.Join(p.apply(first, v), p.apply(second, v))
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
		if p.request == HasHessian {
			if err := m.honest(g, first, v); err != nil {
				return err
			}
		}
	}
	if !m.about.Can(HasHessian) {
		m.notes = append(m.notes, "products with the Hessian are formed from differences of gradients, 2 each"+m.because())
	}
	return nil
}

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
	text := fmt.Sprintf("two %s at the same weights differ by %.1g of their norm%s", name, d, m.because())
	if !(d <= unsteady) {
		return fmt.Errorf("%s: %s: expected the same numbers twice", m.about.Name, text)
	}
	m.notes = append(m.notes, text+": a run that is gone on with won't have the same digits")
	return nil
}

// honest holds a product against differences of gradients, of which eps^⅔ of the digits are lost and, where curvature is small, all.
func (m *Model) honest(g, product, v []float64) error {
	differences := make([]float64, len(v))
	if err := m.differenceTo(differences, m.start, v); err != nil {
		return err
	}
	eps := m.rounding()
	noise := 20 * eps * floats.Norm(g, 2) / (math.Cbrt(eps) * (1 + floats.Norm(m.start, 2)))
	d, scale := floats.Distance(product, differences, 2), max(floats.Norm(product, 2), floats.Norm(differences, 2))
	expected := 100*math.Cbrt(eps*eps) + noise/max(scale, math.SmallestNonzeroFloat64)
	switch {
	case scale == 0 || d/scale <= expected || expected >= 1:
		return nil
	case !(d/scale <= dishonest):
		return fmt.Errorf("%s: a product with the Hessian and differences of gradients are %.1g of their norm apart: expected at most %.1g%s",
			m.about.Name, d/scale, expected, m.because())
	}
	m.notes = append(m.notes, fmt.Sprintf("a product with the Hessian and differences of gradients are %.1g of their norm apart, %.1g would be rounding: "+
		"as where a ReLU bends%s", d/scale, expected, m.because()))
	return nil
}

// apart returns how far two vectors are apart, relative to the longer one.
func apart(a, b []float64) float64 {
	return floats.Distance(a, b, 2) / max(floats.Norm(a, 2), floats.Norm(b, 2))
}

// because names what the model has that spoils curvature.
func (m *Model) because() string {
	var all []string
	for _, f := range m.about.Findings {
		all = append(all, f.String())
	}
	if all == nil {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

// String is the finding on one line.
func (f Finding) String() string {
	text := f.What
	if f.Where != "" {
		text += " in " + f.Where
	}
	if f.Remedy != "" {
		text += ": " + f.Remedy
	}
	return text
}
