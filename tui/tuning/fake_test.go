package tuning

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"newtop/trainer/event"
	"newtop/trainer/tune"
	"newtop/tui/history"
	"newtop/tui/internal/tuitest"
)

// fakeSearch plays a list of Boards. Each Wait brings the next one; Stop ends it.
type fakeSearch struct {
	mu      sync.Mutex
	boards  []*tune.Leaderboard
	at      int
	stopped bool
	holds   bool // the last Leaderboard does not end it
	bell    chan struct{}
}

func newFakeSearch(boards ...*tune.Leaderboard) *fakeSearch {
	return &fakeSearch{boards: boards, bell: make(chan struct{}, 1)}
}

func (s *fakeSearch) Leaderboard() *tune.Leaderboard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.boards[s.at]
}

func (s *fakeSearch) Wait(ctx context.Context, seen *tune.Leaderboard) (*tune.Leaderboard, error) {
	for {
		s.mu.Lock()
		now := s.boards[s.at]
		last := s.at == len(s.boards)-1
		if now == seen && !last {
			s.at++
			now = s.boards[s.at]
		}
		over := last && now == seen && (!s.holds || s.stopped)
		s.mu.Unlock()
		switch {
		case now != seen:
			return now, nil
		case over:
			return nil, io.EOF
		}
		select {
		case <-s.bell:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *fakeSearch) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.stopped = true
	b := *s.boards[s.at]
	b.Phase = "stopped"
	s.boards = append(s.boards[:s.at+1], &b)
	s.at++
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// fakeOver is the space of the fake searches.
var fakeOver = []tune.Dimension{
	{Key: "opt", Choices: []string{"adam", "nag", "tr-gn", "scg"}},
	{Key: "rate", Low: 1e-4, High: 1e-1, Log: true},
	{Key: "batch", Low: 16, High: 512, Log: true, Whole: true},
}

// fakeBoard is a search of n trials after a share of its budget, with the target of 5 % or none.
func fakeBoard(n int, share, target float64) *tune.Leaderboard {
	r := rand.New(rand.NewPCG(3, 4))
	b := &tune.Leaderboard{Name: "tune-20261121-1200", Data: "letters", Measure: "test error", Over: fakeOver, Target: target, Phase: "searching",
		Budget: 60, Planned: n, Parallel: 2, Threads: 1, Command: "newtop train --data letters --data-dir '/data of mine' --opt adam --set rate=0.0031 --batch 64 --until 'error<5%' --seed 7"}
	for i := range n {
		b.Trials = append(b.Trials, fakeTrial(i, n, target, r))
	}
	if share < 1 {
		now := share * 60
		b.Trials = slices.DeleteFunc(b.Trials, func(t tune.Trial) bool { return t.Started > now || t.Final })
		for i := range b.Trials {
			if t := &b.Trials[i]; t.Ended > now {
				t.State, t.Error, t.Ended = tune.Running, "", now
				t.Curve = t.Curve[:len(t.Curve)/2]
				t.TargetSeconds, t.TargetEquivalents = tuitest.NaN, tuitest.NaN
				if len(t.Curve) > 0 {
					t.Best = t.Curve[len(t.Curve)-1].Value
				}
			}
		}
		b.Seconds = now
	} else {
		b.Seconds, b.Phase = 60, "done"
		if n > 4 {
			b.Trials = append(b.Trials, fakeFinals(b)...)
		}
	}
	rankFake(b)
	if n >= 8 {
		b.Importances = []tune.Importance{{Key: "opt", Share: 0.21, Spread: 0.07, Trend: "best: adam"}, {Key: "rate", Share: 0.62, Spread: 0.08, Trend: "best near 3e-3"}, {Key: "batch", Share: 0.05, Spread: math.NaN(), Trend: "little"}}
	}
	return b
}

// fakeTrial has a curve that falls the faster the nearer the rate is to the best one of the method.
func fakeTrial(i, n int, target float64, r *rand.Rand) tune.Trial {
	opt := fakeOver[0].Choices[i%4]
	rate, batch := math.Pow(10, -4+3*r.Float64()), int(16*math.Pow(2, math.Floor(6*r.Float64())))
	t := tune.Trial{Number: i + 1, Setting: i + 1, Seed: 7, Run: fmt.Sprintf("20261121-1200%02d-abcdef", i%60), State: tune.Done,
		Choices: []tune.Choice{{Key: "opt", Value: opt, Number: -1}, {Key: "rate", Value: strconv.FormatFloat(rate, 'g', 3, 64), Number: (math.Log10(rate) + 4) / 3}},
		Best:    tuitest.NaN, Last: tuitest.NaN, Loss: tuitest.NaN, TargetSeconds: tuitest.NaN, TargetEquivalents: tuitest.NaN}
	if opt == "adam" || opt == "nag" {
		t.Choices = append(t.Choices, tune.Choice{Key: "batch", Value: strconv.Itoa(batch), Number: math.Log2(float64(batch)/16) / 5})
	}
	t.Started = 54 * float64(i) / float64(n)
	steps := 30
	switch i % 7 {
	case 2, 5:
		steps, t.State, t.Error, t.Rung = 9, tune.Pruned, fmt.Sprintf("place %d of %d at rung 1", 3+i%9, 12), 1
	case 4:
		steps, t.State = 18, tune.Paused
	}
	if i%11 == 10 {
		steps, t.State, t.Error = 4, tune.Diverged, "the loss is not finite at epoch 4"
	}
	if i%23 == 21 {
		t.State, t.Error, t.Ended = tune.Failed, "tr-gn: --batch 16: expected at least 26 rows", t.Started
		return t
	}
	floor := 0.03 + 0.02*math.Abs(math.Log10(rate)+2.5) + 0.004*float64(i%4)
	for e := range steps {
		x := float64(e + 1)
		v := event.Float(floor + 0.9*math.Exp(-x/(3+2*math.Abs(math.Log10(rate)+2.5))))
		if t.State == tune.Diverged && e == steps-1 {
			v = tuitest.NaN
		} else {
			t.Best, t.BestEpoch = min(v, absentFloat(t.Best)), e+1
		}
		t.Seconds, t.Equivalents = 0.13*x, 1.5*x
		t.Last, t.Loss, t.Epochs = v, 4*v, e+1
		t.Curve = append(t.Curve, tune.Point{Seconds: t.Seconds, Equivalents: t.Equivalents, Value: v})
		if target > 0 && float64(v) <= target && math.IsNaN(float64(t.TargetSeconds)) {
			t.TargetSeconds, t.TargetEquivalents = event.Float(t.Seconds), event.Float(t.Equivalents)
			t.State, t.Error = tune.Reached, ""
		}
	}
	t.Ended = t.Started + 2*t.Seconds
	t.EndedAt = 40 * t.Ended
	return t
}

func absentFloat(v event.Float) event.Float { return event.Float(history.LastIfMissing(float64(v))) }

// fakeFinals repeat the three best settings.
func fakeFinals(b *tune.Leaderboard) (out []tune.Trial) {
	rankFake(b)
	for k, i := range b.Order[:3] {
		t := b.Trials[i]
		t.Setting, t.Number, t.Seed, t.Final = t.Number, len(b.Trials)+k+1, 11, true
		t.TargetSeconds *= 0.6
		t.Started, t.Ended = 55+1.5*float64(k), 56.4+1.5*float64(k)
		t.EndedAt = 40 * t.Ended
		out = append(out, t)
	}
	return out
}

// rankFake orders a board's trials: finals first, then by what it took to get to the target, then by the measure.
func rankFake(b *tune.Leaderboard) {
	b.Order = b.Order[:0]
	for i := range b.Trials {
		b.Order = append(b.Order, i)
		b.Spent += b.Trials[i].Equivalents
	}
	key := func(i int) [3]float64 {
		t := &b.Trials[i]
		final := 1.0
		if t.Final {
			final = 0
		}
		return [3]float64{final, history.LastIfMissing(float64(t.TargetSeconds)), history.LastIfMissing(float64(t.Best))}
	}
	slices.SortStableFunc(b.Order, func(i, j int) int {
		a, c := key(i), key(j)
		return slices.Compare(a[:], c[:])
	})
}

// fakeRegression has RMSEs and one dimension, and no method to tell apart.
func fakeRegression() *tune.Leaderboard {
	b := fakeBoard(20, 1, 0)
	b.Measure, b.Data, b.Over = "test RMSE", "sine", fakeOver[1:2]
	for i := range b.Trials {
		t := &b.Trials[i]
		t.Choices = t.Choices[1:2]
		t.Best, t.Last = 40*t.Best, 40*t.Last
		t.Curve = slices.Clone(t.Curve)
		for k := range t.Curve {
			t.Curve[k].Value *= 40
		}
	}
	return b
}
