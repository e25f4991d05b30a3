package bench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"newtop/trainer/event"
)

func TestTorchAdam(t *testing.T) {
	for peer, want := range map[string][2]float64{
		"torch adam lr=0.001 batch=64": {0.001, 64}, "torch adam lr=3e-3 batch=256": {0.003, 256},
		"torch lbfgs strong-wolfe": {}, "sklearn adam": {}, "torch adam lr=fast batch=64": {},
	} {
		rate, batch, ok := torchAdam(peer)
		if ok != (want != [2]float64{}) || ok && (rate != want[0] || float64(batch) != want[1]) {
			t.Errorf("%s: %g, %d, %v", peer, rate, batch, ok)
		}
	}
}

func run(peer string, seconds, best float64) PeerLetter {
	p := PeerLetter{Peer: peer, TargetPercent: 5, BestTestError: best, Seconds: 9}
	if seconds > 0 {
		p.SecondsToTarget = &seconds
	}
	return p
}

func TestLetterIsCompared(t *testing.T) {
	other := run("torch at another target", 0.1, 4)
	other.TargetPercent = 10
	b := LetterBeside{
		Newtop: []PeerLetter{
			run("newtop adam lr=0.003 batch=64", 1, 4), run("newtop adam lr=0.01 batch=64", 0, 6),
			run("newtop tr-gn", 0, 7), run("newtop tr-newton blocks=4", 3, 4.5),
			run("newtop adam lr=0.003 batch=64", 2, 4), run("newtop tr-newton blocks=4", 0, 4.5), // after 9 s
		},
		Peers: []PeerLetter{
			other, run("torch adam lr=0.003 batch=64", 5, 4), run("torch adam lr=0.01 batch=64", 6, 4),
			run("sklearn adam", 7, 4), run("sklearn lbfgs", 0, 6),
		},
	}
	b.compare(letterRuns)
	for i, want := range []struct {
		what, newtop   string
		seconds, share float64
		goal           Goal
	}{
		{"best of all", "adam lr=0.003 batch=64", 1.5, 0.3, Goal{AtMost: 1.0 / 3, Holds: true}},
		{"second order", "tr-newton blocks=4", 6, 1.2, Goal{AtMost: 1}},
		{"same settings", "adam lr=0.003 batch=64", 1.5, 0.3, Goal{AtMost: 0.5, Holds: true}},
		{"same settings", "adam lr=0.01 batch=64", 0, 0, Goal{AtMost: 0.5}},
	} {
		if i >= len(b.Results) {
			t.Fatalf("%d results", len(b.Results))
		}
		r := b.Results[i]
		never := r.NewtopSeconds == nil && r.Share == nil && want.seconds == 0
		if r.What != want.what || r.Newtop != want.newtop || *r.Goal != want.goal ||
			!never && (*r.NewtopSeconds != want.seconds || *r.Share != want.share) {
			t.Errorf("result %d is %+v, goal %+v: expected %+v", i, r, *r.Goal, want)
		}
	}
	if len(b.Results) != 4 {
		t.Errorf("%d results", len(b.Results))
	}
	ranked := b.Ranked()
	var names []string
	for _, r := range ranked {
		names = append(names, fmt.Sprintf("%s %d", r[0].Peer, len(r)))
	}
	if want := []string{
		"newtop adam lr=0.003 batch=64 2", "torch adam lr=0.003 batch=64 1", "torch adam lr=0.01 batch=64 1", "newtop tr-newton blocks=4 2",
		"sklearn adam 1", "newtop adam lr=0.01 batch=64 1", "sklearn lbfgs 1", "newtop tr-gn 1",
	}; !slices.Equal(names, want) {
		t.Errorf("ranked %q, expected %q", names, want)
	}
}

func TestOutcomeOfARun(t *testing.T) {
	o := outcome{budget: 3 * time.Second, run: PeerLetter{BestTestError: 100}}
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
