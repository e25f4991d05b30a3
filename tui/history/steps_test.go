package history

import (
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/internal/tuitest"
	"newtop/tui/style"
)

// TestStageKeepsWhatBelongsTogether: reports find their solves, whatever else came in the Delta.
func TestStageKeepsWhatBelongsTogether(t *testing.T) {
	var k Steps
	lost, _ := tuitest.SolveEvents(1, 0, 5, krylov.Limit)
	solve, told := tuitest.SolveEvents(1, 0, 9, krylov.Boundary)
	next, _ := tuitest.SolveEvents(2, 0, 3, krylov.Limit)
	d := feed.Delta{Epochs: []event.EpochEvent{{Epoch: 1, Rho: 0.9, Accepted: true, Inner: []event.InnerSummary{told}}}}
	d.Inner = append(append(append(d.Inner, lost...), solve...), next...)
	k.apply(&d)
	if len(k.Solves) != 3 || k.Solves[0].Summary != nil || k.Solves[1].Summary == nil || k.Solves[2].Summary != nil {
		t.Fatalf("kept %d solves", len(k.Solves))
	}
	if v := k.Solves[1].Verdict; !v.Known || !v.Accepted || v.Rho != 0.9 {
		t.Errorf("the verdict is %+v", v)
	}
	if k.Solves[2].Over {
		t.Error("the solve under way is taken for over")
	}
	k.apply(&feed.Delta{Inner: []event.InnerEvent{{Epoch: 3, Iteration: 1, Residual: tuitest.NaN, StepNorm: tuitest.NaN}}})
	if len(k.Solves) != 3 {
		t.Error("a method without solves has one")
	}
}

// TestStageTellsNetsApart: late viewers may miss a solve's first iteration.
func TestStageTellsNetsApart(t *testing.T) {
	var k Steps
	for member := range 2 {
		k.apply(&feed.Delta{Inner: []event.InnerEvent{{Epoch: 2, Iteration: 3 + member, Member: member}}})
	}
	if len(k.Solves) != 2 {
		t.Errorf("two nets have %d solves", len(k.Solves))
	}
}

// TestStageFollows: solves that come fast are shown one after another, each for a while; one that lasts is shown while it is
// under way, and so is any in a pause.
func TestStageFollows(t *testing.T) {
	var k Steps
	st := event.Status{Phase: event.Running}
	shown := map[int]bool{}
	for i := range 100 {
		st.Elapsed = float64(i) / 50
		k.apply(&feed.Delta{Status: st, Inner: []event.InnerEvent{{Epoch: i + 1, Iteration: 1}}})
		shown[k.Front] = true
	}
	if len(shown) > 6 || k.Front == 99 {
		t.Errorf("%d of 100 fast solves were shown, %d is", len(shown), k.Front)
	}
	st.Elapsed += 2 * watchable
	k.apply(&feed.Delta{Status: st, Inner: []event.InnerEvent{{Epoch: 100, Iteration: 2}}})
	if k.Front != 99 {
		t.Errorf("a slow solve is not shown but %d", k.Front)
	}
	st.Phase = event.Paused
	k.apply(&feed.Delta{Status: st, Inner: []event.InnerEvent{{Epoch: 101, Iteration: 1}}})
	if k.Front != 100 {
		t.Errorf("a step is not shown but %d", k.Front)
	}
}

// TestStageIsBounded sends more than is kept, of short solves and of one without end.
func TestStageIsBounded(t *testing.T) {
	for _, n := range []int{1, 30, 3 * maxIterations} {
		var k Steps
		for i := range 4 * maxIterations {
			k.apply(&feed.Delta{Inner: []event.InnerEvent{{Epoch: 1 + i/n, Iteration: 1 + i%n}}})
		}
		sum := 0
		for _, s := range k.Solves {
			sum += len(s.Steps)
		}
		if sum != k.Iterations || sum > maxIterations || len(k.Solves) > maxStages {
			t.Errorf("solves of %d: %d solves with %d iterations, %d counted", n, len(k.Solves), sum, k.Iterations)
		}
	}
}

// A run that diverged or failed does not end in green.
func TestEndIsNoSuccess(t *testing.T) {
	for reason, want := range map[event.Reason]style.Token{event.ReasonEpochs: style.Good, event.ReasonDiverged: style.Bad, event.ReasonFailed: style.Bad} {
		h := new(History)
		h.Apply(&feed.Delta{Done: &event.DoneEvent{Reason: reason, Epochs: 3}})
		last := h.Log.Entries[len(h.Log.Entries)-1]
		if last.Token != want {
			t.Errorf("%s is said in %v, want %v", reason, last.Token, want)
		}
	}
}
