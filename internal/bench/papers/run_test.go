package papers

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer"
	"newtop/trainer/event"
)

// spirals is a trial of a fraction of a second.
func spirals(optimizer string, seed uint64) trainer.Config {
	return trainer.Config{Data: "spirals", Hidden: []int{6}, Out: "tanh", Optimizer: optimizer, Epochs: 8, Seed: seed}
}

// events returns those of a run by the lines that newtop train would write.
func events(t *testing.T, c trainer.Config) []event.Event {
	t.Helper()
	var text bytes.Buffer
	s, err := trainer.New(c, trainer.NewJSONLines(&text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all []event.Event
	for line := range bytes.Lines(text.Bytes()) {
		e, err := event.DecodeEvent(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func TestTrialHasTheNumbersOfTheRun(t *testing.T) {
	for _, config := range []trainer.Config{spirals("tr-gn", 3), {Data: "spirals", Optimizer: "tr-gn", Blocks: 2, Epochs: 5, Seed: 1}, spirals("online-bp", 2)} {
		o, err := runTrial(t.Context(), config, nil, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		k, inner, solves := 0, 0, 0
		flops := 0.0
		for _, e := range events(t, config) {
			e, ok := e.(event.EpochEvent)
			if !ok {
				continue
			}
			for _, s := range e.Inner {
				inner, solves, flops = inner+s.Iterations, solves+1, flops+float64(s.Iterations)*float64(s.Flops)
			}
			p := o.points[k]
			got := []float64{float64(p.epoch), p.loss, p.wrong, p.testErr, p.rmse, p.testRMSE, p.equivalents, float64(p.inner), float64(p.solves), p.flops}
			want := []float64{float64(e.Epoch), float64(e.Loss), float64(e.Error), float64(e.TestError), float64(e.RMSE), float64(e.TestRMSE),
				float64(e.GradientEquivalents), float64(inner), float64(solves), flops}
			if !slices.Equal(got, want) {
				t.Errorf("%s, epoch %d: got %v, want %v", config.Optimizer, e.Epoch, got, want)
			}
			k++
		}
		if k != len(o.points) {
			t.Errorf("%s: %d points of %d epochs", config.Optimizer, len(o.points), k)
		}
	}
}

// byHand is the outputs of a net 2-6-2 of hyperbolic tangents on the rows of x, term by term.
func byHand(w []float64, x *mat.Dense) *mat.Dense {
	rows, _ := x.Dims()
	out := mat.NewDense(rows, 2, nil)
	for p := range rows {
		var h [6]float64
		for i := range h {
			h[i] = math.Tanh(w[2*i]*x.At(p, 0) + w[2*i+1]*x.At(p, 1) + w[12+i])
		}
		for k := range 2 {
			v := w[18+12+k]
			for i := range h {
				v += w[18+6*k+i] * h[i]
			}
			out.Set(p, k, math.Tanh(v))
		}
	}
	return out
}

// missedShare is the share of rows whose largest output is not the label's.
func missedShare(u *mat.Dense, labels []int) float64 {
	n := 0
	for p, label := range labels {
		if u.At(p, label) <= u.At(p, 1-label) {
			n++
		}
	}
	return float64(n) / float64(len(labels))
}

func TestWeightsAndCommitteeByHand(t *testing.T) {
	config := spirals("tr-newton", 0)
	problem, err := trainer.Prepare(&config)
	if err != nil {
		t.Fatal(err)
	}
	test := &problem.Test
	rows := test.Rows()
	sum := mat.NewDense(rows, 2, nil)
	var weights [][]float64
	for seed := range uint64(3) {
		config.Seed = seed
		o, err := runTrial(t.Context(), config, problem.Network, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.MinFunc(o.points, func(a, b point) int { return cmp.Compare(a.testErr, b.testErr) })
		if o.atBest().testErr != best.testErr {
			t.Errorf("seed %d: the best test error is %v, want %v", seed, o.atBest().testErr, best.testErr)
		}
		u := byHand(o.weights, test.Inputs)
		if got := missedShare(u, test.Labels); got != o.atBest().testErr {
			t.Errorf("seed %d: the weights have a test error of %v, the best was %v", seed, got, o.atBest().testErr)
		}
		sum.Add(sum, u)
		weights = append(weights, o.weights)
	}
	sum.Scale(1./3, sum)
	if !mat.EqualApprox(meanOutputs(problem.Network, weights, test.Inputs), sum, 1e-13) {
		t.Error("the committee's outputs are not the mean of its nets'")
	}
	mean := 0.0
	for _, v := range missRates([][]byte{missedRows(problem.Network, weights, &test.Split)}, rows) {
		mean += v / float64(rows)
	}
	if want := missedShare(sum, test.Labels); math.Abs(mean-want) > 1e-12 {
		t.Errorf("the committee misses %v of the rows, want %v", mean, want)
	}
	if got, want := committeeError(problem.Network, weights, &test.Split), missedShare(sum, test.Labels); got != want {
		t.Errorf("the committee's error is %v, want %v", got, want)
	}
}

func TestThreadsChangeTimesOnly(t *testing.T) {
	var want []*outcome
	for _, threads := range []int{1, 2, 5} {
		var trials []trial
		for seed := range uint64(3) {
			trials = append(trials, trial{config: spirals("tr-gn", seed), share: func(*point) float64 { return 0 }, work: float64(seed)})
		}
		s := schedule{threads: threads}
		got, err := s.run(t.Context(), trials)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		for i := range got {
			for k := range got[i].points {
				a, b := got[i].points[k], want[i].points[k]
				a.elapsed, b.elapsed = 0, 0
				if math.IsNaN(a.radius) && math.IsNaN(b.radius) {
					a.radius, b.radius = 0, 0
				}
				if a != b {
					t.Fatalf("%d threads, trial %d: %+v, want %+v", threads, i, a, b)
				}
			}
		}
	}
}

func TestDivergedTrialIsAnOutcome(t *testing.T) {
	config := spirals("online-bp", 1)
	config.Set, config.Out, config.Loss = []string{"rate=1000"}, "linear", "mse"
	o, err := runTrial(t.Context(), config, nil, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !o.diverged || o.reason != event.ReasonDiverged {
		t.Errorf("the trial ended with %q", o.reason)
	}
	if got, want := lost([]*outcome{o, {}, nil}), "1 of 2 diverged"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCancelledScheduleKeepsWhatIsThere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	long := spirals("tr-gn", 2)
	long.Epochs = 0
	long.Optimizer = "sgd"
	trials := []trial{
		{config: spirals("tr-gn", 1), share: func(*point) float64 { return 0 }, work: 2},
		{config: long, share: func(p *point) float64 {
			if p.epoch == 3 {
				cancel()
			}
			return 0
		}, work: 1},
	}
	s := schedule{threads: 1}
	got, err := s.run(ctx, trials)
	if err != context.Canceled || got[0] == nil || got[1] != nil {
		t.Errorf("got %v and %v", got, err)
	}
}

func TestScheduleStopsAtAnError(t *testing.T) {
	wrong := spirals("tr-gn", 1)
	wrong.Optimizer = "no such method"
	endless := spirals("sgd", 1)
	endless.Epochs = 0
	still := func(*point) float64 { return 0 }
	s := schedule{threads: 2}
	if _, err := s.run(t.Context(), []trial{{config: endless, share: still}, {config: wrong, share: still}}); err == nil || err == context.Canceled {
		t.Errorf("the error is %v", err)
	}
}

func TestProgressGoesToOne(t *testing.T) {
	last, told := 0.0, 0
	s := schedule{threads: 2}
	s.gauge.all = 4
	s.gauge.tell = func(p Progress) {
		if p.Share < last {
			t.Errorf("progress went from %v to %v", last, p.Share)
		}
		last = p.Share
		told++
	}
	eighth := func(p *point) float64 { return float64(p.epoch) / 8 }
	if _, err := s.run(t.Context(), []trial{{config: spirals("tr-gn", 1), share: eighth, work: 3}, {config: spirals("tr-gn", 2), share: eighth, work: 1}}); err != nil {
		t.Fatal(err)
	}
	if math.Abs(last-1) > 1e-12 || told < 16 {
		t.Errorf("%d times, %v at the end", told, last)
	}
}
