package storetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/rowcode"
)

// plain is an epoch as a method without inner solves has it.
func plain(n int, noise *rand.Rand) event.EpochEvent {
	loss := 1/math.Sqrt(float64(n+1)) + 0.01*noise.Float64()
	nan := event.Float(math.NaN())
	return event.EpochEvent{
		Epoch: n, Optimizer: "adam", Loss: event.Float(loss), TestLoss: event.Float(loss * (1 + 0.1*noise.Float64())),
		Error: event.Float(math.Round(loss*4000) / 16000), TestError: event.Float(math.Round(loss*1100) / 4000),
		RMSE: nan, TestRMSE: nan, GradientNorm: event.Float(noise.Float64()), StepNorm: event.Float(noise.Float64()),
		Radius: nan, Rho: nan, Rate: 1e-3, Accepted: true, Gradients: event.Float(n), GradientEquivalents: event.Float(n),
		Blocks: []event.BlockNorms{
			{To: 1, From: 0, Weight: event.Float(noise.Float64()), Gradient: event.Float(noise.Float64()), Step: event.Float(noise.Float64())},
			{To: 2, From: 1, Weight: event.Float(noise.Float64()), Gradient: event.Float(noise.Float64()), Step: event.Float(noise.Float64())},
		},
		Seconds: 1e-3, Elapsed: event.Float(float64(n) * 1e-3),
	}
}

// epochsOfRun returns the numbers of the recorded epochs.
func epochsOfRun(t *testing.T, s *store.Store, id string) (numbers []int) {
	t.Helper()
	for _, e := range events(t, s, id) {
		if e, ok := e.(event.EpochEvent); ok {
			numbers = append(numbers, e.Epoch)
		}
	}
	return numbers
}

// A history beyond the bounds keeps its newest part, its extremes, the best epoch, and all marks and spectra.
func TestHistoryIsThinned(t *testing.T) {
	const exact, old, n, best, spike = 4, 8, 5_000, 1_333, 1_777
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	r.Writer.Bounds = recorder.Bounds{Exact: exact, Old: old}
	noise := rand.New(rand.NewPCG(1, 1))
	record(t, r, opening("a"))
	var marks int
	for i := range n {
		e := plain(i, noise)
		e.TestError = event.Float(0.5 + 0.1*noise.Float64())
		switch i {
		case best:
			e.TestError = 0.25
		case spike:
			e.Loss = 99
		}
		if i%10 == 0 {
			record(t, r, inner(i, 0, 1))
		}
		record(t, r, e)
		if i%500 == 200 {
			record(t, r, event.SwitchEvent{Epoch: i, From: "adam", To: "sgd"}, event.SpectrumEvent{Epoch: i, Method: "lanczos"})
			marks++
		}
		if i%1000 == 999 {
			r.EnqueueCheckpoint(held(i))
			wait(r)
		}
	}
	flush(t, r)
	run := find(t, s, "a")
	numbers := epochsOfRun(t, s, "a")
	if run.Epochs != n || run.Thinned != n-len(numbers) || len(numbers) > (exact+40)*rowcode.PeakStretch+9*(old+2) || run.First.Epoch != 0 || run.Best == nil || run.Best.Epoch != best || run.Last.Epoch != n-1 {
		t.Errorf("%d epochs of %d, %d thinned, best %+v", len(numbers), run.Epochs, run.Thinned, run.Best)
	}
	if !slices.IsSorted(numbers) || !slices.Contains(numbers, best) || !slices.Contains(numbers, spike) {
		t.Errorf("an extreme is gone, or the order: %d", numbers)
	}
	for i, want := len(numbers)-1, n-1; want >= n-exact*rowcode.PeakStretch; i, want = i-1, want-1 {
		if numbers[i] != want {
			t.Fatalf("of the newest epochs %d is gone", want)
		}
	}
	// Evenly: every tenth of the run has some.
	var parts [10]int
	for _, e := range numbers {
		parts[e*len(parts)/n]++
	}
	if slices.Min(parts[:]) < 1 {
		t.Errorf("parts of the run have %d", parts)
	}
	var switches, spectra, steps int
	for _, e := range events(t, s, "a") {
		switch e.(type) {
		case event.SwitchEvent:
			switches++
		case event.SpectrumEvent:
			spectra++
		case event.InnerEvent:
			steps++
		}
	}
	if switches != marks || spectra != marks || steps != run.Inner || steps == 0 || steps >= n/10 {
		t.Errorf("%d switches, %d spectra of %d, %d inner iterations", switches, spectra, marks, steps)
	}
	if sum, lines := checked(t, s.Path()); sum.Damaged > 0 {
		t.Errorf("%q", lines)
	}
	var counted, stretches, longest int
	if err := s.DB.QueryRow("SELECT (SELECT count(*) FROM epochs), (SELECT count(*) FROM peaks), 0").Scan(&counted, &stretches, &longest); err != nil || counted != len(numbers) || stretches > exact+old+40 {
		t.Errorf("%d epochs in %d stretches, %v", counted, stretches, err)
	}

	// It goes on from a checkpoint, and the thinned part stays thinned.
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	r.Writer.Bounds = recorder.Bounds{Exact: exact, Old: old}
	record(t, r, opening("a"))
	for i := range 2000 {
		e := plain(n+i, noise)
		e.TestError = 0.6
		record(t, r, e)
		if i%500 == 0 {
			r.EnqueueCheckpoint(held(n + i))
			wait(r)
		}
	}
	flush(t, r)
	run, numbers = find(t, s, "a"), epochsOfRun(t, s, "a")
	if run.Epochs != n+2000 || run.Thinned != run.Epochs-len(numbers) || len(numbers) > (exact+40)*rowcode.PeakStretch+9*(old+2) || run.Best.Epoch != best {
		t.Errorf("gone on: %d epochs of %d, %d thinned, best %d", len(numbers), run.Epochs, run.Thinned, run.Best.Epoch)
	}
	if sum, lines := checked(t, s.Path()); sum.Damaged > 0 {
		t.Errorf("gone on: %q", lines)
	}
}

// A run within the bounds is never thinned, and none is thinned behind a checkpoint that it may be resumed from.
func TestHistoryStays(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	r.Writer.Bounds = recorder.Bounds{Exact: 4, Old: 8}
	record(t, r, opening("a"))
	r.EnqueueCheckpoint(held(0))
	wait(r)
	noise := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		record(t, r, plain(i, noise))
	}
	flush(t, r)
	if numbers := epochsOfRun(t, s, "a"); len(numbers) != 2000 || find(t, s, "a").Thinned != 0 {
		t.Errorf("%d epochs", len(numbers))
	}
	if recorder.ExactEpochs < 100_000 || math.Mod(recorder.ExactEpochs, rowcode.PeakStretch) != 0 {
		t.Error("ordinary runs are thinned")
	}
}

// thinnedTo records epochs of a run, with a checkpoint after the last, under bounds.
func thinnedTo(t *testing.T, r *recorder.Recorder, b recorder.Bounds, from, to int, change func(*event.EpochEvent)) {
	t.Helper()
	r.Writer.Bounds = b
	noise := rand.New(rand.NewPCG(1, 1))
	record(t, r, opening("a"))
	for i := from; i < to; i++ {
		e := plain(i, noise)
		change(&e)
		record(t, r, e)
	}
	r.EnqueueCheckpoint(held(to - 1))
	wait(r)
}

// An extreme among epochs that no row of peaks tells of, as where a run went on from a checkpoint, stays.
func TestHistoryKeepsWhatNoRowTellsOf(t *testing.T) {
	const spike = 1_200
	raise := func(e *event.EpochEvent) {
		if e.Epoch == spike {
			e.Loss = 99
		}
	}
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	thinnedTo(t, r, recorder.Bounds{Exact: 4, Old: 8}, 0, 1250, raise)
	for i := range 100 { // beyond the checkpoint, to the end of a stretch
		record(t, r, epoch(1250+i, 1))
	}
	flush(t, r)
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	for begin := 1250; begin < 8000; begin += 1350 {
		thinnedTo(t, r, recorder.Bounds{Exact: 4, Old: 8}, begin, begin+1350, raise)
	}
	flush(t, r)
	run, numbers := find(t, s, "a"), epochsOfRun(t, s, "a")
	if !slices.Contains(numbers, spike) || run.Thinned != run.Epochs-len(numbers) || len(numbers) > 3000 {
		t.Errorf("%d epochs of %d: %d is there: %t", len(numbers), run.Epochs, spike, slices.Contains(numbers, spike))
	}
	if sum, lines := checked(t, s.Path()); sum.Damaged > 0 {
		t.Errorf("%q", lines)
	}
}

// A row of peaks that is damaged takes no epochs with it.
func TestHistoryBesideADamagedRow(t *testing.T) {
	count := func(damage string) int {
		s := temporary(t)
		r := recorder.New(s, recorder.About{})
		thinnedTo(t, r, recorder.Bounds{Exact: 15, Old: 8}, 0, 500, func(*event.EpochEvent) {})
		if _, err := s.DB.Exec(damage); err != nil {
			t.Fatal(err)
		}
		for begin := 500; begin < 2075; begin += 525 {
			thinnedTo(t, r, recorder.Bounds{Exact: 15, Old: 8}, begin, begin+525, func(*event.EpochEvent) {})
		}
		flush(t, r)
		return len(epochsOfRun(t, s, "a"))
	}
	if got, want := count("UPDATE peaks SET last = last + 512 WHERE first = (SELECT min(first) FROM peaks)"), count("SELECT 1"); got < want || got > want+rowcode.PeakStretch {
		t.Errorf("%d epochs stay: expected %d", got, want)
	}
}
