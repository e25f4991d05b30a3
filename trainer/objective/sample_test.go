package objective

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/models"
	"newtop/trainer/optim"
)

// copied is an objective bound to copies of rows, in double precision.
func copied(o *Objective, rows []int) *Objective {
	p := o.problem
	x, t := mat.NewDense(len(rows), p.Network.Columns(), nil), mat.NewDense(len(rows), p.Network.Outputs(), nil)
	for i, j := range rows {
		models.RowTo(x.RawRowView(i), p.Train.X, j)
		models.RowTo(t.RawRowView(i), p.Train.T, j)
	}
	return withL2(New(p.Network.In(models.Double), x, t, models.Options{}), p.L2, 1)
}

// A sample has loss, gradient and products of its rows, with the penalty whole, in either precision, whatever its slot had before;
// samples of different slots don't know one another.
func TestSamplesAreTheirRows(t *testing.T) {
	const lambda, all = 0.3, 41
	for name, a := range decaying() {
		for _, precision := range []models.Precision{models.Double, models.Single} {
			t.Run(fmt.Sprint(name, " ", precision), func(t *testing.T) {
				plain, w := bound(t, a, all)
				targets := plain.problem.Train.Targets
				targets.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, targets)
				p := *plain.problem
				p.Network, p.Train = p.Network.In(precision), newSplit(p.Train.Split, precision)
				p.L2 = lambda
				o := Bind(&p, &p, Rows{}, &Work{}, models.Options{})
				v := slices.Clone(w)
				slices.Reverse(v)
				tolerance := map[models.Precision]float64{models.Double: 1e-13, models.Single: 2e-5}[precision]
				kept := []int{1, 2, 3, 5, 8, 13}
				other := o.Sample(1, kept).(*Objective)
				wanted := sumsOf(copied(o, kept), w, v)
				for _, rows := range [][]int{{4, 0, 40, 7, 7}, {9, 3, 1, 0, 2}, {20}, {5, 6, 7, 8, 9}, {40, 39, 38, 0, 1}} {
					s := o.Sample(0, rows).(*Objective)
					want := sumsOf(copied(o, rows), w, v)
					got := sumsOf(s, w, v)
					got.close(t, fmt.Sprint(rows), &want, tolerance)
					if !(math.Abs(s.Loss(v)-copied(o, rows).Loss(v)) <= tolerance*(1+s.Loss(v))) {
						t.Errorf("%v: loss elsewhere %v", rows, s.Loss(v))
					}
					part, oracle := s.Blocks(min(2, len(rows)))[0].(*Objective), copied(o, rows).Blocks(min(2, len(rows)))[0].(*Objective)
					got, want = sumsOf(part, w, v), sumsOf(oracle, w, v)
					got.close(t, fmt.Sprint("a block of ", rows), &want, tolerance)
					got = sumsOf(other, w, v)
					got.close(t, "the other slot", &wanted, tolerance)
				}
			})
		}
	}
}

// close is equal within a tolerance.
func (s *sums) close(t *testing.T, where string, want *sums, tolerance float64) {
	t.Helper()
	if !(math.Abs(s.loss-want.loss) <= tolerance*(1+math.Abs(want.loss))) {
		t.Errorf("%s: loss %v, expected %v", where, s.loss, want.loss)
	}
	for name, v := range want.vectors {
		if d := floats.Distance(s.vectors[name], v, 2); !(d <= tolerance*(1+floats.Norm(v, 2))) {
			t.Errorf("%s: %s is off by %.2g of %.2g", where, name, d, floats.Norm(v, 2))
		}
	}
}

// With fixed gates a sample is a function of the experts' weights, with the gates as they are when it is taken.
func TestSamplesWithFixedGates(t *testing.T) {
	o, w := bound(t, decaying()["mixture"], 20)
	fixed := FixGates(o)
	n := fixed.Dim()
	rows := []int{3, 1, 19}
	got, want, all := make([]float64, n), make([]float64, len(w)), slices.Clone(w)
	for range 2 {
		fixed.Gates = all[n:]
		s := fixed.Sample(1, rows)
		loss, wanted := s.GradientTo(got, w[:n]), copied(o, rows).GradientTo(want, all)
		if !near(loss, wanted) || !floats.EqualApprox(got, want[:n], 1e-13) {
			t.Errorf("loss %v, expected %v", loss, wanted)
		}
		s.(optim.HessianObjective).Hessian(w[:n]).MulVecTo(got, got)
		if s.Dim() != n || optim.Offers(s, optim.NeedsHessian|optim.NeedsGaussNewton|optim.NeedsRows) != nil {
			t.Error("not what the whole offers")
		}
		for i := range all[n:] {
			all[n+i] += 0.1
		}
	}
}

// Work on a sample is charged as its share of the rows, and a sample of as many rows as the slot's before takes no memory.
func TestSamplesAreCharged(t *testing.T) {
	const all = 20
	o, w := bound(t, decaying()["chain"], all)
	cost, v := o.problem.Network.Cost(), slices.Clone(w)
	rows := []int{3, 1, 19, 4, 4}
	const share = 5. / all
	for range 2 {
		s := o.Sample(0, rows).(*Objective)
		for _, c := range []struct {
			f    func()
			want Work
		}{
			{func() { s.GradientTo(v, w) }, Work{Gradients: share, Equivalents: share}},
			{func() { s.GradientTo(v, w); s.Loss(w) }, Work{}},
			{func() { s.Loss(v) }, Work{Losses: share, Equivalents: share * cost.Loss / cost.Gradient}},
			{func() { s.GaussNewton(w).MulVecTo(v, w) }, Work{Products: share, Equivalents: share * cost.GaussNewton / cost.Gradient}},
			{func() { s.Hessian(w).MulVecTo(v, w) }, Work{Products: share, Equivalents: share * cost.Hessian / cost.Gradient}},
			{func() { s.GaussNewtonDiagTo(v, w) }, Work{Equivalents: share * cost.Diagonal / cost.Gradient}},
			{func() { s.BatchGradientTo(v, w, []int{0, 1}) }, Work{Gradients: 2. / all, Equivalents: 2. / all}},
			{func() { s.Charge(cost.Gradient * all) }, Work{Equivalents: 1}},
		} {
			before := *o.Spent
			c.f()
			charged(t, o, &before, c.want)
		}
		slices.Reverse(rows)
	}
	part := o.Blocks(2)[1].(*Objective)
	before := *o.Spent
	part.Sample(0, []int{1, 2}).GradientTo(v, w)
	charged(t, o, &before, Work{Gradients: 2. / all, Equivalents: 2. / all})
	if count := alloctest.PerRun(3, func() { o.Sample(0, rows).GradientTo(v, w) }); count != 0 {
		t.Errorf("%g allocations", count)
	}
	defer func() {
		if recover() == nil {
			t.Error("a row that is none was taken")
		}
	}()
	o.Sample(0, []int{all})
}

// An objective of matrices has samples in single precision too, and leaves the matrices as they are.
func TestSamplesInSingle(t *testing.T) {
	for name, a := range decaying() {
		o, w := bound(t, a, 9)
		train := o.problem.Train
		single := New(o.problem.Network.In(models.Single), train.Inputs, train.Targets, models.Options{})
		rows := []int{7, 2, 2}
		got, want := single.Sample(0, rows).Loss(w), New(o.problem.Network, train.Inputs, train.Targets, models.Options{}).Sample(0, rows).Loss(w)
		if got == want || !(math.Abs(got-want) <= 2e-5*(1+math.Abs(want))) {
			t.Errorf("%s: loss %v, in double precision %v", name, got, want)
		}
	}
}
