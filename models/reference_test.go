package models

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// reference is one net of testdata/reference.json: figures that PyTorch's automatic differentiation
// computed in float64 for random weights and data.
type reference struct {
	Name               string
	Layers             []int
	Activations        []Activation
	Loss               LossFunction
	Connections        [][2]int
	W, V               []float64
	X, T               [][]float64
	Value              float64
	Gradient           []float64
	HessianV           []float64 `json:"hessian_v"`
	GaussNewtonV       []float64 `json:"gauss_newton_v"`
	GaussNewtonDiag    []float64 `json:"gauss_newton_diag"`
	HessianEigenvalues []float64 `json:"hessian_eigenvalues"`
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *reference) architecture() Architecture {
	a := Architecture{Inputs: r.Layers[0], Loss: r.Loss}
	for i, nodes := range r.Layers[1:] {
		a.Layers = append(a.Layers, Layer{Nodes: nodes, Activation: r.Activations[i]})
	}
	for _, c := range r.Connections {
		a.Connections = append(a.Connections, Connection{To: c[0], From: c[1]})
	}
	return a
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

func TestPyTorchFigures(t *testing.T) {
	const tolerance = 1e-13
	for _, r := range references(t) {
		t.Run(r.Name, func(t *testing.T) {
			n := mustNetwork(t, r.architecture())
			if n.Dim() != len(r.W) {
				t.Fatalf("%d weights, expected %d", n.Dim(), len(r.W))
			}
			l := n.Linearize(r.W, dense(r.X), dense(r.T))
			wantNear(t, "value", []float64{l.Loss()}, []float64{r.Value}, tolerance)
			dst := make([]float64, n.Dim())
			l.GradientTo(dst)
			wantNear(t, "gradient", dst, r.Gradient, tolerance)
			l.HessianTo(dst, r.V)
			wantNear(t, "Hv", dst, r.HessianV, tolerance)
			l.GaussNewtonTo(dst, r.V)
			wantNear(t, "Gv", dst, r.GaussNewtonV, tolerance)
			l.GaussNewtonDiagTo(dst)
			wantNear(t, "diagonal", dst, r.GaussNewtonDiag, tolerance)

			var eigen mat.EigenSym
			if !eigen.Factorize(symmetric(t, assemble(n.Dim(), l.HessianTo)), false) {
				t.Fatal("no eigenvalues")
			}
			wantNear(t, "eigenvalues", eigen.Values(nil), r.HessianEigenvalues, 1e-12)
		})
	}
}

func mustNetwork(t testing.TB, a Architecture) *Network {
	t.Helper()
	n, err := NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// assemble returns the matrix whose products mulTo computes, column by column.
func assemble(n int, mulTo func(dst, v []float64)) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	e, column := make([]float64, n), make([]float64, n)
	for j := range n {
		e[j] = 1
		mulTo(column, e)
		e[j] = 0
		m.SetCol(j, column)
	}
	return m
}

// symmetric returns m as a symmetric matrix after checking that it is one to rounding.
func symmetric(t *testing.T, m *mat.Dense) *mat.SymDense {
	t.Helper()
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	bound := 1e-13 * math.Max(1, mat.Max(m))
	for i := range n {
		for j := i; j < n; j++ {
			if d := math.Abs(m.At(i, j) - m.At(j, i)); !(d <= bound) {
				t.Errorf("entries (%d,%d) and (%d,%d) differ by %g", i, j, j, i, d)
			}
			s.SetSym(i, j, (m.At(i, j)+m.At(j, i))/2)
		}
	}
	return s
}

// wantNear checks that got is want up to tolerance relative to the largest number of want, or to 1 if
// that is less.
func wantNear(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, v := range want {
		scale = math.Max(scale, math.Abs(v))
	}
	for i := range got {
		if d := math.Abs(got[i] - want[i]); !(d <= tolerance*scale) {
			t.Errorf("%s[%d] = %.17g, expected %.17g", what, i, got[i], want[i])
			return
		}
	}
}
