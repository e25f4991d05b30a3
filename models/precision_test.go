package models

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/models/reduce"
)

// inSingle rounds all numbers to single precision, so that both precisions begin with the same.
func (p problem) inSingle() problem {
	single := func(m *mat.Dense) *mat.Dense {
		var r mat.Dense
		r.Apply(func(_, _ int, v float64) float64 { return float64(float32(v)) }, m)
		return &r
	}
	p.x, p.t, p.w, p.d = single(p.x), single(p.t), slices.Clone(p.w), slices.Clone(p.d)
	for _, v := range [][]float64{p.w, p.d} {
		for i := range v {
			v[i] = float64(float32(v[i]))
		}
	}
	return p
}

// precisionProblems are nets of every kind.
func precisionProblems(t *testing.T) []problem {
	all := []problem{mixedProblem(t, 1).inSingle(), mixedProblem(t, 500).inSingle(), mixtureProblem(t, 300).inSingle()}
	for seed := range uint64(15) {
		all = append(all, randomProblem(t, seed, 110, false).inSingle(), randomMixture(t, seed, 110, true).inSingle())
	}
	return all
}

// TestSinglePrecision: what passes in float32 say is what those in float64 do, but for rounding.
func TestSinglePrecision(t *testing.T) {
	const bound = 2e-5 // some hundred units of the last place
	for i, p := range precisionProblems(t) {
		double, single := p.n.Bind(p.x, p.t, Options{}), p.n.In(Single).Bind(p.x, p.t, Options{})
		double.Update(p.w)
		single.Update(p.w)
		apart := func(what string, got, want []float64) {
			if d := floats.Distance(got, want, 2); !(d <= bound*max(1e-2, floats.Norm(want, 2))) {
				t.Errorf("problem %d: %s differs by %.2g of %.2g", i, what, d, floats.Norm(want, 2))
			}
		}
		e, f := double.Evaluation(), single.Evaluation()
		at, in := double.EvaluateAt(p.d), single.EvaluateAt(p.d)
		apart("losses", []float64{f.Loss, f.SquaredError, in.Loss}, []float64{e.Loss, e.SquaredError, at.Loss})
		if e.Misclassified != f.Misclassified {
			t.Errorf("problem %d: %d wrong, expected %d", i, f.Misclassified, e.Misclassified)
		}
		got, want := make([]float64, p.n.Dim()), make([]float64, p.n.Dim())
		for _, of := range []struct {
			name string
			to   func(l *Linearization, dst []float64)
		}{
			{"gradient", (*Linearization).GradientTo},
			{"Hd", func(l *Linearization, dst []float64) { l.HessianTo(dst, p.d) }},
			{"Gd", func(l *Linearization, dst []float64) { l.GaussNewtonTo(dst, p.d) }},
			{"Gd by rows", func(l *Linearization, dst []float64) { l.GaussNewtonRowsTo(dst, p.d) }},
			{"diagonal", (*Linearization).GaussNewtonDiagTo},
		} {
			of.to(single, got)
			of.to(double, want)
			apart(of.name, got, want)
		}
		m, n := mat.NewSymDense(p.n.Dim(), nil), mat.NewSymDense(p.n.Dim(), nil)
		if err := errors.Join(single.GaussNewtonMatrixTo(m, nil), double.GaussNewtonMatrixTo(n, nil)); err != nil {
			t.Fatal(err)
		}
		var d mat.Dense
		d.Sub(m, n)
		if !(mat.Norm(&d, 2) <= bound*max(1e-2, mat.Norm(n, 2))) {
			t.Errorf("problem %d: matrices differ by %.2g", i, mat.Norm(&d, 2))
		}
	}
}

// TestSameBitsInSingle: in float32, too, neither threads, nor how much is kept, nor how the data are given changes a bit.
func TestSameBitsInSingle(t *testing.T) {
	for _, p := range []problem{mixedProblem(t, 65), mixedProblem(t, 64*35+13), mixtureProblem(t, 64*9+13)} {
		n := p.n.In(Single)
		want := everything(n.Bind(p.x, p.t, Options{}), p)
		x, targets := ToSingle(p.x), ToSingle(p.t)
		wantSameBits(t, "data in float32", everything(n.Bind(x, targets, Options{}), p), want)
		for threads := 1; threads < 4; threads++ {
			pool := reduce.NewPool(threads)
			for _, memory := range []int64{0, 1, int64(4 * reduce.BlockRows * n.net.TapeSize())} {
				l := n.Bind(x, targets, Options{Pool: pool, Memory: memory})
				wantSameBits(t, fmt.Sprintf("%d threads, %d bytes", threads, memory), everything(l, p), want)
				if memory > 1 && l.RetainedRows() != min(reduce.BlockRows, x.Rows) {
					t.Errorf("%d rows are kept", l.RetainedRows())
				}
			}
			pool.Close()
		}
	}
}

// TestBatchInSingle: batches have the gradient of their rows, whatever rows they are.
func TestBatchInSingle(t *testing.T) {
	for _, p := range precisionProblems(t)[1:] {
		n, rows := p.n.In(Single), p.t.RawMatrix().Rows
		b := n.NewBatch(ToSingle(p.x), ToSingle(p.t), rows)
		got, want := make([]float64, n.Dim()), make([]float64, n.Dim())
		for _, size := range []int{rows, 1, 2, 60} {
			chosen := rand.New(rand.NewPCG(1, uint64(size))).Perm(rows)[:size]
			x, targets := mat.NewDense(size, p.n.Columns(), nil), mat.NewDense(size, p.n.Outputs(), nil)
			for j, row := range chosen {
				x.SetRow(j, p.x.RawRowView(row))
				targets.SetRow(j, p.t.RawRowView(row))
			}
			l := p.n.Linearize(p.w, x, targets)
			l.GradientTo(want)
			loss := b.GradientTo(got, p.w, chosen)
			if !(math.Abs(loss-l.Loss()) <= 2e-5*max(1e-2, l.Loss())) || !(floats.Distance(got, want, 2) <= 2e-5*max(1e-2, floats.Norm(want, 2))) {
				t.Errorf("%d rows: loss %v, expected %v, gradients apart by %.2g of %.2g",
					size, loss, l.Loss(), floats.Distance(got, want, 2), floats.Norm(want, 2))
			}
			if count := alloctest.PerRun(5, func() { b.GradientTo(got, p.w, chosen) }); count != 0 {
				t.Errorf("%d rows: %g allocations", size, count)
			}
		}
	}
}

// TestMakeSingle: views become what they are in float32, and those beside them in the same memory keep their numbers.
func TestMakeSingle(t *testing.T) {
	const rows, columns = 5001, 3
	whole := mat.NewDense(rows, columns, nil)
	fill := func() {
		for i := range rows {
			for j := range columns {
				whole.Set(i, j, 1/float64(1+i*columns+j))
			}
		}
	}
	for _, c := range []struct{ from, to, first, last int }{{0, 2001, 0, columns}, {2001, rows, 0, columns}, {7, 8, 0, columns}, {10, 4000, 1, 3}} {
		fill()
		view := whole.Slice(c.from, c.to, c.first, c.last).(*mat.Dense)
		s := MakeSingle(view)
		if r, k := view.Dims(); r != c.to-c.from || k != c.last-c.first || s.Rows != r || s.Columns != k {
			t.Fatalf("%d × %d of %+v", r, k, c)
		}
		for i := range rows {
			for j := range columns {
				want := 1 / float64(1+i*columns+j)
				if i >= c.from && i < c.to && j >= c.first && j < c.last {
					if got := s.Row(i - c.from)[j-c.first]; got != float32(want) {
						t.Fatalf("%+v: %v at %d, %d, expected %v", c, got, i, j, float32(want))
					}
				} else if whole.At(i, j) != want {
					t.Fatalf("%+v: the number at %d, %d, beside it, is %v, expected %v", c, i, j, whole.At(i, j), want)
				}
			}
		}
	}
}

func TestPrecisionNames(t *testing.T) {
	for _, p := range []Precision{Double, Single} {
		if q, err := ParsePrecision(p.String()); q != p || err != nil {
			t.Errorf("%v is read as %v, %v", p, q, err)
		}
	}
	var unknown *NameError
	if _, err := ParsePrecision("half"); !errors.As(err, &unknown) {
		t.Errorf("half: %v", err)
	}
}
