package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	library "github.com/c-bata/goptuna/sobol"
	"github.com/c-bata/goptuna/tpe"

	"newtop/trainer"
)

// The first points of the sequence by hand, in the first, third and fourth of Joe and Kuo's dimensions (the second one is
// left out), whose direction numbers begin with 1, 1, 1; 1, 3, 7; 1, 3, 1.
func TestSobol(t *testing.T) {
	s, err := newSpace(trainer.Config{Optimizer: "adam"}, dimensions(t, "rate=0.1..1", "beta1=0..0.9", "beta2=0..0.9"))
	if err != nil {
		t.Fatal(err)
	}
	p := newSampler(s, "", 0)
	for _, want := range [][]float64{
		{0.5, 0.5, 0.5}, {0.75, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.375, 0.625, 0.875}, {0.875, 0.125, 0.375},
		{0.625, 0.875, 0.625}, {0.125, 0.375, 0.125},
	} {
		if got := p.draw(); !slices.Equal(got, want) {
			t.Errorf("%v, expected %v", got, want)
		}
	}
	// A shift keeps every interval of the length 1/64 its one point of 64.
	p = newSampler(s, "", 77)
	p.skip(63)
	for k := range 3 {
		seen := map[int]bool{}
		p := newSampler(s, "", 77)
		for range 63 {
			seen[int(p.draw()[k]*64)] = true
		}
		if len(seen) != 63 {
			t.Errorf("coordinate %d: 63 points in %d intervals", k, len(seen))
		}
	}
	q := newSampler(s, "", 77)
	for range 63 {
		q.draw()
	}
	if a, b := p.draw(), q.draw(); !slices.Equal(a, b) {
		t.Errorf("%v after a skip, expected %v", a, b)
	}
}

// The sequence is that of goptuna, whose table is too large for a program.
func TestSobolLibrary(t *testing.T) {
	const coordinates = 1 + len(directions)
	s, engine := newSobol(coordinates), library.NewEngine(uint32(coordinates))
	for n := range 5000 {
		got, want := s.next(), engine.Draw()
		for i := range want {
			if float64(got[i])/(1<<32) != want[i] {
				t.Fatalf("point %d, coordinate %d: %d/2³², expected %g", n, i, got[i], want[i])
			}
		}
	}
}

// Coordinates beyond those of the sequence are random, the same after a skip.
func TestManyCoordinates(t *testing.T) {
	made := func() *sampler {
		return &sampler{seed: 1, shift: make([]uint32, 2+2*len(directions)), sobol: newSobol(1 + len(directions))}
	}
	p, q := made(), made()
	first, second := p.draw(), p.draw()
	q.skip(1)
	if !slices.Equal(q.draw(), second) {
		t.Error("another point after a skip")
	}
	for i := range first {
		if first[i] == second[i] {
			t.Errorf("coordinate %d is %g twice", i, first[i])
		}
	}
}

// The density of the estimator is one: it integrates to 1 over the axis, by the trapezoid rule.
func TestDensity(t *testing.T) {
	e := tpe.NewParzenEstimator([]float64{0.02, 0.3, 0.31, 0.9}, 0, 1, tpe.ParzenEstimatorParams{
		ConsiderPrior: true, PriorWeight: 1, ConsiderMagicClip: true,
		Weights: func(n int) []float64 { return slices.Repeat([]float64{1}, n) },
	})
	const n = 2000
	sum := 0.0
	for i := range n + 1 {
		w := 1.0
		if i == 0 || i == n {
			w = 0.5
		}
		sum += w * density(e, float64(i)/n) / n
	}
	if sum /= math.Sqrt(2 * math.Pi); math.Abs(sum-1) > 1e-4 {
		t.Errorf("it integrates to %g", sum)
	}
	// What is drawn is distributed so: the share below ½ against the integral.
	r := rand.New(rand.NewPCG(1, 2))
	below, want := 0, 0.0
	for range n {
		if drawFrom(e, r) < 0.5 {
			below++
		}
	}
	for i := range n / 2 {
		want += density(e, (float64(i)+0.5)/n) / n / math.Sqrt(2*math.Pi)
	}
	if got := float64(below) / n; math.Abs(got-want) > 0.04 {
		t.Errorf("the share %.3f below ½, expected %.3f", got, want)
	}
}

// The estimator finds the valley of a function faster than the sequence does, and the good method.
func TestEstimatorGoesDownhill(t *testing.T) {
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=adam,nag,sgd", "rate=1e-4..1:log", "batch=16..512:log:int"))
	if err != nil {
		t.Fatal(err)
	}
	height := func(choices []Choice) float64 {
		h := math.Pow(choiceOf(&trial{Trial: Trial{Choices: choices}}, "rate").Number-0.7, 2)
		if choices[0].Value != "nag" {
			h += 0.2
		}
		return h
	}
	mean := func(kind string) float64 {
		p := newSampler(s, kind, 5)
		var seen [][]Choice
		sum := 0.0
		for i := range 60 {
			choices, ok := p.next(seen)
			if !ok {
				t.Fatal("no more trials of a space with a range")
			}
			p.observe(choices)
			if i >= 30 {
				sum += height(choices) / 30
			}
			at, _ := slices.BinarySearchFunc(seen, height(choices), func(c []Choice, h float64) int {
				if height(c) < h {
					return -1
				}
				return 1
			})
			seen = slices.Insert(seen, at, choices)
		}
		return sum
	}
	if model, sequence := mean("tpe"), mean("sobol"); model > sequence/2 {
		t.Errorf("mean height %.4f, of the sequence %.4f: expected half of it at most", model, sequence)
	}
	if a, b := mean("tpe"), mean("tpe"); a != b {
		t.Errorf("the same seed gives %g and %g", a, b)
	}
}

// A small space is gone through once.
func TestEverySettingOnce(t *testing.T) {
	s, err := newSpace(trainer.Config{}, dimensions(t, "opt=adam,lbfgs", "batch=16,32", "act=tanh,relu"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"", "sobol", "random", "tpe"} {
		p, seen := newSampler(s, kind, 9), map[string]bool{}
		for {
			choices, ok := p.next(nil)
			if !ok {
				break
			}
			p.observe(choices)
			seen[text(choices)] = true
		}
		if len(seen) != 6 {
			t.Errorf("%q: %d of 6 settings", kind, len(seen))
		}
	}
}
