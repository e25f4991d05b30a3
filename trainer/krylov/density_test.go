package krylov

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// integral is the trapezoid sum over an evenly spaced grid.
func integral(grid, values []float64) float64 {
	sum := 0.0
	for i := 1; i < len(grid); i++ {
		sum += (grid[i] - grid[i-1]) * (values[i] + values[i-1]) / 2
	}
	return sum
}

// powerTrace is tr Hʲ from repeated dense products.
func powerTrace(a *mat.SymDense, j int) float64 {
	var p mat.Dense
	p.Pow(a, j)
	return mat.Trace(&p)
}

// TestQuadratureOverAllSigns: averaged over every vector of signs, vᵀHʲv/n is tr Hʲ/n without any error, for
// every power with as many steps as unknowns and up to 2m − 1 with m.
func TestQuadratureOverAllSigns(t *testing.T) {
	for _, values := range [][]float64{{3}, {3, -1}, {5, 2, -3}, {4, 1, -2, 0.5}, {2, 2, 2, -1, -1}, {0, 0, 0, 7}} {
		n := len(values)
		h := withEigenvalues(9, values...)
		for m := 1; m <= n; m++ {
			moments := make([]float64, 9)
			for signs := range 1 << n {
				p := &process{products: products{h: h}, w: make([]float64, n)}
				for i, v := 0, p.start(); i < n; i++ {
					v[i] = float64(signs>>i&1*2-1) / math.Sqrt(float64(n))
				}
				q, stop, err := p.quadrature(m)
				if err != nil || stop != Limit || len(q.Nodes) > m {
					t.Fatal(err, stop, len(q.Nodes))
				}
				d := Density{Quadratures: []Quadrature{q}}
				for j := range moments {
					value, _ := d.Moment(j)
					moments[j] += value / float64(int(1)<<n)
				}
			}
			for j, got := range moments {
				if m == n || j <= 2*m-1 {
					near(t, fmt.Sprintf("%v, %d steps, moment %d", values, m, j), got, powerTrace(h.a, j)/float64(n), 1e-9*math.Pow(7, float64(j)))
				}
			}
		}
	}
}

// TestDensityIsOne: whatever the matrix, the density is positive and integrates to 1 on its grid, and so the
// mean eigenvalue is where it must be.
func TestDensityIsOne(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		o      DensityOptions
	}{
		{"spread", spread(60, 1e-3, 10), DensityOptions{}},
		{"wide", spread(60, 1e-3, 10), DensityOptions{Width: 0.3}},
		{"narrow", spread(60, 1e-3, 10), DensityOptions{Width: 0.001}},
		{"indefinite", append(spread(40, 1e-2, 10), -3, -2, -0.1), DensityOptions{Probes: 3}},
		{"identity", repeat(10, 3), DensityOptions{}},
		{"zero", repeat(10, 0), DensityOptions{}},
		{"far from zero", []float64{1000, 1000.5, 1001}, DensityOptions{}},
		{"one unknown", []float64{-2}, DensityOptions{Probes: 1}},
		{"tiny", spread(10, 1e-203, 1e-200), DensityOptions{}},
		{"huge", spread(10, 1e147, 1e150), DensityOptions{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := scaling(test.values) // whose trace every probe knows
			d, err := SpectralDensity(h, test.o)
			if err != nil || d.Stop != Limit {
				t.Fatal(err, d.Stop)
			}
			near(t, "integral", integral(d.Grid, d.Values), 1, 1e-6)
			if low := slices.Min(d.Values); low < 0 {
				t.Errorf("a density of %g", low)
			}
			sum := 0.0
			for _, v := range test.values {
				sum += v
			}
			n := float64(len(h))
			near(t, "trace", d.Trace.Value, sum, 1e-12*math.Abs(sum))
			first := make([]float64, len(d.Grid))
			for i, x := range d.Grid {
				first[i] = x * d.Values[i]
			}
			near(t, "mean", integral(d.Grid, first), sum/n, 1e-5*max(math.Abs(slices.Max(d.Grid)), math.Abs(slices.Min(d.Grid))))
			if errors := slices.IndexFunc(d.Errors, math.IsNaN) >= 0; errors != (test.o.Probes == 1) {
				t.Error("standard errors from one probe, or none from several")
			}
		})
	}
}

// TestDensityAgainstEigenvalues smooths LAPACK's eigenvalues by the same Gaussian and asks for agreement within
// four standard errors nearly everywhere.
func TestDensityAgainstEigenvalues(t *testing.T) {
	h := withEigenvalues(7, append(spread(80, 0.1, 1), 5, -2, -2)...)
	d, err := SpectralDensity(h, DensityOptions{Probes: 30, Width: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	all := eigenvalues(t, h)
	far, largest := 0, slices.Max(d.Values)
	for i, x := range d.Grid {
		want := 0.0
		for _, v := range all {
			z := (x - v) / d.Sigma
			want += math.Exp(-z*z/2) / (d.Sigma * math.Sqrt(2*math.Pi) * float64(len(all)))
		}
		if math.Abs(d.Values[i]-want) > 4*d.Errors[i]+1e-6*largest {
			far++
		}
	}
	if far > len(d.Grid)/50 {
		t.Errorf("%d of %d values are more than four standard errors away", far, len(d.Grid))
	}
}

// TestDensityTrace: the trace beside the density is the mean of vᵀHv over vectors v of random signs (Hutchinson 1990), whose
// variance is 2 Σ_{i≠j} h_ij²; signs cancel on a diagonal.
func TestDensityTrace(t *testing.T) {
	h := withEigenvalues(6, spread(12, 0.1, 10)...)
	variance := 0.0
	for i := range 12 {
		for j := range 12 {
			if i != j {
				variance += 2 * h.a.At(i, j) * h.a.At(i, j)
			}
		}
	}
	const probes = 4000
	d, err := SpectralDensity(h, DensityOptions{Probes: probes})
	if err != nil {
		t.Fatal(err)
	}
	deviation := math.Sqrt(variance / probes)
	near(t, "trace", d.Trace.Value, mat.Trace(h.a), 4*deviation)
	near(t, "standard error", d.Trace.Error, deviation, 0.1*deviation)
	first, spread := d.Moment(1)
	near(t, "n times the first moment", 12*first, d.Trace.Value, 1e-10*d.Trace.Value)
	near(t, "its standard error", 12*spread, d.Trace.Error, 1e-8*d.Trace.Error)
	for _, probes := range []int{1, 2, 10} {
		d, err := SpectralDensity(scaling{8, -3, 0.5, 0, 1024, -0.25}, DensityOptions{Probes: probes, Seed: 3})
		if err != nil || d.Trace.Probes != probes || math.IsNaN(d.Trace.Error) != (probes == 1) || d.Trace.Error > 1e-9 {
			t.Errorf("%v, %+v", err, d.Trace)
		}
		near(t, "trace of a diagonal", d.Trace.Value, 1029.25, 1e-9)
	}
}

// TestDensityInvariantSpace: a probe that meets three eigenvalues needs three steps.
func TestDensityInvariantSpace(t *testing.T) {
	h := withEigenvalues(2, append(repeat(10, 1), 4, 4, -2)...)
	d, err := SpectralDensity(h, DensityOptions{})
	if err != nil || d.Steps != 3 || d.Products != 30 {
		t.Fatalf("%v, %d steps, %d products", err, d.Steps, d.Products)
	}
	for _, q := range d.Quadratures {
		for i, want := range []float64{-2, 1, 4} {
			near(t, "node", q.Nodes[i], want, 1e-12)
		}
	}
}
