package trainer

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/publish"
)

var smallRun = config.Config{Data: "sine", Test: "0.9", Hidden: []int{3}, Optimizer: "tr-gn-jacobi", Epochs: 4}

// TestResumeRefuses what is not the run's, in one line, before anything is recorded.
func TestResumeRefuses(t *testing.T) {
	whole := keepAll(t, smallRun)
	from := &whole.kept[2]
	for _, c := range []struct {
		want   string
		config func(*config.Config)
		spoil  func(*checkpoint.Checkpoint)
	}{
		{want: "the data are not those of the run: found fingerprint ", config: func(c *config.Config) { c.Data = "spirals" }},
		{want: "the data are not those of the run: found fingerprint ", config: func(c *config.Config) { c.Test = "0.8" }},
		{want: "the network is not that of the run: found fingerprint ", config: func(c *config.Config) { c.Hidden = []int{4} }},
		{want: "the network is not that of the run: found fingerprint ", config: func(c *config.Config) { c.Act = "sigmoid" }},
		{want: "nets: 1: expected 2", config: func(c *config.Config) { c.Committee = 2 }},
		{want: "net 0.seed: 0: expected 5", config: func(c *config.Config) { c.Seed = 5 }},
		{want: `optimizer: unknown optimizer "magic": expected one of `, spoil: func(c *checkpoint.Checkpoint) { c.Texts["optimizer"] = "magic" }},
		{want: "net 0.setting.rate: not there", spoil: func(c *checkpoint.Checkpoint) { c.Texts["optimizer"] = "adam" }},
		{want: "net 0.setting.radius: radius = -1: expected a number > 0", spoil: func(c *checkpoint.Checkpoint) { c.Texts["net 0.setting.radius"] = "-1" }},
		{want: "net 0.weights: 1 numbers: expected 10", spoil: func(c *checkpoint.Checkpoint) { c.Vectors["net 0.weights"] = []float64{1} }},
		{want: "net 0.random numbers: ", spoil: func(c *checkpoint.Checkpoint) { c.Texts["net 0.random numbers"] = "1234" }},
		{want: "net 0.above: -1: expected a whole number from 0", spoil: func(c *checkpoint.Checkpoint) { c.Numbers["net 0.above"] = -1 }},
		{want: "training: not there", spoil: func(c *checkpoint.Checkpoint) { delete(c.Numbers, "training") }},
		{want: "of epoch 9 in one place and 2 in another", spoil: func(c *checkpoint.Checkpoint) { c.Epoch = 9 }},
	} {
		config, at := smallRun, from.checkpoint(t)
		if c.config != nil {
			c.config(&config)
		}
		if c.spoil != nil {
			c.spoil(at)
		}
		rest := &archive{}
		s := mustResume(t, config, at, whole.events[:from.events], rest)
		err := s.Run(t.Context())
		var prepare *PrepareError
		var bad *checkpoint.CheckpointError
		if !errors.As(err, &prepare) || !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "checkpoint: "+c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: expected checkpoint: %s", err, c.want)
		}
		if len(rest.events) > 0 || len(rest.kept) > 0 {
			t.Errorf("%s: recorded %v", c.want, rest.events)
		}
	}
}

// TestResumeAtTheLimit ends at once and in the same way, and with another limit goes on as if it had been that one from
// the first.
func TestResumeAtTheLimit(t *testing.T) {
	for _, limit := range []func(*config.Config){
		func(*config.Config) {},
		func(c *config.Config) { c.TargetLoss = 0.2 },
		func(c *config.Config) { c.TargetError = 0.999 },
		func(c *config.Config) { c.TimeLimit = 1 },
	} {
		c := smallRun
		limit(&c)
		whole := keepAll(t, c)
		last := &whole.kept[len(whole.kept)-1]
		if c.TimeLimit > 0 { // reached in the middle of the first iteration
			c.Epochs, c.TimeLimit = 2, 0
			whole = keepAll(t, c)
			last = &whole.kept[1]
			whole.events = append(whole.events[:last.events:last.events], event.DoneEvent{})
			c.TimeLimit = 1
		}
		rest := resumed(t, c, whole, last)
		if len(rest.events) != 3 {
			t.Fatalf("%d events: expected Run, Resume and Done", len(rest.events))
		}
		done := rest.events[2].(event.DoneEvent)
		if c.TimeLimit > 0 {
			if done.Reason != event.ReasonTime {
				t.Errorf("%+v", done)
			}
			continue
		}
		sameRest(t, whole, rest, last)
	}
	more := smallRun
	more.Epochs = 9
	short, long := keepAll(t, smallRun), keepAll(t, more)
	end := &short.kept[4]
	rest := resumed(t, more, short, end)
	short.events = slices.Concat(short.events[:end.events], long.events[long.kept[4].events:])
	short.kept = long.kept
	sameRest(t, short, rest, end)
}

// TestResumeFromTheStart is the run itself under its name.
func TestResumeFromTheStart(t *testing.T) {
	whole, again := keepAll(t, smallRun), &archive{}
	toTheEnd(t, mustResume(t, smallRun, nil, whole.events[:1], again))
	for i := range whole.events {
		if a, b := digits(whole.events[i]), digits(again.events[i]); a != b {
			t.Fatalf("event %d is %s, expected %s", i, b, a)
		}
	}
}

// TestHistoryIsShown to viewers, once, and only there.
func TestHistoryIsShown(t *testing.T) {
	whole := keepAll(t, smallRun)
	from := &whole.kept[2]
	rest := &archive{}
	s := mustResume(t, smallRun, from.checkpoint(t), whole.events, rest) // with the Done of before
	early := s.Subscribe()
	defer early.Close()
	d, err := early.Wait(t.Context())
	if err != nil || d.Run == nil || len(d.Epochs) != 5 || d.Done != nil {
		t.Fatalf("%+v, %v", d, err)
	}
	toTheEnd(t, s)
	d, err = early.Wait(t.Context())
	if err != nil || len(d.Epochs) != 2 || d.Done == nil || len(d.Resumes) != 1 || d.Resumes[0].Epoch != 2 || !slices.Equal(d.Status.RewindEpochs, []int{2, 3, 4}) {
		t.Errorf("%+v, %v", d, err)
	}
	if n := len(of[event.EpochEvent](&rest.memory)); n != 2 {
		t.Errorf("%d epochs recorded: expected 2", n)
	}
}

// TestKeeperIsAsked after every epoch and at the end, and gets what was changed by hand without being asked.
func TestKeeperIsAsked(t *testing.T) {
	var asked string
	lazy := &archive{due: func(end bool) bool {
		asked += map[bool]string{false: "e", true: "E"}[end]
		return false
	}}
	toTheEnd(t, mustNew(t, smallRun, lazy))
	if asked != "eeeeE" || len(lazy.kept) != 0 {
		t.Errorf("asked %s, %d kept", asked, len(lazy.kept))
	}
	lazy.due = func(bool) bool { return false }
	d := takeWheel(t, mustNew(t, smallRun, lazy), &lazy.memory)
	d.do(event.Set{Key: "radius", Value: "2"})
	d.do(event.StepEpoch{})
	do(t, d.s, event.Switch{Optimizer: "lbfgs"})
	d.until(func(s *event.Status) bool { return s.Optimizer == "lbfgs" })
	d.times(2, event.StepEpoch{})
	do(t, d.s, event.Rewind{Epoch: 1})
	d.until(func(s *event.Status) bool { return s.Epoch == 1 })
	d.stop()
	var kept []int
	for _, k := range lazy.kept {
		kept = append(kept, k.epoch)
	}
	if !slices.Equal(kept, []int{0, 1, 1}) {
		t.Errorf("kept after epochs %v: expected 0, 1 and 1", kept)
	}
}

// TestEndIsKept: a run that is cut short between two epochs or within one keeps its last whole epoch, from which it goes on
// exactly, and saves its weights.
func TestEndIsKept(t *testing.T) {
	for _, c := range []config.Config{smallRun, {Data: "spirals", Hidden: []int{5}, Optimizer: "adam", Batch: 200, Epochs: 4, Committee: 2}} {
		whole := keepAll(t, c)
		for into := range 3 {
			cutShort(t, c, whole, into)
		}
	}
}

// TestEndAwaitsTheFingerprint: a run that is told to end gives the fingerprint a while, and is not kept by one that takes longer.
func TestEndAwaitsTheFingerprint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begin, stopped := time.Now(), false
		c := checkpointer{out: &publish.Publisher{Ctx: ctx}, fingerprint: &objective.Fingerprint{Stop: func() { stopped = true }}}
		time.AfterFunc(time.Minute, cancel)
		c.await()
		if took := time.Since(begin); took != time.Minute+fingerprintGrace || !stopped {
			t.Errorf("it took %s, stopped: %t", took, stopped)
		}
	})
}

// TestEndWithinASpectrumIsKept: the run computes it again when it goes on.
func TestEndWithinASpectrumIsKept(t *testing.T) {
	c := smallRun
	c.SpectrumEvery = 2
	whole := keepAll(t, c)
	a := &archive{due: func(end bool) bool { return end }}
	ctx, cancel := context.WithCancel(t.Context())
	l := newLoop(ctx, mustNew(t, c, a))
	l.analyst.Poll = func() error {
		cancel()
		return optim.ErrInterrupted
	}
	rec := checkpoint.StartRecording(a)
	l.out.Recordings = []*checkpoint.Recording{rec}
	err := l.run()
	l.finish(err)
	l.out.StatusPulse.Stop()
	l.work.Pool.Close()
	if !errors.Is(err, context.Canceled) || rec.Finish(t.Context()) != nil {
		t.Fatal(err)
	}
	if len(a.kept) != 1 || a.kept[0].epoch != 2 {
		t.Fatalf("%d kept: expected epoch 2", len(a.kept))
	}
	a.events[0] = whole.events[0] // the run's name and time
	sameRest(t, whole, resumed(t, c, a, &a.kept[0]), &keptAt{whole.kept[2].events - 1, 2, nil})
}

// cutShort ends a run so many inner units after its first epoch.
func cutShort(t *testing.T, c config.Config, whole *archive, into int) {
	a := &archive{due: func(end bool) bool { return end }}
	ctx, cancel := context.WithCancel(t.Context())
	c.Save = filepath.Join(t.TempDir(), "w.safetensors")
	s := mustNew(t, c, a)
	box := s.Subscribe()
	defer box.Close()
	done, paused := make(chan error, 1), asked(ctx, s, event.Pause{On: true})
	go func() { done <- s.Run(ctx) }()
	if err := <-paused; err != nil {
		t.Fatal(err)
	}
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused && d.Status.RewindEpochs != nil })
	do(t, s, event.StepEpoch{})
	at := follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused })
	for range into {
		do(t, s, event.StepInner{})
		follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused && d.Status.Unit > 0 })
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(a.kept) != 1 || a.kept[0].epoch != at.Status.Epoch {
		t.Fatalf("%s stopped in inner unit %d after epoch %d: kept %d", c.Optimizer, into, at.Status.Epoch, len(a.kept))
	}
	from := &a.kept[0]
	e, ok := a.events[from.events-1].(event.EpochEvent)
	if !ok || e.Epoch != from.epoch {
		t.Fatalf("the checkpoint comes after %T", a.events[from.events-1])
	}
	saved := readModel(t, c.Save)
	kept, err := from.checkpoint(t).Weights(saved.Network.Dim())
	if err != nil || !reflect.DeepEqual(kept, saved.Weights) {
		t.Errorf("%s stopped in inner unit %d: the saved weights are not those of the checkpoint; %v", c.Optimizer, into, err)
	}
	if end := of[event.DoneEvent](&a.memory)[0]; end.Epochs != e.Epoch || end.Loss != e.Loss {
		t.Errorf("ended in %+v after %+v", end, e)
	}
	c.Save = ""
	a.events[0] = whole.events[0] // the run's name and time
	sameRest(t, whole, resumed(t, c, a, from), &whole.kept[e.Epoch])
}

// reporter is a Recorder that tells how far it is.
type reporter struct {
	memory
	place string
}

func (r *reporter) Recording() event.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return event.Recording{Path: r.place, Backlog: len(r.events)}
}

func (r *reporter) Flush() error {
	time.Sleep(10 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.place = "closed"
	return nil
}

// TestRecordingIsShown up to its last word.
func TestRecordingIsShown(t *testing.T) {
	r := &reporter{place: "open"}
	s := mustNew(t, smallRun, &memory{}, r)
	box := s.Subscribe()
	defer box.Close()
	toTheEnd(t, s)
	d, err := box.Wait(t.Context())
	if err != nil || d.Status.Recording != (event.Recording{Path: "closed", Backlog: len(r.events)}) || d.Status.Phase != event.Ended {
		t.Errorf("%+v, %v", d.Status.Recording, err)
	}
}

// TestClocksGoOn from the checkpoint's.
func TestClocksGoOn(t *testing.T) {
	whole := keepAll(t, smallRun)
	from := &whole.kept[3]
	c := from.checkpoint(t)
	c.Numbers["training"], c.Numbers["active"] = float64(time.Hour), float64(2*time.Hour)
	rest := &archive{}
	config := smallRun
	config.TimeLimit = 2*time.Hour + time.Minute
	toTheEnd(t, mustResume(t, config, c, nil, rest))
	e := of[event.EpochEvent](&rest.memory)[0]
	if hour := float64(time.Hour / time.Second); float64(e.Elapsed) < hour || float64(e.Elapsed) > hour+60 || float64(e.Seconds) > 60 {
		t.Errorf("%v s elapsed, %v s for the epoch", e.Elapsed, e.Seconds)
	}
	if got := rest.kept[0].checkpoint(t).Numbers["active"]; got < float64(2*time.Hour) {
		t.Errorf("%v ns active", got)
	}
}
