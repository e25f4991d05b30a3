package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// steered is a session that stands still but for what a test asks of it.
type steered struct {
	t   *testing.T
	s   *Session
	box *feed.Mailbox
	m   *memory
}

// steer begins a session that is paused before its first epoch.
func steer(t *testing.T, c config.Config) *steered {
	t.Helper()
	m := &memory{}
	return takeWheel(t, mustNew(t, c, m), m)
}

// takeWheel begins the session paused. Its events go to m.
func takeWheel(t *testing.T, s *Session, m *memory) *steered {
	t.Helper()
	d := &steered{t: t, s: s, box: s.Subscribe(), m: m}
	t.Cleanup(d.box.Close)
	paused := asked(context.Background(), s, event.Pause{On: true})
	background(t, s)
	if err := <-paused; err != nil {
		t.Fatal(err)
	}
	if at := d.until(func(s *event.Status) bool { return s.Phase == event.Paused && s.RewindEpochs != nil }); at.Epoch != 0 {
		t.Fatalf("paused after epoch %d", at.Epoch)
	}
	return d
}

func (d *steered) until(ok func(*event.Status) bool) event.Status {
	d.t.Helper()
	return follow(d.t, d.box, func(all *feed.Delta) bool { return ok(&all.Status) }).Status
}

// do sends a command and waits until the run stands still.
func (d *steered) do(c event.Command) event.Status {
	d.t.Helper()
	do(d.t, d.s, c)
	return d.until(func(s *event.Status) bool { return s.Phase == event.Paused || s.Phase == event.Ended })
}

func (d *steered) times(n int, c event.Command) {
	d.t.Helper()
	for range n {
		d.do(c)
	}
}

func (d *steered) refused(c event.Command, reason string) {
	d.t.Helper()
	err := d.s.Do(context.Background(), c)
	var refusal *event.CommandError
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "\n") {
		d.t.Errorf("%+v: answered %v, expected something with %q", c, err, reason)
	}
}

// stop ends the run and returns its events.
func (d *steered) stop() *memory {
	d.t.Helper()
	do(d.t, d.s, event.Stop{})
	d.until(func(s *event.Status) bool { return s.Phase == event.Ended })
	<-d.s.ended
	return d.m
}

// bits writes all digits of what an outer iteration did.
func bits(e *event.EpochEvent) string {
	s := fmt.Sprintf("%b %b %b %b %b %b", e.Loss, e.TestLoss, e.GradientNorm, e.StepNorm, e.Radius, e.Rho)
	for _, in := range e.Inner {
		s += fmt.Sprintf(" %d %v %b", in.Iterations, in.Stop, in.StepNorm)
	}
	return s
}

func laps(m *memory, racer int) []event.LapEvent {
	var out []event.LapEvent
	for _, e := range of[event.LapEvent](m) {
		if e.Racer == racer {
			out = append(out, e)
		}
	}
	return out
}

var racers = []event.Racer{
	{Name: "as it is", Optimizer: "tr-gn"},
	{Name: "lbfgs", Optimizer: "lbfgs"},
	{Name: "adam", Optimizer: "adam", Set: []string{"rate=0.01", "batch=32"}},
	{Name: "blocks", Optimizer: "tr-newton", Set: []string{"blocks=3"}},
	{Name: "momentum", Optimizer: "momentum"},
	{Name: "lm", Optimizer: "lm"},
}

// TestRacersDoWhatPlainRunsDo: every racer has the bits and the work of a run that switched to its method, and goes on
// with them when it is picked.
func TestRacersDoWhatPlainRunsDo(t *testing.T) {
	const before, after = 3, 3
	for k, memory := range []int64{0, 100_000} { // of which the second keeps a part of the rows
		for i, racer := range racers {
			if i%2 != k && !nightly.On() {
				continue
			}
			t.Run(fmt.Sprint(racer.Name, " ", memory), func(t *testing.T) {
				config := config.Config{Data: "spirals", Test: "0.7", Hidden: []int{9, 7}, Optimizer: "tr-gn", Blocks: 1, Memory: memory}
				d := steer(t, config)
				d.times(before, event.StepEpoch{})
				d.do(event.Race{Racers: racers, Equivalents: 90})
				at := d.do(event.Pick{Racer: i})
				d.times(after, event.StepEpoch{})
				raced := d.stop()
				mine := laps(raced, i)
				n := mine[len(mine)-1].Lap.Epoch
				if at.Epoch != before+n || at.Optimizer != racer.Optimizer || at.Racing || n < 2 {
					t.Errorf("after %d laps %+v", n, at)
				}

				d = steer(t, config)
				d.times(before, event.StepEpoch{})
				settings := d.do(event.Pause{On: true}).Settings
				d.do(event.Switch{Optimizer: racer.Optimizer})
				if racer.Optimizer == "tr-gn" {
					for _, s := range settings {
						d.do(event.Set{Key: s.Key, Value: s.Text})
					}
				}
				for _, kv := range racer.Set {
					key, value, _ := strings.Cut(kv, "=")
					d.do(event.Set{Key: key, Value: value})
				}
				d.times(n+after, event.StepEpoch{})
				plain := of[event.EpochEvent](d.stop())
				start := plain[before].GradientEquivalents
				for k, lap := range mine[1:] {
					want := &plain[before+k+1]
					if bits(&lap.Lap) != bits(want) {
						t.Errorf("lap %d: %s, a plain run has %s", k+1, bits(&lap.Lap), bits(want))
					}
					if work := float64(want.GradientEquivalents - start); math.Abs(work-float64(lap.Lap.GradientEquivalents)) > 1e-9*work {
						t.Errorf("lap %d: work %v, of a plain run %v", k+1, lap.Lap.GradientEquivalents, work)
					}
				}
				epochs := of[event.EpochEvent](raced)
				for k, e := range epochs[before+1:] {
					want := &plain[before+n+k]
					if e.Epoch != want.Epoch || bits(&e) != bits(want) {
						t.Errorf("after the pick: epoch %d %s, expected %d %s", e.Epoch, bits(&e), want.Epoch, bits(want))
					}
				}
				if a, b := of[event.DoneEvent](raced)[0], of[event.DoneEvent](d.m)[0]; a.BestEpoch != b.BestEpoch || a.Loss != b.Loss || a.BestTestError != b.BestTestError {
					t.Errorf("done %+v, expected %+v", a, b)
				}
			})
		}
	}
}

// TestRaceIsFair: whose turn it is has spent the least so far, and all end with their budget.
func TestRaceIsFair(t *testing.T) {
	const budget = 60
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn"})
	d.do(event.StepEpoch{})
	if at := d.do(event.Race{Racers: racers, Equivalents: budget}); !at.Racing {
		t.Errorf("the race is over, and the status %+v", at)
	}
	d.refused(event.Pause{}, "race is over")
	d.refused(event.StepEpoch{}, "race is over")
	m := d.stop()
	states := ""
	for _, e := range of[event.RaceEvent](m) {
		states += e.State + " "
	}
	if states != "begun over abandoned " {
		t.Errorf("the race was %s", states)
	}
	spent := make([]float64, len(racers))
	all := of[event.LapEvent](m)
	for i, e := range all {
		if i < len(racers) {
			if e.Racer != i || e.Lap.Epoch != 0 || e.Lap.GradientEquivalents != 0 || e.Lap.Loss != all[0].Lap.Loss {
				t.Errorf("lap %d of the beginning: %+v", i, e)
			}
			continue
		}
		for other, s := range spent {
			if ended := s >= budget; !ended && (s < spent[e.Racer] || s == spent[e.Racer] && other < e.Racer) {
				t.Fatalf("lap %d was racer %d's: spent %v", i, e.Racer, spent)
			}
		}
		spent[e.Racer] = float64(e.Lap.GradientEquivalents)
		if ended := spent[e.Racer] >= budget; ended != (e.Ended == "budget") {
			t.Errorf("racer %d at %v: ended by %q", e.Racer, spent[e.Racer], e.Ended)
		}
	}
	sum := 0.0
	for _, s := range spent {
		sum += s
		if s < budget {
			t.Errorf("spent %v of %v", spent, budget)
		}
	}
	if total := d.s.broadcaster.History.Delta.Status.Equivalents; total < sum {
		t.Errorf("the run counts %v, its racers %v", total, sum)
	}
}

// TestAbandonedRaceLeavesNoTrace, wherever in an outer iteration it began and ended.
func TestAbandonedRaceLeavesNoTrace(t *testing.T) {
	for _, optimizer := range []string{"tr-newton", "tr-gn-jacobi", "adam", "lbfgs", "scg", "lm", "eigen-gd", "dogleg"} {
		t.Run(optimizer, func(t *testing.T) {
			config := config.Config{Data: "spirals", Test: "0.7", Hidden: []int{9}, Optimizer: optimizer}
			d := steer(t, config)
			d.times(6, event.StepEpoch{})
			want := of[event.EpochEvent](d.stop())
			for _, into := range []int{0, 1, 3} {
				d := steer(t, config)
				d.times(2, event.StepEpoch{})
				d.times(into, event.StepInner{})
				at := d.do(event.Pause{On: true})
				if err := d.s.Do(context.Background(), event.Race{Racers: racers}); err != nil {
					t.Fatal(err)
				}
				d.do(event.Pause{On: true})
				d.times(8, event.StepEpoch{})
				d.times(into, event.StepInner{})
				if now := d.do(event.Pick{Racer: -1}); now.Epoch != at.Epoch || now.Racing || now.Optimizer != optimizer {
					t.Errorf("abandoned: %+v", now)
				}
				for now := at.Epoch; now < 6; {
					now = d.do(event.StepEpoch{}).Epoch
				}
				m := d.stop()
				for i, e := range of[event.EpochEvent](m) {
					if bits(&e) != bits(&want[i]) {
						t.Errorf("%d units in: epoch %d: %s, without a race %s", into, i, bits(&e), bits(&want[i]))
					}
				}
				units := map[int]int{}
				for _, e := range of[event.InnerEvent](m) {
					if units[e.Epoch]++; e.Iteration != units[e.Epoch] {
						t.Fatalf("epoch %d: inner iteration %d is number %d", e.Epoch, e.Iteration, units[e.Epoch])
					}
				}
				if of[event.RaceEvent](m)[1].State != "abandoned" || len(of[event.SwitchEvent](m)) > 0 {
					t.Errorf("%+v", of[event.RaceEvent](m))
				}
			}
		})
	}
}

// TestPickInTheMiddleOfALap: whose lap it is ends it as an epoch of the run, any other's is given up.
func TestPickInTheMiddleOfALap(t *testing.T) {
	config := config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn"}
	entries := []event.Racer{{Optimizer: "adam"}, {Optimizer: "momentum"}}
	for picked, racer := range entries {
		d := steer(t, config)
		d.times(2, event.StepEpoch{})
		do(t, d.s, event.Race{Racers: entries})
		d.do(event.Pause{On: true})
		d.times(5, event.StepEpoch{})
		d.do(event.StepInner{})
		if at := d.do(event.StepInner{}); at.Unit < 2 {
			t.Fatalf("no lap is under way: %+v", at)
		}
		history := d.s.Subscribe()
		done := nextDelta(t, history).Laps
		history.Close()
		turn := 1 - done[len(done)-1].Racer // equal batches take turns
		at := d.do(event.Pick{Racer: picked})
		if picked == turn && at.Unit < 2 {
			t.Errorf("the lap under way is gone: %+v", at)
		}
		if picked != turn {
			d.until(func(s *event.Status) bool { return s.Unit == 0 })
		}
		d.times(3, event.StepEpoch{})
		got := of[event.EpochEvent](d.stop())
		last := got[len(got)-1].Epoch
		if last != at.Epoch+3 {
			t.Errorf("three epochs after %d the last is %d", at.Epoch, last)
		}

		d = steer(t, config)
		d.times(2, event.StepEpoch{})
		d.do(event.Switch{Optimizer: racer.Optimizer})
		d.times(last-2, event.StepEpoch{})
		want := of[event.EpochEvent](d.stop())
		for _, e := range got[3:] {
			if bits(&e) != bits(&want[e.Epoch]) {
				t.Errorf("%s, epoch %d: %s, of a plain run %s", racer.Optimizer, e.Epoch, bits(&e), bits(&want[e.Epoch]))
			}
		}
	}
}

// TestRaceWithinAPickedLap: the run goes on with who is picked in the second race, and asks nothing of the rows that the first
// one had bound, which other processes have let go of.
func TestRaceWithinAPickedLap(t *testing.T) {
	for picked := -1; picked < 2; picked++ {
		m := &memory{}
		s := mustNew(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn"}, m)
		s.JoinTeam(newCrew(t, 2))
		d := takeWheel(t, s, m)
		d.do(event.StepEpoch{})
		do(t, d.s, event.Race{Racers: []event.Racer{{Optimizer: "tr-newton", Set: []string{"blocks=4", "limit=2"}}, {Optimizer: "scg"}}})
		d.do(event.Pause{On: true})
		d.times(5, event.StepInner{})    // beyond the first block, after which the weights are others
		do(t, d.s, event.Pick{Racer: 0}) // whose lap it is
		do(t, d.s, event.Race{Racers: []event.Racer{{Optimizer: "tr-gn"}, {Optimizer: "lbfgs"}}})
		d.do(event.Pause{On: true})
		d.times(3, event.StepEpoch{})
		do(t, d.s, event.Pick{Racer: picked})
		at := d.until(func(s *event.Status) bool { return s.Phase == event.Paused && !s.Racing })
		d.times(3, event.StepEpoch{})
		d.stop()
		got := of[event.EpochEvent](m)
		last, want := got[len(got)-1], []string{"tr-newton", "tr-gn", "lbfgs"}[picked+1]
		if last.Optimizer != want || last.Epoch < at.Epoch+2 {
			t.Errorf("picked %d in epoch %d, and epoch %d is %s's", picked, at.Epoch, last.Epoch, last.Optimizer)
		}
		if end := of[event.DoneEvent](m)[0]; end.Reason != event.ReasonStopped {
			t.Errorf("picked %d: %s %s", picked, end.Reason, end.Message)
		}
	}
}

// TestRaceTwiceWithAnyNumberOfThreads gives the same laps to the bit.
func TestRaceTwiceWithAnyNumberOfThreads(t *testing.T) {
	want := ""
	for _, threads := range []int{1, 2, 3, 2} {
		d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn", Threads: threads})
		d.times(2, event.StepEpoch{})
		d.do(event.Race{Racers: racers, Equivalents: 30})
		got := ""
		for _, e := range of[event.LapEvent](d.stop()) {
			got += fmt.Sprintf("%d %s %b %s\n", e.Racer, e.Ended, e.Lap.GradientEquivalents, bits(&e.Lap))
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("with %d threads\n%swith 1\n%s", threads, got, want)
		}
	}
}

// TestDivergedRacer ends alone, and can't be picked; one that stalls can.
func TestDivergedRacer(t *testing.T) {
	d := steer(t, config.Config{Data: "sine", Optimizer: "tr-gn", Act: "identity", Hidden: []int{3}})
	d.do(event.Race{Racers: []event.Racer{
		{Name: "wild", Optimizer: "sgd", Set: []string{"rate=1e9"}},
		{Name: "bound to stall", Optimizer: "tr-newton"},
		{Name: "steady", Optimizer: "adam"},
	}, Equivalents: 2500})
	d.refused(event.Pick{Racer: 0}, "wild has diverged")
	d.refused(event.Pick{Racer: 3}, "expected 0 to 2")
	at := d.do(event.Pick{Racer: 2})
	if at.Phase != event.Paused || at.Optimizer != "adam" {
		t.Errorf("picked: %+v", at)
	}
	d.do(event.StepEpoch{})
	m := d.stop()
	ended := map[int]string{}
	for _, e := range of[event.LapEvent](m) {
		ended[e.Racer] += e.Ended
	}
	if !strings.HasPrefix(ended[0], "diverged: ") || !strings.HasPrefix(ended[1], "stalled: ") || ended[2] != "budget" {
		t.Errorf("ended by %v", ended)
	}
	if done := of[event.DoneEvent](m)[0]; done.Reason != event.ReasonStopped || len(of[event.DivergedEvent](m)) > 0 {
		t.Errorf("done %+v", done)
	}
}

func TestRaceBySeconds(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}})
	d.do(event.Race{Racers: racers, Seconds: 0.02})
	m := d.stop()
	for i := range racers {
		mine := laps(m, i)
		last := mine[len(mine)-1]
		sum := event.Float(0)
		for _, e := range mine {
			sum += e.Lap.Seconds
		}
		if last.Ended != "budget" || last.Lap.Elapsed < 0.02 || math.Abs(float64(sum-last.Lap.Elapsed)) > 1e-9 {
			t.Errorf("racer %d ended %q after %v, its laps took %v", i, last.Ended, last.Lap.Elapsed, sum)
		}
	}
}

func TestRacesThatAreRefused(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}})
	two := racers[:2]
	with := func(r event.Racer) event.Race { return event.Race{Racers: []event.Racer{two[0], r}} }
	d.refused(event.Pick{}, "no race")
	for reason, c := range map[string]event.Race{
		"expected 2 to 8":            {Racers: two[:1]},
		"a race of 9":                {Racers: make([]event.Racer, 9)},
		"equivalents":                {Racers: two, Equivalents: -1},
		"seconds":                    {Racers: two, Seconds: math.Inf(1)},
		"different names":            {Racers: []event.Racer{two[0], two[0]}},
		"unknown optimizer \"none\"": with(event.Racer{Name: "x", Optimizer: "none"}),
		"racer x: rate = -1":         with(event.Racer{Name: "x", Optimizer: "sgd", Set: []string{"rate=-1"}}),
		"expected KEY=VALUE":         with(event.Racer{Name: "x", Optimizer: "sgd", Set: []string{"rate"}}),
		"expected one of":            with(event.Racer{Name: "x", Optimizer: "sgd", Set: []string{"hate=1"}}),
	} {
		d.refused(c, reason)
	}
	do(t, d.s, event.Race{Racers: two})
	for _, c := range []event.Command{event.Switch{Optimizer: "adam"}, event.Set{Key: "radius", Value: "1"}, event.Scale{Factor: 2}, event.Rewind{}, event.Race{Racers: two}} {
		d.refused(c, "a race is under way")
	}
	d.refused(event.Pick{Racer: 2}, "expected 0 to 1")
	d.do(event.Pause{On: true})
	if races := of[event.RaceEvent](d.stop()); len(races) != 2 || races[1].State != "abandoned" || races[1].Picked != -1 {
		t.Errorf("races %+v", races)
	}

	d = steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Committee: 2})
	d.refused(event.Race{Racers: two}, "a committee can't race")
	d = steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Skip: 1})
	d.refused(with(event.Racer{Name: "x", Optimizer: "bpls"}), "racer x: bpls")
}

// TestRaceOfMixtures: the gates that are tuned beside the experts go with their racer.
func TestRaceOfMixtures(t *testing.T) {
	config := config.Config{Data: "sine", Experts: 3, ExpertHidden: []int{4}, Gate: "1", Optimizer: "tr-gn", Hidden: nil}
	d := steer(t, config)
	d.do(event.Race{Racers: []event.Racer{{Optimizer: "tr-gn"}, {Optimizer: "tr-newton", Set: []string{"blocks=2"}}}, Equivalents: 100})
	d.do(event.Pick{Racer: 0})
	d.times(2, event.StepEpoch{})
	got := of[event.EpochEvent](d.stop())
	d = steer(t, config)
	d.times(got[len(got)-1].Epoch, event.StepEpoch{})
	want := of[event.EpochEvent](d.stop())
	for _, e := range got[1:] {
		if bits(&e) != bits(&want[e.Epoch]) {
			t.Errorf("epoch %d: %s, of a plain run %s", e.Epoch, bits(&e), bits(&want[e.Epoch]))
		}
	}
}

// TestStopDuringARace: the run ends with the weights that it had.
func TestStopDuringARace(t *testing.T) {
	d := steer(t, config.Config{Data: "spirals", Hidden: []int{9}, Optimizer: "tr-gn"})
	d.times(2, event.StepEpoch{})
	do(t, d.s, event.Race{Racers: racers})
	d.until(func(s *event.Status) bool { return s.Equivalents > 50 })
	m := d.stop()
	epochs := of[event.EpochEvent](m)
	if done := of[event.DoneEvent](m)[0]; done.Epochs != 2 || done.Loss != epochs[2].Loss || done.Reason != event.ReasonStopped {
		t.Errorf("done %+v", done)
	}
	d = steer(t, config.Config{Data: "spirals", Hidden: []int{9}, TimeLimit: 50 * time.Millisecond})
	do(t, d.s, event.Race{Racers: racers})
	d.until(func(s *event.Status) bool { return s.Phase == event.Ended })
}
