package bench

import (
	"math"
	"slices"
	"testing"
	"time"

	"newtop/trainer/event"
)

func TestSettings(t *testing.T) {
	for peer, want := range map[string]string{
		"torch adam lr=0.001 batch=64": "adam lr=0.001 batch=64", "torch adam lr=3e-3 batch=256": "adam lr=0.003 batch=256",
		"torch lbfgs strong-wolfe": "torch lbfgs strong-wolfe", "sklearn adam": "sklearn adam", "newtop lbfgs": "lbfgs",
		"torch adam lr=fast batch=64": "torch adam lr=fast batch=64", "newtop adam lr=0.01 batch=64": "adam lr=0.01 batch=64",
	} {
		if got := (&peerLetter{Peer: peer}).settings(); got != want {
			t.Errorf("%s: %s, expected %s", peer, got, want)
		}
	}
}

func figuresOf(t *testing.T, peer string, target, seconds float64) []figure {
	t.Helper()
	return (&peerLetter{Peer: peer, TargetPercent: target, SecondsToTarget: &seconds, Seconds: 9}).figures()
}

func TestLetterIsCompared(t *testing.T) {
	if list := figuresOf(t, "torch at another target", 10, 0.1); list != nil {
		t.Errorf("another target: %+v", list)
	}
	never := func(peer string) []figure {
		return []figure{{"seconds_to_target", (&peerLetter{Peer: peer}).settings(), peer, math.NaN()}}
	}
	own := slices.Concat(figuresOf(t, "newtop adam lr=0.003 batch=64", 5, 1), never("newtop adam lr=0.01 batch=64"), never("newtop tr-gn"),
		figuresOf(t, "newtop tr-newton blocks=4", 5, 3), figuresOf(t, "newtop adam lr=0.003 batch=64", 5, 2),
		(&peerLetter{Peer: "newtop tr-newton blocks=4", TargetPercent: 5, Seconds: 9}).figures())
	peers := slices.Concat(figuresOf(t, "torch adam lr=0.003 batch=64", 5, 6), figuresOf(t, "torch adam lr=0.01 batch=64", 5, 7), figuresOf(t, "sklearn adam", 5, 5))
	best := compareBest(own, peers)
	if best.Newtop != "newtop adam lr=0.003 batch=64" || best.Peer != "sklearn adam" || best.OwnIs != 1.5 || math.Abs(float64(best.Quicker)-5/1.5) > 1e-12 {
		t.Errorf("the best of all: %+v", best)
	}
	list := compare(own, peers)
	if len(list) != 2 || list[0].OwnIs != 1.5 || list[0].Quicker != 4 || list[1].Newtop != "newtop adam lr=0.01 batch=64" || !math.IsNaN(float64(list[1].OwnIs)) {
		t.Errorf("the same settings: %+v", list)
	}
	if mean := meanOf(own, func(f figure) bool { return f.kind == "tr-newton blocks=4" }); mean != 6 {
		t.Errorf("a repetition that did not get there in 9 s: %v", mean)
	}
}

func TestOutcomeOfARun(t *testing.T) {
	o := outcome{budget: 3 * time.Second, run: peerLetter{BestTestError: 100}}
	nan := event.Float(math.NaN())
	for i, e := range []struct {
		elapsed, test, train event.Float
		ended                bool
	}{{0, 0.97, 0.98, false}, {1, 0.051, 0.03, false}, {1.5, 0.05, 0.02, false}, {2, 0.04, 0.01, false}, {3, nan, nan, true}} {
		err := o.Record(event.EpochEvent{Epoch: i, Elapsed: e.elapsed, TestError: e.test, Error: e.train})
		if (err == errBudget) != e.ended {
			t.Errorf("epoch %d: %v", i, err)
		}
	}
	r := o.run
	if r.SecondsToTarget == nil || *r.SecondsToTarget != 1.5 || r.BestTestError != 4 || r.TrainError != 100 || r.Seconds != 3 || r.Epochs != 4 {
		t.Errorf("came to %+v", r)
	}
}
