package stream

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
)

var nan = math.NaN()

// row makes a row of a step, an epoch and pairs of a key and a value.
func row(step, epoch float64, pairs ...any) *logs.Row {
	r := &logs.Row{Step: step, Epoch: epoch, Wall: nan, Elapsed: nan}
	for i := 0; i < len(pairs); i += 2 {
		v, ok := pairs[i+1].(float64)
		if !ok {
			v = float64(pairs[i+1].(int))
		}
		r.Add(pairs[i].(string), v)
	}
	return r
}

func assembled(j *stepAssembler) (events []event.Event) {
	for e := j.next(); e != nil; e = j.next() {
		events = append(events, e)
	}
	return events
}

// TestRows: which step a row belongs to, as its writer counts.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []*logs.Row
		want string
	}{
		{"train and validation of one step", []*logs.Row{row(1, nan, "loss", 0.5), row(1, nan, "val_loss", 0.6), row(2, nan, "loss", 0.4)},
			"run x; 1 loss=0.5 valid=0.6 @NaN; 2 loss=0.4 @NaN"},
		{"steps, and validation by epochs", []*logs.Row{row(50, 1, "loss", 3), row(100, 1, "loss", 2), row(nan, 1, "val_loss", 2.5), row(150, 2, "loss", 1)},
			"run x; 50 loss=3 [epoch=1] @NaN; 100 loss=2 valid=2.5 [epoch=1] @NaN; 150 loss=1 [epoch=2] @NaN"},
		{"steps within epochs", []*logs.Row{row(0, 1, "loss", 3), row(5, 1, "loss", 2), row(0, 2, "loss", 1), row(5, 2, "loss", 0.5)},
			"run x; 0 loss=3 [epoch=1] @NaN; 5 loss=2 [epoch=1] @NaN; 6 loss=1 [epoch=2] @NaN; 11 loss=0.5 [epoch=2] @NaN"},
		{"whole epochs", []*logs.Row{row(nan, 0, "loss", 3, "accuracy", 0.5), row(nan, 1, "loss", 2, "accuracy", 0.75)},
			"run x; 0 loss=3 err=0.5 @NaN; 1 loss=2 err=0.25 @NaN"},
		{"fractions of epochs", []*logs.Row{row(nan, 0.5, "loss", 3), row(nan, 1, "loss", 2), row(nan, 1, "eval_loss", 4), row(nan, 1.5, "loss", 1)},
			"run x; 1 loss=3 [epoch=0.5] @NaN; 2 loss=2 valid=4 [epoch=1] @NaN; 3 loss=1 [epoch=1.5] @NaN"},
		{"nothing to count by", []*logs.Row{row(nan, nan, "loss", 3), row(nan, nan, "val_loss", 4), row(nan, nan, "loss", 2)},
			"run x; 1 loss=3 valid=4 @NaN; 2 loss=2 @NaN"},
		{"back to an earlier step", []*logs.Row{row(1, nan, "loss", 3), row(2, nan, "loss", 2), row(3, nan, "loss", 9), row(2, nan, "loss", 1)},
			"run x; 1 loss=3 @NaN; 2 loss=2 @NaN; 3 loss=9 @NaN; back 3→1; 2 loss=1 @NaN"},
		{"another run", []*logs.Row{row(1, nan, "loss", 3), row(2, nan, "loss", 2), row(1, nan, "loss", 4)},
			"run x; 1 loss=3 @NaN; 2 loss=2 @NaN; run x (2); 1 loss=4 @NaN"},
	} {
		j := newStepAssembler("x")
		for _, r := range c.rows {
			j.Row(r)
		}
		j.flush()
		if got := text(assembled(&j)); got != c.want {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, got, c.want)
		}
	}
}

// TestRowsThatComeLate: what comes for a step that was given is told once more, and what is not finite stays that.
func TestRowsThatComeLate(t *testing.T) {
	j := newStepAssembler("x")
	j.Row(row(100, nan, "loss", 2))
	j.catchUp()
	j.flush()
	j.Row(row(nan, nan, "val_loss", math.Inf(1), "x", math.NaN()))
	j.flush()
	events := assembled(&j)
	if len(events) != 3 {
		t.Fatalf("%d events: %+v", len(events), events)
	}
	e := events[2].(event.EpochEvent)
	if e.Epoch != 100 || !e.Loss.Absent() || !e.ValidationLoss.NonFinite() || e.Metrics[1].Key != "x" || !e.Metrics[1].Value.NonFinite() {
		t.Errorf("came as %+v", e)
	}
}

// TestRowsWithoutX: what no counter tells belongs to the newest step that lacks it, given or not.
func TestRowsWithoutX(t *testing.T) {
	j := newStepAssembler("x")
	for _, r := range []*logs.Row{row(nan, nan, "loss", 3), row(nan, nan, "val_loss", 4), row(nan, nan, "loss", 2)} {
		j.Row(r)
		j.flush()
	}
	if got := text(assembled(&j)); got != "run x; 1 loss=3 @NaN; 1 valid=4 @NaN; 2 loss=2 @NaN" {
		t.Error(got)
	}
}

// TestRowsInTime: seconds come from the log, or from the clock while it is followed.
func TestRowsInTime(t *testing.T) {
	timed := func(r *logs.Row, wall, elapsed float64) *logs.Row { r.Wall, r.Elapsed = wall, elapsed; return r }
	for _, c := range []struct {
		name  string
		rows  []*logs.Row
		clock []float64
		want  string
	}{
		{"elapsed", []*logs.Row{timed(row(1, nan, "loss", 1), nan, 2), timed(row(2, nan, "loss", 1), nan, 5)}, nil, "run x; 1 loss=1 @2; 2 loss=1 @5"},
		{"time of day", []*logs.Row{timed(row(1, nan, "loss", 1), 1.7e9, nan), timed(row(2, nan, "loss", 1), 1.7e9+3, nan)}, nil, "run x; 1 loss=1 @0; 2 loss=1 @3"},
		{"both", []*logs.Row{timed(row(1, nan, "loss", 1), 1.7e9, 4), timed(row(2, nan, "loss", 1), 1.7e9+3, 7)}, nil, "run x; 1 loss=1 @4; 2 loss=1 @7"},
		{"the clock", []*logs.Row{row(1, nan, "loss", 1), row(2, nan, "loss", 1)}, []float64{0.5, 2}, "run x; 1 loss=1 @0.5; 2 loss=1 @2"},
	} {
		j := newStepAssembler("x")
		if c.clock != nil {
			n := -1
			j.rows.clock = func() float64 { n++; return c.clock[n] }
		}
		for _, r := range c.rows {
			j.Row(r)
		}
		j.flush()
		if got := text(assembled(&j)); got != c.want {
			t.Errorf("%s: %s\nexpected %s", c.name, got, c.want)
		}
	}
}

// TestRowsAtOnce: rows that came at once were written since what came before.
func TestRowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, events := newLines("x"), []event.Event{}
		for i, text := range []string{"step=0 loss=5\n", "step=1 loss=4\nstep=2 loss=3\n", "step=3 loss=2\n", "step=4 loss=1\nstep=5 loss=1\n"} {
			time.Sleep(10 * time.Second)
			l.feed([]byte(text))
			for e, _ := l.next(); e != nil; e, _ = l.next() {
				events = append(events, e)
			}
			l.decoder.idle(true)
			for e := l.decoder.next(); e != nil; e = l.decoder.next() {
				events = append(events, e)
			}
			if i == 0 {
				l.timed()
			}
		}
		want := "run x; 0 loss=5 @NaN; 1 loss=4 @5; 2 loss=3 @10; 3 loss=2 @20; 4 loss=1 @25; 5 loss=1 @30"
		if got := text(events); got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
	})
}

// TestMachine: what a log tells of its machine has times and no steps.
func TestMachine(t *testing.T) {
	j := newStepAssembler("x")
	at := func(wall float64, r *logs.Row) { r.Wall = wall; j.Row(r) }
	at(1e9, row(nan, nan, "system/cpu", 50)) // before the first step, which is 0
	at(1e9+1, row(0, nan, "loss", 3, "system/gpu", 20))
	at(1e9+9, row(nan, nan, "system/cpu", 70))
	at(1e9+9, row(nan, nan, "system/cpu", nan))
	at(1e9+10, row(1, nan, "loss", 2))
	j.Row(row(2, nan, "loss", 1, "system/cpu", 9)) // without a time it is a metric
	j.flush()
	var got string
	for _, e := range assembled(&j) {
		switch e := e.(type) {
		case event.MachineEvent:
			got += fmt.Sprintf("%g s %v; ", e.Elapsed, e.Metrics)
		case event.EpochEvent:
			got += fmt.Sprintf("%d %g %v; ", e.Epoch, e.Loss, e.Metrics)
		}
	}
	want := "0 s [system/cpu=50 (  )]; 1 s [system/gpu=20 (  )]; 9 s [system/cpu=70 (  )]; 9 s [system/cpu=NaN (  )]; " +
		"0 3 []; 1 2 []; 2 1 [system/cpu=9 (  )]; "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRowsAndTheRun: what the log says of its run, its console and its end.
func TestRowsAndTheRun(t *testing.T) {
	j := newStepAssembler("x")
	j.Info(logs.Info{Name: "brave-otter", Config: map[string]any{"lr": 0.1, "layers": []any{1.0, 2.0}}, Steps: 10})
	for range 3 * maxLines {
		j.Line([]byte("hello"))
	}
	j.Row(row(1, nan, "loss", 1))
	j.catchUp()
	j.End(logs.Failed, "exit status 3")
	j.End(logs.Failed, "again")
	j.Row(row(2, nan, "loss", 0.5))
	j.Info(logs.Info{Steps: 20})
	j.flush()
	var kinds []string
	lines := 0
	for _, e := range assembled(&j) {
		switch e := e.(type) {
		case event.ConsoleEvent:
			lines++
			continue
		case event.RunEvent:
			if e.ID != "x" || e.Data.Name != "brave-otter" || e.Settings["lr"] != 0.1 || e.Settings["layers"] != "[1 2]" || e.Epochs == 0 {
				t.Errorf("the run is %+v", e)
			}
		case event.DoneEvent:
			if e.Reason != event.ReasonFailed || e.Message != "exit status 3" || e.Epochs != 1 || !e.Loss.Absent() {
				t.Errorf("the end is %+v", e)
			}
		}
		kinds = append(kinds, e.EventType())
	}
	want := []string{"run", "epoch", "done", "resume", "epoch", "run"}
	if lines != maxLines || len(kinds) != len(want) {
		t.Fatalf("%d lines, %v: expected %v", lines, kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Fatalf("%v: expected %v", kinds, want)
		}
	}
}

// FuzzRows: whatever rows come, epochs ascend but for returns and what is told once more, and every event can be
// written.
func FuzzRows(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 0, 1, 1, 200, 3, 1, 0, 7}, uint8(2))
	f.Add([]byte{0, 0, 0, 0, 255, 255, 9, 9, 4, 128, 1, 1}, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, caughtUp uint8) {
		keys := []string{"loss", "val_loss", "acc", "lr", "x", "epoch"}
		j := newStepAssembler("x")
		newest := math.MinInt
		for n := 0; len(data) >= 4; n++ {
			if n == int(caughtUp) {
				j.catchUp()
			}
			at := func(b byte) float64 {
				if b == 255 {
					return nan
				}
				return float64(b) / 2
			}
			r := row(math.Trunc(at(data[0])), at(data[1]), keys[int(data[2])%len(keys)], float64(int8(data[3])))
			if r.Elapsed = nan; data[3]%3 == 0 {
				r.Elapsed = at(data[2])
			}
			j.Row(r)
			if data[3]%5 == 0 {
				j.flush()
			}
			if data[3] == 77 {
				j.End(logs.Finished, "")
			}
			data = data[4:]
			for _, e := range assembled(&j) {
				if _, err := event.EncodeEvent(e); err != nil {
					t.Fatal(err)
				}
				switch e := e.(type) {
				case event.RunEvent:
					newest = math.MinInt
				case event.RewindEvent:
					if e.Epoch != newest || e.To >= e.Epoch {
						t.Fatalf("%+v at epoch %d", e, newest)
					}
					newest = e.To
				case event.EpochEvent:
					if e.Epoch < newest {
						t.Fatalf("epoch %d after %d", e.Epoch, newest)
					}
					newest = e.Epoch
				}
			}
		}
	})
}

// TestAsLogged: an accuracy is the error that it lacks of 1, and stands beside it as its writer logged it.
func TestAsLogged(t *testing.T) {
	j := newStepAssembler("x")
	j.Row(row(1, nan, "val_acc", 93))
	j.Row(row(2, nan, "val_acc", 95))
	j.flush()
	var all event.Collection
	for _, e := range assembled(&j) {
		all.See(e)
	}
	told := all.Told()
	if len(told) != 1 || told[0].Key != "val_acc" || told[0].Of != "validation_error" || told[0].Last() != (event.Point{X: 2, V: 95}) {
		t.Errorf("%+v", told[0])
	}
}

// TestOptimizersOfSecondOrder: numbers of optimizers of second order are newtop's own, as are inner solves of SciPy's
// trust-constr, whose iterations count on from step to step; where TRON prints act and pre, delta is the radius.
func TestOptimizersOfSecondOrder(t *testing.T) {
	for _, c := range []struct {
		rows []*logs.Row
		want string
	}{
		{[]*logs.Row{row(1, nan, "obj func", 9, "cg iter", 0, "tr radius", 1, "cg stop", 0), row(2, nan, "obj func", 4, "cg iter", 2, "tr radius", 7, "cg stop", 2),
			row(3, nan, "obj func", 1, "cg iter", 7, "tr radius", 7, "cg stop", 3)},
			"1 loss 9 radius 1; 2 loss 4 radius 7 2 boundary; 3 loss 1 radius 7 5 negative-curvature; "},
		{[]*logs.Row{row(1, nan, "act", 2, "pre", 3, "delta", 0.5, "f", 6)}, "1 loss 6 radius 0.5; "},
		{[]*logs.Row{row(1, nan, "cost", 2, "tr_radius", 4, "tr_ratio", -1)}, "1 loss 2 radius 4 rejected; "},
	} {
		j := newStepAssembler("x")
		for _, r := range c.rows {
			j.Row(r)
		}
		j.flush()
		got := ""
		for _, e := range assembled(&j) {
			e, ok := e.(event.EpochEvent)
			if !ok {
				continue
			}
			got += fmt.Sprintf("%d loss %g radius %g", e.Epoch, e.Loss, e.Radius)
			for _, in := range e.Inner {
				got += fmt.Sprintf(" %d %s", in.Iterations, in.Stop)
			}
			if !e.Accepted {
				got += " rejected"
			}
			got += "; "
		}
		if got != c.want {
			t.Errorf("%s, expected %s", got, c.want)
		}
	}
}

// TestStepZeroAgain: values that are all of step 0 come one after another; where steps follow, only the first of them is.
func TestStepZeroAgain(t *testing.T) {
	for _, c := range []struct {
		steps []float64
		want  string
	}{
		{[]float64{0, 0, 0}, "0:0 1:1 2:2 "},
		{[]float64{0, 0, 1, 2}, "0:0 1:2 2:3 "},
		{[]float64{0, 1, 0, 1}, "0:2 1:3 "},
	} {
		j := newStepAssembler("x")
		for i, step := range c.steps {
			j.Row(row(step, nan, "loss", i))
		}
		j.flush()
		var told event.Collection
		for _, e := range assembled(&j) {
			told.See(e)
		}
		got := ""
		for p := range told.Series[0].All() {
			got += fmt.Sprintf("%d:%g ", p.X, float64(p.V))
		}
		if got != c.want {
			t.Errorf("steps %v: %s, expected %s", c.steps, got, c.want)
		}
	}
}

// TestLeftOut says that values went, as one metric's steps went back, and not of a run that went back as a whole.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		rows []*logs.Row
		want string
	}{
		{[]*logs.Row{row(1, nan, "a", 1), row(2, nan, "a", 1), row(1, nan, "a", 2)}, ""},
		{[]*logs.Row{row(1, nan, "a", 1, "b", 1), row(2, nan, "a", 2), row(3, nan, "b", 2), row(1, nan, "a", 3)},
			"x: steps of single metrics that went back: 1; the values from there on are left out"},
	} {
		j := newStepAssembler("x")
		for _, r := range c.rows {
			j.Row(r)
		}
		if got := j.leftOut("x"); got != c.want {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

// TestLogBesideWhatIsPrinted: a program that prints what it writes to its log, some steps later at once, has each value
// once and at its own step, and what it only prints too.
func TestLogBesideWhatIsPrinted(t *testing.T) {
	printed := newLines("train.py")
	printed.lenient = true
	log := lines{name: "log", decoder: printed.decoder, lenient: true, logged: true}
	last, losses, scores := 0, 0, 0
	read := func(next func() (event.Event, error)) {
		for {
			e, err := next()
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case nil:
				return
			case event.CutEvent:
				t.Errorf("cut %s from %d", e.Metric, e.From)
			case event.EpochEvent:
				if last = max(last, e.Epoch); !e.Loss.Absent() {
					if losses++; e.Loss != event.Float(100-e.Epoch)+0.25 {
						t.Errorf("the loss of step %d is %v", e.Epoch, e.Loss)
					}
				}
				for _, m := range e.Metrics {
					if m.Key == "score" {
						scores++
					}
				}
			}
		}
	}
	for from := 1; from < 60; from += 20 {
		for step := from; step < from+20; step++ {
			log.feed(fmt.Appendf(nil, `{"step": %d, "loss": %v}`+"\n", step, float64(100-step)+0.25))
		}
		read(log.next)
		for step := from; step < from+20; step++ {
			printed.feed(fmt.Appendf(nil, "step %d: loss %d score %d\n", step, 100-step, step))
		}
		read(printed.next)
	}
	read(func() (event.Event, error) { return printed.tail(true) })
	if last != 60 || losses != 60 || scores != 60 {
		t.Errorf("to step %d, %d losses, %d scores", last, losses, scores)
	}
}
