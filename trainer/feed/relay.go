package feed

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// Relay shows a run that is trained elsewhere: events go in, and every viewer has a feed of them. Its methods may be
// called from any goroutine.
type Relay struct {
	viewers Broadcaster
	mu      sync.Mutex
	now     event.Status
	answer  func(context.Context, event.Command) error
}

// NewRelay returns a relay without events. Commands of its viewers go to answer; nil answers ErrReadOnly.
func NewRelay(answer func(context.Context, event.Command) error) *Relay {
	if answer == nil {
		answer = func(context.Context, event.Command) error { return ErrReadOnly }
	}
	return &Relay{answer: answer}
}

// NewPassing returns a relay that keeps nothing of what its viewers, who join before all, have seen.
func NewPassing() *Relay {
	r := NewRelay(nil)
	r.viewers.passing = true
	return r
}

// Feed returns the run so far and from now on.
func (r *Relay) Feed() Feed { return &relayFeed{relay: r, Mailbox: r.viewers.Subscribe()} }

type relayFeed struct {
	relay *Relay
	*Mailbox
}

func (f *relayFeed) Do(ctx context.Context, c event.Command) error { return f.relay.answer(ctx, c) }

// Add shows the next event.
func (r *Relay) Add(e event.Event) { r.Show([]event.Event{e}, nil) }

// Show shows the next events, and changes the status that goes with them by hand, if change is not nil. Viewers get
// both at once. What the status points to is shared: change replaces it.
func (r *Relay) Show(events []event.Event, change func(*event.Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.viewers.PublishAll(events, r.advance(events, change))
}

// Restart makes what was shown void, and shows the given events instead.
func (r *Relay) Restart(events []event.Event, change func(*event.Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = event.Status{Replay: r.now.Replay, Recording: r.now.Recording, Audience: r.now.Audience}
	r.viewers.Restart(events, r.advance(events, change))
}

// advance returns the status after some events and a change by hand.
func (r *Relay) advance(events []event.Event, change func(*event.Status)) event.Status {
	for _, e := range events {
		advance(&r.now, e)
	}
	if change != nil {
		change(&r.now)
	}
	return r.now
}

// Update changes the status by hand.
func (r *Relay) Update(change func(*event.Status)) { r.Show(nil, change) }

// advance makes s the status of a run after an event.
func advance(s *event.Status, e event.Event) {
	switch e := e.(type) {
	case event.RunEvent:
		s.Phase, s.Optimizer, s.EpochLimit = event.Running, e.Optimizer, e.Epochs
		s.Settings = firstSettings(&e)
	case event.EpochEvent:
		s.Epoch, s.Unit = e.Epoch, 0
		s.Elapsed, s.Equivalents = known(e.Elapsed, s.Elapsed), known(e.GradientEquivalents, s.Equivalents)
		if e.Optimizer != "" {
			s.Optimizer = e.Optimizer
		}
	case event.InnerEvent:
		s.Unit = e.Iteration
	case event.SwitchEvent:
		s.Optimizer, s.Settings = e.To, nil
	case event.SettingEvent:
		changeSetting(s, e)
		if text, ok := e.Value.(string); ok && e.Key == "epochs" {
			s.EpochLimit, _ = strconv.Atoi(text)
		}
	case event.RewindEvent:
		s.Epoch, s.Unit = e.To, 0
	case event.ResumeEvent:
		s.Phase, s.Epoch, s.Unit = event.Running, e.Epoch, 0
	case event.RaceEvent:
		s.Racing = e.State == "begun" || e.State == "over"
	case event.DoneEvent:
		s.Phase, s.Epoch = event.Ended, e.Epochs
	}
}

func known(v event.Float, otherwise float64) float64 {
	if !v.Finite() {
		return otherwise
	}
	return float64(v)
}

// changeSetting changes one setting in a copy of the list, which viewers share.
func changeSetting(s *event.Status, e event.SettingEvent) {
	i := slices.IndexFunc(s.Settings, func(have event.Setting) bool { return have.Key == e.Key })
	if i < 0 {
		return
	}
	info, err := methods.Lookup(s.Optimizer)
	if err != nil {
		return
	}
	j := slices.IndexFunc(info.Parameters, func(h optim.Hyperparameter) bool { return h.Key == e.Key })
	if j < 0 {
		return
	}
	if text := settingText(&info.Parameters[j], e.Value); text != "" {
		s.Settings = slices.Clone(s.Settings)
		s.Settings[i].Text = text
	}
}

// settingText writes a value as JSON gives it, or as the session does; empty for one that no setting has.
func settingText(h *optim.Hyperparameter, value any) string {
	switch v := value.(type) {
	case float64:
		return h.Text(v)
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// firstSettings lists the settings that a run begins with, in the order of a method that is known here.
func firstSettings(e *event.RunEvent) (out []event.Setting) {
	info, err := methods.Lookup(e.Optimizer)
	if err != nil {
		return nil
	}
	for i := range info.Parameters {
		h := &info.Parameters[i]
		text := settingText(h, e.Settings[h.Key])
		if text == "" {
			continue
		}
		out = append(out, event.Setting{Key: h.Key, Text: text, Meaning: h.Meaning, Range: h.Range(),
			Primary: h.Key == info.Primary})
	}
	return out
}
