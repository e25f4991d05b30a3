package score

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// linear returns a problem whose outputs are 3·(x₀ + x₁) − x₂ and of which nothing depends on x₃; x₄ is the same in all rows.
func linear(rows int) *Permutation {
	rng := rand.New(rand.NewPCG(5, 6))
	p := &Permutation{
		Kind: Kind{Units: []float64{10}}, X: mat.NewDense(rows, 5, nil), T: mat.NewDense(rows, 1, nil),
		Groups:  []Group{{"pair", 0, 2}, {"single", 2, 3}, {"unused", 3, 4}, {"constant", 4, 5}},
		Repeats: 4, Seed: 9, Threads: 1,
	}
	p.OutputsTo = func(dst, x *mat.Dense) {
		n, _ := x.Dims()
		for i := range n {
			dst.Set(i, 0, 3*(x.At(i, 0)+x.At(i, 1))-x.At(i, 2))
		}
	}
	for i := range rows {
		for j := range 4 {
			p.X.Set(i, j, rng.NormFloat64())
		}
		p.X.Set(i, 4, 7)
		p.T.Set(i, 0, 3*(p.X.At(i, 0)+p.X.At(i, 1))-p.X.At(i, 2))
	}
	return p
}

func never() error { return nil }

// Of a net that fits y = a·x the mean square after permutations of x is 2a²·Σ(x − x̄)²/(n − 1) on average.
func TestImportanceOfALinearNet(t *testing.T) {
	p := linear(700)
	p.Repeats = 200
	list, value, _, err := p.Importances(never)
	if err != nil || value > 1e-12 {
		t.Fatal(value, err)
	}
	for k, a := range [][]float64{{3, 3}, {1}} {
		var sum, square float64
		for i := range 700 {
			y := 0.0
			for j, v := range a {
				y += v * p.X.At(i, p.Groups[k].First+j)
			}
			sum += y
			square += y * y
		}
		want := 10 * math.Sqrt(2*(square-sum*sum/700)/699)
		if got := list[k]; math.Abs(got.Rise/want-1) > 0.01 || got.Spread <= 0 || got.Spread > 0.1*want {
			t.Errorf("%+v, expected %g", got, want)
		}
	}
	for _, got := range list[2:] {
		if got.Rise != 0 || got.Spread != 0 {
			t.Errorf("%+v, expected nothing", got)
		}
	}
}

// Against whole tables that are permuted and measured anew.
func TestImportanceAgainstWholeTables(t *testing.T) {
	const rows, classes = 300, 3
	rng := rand.New(rand.NewPCG(1, 1))
	p := &Permutation{
		Kind: Kind{Classes: names(classes), Probabilities: true}, X: mat.NewDense(rows, 3, nil), T: mat.NewDense(rows, classes, nil),
		Groups: []Group{{"a", 0, 1}, {"b", 1, 3}}, Repeats: 3, Seed: 4,
	}
	outputs := func(x []float64) []float64 {
		u, sum := make([]float64, classes), 0.0
		for k := range u {
			u[k] = math.Exp(float64(k)*x[0] - x[1] + float64(k*k)*x[2]/3)
			sum += u[k]
		}
		for k := range u {
			u[k] /= sum
		}
		return u
	}
	p.OutputsTo = func(dst, x *mat.Dense) {
		n, _ := x.Dims()
		for i := range n {
			dst.SetRow(i, outputs(x.RawRowView(i)))
		}
	}
	for i := range rows {
		for j := range 3 {
			p.X.Set(i, j, float64(rng.IntN(4))-1.5) // so that many stay as they are
		}
		p.T.SetRow(i, coded(rng.IntN(classes), classes))
	}
	measure := func(x func(i int) []float64) (loss, wrong float64) {
		s := NewScorer(p.Kind, classes)
		for i := range rows {
			s.Add(p.T.RawRowView(i), outputs(x(i)))
		}
		e := s.Scores("")
		return float64(e.Log), float64(e.Error)
	}
	loss, wrong := measure(p.X.RawRowView)
	var want []Importance
	for k, g := range p.Groups {
		var rises []judged
		for r := range p.Repeats {
			from := rand.New(rand.NewPCG(p.Seed, uint64(k*p.Repeats+r))).Perm(rows)
			l, w := measure(func(i int) []float64 {
				x := append([]float64(nil), p.X.RawRowView(i)...)
				copy(x[g.First:g.Last], p.X.RawRowView(from[i])[g.First:g.Last])
				return x
			})
			rises = append(rises, judged{l - loss, w - wrong})
		}
		want = append(want, summarize(g.Name, rises))
	}
	for _, threads := range []int{1, 3} {
		p.Threads = threads
		list, l, w, err := p.Importances(never)
		if err != nil || math.Abs(l-loss) > 1e-12 || math.Abs(w-wrong) > 1e-12 {
			t.Fatal(l, loss, w, wrong, err)
		}
		for k := range want {
			for _, pair := range [][2]float64{{list[k].Rise, want[k].Rise}, {list[k].Spread, want[k].Spread}, {list[k].Error, want[k].Error}, {list[k].ErrorSD, want[k].ErrorSD}} {
				if math.Abs(pair[0]-pair[1]) > 1e-12 {
					t.Errorf("%d threads: %+v, expected %+v", threads, list[k], want[k])
				}
			}
		}
	}
}

func TestImportancesDoNotDependOnThreads(t *testing.T) {
	p := linear(1500)
	alone, _, _, _ := p.Importances(never)
	p.Threads = 5
	together, _, _, _ := p.Importances(never)
	if !reflect.DeepEqual(alone, together) {
		t.Errorf("%v, alone %v", together, alone)
	}
}

func TestImportancesCanBeStopped(t *testing.T) {
	p, n, enough := linear(50), 0, errors.New("enough")
	_, _, _, err := p.Importances(func() error {
		if n++; n > 5 {
			return enough
		}
		return nil
	})
	if err != enough {
		t.Errorf("%v", err)
	}
}
