package leastsquares

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// naiveBPLS does lines 3–14 of algorithm 2 for a net of two layers as they are written: row by row and node by
// node, with every least-squares problem stated by its normal equations, the bias a column of ones that the
// ridge leaves alone.
func naiveBPLS(o *layered, w []float64, rows []int, rule string, kappa, ridge float64) []float64 {
	hidden, out := o.chain.Layers[0], o.chain.Layers[1]
	var x, n, b [][]float64
	for _, p := range rows {
		x = append(x, o.chain.Inputs.RawRowView(p))
		n = append(n, o.output(w, x[len(x)-1])[0])
		wanted := slices.Clone(o.chain.Targets.RawRowView(p))
		out.Activation.Clip(wanted, kappa)
		out.Activation.Inverse(wanted)
		b = append(b, wanted)
	}
	new := slices.Clone(w)
	naiveLayer(new, out, n, b, ridge)
	weights := mat.NewDense(out.Nodes, out.Sources, new[out.Weights:out.Biases])
	var wanted [][]float64
	for i := range rows {
		lack := make([]float64, out.Nodes)
		for j := range lack {
			lack[j] = b[i][j] - new[out.Biases+j] - floats.Dot(weights.RawRowView(j), n[i])
		}
		move := make([]float64, out.Sources)
		switch rule {
		case rulePrinted:
			for k := range move {
				above, below := 0.0, 0.0
				for j := range lack {
					above += weights.At(j, k) * lack[j]
					below += weights.At(j, k) * weights.At(j, k)
				}
				move[k] = above / below
			}
		case ruleMinimumNorm:
			// Wᵀ(WWᵀ)⁻¹r. One 1 among zeros makes the rows of W, and r, add up to zero: the last one follows
			// from the others, which are of full rank where all classes are there.
			some := weights.Slice(0, out.Nodes-1, 0, out.Sources)
			var square mat.Dense
			square.Mul(some, some.T())
			var y mat.VecDense
			if err := y.SolveVec(&square, mat.NewVecDense(out.Nodes-1, lack[:out.Nodes-1])); err != nil {
				panic(err)
			}
			for j := range y.Len() {
				floats.AddScaled(move, y.AtVec(j), weights.RawRowView(j))
			}
		}
		to := slices.Clone(n[i])
		floats.Add(to, move)
		hidden.Activation.Clip(to, kappa)
		wanted = append(wanted, to)
	}
	naiveLayer(new, out, wanted, b, ridge)
	for i := range wanted {
		hidden.Activation.Inverse(wanted[i])
	}
	naiveLayer(new, hidden, x, wanted, ridge)
	return new
}

func naiveLayer(w []float64, l optim.Layer, a, b [][]float64, ridge float64) {
	n := l.Sources
	mean := make([]float64, n)
	for _, row := range a {
		floats.AddScaled(mean, 1/float64(len(a)), row)
	}
	largest := 0.0
	for i := range n {
		sum := 0.0
		for _, row := range a {
			sum += (row[i] - mean[i]) * (row[i] - mean[i])
		}
		largest = max(largest, sum)
	}
	normal, right := mat.NewDense(n+1, n+1, nil), mat.NewDense(n+1, l.Nodes, nil)
	for p, row := range a {
		one := append(slices.Clone(row), 1)
		for i := range one {
			for j := range one {
				normal.Set(i, j, normal.At(i, j)+one[i]*one[j])
			}
			for j := range l.Nodes {
				right.Set(i, j, right.At(i, j)+one[i]*b[p][j])
			}
		}
	}
	for i := range n {
		normal.Set(i, i, normal.At(i, i)+ridge*largest)
	}
	var x mat.Dense
	if err := x.Solve(normal, right); err != nil {
		panic(err)
	}
	for j := range l.Nodes {
		for i := range n {
			w[l.Weights+j*n+i] = x.At(i, j)
		}
		w[l.Biases+j] = x.At(n, j)
	}
}

// Algorithm 2 against its naive form: the solve over all rows, then every iteration on the misclassified ones
// with its blend, until the misses no longer fall. Among those a class may be missing, for which the naive
// minimum norm has no answer.
func TestBPLSAgainstItsNaiveForm(t *testing.T) {
	iterations := 0
	for seed := range uint64(4) {
		x, targets := clouds(rand.New(rand.NewPCG(seed, 2)), 120, 6, 3, 1.2)
		for _, f := range [][]optim.Activation{{testSigmoid, testSoftmax}, {testSoftmax, testSigmoid}, {testIdentity, testSigmoid}} {
			o := newLayered(x, targets, true, []int{7, 3}, f...)
			iterations += followNaively(t, o, rulePrinted, math.MaxInt)
			iterations += followNaively(t, o, ruleMinimumNorm, 1)
		}
	}
	if iterations < 30 {
		t.Errorf("%d iterations in all are no test", iterations)
	}
}

// followNaively compares at most that many iterations, from small weights that put all rows in few classes, and
// returns how many there were.
func followNaively(t *testing.T, o *layered, rule string, limit int) (iterations int) {
	t.Helper()
	const kappa, ridge = 0.05, 0.01
	m, s := bplsState(t, o, "start", "keep", "clip", optim.Format(kappa), "ridge-2", optim.Format(ridge), "target", rule)
	floats.Scale(0.1, s.W)
	rows := make([]int, o.chain.Inputs.RawMatrix().Rows)
	for i := range rows {
		rows[i] = i
	}
	share := 1.0
	for ; iterations < limit; iterations++ {
		before, missed := slices.Clone(s.W), o.missed(s.W)
		if iterations > 0 {
			share = float64(len(missed)) / float64(o.chain.Inputs.RawMatrix().Rows)
			rows = missed
		}
		report, err := m.Step(t.Context(), s)
		if errors.Is(err, optim.ErrStalled) && len(missed) == 0 {
			break
		}
		want := naiveBPLS(o, before, rows, rule, kappa, ridge)
		for i := range want {
			want[i] = (1-share)*before[i] + share*want[i]
		}
		if errors.Is(err, optim.ErrStalled) {
			if len(o.missed(want)) < len(missed) || !slices.Equal(before, s.W) {
				t.Errorf("%s: %v, but misses go from %d to %d", rule, err, len(missed), len(o.missed(want)))
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if far := floats.Distance(s.W, want, 2); far > 1e-7*(1+floats.Norm(want, 2)) {
			t.Errorf("%s, τ = %d: %g from the naive form", rule, iterations, far)
		}
		if got := optimtest.Diagnostic(t, report, "misses"); got != float64(len(o.missed(s.W))) || len(o.missed(s.W)) >= len(missed) {
			t.Errorf("%s, τ = %d: %g misses after %d, counted %d", rule, iterations, got, len(missed), len(o.missed(s.W)))
		}
	}
	return iterations
}
