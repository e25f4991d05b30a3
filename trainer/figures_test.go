package trainer

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/trajectory"
)

// Every quantity of an epoch has a number in some run.
func TestEveryQuantityIsMeasured(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{3}, Epochs: 1, Validation: "0.2"}
	classes, numbers, batches := c, c, c
	classes.Optimizer, numbers.Optimizer, batches.Optimizer = "tr-newton", "tr-gn", "adam"
	numbers.Data = "sine"
	measured := map[event.Quantity]bool{}
	for _, c := range []config.Config{classes, numbers, batches} {
		last := of[event.EpochEvent](train(t, c))[1]
		for q := range event.QuantityCount {
			measured[q] = measured[q] || q.Of(&last).Finite()
		}
	}
	for q := range event.QuantityCount {
		if !measured[q] {
			t.Errorf("no run measures %s", q.Info().Name)
		}
	}
}

// What a method spent must be what its events say it did, at the counted prices.
func TestWorkIsCounted(t *testing.T) {
	p := mustPrepare(t, config.Config{Data: "spirals"})
	cost := p.Network.Cost()
	for name, product := range map[string]float64{"tr-gn": cost.GaussNewton, "tr-newton": cost.Hessian} {
		epochs := of[event.EpochEvent](train(t, config.Config{Data: "spirals", Optimizer: name, Blocks: 1, Epochs: 6, Set: []string{"retries=0"}}))
		for i, e := range epochs[1:] {
			want := float64(e.Gradients) + float64(e.Products)*product/cost.Gradient + float64(e.Losses)*cost.Loss/cost.Gradient
			if got := float64(e.GradientEquivalents); math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, epoch %d: %v gradient equivalents for %v gradients, %v products and %v losses: expected %v",
					name, e.Epoch, got, e.Gradients, e.Products, e.Losses, want)
			}
			if before := epochs[i]; e.Losses != before.Losses+1 || e.Products < before.Products+1 {
				t.Errorf("%s, epoch %d: %v losses and %v products after %v and %v", name, e.Epoch, e.Losses, e.Products, before.Losses, before.Products)
			}
		}
		// A gradient an accepted step, and none after a rejected one.
		want := event.Float(1)
		for i, e := range epochs[1:] {
			if e.Gradients != want {
				t.Errorf("%s, epoch %d: %v gradients: expected %v", name, i+1, e.Gradients, want)
			}
			if e.Accepted {
				want++
			}
		}
	}
	jacobi := of[event.EpochEvent](train(t, config.Config{Data: "spirals", Optimizer: "tr-gn-jacobi", Epochs: 1}))[1]
	want := 1 + float64(jacobi.Products)*cost.GaussNewton/cost.Gradient + (cost.Loss+cost.Diagonal)/cost.Gradient
	if got := float64(jacobi.GradientEquivalents); math.Abs(got-want) > 1e-9*want {
		t.Errorf("tr-gn-jacobi: %v gradient equivalents: expected %v", got, want)
	}
	short := of[event.EpochEvent](train(t, config.Config{Data: "spirals", Optimizer: "tr-gn", Blocks: 1, Epochs: 1, Memory: 1}))[1]
	want = 1 + float64(short.Products)*(1+cost.GaussNewton/cost.Gradient) + cost.Loss/cost.Gradient
	if got := float64(short.GradientEquivalents); math.Abs(got-want) > 1e-9*want {
		t.Errorf("with nothing kept: %v gradient equivalents: expected %v", got, want)
	}
	for _, batch := range []int{1, 7, 64} { // 1,600 rows are no multiple of 7
		for _, e := range of[event.EpochEvent](train(t, config.Config{Data: "spirals", Optimizer: "sgd", Batch: batch, Epochs: 2})) {
			if math.Abs(float64(e.GradientEquivalents)-float64(e.Epoch)) > 1e-9 {
				t.Errorf("sgd, batches of %d: %v gradient equivalents after %d epochs", batch, e.GradientEquivalents, e.Epoch)
			}
		}
	}
}

func TestFiguresOfEpochs(t *testing.T) {
	for _, boundary := range []string{"segment", "minimum"} {
		t.Run(boundary, func(t *testing.T) { testFiguresOfEpochs(t, boundary) })
	}
}

func testFiguresOfEpochs(t *testing.T, boundary string) {
	m := train(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-newton", Epochs: 25, Set: []string{"retries=0", "boundary=" + boundary}})
	epochs, inner, done := of[event.EpochEvent](m), of[event.InnerEvent](m), of[event.DoneEvent](m)[0]
	best, rejected, minima, at, sum := 0, 0, 0, 0, 0.0
	for i, e := range epochs {
		if i == 0 {
			continue
		}
		last := epochs[i-1]
		if e.TestError < epochs[best].TestError {
			best = i
		}
		if !e.Accepted {
			rejected++
			if e.Loss != last.Loss || e.TestError != last.TestError || e.Blocks[0].Step != 0 || e.Blocks[0].Weight != last.Blocks[0].Weight {
				t.Errorf("epoch %d was rejected and yet changed: %+v", i, e)
			}
		} else if e.Loss >= last.Loss || e.Blocks[0].Step == 0 {
			t.Errorf("epoch %d was accepted from loss %v to %v", i, last.Loss, e.Loss)
		}
		sum += float64(e.Seconds)
		if math.Abs(float64(e.Elapsed)-sum) > 1e-6 {
			t.Errorf("epoch %d: %v s elapsed, %v s in epochs", i, e.Elapsed, sum)
		}
		squares := 0.0
		for _, b := range e.Blocks {
			squares += float64(b.Gradient * b.Gradient)
		}
		if squares > float64(e.GradientNorm*e.GradientNorm)*(1+1e-9) {
			t.Errorf("epoch %d: gradient norms of blocks above the whole one's", i)
		}
		if in := &e.Inner[0]; !in.Multiplier.Absent() {
			minima++
			onBoundary := in.Stop == krylov.Boundary || in.Stop == krylov.NegativeCurvature
			if !onBoundary || in.Multiplier < 0 || !(in.SteihaugShare > 0 && in.SteihaugShare < 1+1e-9) || math.Abs(float64(in.StepNorm/e.Radius-1)) > 1e-9 {
				t.Errorf("epoch %d: %+v in a region of %g", i, in, e.Radius)
			}
		}
		for n := 1; n <= e.Inner[0].Iterations; n++ {
			if in := inner[at]; in.Epoch != i || in.Iteration != n || in.Radius != e.Radius {
				t.Fatalf("inner event %+v: expected iteration %d of epoch %d", in, n, i)
			}
			at++
		}
		if last := inner[at-1]; e.Inner[0].Multiplier.Absent() && last.Residual != e.Inner[0].Residual || last.Residual > 100 {
			t.Errorf("epoch %d: residual %v in the last inner event, %v in the summary", i, last.Residual, e.Inner[0].Residual)
		}
	}
	if rejected == 0 || minima > 0 != (boundary == "minimum") {
		t.Errorf("%d steps were rejected, %d are minima: this run shows too little", rejected, minima)
	}
	if done.BestEpoch != best || done.BestTestError != epochs[best].TestError || done.Elapsed != epochs[25].Elapsed || done.Loss != epochs[25].Loss {
		t.Errorf("done %+v: the best epoch was %d", done, best)
	}
}

// A method that goes through batches has moved the weights when it is told to stop: the run ends with those of its last
// whole epoch, and their figures.
func TestFiguresAfterAnEpochThatWasCut(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Optimizer: "adam", Batch: 8})
	d.times(40, event.StepInner{}) // of the epoch's 200 batches
	m := d.stop()
	start, end := of[event.EpochEvent](m)[0], of[event.DoneEvent](m)[0]
	if end.Epochs != 0 || end.Loss != start.Loss || end.TestError != start.TestError {
		t.Errorf("loss %v and test error %v at the start are %v and %v in the end", start.Loss, start.TestError, end.Loss, end.TestError)
	}
}

func TestDivergenceNamesItsEpoch(t *testing.T) {
	h := staying(t, config.Config{Data: "sine", Act: "identity", Optimizer: "sgd", Set: []string{"rate=1e-3"}, Epochs: 3})
	h.until(t, 3)
	do(t, h.Session, event.Set{Key: "rate", Value: "1e300"})
	do(t, h.Session, event.Pause{On: false})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Done != nil && d.Done.Reason == event.ReasonDiverged })
	err := h.over()
	var diverged *trajectory.DivergedError
	if !errors.As(err, &diverged) || diverged.Epoch != 4 || of[event.DivergedEvent](&h.kept.memory)[0].Epoch != 4 {
		t.Errorf("%v after 3 finished epochs", err)
	}
}

// A method that takes over a ruined net is there to mend it: the bad loss is not its doing.
func TestRescueIsNoDivergence(t *testing.T) {
	const worseFor = 5 // epochs with 1.5 times the first loss end a run
	d := steer(t, config.Config{Data: "spirals", Out: "tanh", Optimizer: "sgd", Set: []string{"rate=5"}, Seed: 1})
	d.times(worseFor-1, event.StepEpoch{})
	d.do(event.Switch{Optimizer: "tr-gn"})
	d.do(event.Set{Key: "radius", Value: "1e-6"})
	d.times(worseFor, event.StepEpoch{})
	d.do(event.Switch{Optimizer: "momentum"})
	d.do(event.Set{Key: "rate", Value: "1e-12"})
	d.times(worseFor, event.StepEpoch{})
	m := d.stop()
	epochs := of[event.EpochEvent](m)
	for _, e := range epochs[1:worseFor] {
		if e.Loss < 1.5*epochs[0].Loss {
			t.Fatalf("epoch %d: loss %v from %v: expected a ruined net", e.Epoch, e.Loss, epochs[0].Loss)
		}
	}
	if done := of[event.DoneEvent](m)[0]; done.Reason != event.ReasonStopped || len(epochs) != 3*worseFor {
		t.Errorf("%d epochs, ended: %+v", len(epochs), done)
	}
}

// blocked is a Recorder that hangs until it is released, and one that panics.
type blocked struct{ release chan struct{} }

func (b *blocked) Record(event.Event) error { <-b.release; return nil }
func (b *blocked) Flush() error             { return nil }

type broken struct{}

func (broken) Record(event.Event) error { panic("out of ink") }
func (broken) Flush() error             { return nil }

func TestRecorderThatHangsCannotHoldACancelledRun(t *testing.T) {
	t.Parallel()
	b := &blocked{release: make(chan struct{})}
	defer close(b.release)
	s := mustNew(t, config.Config{Data: "bpls-linear", Optimizer: "sgd", Set: []string{"rate=1e-3"}}, b)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	box := s.Subscribe()
	defer box.Close()
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Epoch > 2000 })
	cancel()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "not recorded") {
			t.Errorf("gave %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run goes on waiting for its recorder")
	}
}

// slow is a Recorder that takes its time to save what it has.
type slow struct{ saved bool }

func (*slow) Record(event.Event) error { return nil }
func (s *slow) Flush() error {
	time.Sleep(checkpoint.RecordGrace + time.Second/2)
	s.saved = true
	return nil
}

func TestCancelledRunWaitsForFlush(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var s slow
	if err := mustNew(t, config.Config{Data: "spirals"}, &s).Run(ctx); !errors.Is(err, context.Canceled) || !s.saved {
		t.Errorf("saved: %t: %v", s.saved, err)
	}
}

func TestRecorderThatPanicsEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := mustNew(t, config.Config{Data: "spirals", Optimizer: "sgd"}, broken{}).Run(ctx)
	var bug *checkpoint.PanicError
	if !errors.As(err, &bug) || bug.Value != "out of ink" {
		t.Errorf("gave %v", err)
	}
}

func TestStopBeforeTheRunBegan(t *testing.T) {
	m := &memory{}
	s := mustNew(t, config.Config{Data: "letters"}, m)
	done := make(chan error, 1)
	go func() { done <- s.Run(context.Background()) }()
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := of[event.DoneEvent](m); len(d) != 1 || d[0].Reason != event.ReasonStopped {
		t.Errorf("done %+v", d)
	}
}

func TestSwitchKeepsTheBatchSize(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Optimizer: "tr-gn", Batch: 17})
	do(t, d.s, event.Switch{Optimizer: "adam"})
	for _, set := range d.until(func(s *event.Status) bool { return s.Optimizer == "adam" }).Settings {
		if set.Key == "batch" && set.Text != "17" {
			t.Errorf("batches of %s rows", set.Text)
		}
	}
	do(t, d.s, event.Switch{Optimizer: "tr-gn"})
	d.until(func(s *event.Status) bool { return s.Optimizer == "tr-gn" })
	d.do(event.Set{Key: "boundary", Value: "scaling"})
	if got := of[event.SettingEvent](d.stop())[0].Value; got != "scaling" {
		t.Errorf("a choice is recorded as %v", got)
	}
}
