package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/alloctest"
	"newtop/internal/nightly"
	"newtop/models/reduce"
)

// one returns the problem of a single row.
func (p problem) one(row int) problem {
	p.x, p.t = p.x.Slice(row, row+1, 0, p.n.Columns()).(*mat.Dense), p.t.Slice(row, row+1, 0, p.n.Outputs()).(*mat.Dense)
	return p
}

// outputsOf returns the outputs of all layers for a row, by hyper-dual numbers that have no directions.
func outputsOf(p problem, row int) [][]float64 {
	w := make([]hyper, len(p.w))
	for i := range w {
		w[i].v = p.w[i]
	}
	_, outputs := hyperForward(newPlaces(p.n.Architecture()), w, p.x.RawRowView(row))
	values := make([][]float64, len(outputs))
	for l, u := range outputs {
		for _, u := range u {
			values[l] = append(values[l], u.v)
		}
	}
	return values
}

// kind returns how targets are drawn.
func (p problem) kind() (softmax, sigmoid bool) {
	a := p.n.Architecture()
	softmax = a.Layers[len(a.Layers)-1].Activation == Softmax
	return a.Loss == CrossEntropy && softmax, a.Loss == CrossEntropy && !softmax
}

// drawnTarget returns the target of a row that numbers stand for, the outputs being u, and the root of how much the row counts.
func drawnTarget(p problem, row int, u, drawn []float64) (y []float64, root float64) {
	y = make([]float64, len(u))
	switch softmax, sigmoid := p.kind(); {
	case softmax:
		class, sum := 0, u[0]
		for class < len(u)-1 && drawn[0] >= sum {
			class++
			sum += u[class]
		}
		y[class] = 1
		return y, math.Sqrt(floats.Sum(p.t.RawRowView(row)))
	case sigmoid:
		for k, x := range drawn {
			if x < u[k] {
				y[k] = 1
			}
		}
	default:
		floats.SubTo(y, u, drawn)
	}
	return y, 1
}

// drawnGradient returns the outputs of all layers for a row and √Σt ∂(−log p(y|x,w))/∂w, of which the part of a layer's biases is
// the layer's g.
func drawnGradient(p problem, row int, drawn []float64) (outputs [][]float64, gradient []float64) {
	outputs = outputsOf(p, row)
	y, root := drawnTarget(p, row, outputs[len(outputs)-1], drawn)
	one := p.one(row)
	one.t = mat.NewDense(1, len(y), y)
	gradient = rowGradient(one, 0)
	floats.Scale(root, gradient)
	return outputs, gradient
}

// naiveFactors adds up ū ūᵀ and g gᵀ row by row.
func naiveFactors(p problem, rows []int, drawn []float64) []Factors {
	want, draws := p.n.NewFactors(math.MaxInt), len(drawn)/len(rows)
	share, places := 1/float64(len(rows)), newPlaces(p.n.Architecture())
	for j, row := range rows {
		outputs, gradient := drawnGradient(p, row, drawn[j*draws:(j+1)*draws])
		for i, m := range p.n.Matrices() {
			u := slices.Clone(outputs[m.From][:m.Cols])
			if m.Biased {
				u = append(u, 1)
			}
			addSquare(want[i].Inputs, share, u)
			addSquare(want[i].Outputs, share, gradient[places.biases[m.To]:][:m.Rows])
		}
	}
	return want
}

func addSquare(dst []float64, share float64, x []float64) {
	for i, x1 := range x {
		for j, x2 := range x {
			dst[i*len(x)+j] += share * x1 * x2
		}
	}
}

// worthless returns factors full of what has to be overwritten.
func worthless(n *Network) []Factors {
	all := n.NewFactors(math.MaxInt)
	for _, f := range all {
		copy(f.Inputs, filled(len(f.Inputs), math.NaN()))
		copy(f.Outputs, filled(len(f.Outputs), math.NaN()))
	}
	return all
}

func wantFactors(t *testing.T, what string, got, want []Factors, tolerance float64) {
	t.Helper()
	for i := range want {
		wantNear(t, fmt.Sprintf("%sA of matrix %d", what, i), got[i].Inputs, want[i].Inputs, tolerance)
		wantNear(t, fmt.Sprintf("%sS of matrix %d", what, i), got[i].Outputs, want[i].Outputs, tolerance)
	}
}

// TestFactors holds factors against sums over rows taken one by one, of random graphs and mixtures.
func TestFactors(t *testing.T) {
	for seed := uint64(0); seed < 90; seed += uint64(nightly.Of(1, 3)) {
		p := randomProblem(t, seed, 9, true)
		if seed >= 60 {
			p = randomMixture(t, seed, 5, false)
		}
		all, _ := p.x.Dims()
		for _, size := range []int{1, 2, 7, reduce.BlockRows + 3} {
			rng := rand.New(rand.NewPCG(seed, uint64(size)))
			rows, drawn := make([]int, size), make([]float64, size*p.n.net.Draws())
			for j := range rows {
				rows[j] = rng.IntN(all)
			}
			p.n.net.DrawTo(drawn, rng)
			got := worthless(p.n)
			p.n.NewBatch(p.x, p.t, size).factorsTo(got, p.w, rows, drawn)
			wantFactors(t, fmt.Sprintf("%d %s, %d rows: ", seed, describe(p.n), size), got, naiveFactors(p, rows, drawn), 1e-11)
		}
	}
}

// TestTargetsAreDrawn: numbers are drawn row by row, from the generator alone, and over many the mean of S comes close to the
// Gauss–Newton matrix.
func TestTargetsAreDrawn(t *testing.T) {
	const size = 40000
	for _, c := range []struct {
		out  Activation
		loss LossFunction
	}{{Softmax, CrossEntropy}, {Sigmoid, CrossEntropy}, {Softmax, SquaredError}, {Tanh, SquaredError}} {
		p := randomData(t, Chain(3, []int{4}, 3, Tanh, c.out, c.loss, SkipAll), rand.New(rand.NewPCG(7, 7)), 3)
		floats.Scale(0.3, p.w) // so that no output is rarely drawn
		b, rows, drawn := p.n.NewBatch(p.x, p.t, size), filledRows(size, 1), []float64(nil)
		rng := rand.New(rand.NewPCG(4, 2))
		softmax, sigmoid := p.kind()
		for range size {
			for range 3 {
				switch {
				case sigmoid || softmax:
					drawn = append(drawn, rng.Float64())
				default:
					drawn = append(drawn, rng.NormFloat64())
				}
				if softmax {
					break
				}
			}
		}
		got, want := p.n.NewFactors(math.MaxInt), p.n.NewFactors(math.MaxInt)
		b.factorsTo(want, p.w, rows, drawn)
		b.FactorsTo(got, p.w, rows, rand.New(rand.NewPCG(4, 2)))
		wantFactors(t, describe(p.n)+": ", got, want, 0)
		g, places := hyperAll(p.one(1)).g, newPlaces(p.n.Architecture())
		for i, m := range p.n.Matrices() {
			at := places.biases[m.To]
			block := mat.DenseCopyOf(g.SliceSym(at, at+m.Rows))
			if d := floats.Distance(block.RawMatrix().Data, got[i].Outputs, 2); !(d <= 0.03*mat.Norm(block, 2)) {
				t.Errorf("%s: S of matrix %d is off by %.2g of %.2g", describe(p.n), i, d, mat.Norm(block, 2))
			}
		}
	}
}

func filledRows(n, row int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = row
	}
	return rows
}

// TestFactorsSameBits: factors have the same bits with any number of threads, are symmetric to the bit, and nothing is allocated
// after the first call.
func TestFactorsSameBits(t *testing.T) {
	flat := randomData(t, Chain(600, []int{20}, 5, Tanh, Sigmoid, CrossEntropy, SkipAll), rand.New(rand.NewPCG(5, 5)), 300)
	for i, p := range append(squaresProblems(t), flat) {
		for _, precision := range []Precision{Double, Single} {
			n := p.n.In(precision)
			all, _ := p.x.Dims()
			rows := rand.New(rand.NewPCG(1, 1)).Perm(all)
			alone := n.NewBatch(p.x, p.t, all)
			for _, size := range []int{all, 1, 70} {
				got, want := worthless(n), worthless(n)
				alone.FactorsTo(want, p.w, rows[:size], rand.New(rand.NewPCG(2, 2)))
				wantSymmetric(t, n, want)
				for threads := 2; threads < 4; threads++ {
					what := fmt.Sprintf("problem %d, %v, %d rows, %d threads: ", i, precision, size, threads)
					pool := reduce.NewPool(threads)
					b, source := n.NewBatch(p.x, p.t, all), rand.NewPCG(2, 2)
					rng := rand.New(source)
					b.Pool = pool
					b.FactorsTo(got, p.w, rows[:size], rng)
					for i := range want {
						wantSameBits(t, what+"A", got[i].Inputs, want[i].Inputs)
						wantSameBits(t, what+"S", got[i].Outputs, want[i].Outputs)
					}
					if count := alloctest.PerRun(2, func() { b.FactorsTo(got, p.w, rows[:size], rng) }); count != 0 {
						t.Errorf("%s%g allocations", what, count)
					}
					pool.Close()
				}
			}
		}
	}
}

func wantSymmetric(t *testing.T, n *Network, factors []Factors) {
	t.Helper()
	for i, m := range n.Matrices() {
		for _, f := range [][]float64{factors[i].Inputs, factors[i].Outputs} {
			k := int(math.Sqrt(float64(len(f))))
			for i := range k {
				for j := range i {
					if f[i*k+j] != f[j*k+i] {
						t.Fatalf("not symmetric: %v and %v", f[i*k+j], f[j*k+i])
					}
				}
			}
		}
		if k := m.inputs(); m.Biased && factors[i].Inputs[k*k-1] != 1 {
			t.Errorf("the mean of 1·1 is %v", factors[i].Inputs[k*k-1])
		}
	}
}

// TestFactorsOfLongSides: of factors with more rows than some bound there is the mean of the diagonal, the same as of the whole.
func TestFactorsOfLongSides(t *testing.T) {
	const size = 40
	for seed := range uint64(36) {
		p := randomProblem(t, seed, size, true)
		if seed >= 30 {
			p = randomMixture(t, seed, size, false)
		}
		b := p.n.NewBatch(p.x, p.t, size)
		whole, rows := p.n.NewFactors(math.MaxInt), rand.New(rand.NewPCG(seed, 1)).Perm(size)
		b.FactorsTo(whole, p.w, rows, rand.New(rand.NewPCG(seed, 2)))
		for side := range 6 {
			some := p.n.NewFactors(side)
			b.FactorsTo(some, p.w, rows, rand.New(rand.NewPCG(seed, 2)))
			for i := range some {
				for _, f := range [][2][]float64{{some[i].Inputs, whole[i].Inputs}, {some[i].Outputs, whole[i].Outputs}} {
					got, want := f[0], f[1]
					if d := int(math.Sqrt(float64(len(want)))); d > side {
						sum := 0.0
						for k := range d {
							sum += want[k*d+k]
						}
						want = []float64{sum / float64(d)}
					}
					wantNear(t, fmt.Sprintf("%s, side %d: matrix %d", describe(p.n), side, i), got, want, 1e-14)
				}
			}
		}
	}
}

func TestFactorsInSingle(t *testing.T) {
	for i, p := range precisionProblems(t) {
		all, _ := p.x.Dims()
		rows := rand.New(rand.NewPCG(1, 1)).Perm(all)
		got, want := p.n.NewFactors(math.MaxInt), p.n.NewFactors(math.MaxInt)
		p.n.NewBatch(p.x, p.t, all).FactorsTo(want, p.w, rows, rand.New(rand.NewPCG(3, 3)))
		p.n.In(Single).NewBatch(p.x, p.t, all).FactorsTo(got, p.w, rows, rand.New(rand.NewPCG(3, 3)))
		for k := range want {
			for _, f := range [][2][]float64{{got[k].Inputs, want[k].Inputs}, {got[k].Outputs, want[k].Outputs}} {
				if d := floats.Distance(f[0], f[1], 2); !(d <= 2e-5*max(1e-2, floats.Norm(f[1], 2))) {
					t.Errorf("problem %d: factors of matrix %d differ by %.2g of %.2g", i, k, d, floats.Norm(f[1], 2))
				}
			}
		}
	}
}
