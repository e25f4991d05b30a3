package trainer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/trajectory"
)

// archive is a Keeper that keeps everything, checkpoints as bytes.
type archive struct {
	memory
	kept []keptAt
	due  func(end bool) bool // nil: always
}

// keptAt is a checkpoint that came after so many events.
type keptAt struct {
	events int
	epoch  int
	text   []byte
}

func (a *archive) Due(end bool) bool { return a.due == nil || a.due(end) }

func (a *archive) Keep(c *checkpoint.Checkpoint) error {
	text, err := c.MarshalBinary()
	a.kept = append(a.kept, keptAt{len(a.events) - c.Behind, c.Epoch, text})
	return err
}

func (k *keptAt) checkpoint(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	var c checkpoint.Checkpoint
	if err := c.UnmarshalBinary(k.text); err != nil {
		t.Fatal(err)
	}
	return &c
}

// last returns the newest checkpoint, with the clocks, which differ from run to run, at 0.
func (a *archive) last(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	c := a.kept[len(a.kept)-1].checkpoint(t)
	for _, clock := range []string{"training", "active", "looking"} {
		c.Numbers[clock] = 0
	}
	return c
}

func identical(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// differences names what two checkpoints do not have in common, to the bit.
func differences(a, b *checkpoint.Checkpoint) (out []string) {
	unlike := func(name string, same bool) {
		if !same {
			out = append(out, name)
		}
	}
	unlike("epoch", a.Epoch == b.Epoch)
	unlike("fingerprint", a.Fingerprint == b.Fingerprint)
	for _, pair := range [][2]*checkpoint.Checkpoint{{a, b}, {b, a}} {
		for name, v := range pair[0].Vectors {
			unlike(name, slices.EqualFunc(v, pair[1].Vectors[name], identical))
		}
		for name, v := range pair[0].Numbers {
			w, ok := pair[1].Numbers[name]
			unlike(name, ok && identical(v, w))
		}
		for name, v := range pair[0].Texts {
			w, ok := pair[1].Texts[name]
			unlike(name, ok && v == w)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// digits writes an event with all digits, but for what clocks say.
func digits(e event.Event) string {
	switch e := e.(type) {
	case event.EpochEvent:
		e.Seconds, e.Elapsed = 0, 0
		if p := e.Preconditioner; p != nil {
			factors := fmt.Sprintf("%d %+v", p.Refreshes, p.Factors)
			e.Preconditioner = nil
			return fmt.Sprintf("%+v %s", e, factors)
		}
		return fmt.Sprintf("%+v", e)
	case event.SpectrumEvent:
		density, trace := e.Density, e.Trace
		e.Density, e.Trace = nil, nil
		if density != nil {
			return fmt.Sprintf("%+v %+v %+v", e, *density, *trace)
		}
		return fmt.Sprintf("%+v", e)
	case event.DoneEvent:
		e.Elapsed = 0
		return fmt.Sprintf("%+v", e)
	}
	return fmt.Sprintf("%+v", e)
}

// keepAll trains to the end with every checkpoint kept.
func keepAll(t *testing.T, c config.Config) *archive {
	t.Helper()
	a := &archive{}
	toTheEnd(t, mustNew(t, c, a))
	return a
}

func toTheEnd(t *testing.T, s *Session) {
	t.Helper()
	var diverged *trajectory.DivergedError
	if err := s.Run(t.Context()); err != nil && !errors.As(err, &diverged) {
		t.Fatal(err)
	}
}

// resumed goes on from one of the checkpoints of a run, to its end.
func resumed(t *testing.T, c config.Config, whole *archive, from *keptAt) *archive {
	t.Helper()
	a := &archive{}
	toTheEnd(t, mustResume(t, c, from.checkpoint(t), whole.events[:from.events], a))
	return a
}

func mustResume(t *testing.T, c config.Config, from *checkpoint.Checkpoint, before []event.Event, r ...checkpoint.Recorder) *Session {
	t.Helper()
	s, err := Resume(c, from, before, r...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sameRest checks that a run that went on from a checkpoint did what the run that was never stopped did.
func sameRest(t *testing.T, whole, rest *archive, from *keptAt) {
	t.Helper()
	run, first := rest.events[0].(event.RunEvent), whole.events[0].(event.RunEvent)
	if run.Threads = first.Threads; run.Epochs >= first.Epochs {
		run.Epochs = first.Epochs
	}
	if a, b := digits(first), digits(run); a != b {
		t.Errorf("the run %s goes on as %s", a, b)
	}
	if back := rest.events[1].(event.ResumeEvent); back.Epoch != from.epoch {
		t.Errorf("back at %+v from epoch %d", back, from.epoch)
	}
	want, got := apartFromLooks(whole.events[from.events:]), apartFromLooks(rest.events[2:])
	for i := range min(len(want), len(got)) {
		if a, b := digits(want[i]), digits(got[i]); a != b {
			t.Errorf("from epoch %d, event %d:\nfound    %T%s\nexpected %T%s", from.epoch, i, got[i], b, want[i], a)
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("from epoch %d: %d events, expected %d", from.epoch, len(got), len(want))
	}
	if len(rest.kept) == 0 {
		return
	}
	if d := differences(rest.last(t), whole.last(t)); d != nil {
		t.Errorf("from epoch %d: the last checkpoint differs in %q", from.epoch, d)
	}
}

// apartFromLooks leaves out what was computed because somebody watched.
func apartFromLooks(events []event.Event) []event.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool {
		_, look := e.(event.ErrorsEvent)
		return look
	})
}

// everyKind are runs of every method, and of what else a run can be made of. By day a third of the methods train a committee, and
// each trains the gates of a mixture in one way.
func everyKind() map[string]config.Config {
	out := map[string]config.Config{}
	var atNight []string
	epochs := nightly.Of(7, 5)
	gateTrainings := []string{"descent", "joint", "fixed"}
	for i, info := range methods.All() {
		c := config.Config{Data: "spirals", Test: "0.8", Hidden: []int{5, 4}, Optimizer: info.Name, Epochs: epochs, Seed: 3}
		out[info.Name] = c
		has := optim.NewSettings(info.Parameters).Has
		c.SpectrumEvery = 2
		if has("blocks") {
			blocks := c
			blocks.Blocks, blocks.Set = 3, []string{"radius=30", "xi=0.3"}
			out[info.Name+" blocks"] = blocks
		}
		if has("batch") {
			batches := c
			batches.Batch = 30
			out[info.Name+" batches"] = batches
		}
		c.Committee = 2
		out[info.Name+" committee"] = c
		if i%3 != 0 {
			atNight = append(atNight, info.Name+" committee")
		}
		if info.Needs&optim.NeedsLayers != 0 {
			continue
		}
		c = config.Config{Data: "sine", Experts: 2, ExpertHidden: []int{4}, Gate: "1", Optimizer: info.Name, Epochs: epochs}
		for k, gates := range gateTrainings {
			c.GateTraining = gates
			out[info.Name+" gates "+gates] = c
			if i%len(gateTrainings) != k {
				atNight = append(atNight, info.Name+" gates "+gates)
			}
		}
	}
	c := out["tr-newton"]
	c.SpectrumEvery, c.SpectrumMethod, c.Density = 1, "power", true
	out["power and density"] = c
	c.Set = []string{"preconditioner=jacobi"}
	out["tr-newton jacobi"] = c
	c = out["tr-gn blocks"]
	c.Set = append(slices.Clone(c.Set), "preconditioner=kfac")
	out["tr-gn kfac"] = c
	c = out["bpls"]
	c.Set = []string{"tau-max=2"}
	out["bpls tau"] = c
	for _, name := range []string{"tr-newton", "tr-gn blocks", "adam batches", "lm", "bpls", "scg committee", "tr-gn gates joint"} {
		c := out[name]
		c.Precision = "float32"
		out[name+" float32"] = c
	}
	for _, name := range []string{"tr-newton blocks", "lm", "dogleg", "lbfgs", "adam"} {
		c := out[name]
		c.L2, c.LabelSmoothing, c.ClassWeights = 0.01, 0.1, "balanced"
		out[name+" generalizing"] = c
	}
	for _, name := range []string{"tr-newton", "tr-gn blocks", "adam batches", "lbfgs", "lm"} {
		c := out[name]
		c.Folds, c.Committee, c.FoldCoding = 3, 3, config.CodingOfEach
		out[name+" folds"] = c
	}
	for _, name := range []string{"adam batches", "nag committee", "adam gates descent"} {
		c := out[name]
		c.L2, c.InputNoise = 0.01, 0.1
		out[name+" noisy"] = c
	}
	for _, name := range []string{"tr-newton", "tr-gn blocks", "adam batches", "scg committee", "momentum gates descent"} {
		c := out[name]
		c.Average, c.L2 = 3, 0.01
		out[name+" average"] = c
	}
	c = out["adam batches noisy"]
	c.Set, c.Precision = []string{"weight-decay=0.1"}, "float32"
	out["adam decay float32"] = c
	if !nightly.On() {
		for _, name := range atNight {
			delete(out, name)
		}
	}
	return out
}

// TestResumeIsExact: a run that goes on from any checkpoint has the events and the state of one that was never stopped,
// whatever the threads.
func TestResumeIsExact(t *testing.T) {
	for name, c := range everyKind() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := keepAll(t, c)
			for i := range whole.kept {
				if !(nightly.On() && name == c.Optimizer) && i != 1 && i != 4 {
					continue // all of them for the plain runs only
				}
				c.Threads = 1 + i%3
				from := &whole.kept[i]
				sameRest(t, whole, resumed(t, c, whole, from), from)
			}
		})
	}
}

// TestResumeToTheLastDigit: so does one that goes on until nothing is left to gain, through rejected steps, sweeps that
// are undone, steps that the loss does not show, and to the same end.
func TestResumeToTheLastDigit(t *testing.T) {
	for _, info := range methods.All() {
		for _, blocks := range []int{0, 5} {
			if blocks > 0 && !optim.NewSettings(info.Parameters).Has("blocks") {
				continue
			}
			t.Run(fmt.Sprint(info.Name, blocks), func(t *testing.T) {
				t.Parallel()
				c := config.Config{Data: "sine", Test: "0.9", Hidden: []int{2}, Optimizer: info.Name, Epochs: 250, Blocks: blocks}
				whole := keepAll(t, c)
				last := len(whole.kept) - 1
				for _, i := range []int{last - 4, last - 1, last - 7, last / 2, last}[:nightly.Of(5, 2)] {
					from := &whole.kept[max(0, i)]
					sameRest(t, whole, resumed(t, c, whole, from), from)
				}
			})
		}
	}
}

// TestResumeAfterSteering: what was done to a run by hand is kept before the run goes on, and a run that is resumed
// goes on from it.
func TestResumeAfterSteering(t *testing.T) {
	tr := config.Config{Data: "spirals", Test: "0.8", Hidden: []int{5, 4}, Optimizer: "tr-newton", Epochs: 8, SpectrumEvery: 3}
	adam := tr
	adam.Optimizer, adam.Batch = "adam", 100
	with := func(optimizer string, set ...string) config.Config {
		c := tr
		c.Optimizer, c.Set = optimizer, set
		return c
	}
	for name, c := range map[string]struct {
		config config.Config
		into   int // inner units of the epoch in which it is steered
		by     []event.Command
	}{
		"set":             {tr, 0, []event.Command{event.Set{Key: "radius", Value: "0.3"}}},
		"set within":      {tr, 2, []event.Command{event.Set{Key: "radius", Value: "0.3"}}},
		"set batches":     {adam, 0, []event.Command{event.Set{Key: "batch", Value: "30"}, event.Set{Key: "rate", Value: "0.01"}}},
		"rewind":          {tr, 0, []event.Command{event.Rewind{Epoch: 2}}},
		"rewind within":   {adam, 2, []event.Command{event.Rewind{Epoch: 1}}},
		"race":            {tr, 0, []event.Command{event.Race{Racers: racers, Equivalents: 40}, event.Pick{Racer: -1}}},
		"lbfgs":           {with("lbfgs"), 1, []event.Command{event.Set{Key: "decrease", Value: "0.01"}}},
		"lm":              {with("lm", "scaling=diagonal"), 3, []event.Command{event.Set{Key: "mu", Value: "0.1"}}},
		"dogleg":          {with("dogleg", "scaling=diagonal", "radius=100"), 1, []event.Command{event.Set{Key: "radius", Value: "50"}}},
		"dogleg, Cauchy":  {with("dogleg"), 1, []event.Command{event.Set{Key: "radius", Value: "1e-3"}}},
		"spectrum, scale": {tr, 1, []event.Command{event.Spectrum{}, event.Scale{Factor: 0.5}}},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); steerAndResume(t, c.config, c.into, c.by...) })
	}
	for i, info := range methods.All() {
		for into := range 3 {
			if into != i%3 && !nightly.On() {
				continue
			}
			t.Run(fmt.Sprint("to ", info.Name, into), func(t *testing.T) {
				t.Parallel()
				steerAndResume(t, adam, into, event.Switch{Optimizer: info.Name})
			})
			if info.Primary == "" || i%2 == 1 && !nightly.On() {
				continue
			}
			t.Run(fmt.Sprint("scale ", info.Name, into), func(t *testing.T) {
				t.Parallel()
				c := tr
				c.Optimizer = info.Name
				steerAndResume(t, c, into, event.Scale{Factor: 0.5})
			})
		}
	}
	long := tr
	long.Epochs = 14
	for i, racer := range racers {
		for into := range 2 {
			t.Run(fmt.Sprint("pick ", racer.Name, into), func(t *testing.T) {
				t.Parallel()
				steerAndResume(t, long, into, event.Race{Racers: racers, Equivalents: 8}, event.Pick{Racer: i})
			})
		}
		t.Run("pick within "+racer.Name, func(t *testing.T) {
			t.Parallel()
			entries := slices.Concat(racers[i:], racers[:i])
			steerAndResume(t, long, 0, event.Race{Racers: entries}, event.Pause{On: true}, event.StepInner{}, event.Pick{Racer: 0})
		})
	}
}

// steerAndResume trains three epochs and some inner units more, gives commands, and lets the run go on to its end. It
// resumes from everything that was kept from then on.
func steerAndResume(t *testing.T, c config.Config, into int, by ...event.Command) {
	t.Helper()
	whole := &archive{}
	d := takeWheel(t, mustNew(t, c, whole), &whole.memory)
	d.times(3, event.StepEpoch{})
	d.times(into, event.StepInner{})
	for _, command := range by {
		if race, ok := command.(event.Race); ok && race.Equivalents == 0 { // goes on for ever
			do(t, d.s, command)
			continue
		}
		d.do(command)
	}
	if err := d.s.Do(t.Context(), event.Pause{On: false}); err != nil && !errors.Is(err, feed.ErrEnded) {
		t.Fatal(err)
	}
	<-d.s.ended
	steered := lastSteered(whole.events)
	count := 0
	for i := range whole.kept {
		from := &whole.kept[i]
		if from.events <= steered {
			continue
		}
		if count++; count%3 == 0 {
			continue
		}
		between := 0
		for _, e := range whole.events[steered:from.events] {
			if _, ok := e.(event.EpochEvent); ok {
				between++
			}
		}
		most := 0
		if into > 0 || len(by) > 1 { // an epoch under way, the laps of a racer and the one that it is in
			most = 2
		}
		if count == 1 && between > most {
			t.Errorf("first kept after %d epochs", between)
		}
		sameRest(t, whole, resumed(t, c, whole, from), from)
	}
	switch {
	case count > 0:
	case slices.Contains(by, event.Command(event.StepInner{})):
		t.Skip("the racer had done as many laps as the run may have epochs before it was picked")
	default:
		t.Error("nothing was kept")
	}
}

// lastSteered returns the place of the last event that tells of a command.
func lastSteered(events []event.Event) int {
	for i, e := range slices.Backward(events) {
		switch e.(type) {
		case event.SwitchEvent, event.SettingEvent, event.RewindEvent, event.RaceEvent:
			return i
		}
	}
	return -1
}
