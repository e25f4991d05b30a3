package peer

import (
	"slices"
	"strings"
	"testing"

	"newtop/trainer/optim"
)

// products is a model ½ wᵀAw of two weights, whose products with A and with the Gauss–Newton matrix are what it is told.
type products struct {
	Endpoint
	about    About
	hv, gnv  [2][2]float64
	gradient [2][2]float64 // A
}

func times(dst []float64, a [2][2]float64, v []float64) {
	for i := range dst {
		dst[i] = a[i][0]*v[0] + a[i][1]*v[1]
	}
}

func (p *products) About() *About                        { return &p.about }
func (p *products) Start(w []float64) error              { copy(w, []float64{1, 2}); return nil }
func (p *products) HessianTo(dst, v []float64) error     { times(dst, p.hv, v); return nil }
func (p *products) GaussNewtonTo(dst, v []float64) error { times(dst, p.gnv, v); return nil }
func (p *products) GradientTo(dst []float64) (Metrics, error) {
	times(dst, p.gradient, []float64{1, 2})
	return Metrics{Loss: 1}, nil
}
func (p *products) RowsGradientTo(dst, w []float64, _ []int) (float64, error) {
	times(dst, p.gradient, w)
	return 1, nil
}

// Products that are not symmetric are not used, but for numbers of 16 bits; a Gauss–Newton matrix that is 0 is refused
// where the Hessian is not.
func TestCheckOfProducts(t *testing.T) {
	good := [2][2]float64{{2, 1}, {1, 3}}
	skewed := [2][2]float64{{2, 1.001}, {1, 3}}
	var none [2][2]float64
	sixteen := []Finding{{What: "weights of 16 bits"}}
	for _, c := range []struct {
		name     string
		hv, gnv  [2][2]float64
		findings []Finding
		has      string
		note     string
	}{
		{"good", good, good, nil, "grad hv gnv diag", ""},
		{"skewed", skewed, good, nil, "grad gnv diag", "products with the Hessian are not symmetric, by 0.000"},
		{"skewed Gauss–Newton", good, skewed, nil, "grad hv diag", "products with the Gauss–Newton matrix are not symmetric"},
		{"16 bits", skewed, good, sixteen, "grad hv gnv diag", ""},
		{"linear", good, none, nil, "grad hv", "the loss is linear in the outputs"},
		{"at rest", none, none, nil, "grad hv gnv diag", ""},
	} {
		p := &products{about: About{Name: c.name, Dim: 2, Single: true, Blocks: []Block{{Name: "w", Shape: []int{2}}},
			Has: []string{HasGradient, HasHessian, HasGaussNewton, HasDiagonal}, Findings: c.findings}, hv: c.hv, gnv: c.gnv, gradient: c.hv}
		m, err := NewModel(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if want := map[bool]float64{true: 0x1p-9, false: 0x1p-24}[c.findings != nil]; unitRoundoff(m.about) != want {
			t.Errorf("%s: numbers are rounded by %g, want %g", c.name, unitRoundoff(m.about), want)
		}
		if has := strings.Join(m.About().Has, " "); has != c.has {
			t.Errorf("%s: it has %s, want %s", c.name, has, c.has)
		}
		if said := slices.ContainsFunc(m.Notes(), func(n string) bool { return strings.HasPrefix(n, c.note) }); c.note != "" && !said {
			t.Errorf("%s: notes %q, want %q", c.name, m.Notes(), c.note)
		}
		if refused := m.Offers(optim.NeedsGaussNewton); c.name == "linear" && (refused == nil || !strings.Contains(refused.Error(), c.note)) {
			t.Errorf("%s: Gauss–Newton is refused with %v", c.name, refused)
		}
	}
}
