// Package alert reports when something happens in a run that is worth a call: a number that is none, a loss that rises,
// a run that gets no better, one that overfits, its end. It reads events of newtop's own runs and of other programs'
// alike, and remembers a bounded number of them. Who is called, and how, is internal/notify's business.
package alert

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"newtop/trainer/event"
)

// Kind is what an alert is about.
type Kind uint8

// The kinds.
const (
	NaN         Kind = iota // a loss, an error, an RMSE or a figure of its own was told and is not finite
	Divergence              // the loss rises far above its best, see limit; or the run says so
	Plateau                 // what the run is judged by gets no better, see plateaued
	Overfitting             // the test loss rises while the training loss falls, see Overfits
	End                     // the run is over, or nothing more comes of it
	Quiet                   // it tells no more values, see pace
	Condition               // a condition is met, as Until waits for one
	Machine                 // a machine needs somebody, which others find out
	kindCount
)

var kindNames = [kindCount]string{"nan", "divergence", "plateau", "overfitting", "end", "quiet", "condition", "machine"}

func (k Kind) String() string { return kindNames[k] }

// Alert is one call.
type Alert struct {
	Kind  Kind
	Epoch int    // the newest then
	Text  string // a line that says what happened, without characters that act on a terminal
}

// Watch sees the events of one run after the other. A kind is reported once, and again only after the run has
// recovered: the rule of each kind says when. What it tells depends on the events alone. Its methods are called by one
// goroutine.
type Watch struct {
	wanted, fired  uint8 // bits of kinds
	conditions     []awaited
	pace           pace
	run            string
	limit          int    // how many epochs the run will have, 0 if that is unknown
	counted        string // what the run counts, "epoch" or "step"
	started, epoch int    // the first and the newest epoch
	measure        event.Measure
	broken         broken
	rise           rise
	curves         [event.QuantityCount]*curve // of what runs are judged by, once a run has it
	fits           int                         // the newest epoch at which the run did not overfit
	due            float64                     // the epoch from which the rules over the curves are asked again
	found          []Alert
}

// New returns a watch for what rules say.
func New(r Rules) *Watch {
	w := &Watch{counted: "epoch", pace: pace{said: r.Quiet}}
	for _, k := range r.Kinds {
		w.wanted |= 1 << k
	}
	for _, text := range r.Conditions {
		if u, err := ParseUntil(text); err == nil {
			w.conditions = append(w.conditions, awaited{until: u})
			w.wanted |= 1 << Condition
		}
	}
	w.forget()
	return w
}

// forget makes the watch one that has seen nothing.
func (w *Watch) forget() {
	*w = Watch{wanted: w.wanted, conditions: w.conditions, pace: w.pace, run: w.run, limit: w.limit, counted: w.counted,
		due: math.Inf(-1)}
}

// See takes the next event and returns what is worth a call, mostly nothing.
func (w *Watch) See(e event.Event) []Alert {
	w.found = nil
	w.take(e)
	for i := range w.conditions {
		c := &w.conditions[i]
		met := c.until.See(e)
		if met && !c.met {
			w.rearm(Condition)
			w.fire(Condition, fmt.Sprintf("%s at %s %d", c.until, w.counted, w.epoch))
		}
		c.met = met
	}
	return w.found
}

func (w *Watch) take(e event.Event) {
	switch e := e.(type) {
	case event.RunEvent:
		if e.ID != w.run {
			w.forget()
		}
		w.run, w.limit, w.counted, w.measure = e.ID, e.Epochs, e.Counted(), e.Measure()
	case event.EpochEvent:
		w.see(&e)
	case event.RewindEvent:
		measure := w.measure
		w.forget()
		w.measure, w.epoch = measure, e.To
	case event.ResumeEvent:
		w.resume()
	case event.DivergedEvent:
		w.epoch = e.Epoch
		w.fire(Divergence, "the run has diverged: "+e.Reason)
	case event.DoneEvent:
		text := "the run is over: " + e.Reason.Label()
		if e.Message != "" {
			text += ", " + e.Message
		}
		w.fire(End, text)
		w.pace.over = true
	}
}

// resume says that the run goes on.
func (w *Watch) resume() {
	w.rearm(End)
	w.rearm(Quiet)
	w.pace.over = false
}

// End says that the run is over without having told so, as its writer is gone, or that the log ends.
func (w *Watch) End(text string) []Alert {
	w.found = nil
	w.fire(End, text)
	return w.found
}

func (w *Watch) see(e *event.EpochEvent) {
	if math.IsInf(w.due, -1) {
		w.started, w.fits, w.due = e.Epoch, e.Epoch, float64(e.Epoch)
	}
	late, own := e.Late()
	e = &own
	w.epoch = e.Epoch
	w.resume()
	w.measure = w.measure.With(e)
	if w.wants(NaN) {
		if text := w.broken.see(e); text != "" {
			w.fire(NaN, text)
		} else if w.broken.none() {
			w.rearm(NaN)
		}
	}
	if w.wants(Divergence) {
		if text, over := w.rise.see(e); text != "" {
			w.fire(Divergence, text)
		} else if over {
			w.rearm(Divergence)
		}
	}
	if !w.wants(Plateau) && !w.wants(Overfitting) {
		return
	}
	for i := range late {
		w.note(&late[i])
	}
	w.note(e)
	if float64(e.Epoch) >= w.due {
		w.judge()
	}
}

// note adds an epoch's values to the curves.
func (w *Watch) note(e *event.EpochEvent) {
	for _, q := range judging {
		if v := *q.Of(e); v.Finite() {
			if w.curves[q] == nil {
				w.curves[q] = new(curve)
			}
			w.curves[q].add(float64(e.Epoch), float64(v))
		}
	}
}

// checks is how often the rules over curves are asked: whenever the run has grown by such a part. Their means are over
// a twentieth of the run, so that nothing is missed in between.
const checks = 1.0 / 50

// judge asks the rules that need the run's curves. Who calls somebody must be surer than who draws: overfitting is
// reported when it was found all the time while the run grew by a window, so that the newest means of first and last
// share no value.
func (w *Watch) judge() {
	const certain = 5
	w.due = float64(w.epoch) + float64(w.epoch-w.started)*checks
	if c := w.curves[w.measure.Quantity]; c != nil {
		switch p := plateaued(&c.Curve, float64(w.limit)); {
		case p.flat:
			w.fire(Plateau, fmt.Sprintf("the %s has not improved since %s %.0f", w.measure.Info().Name, w.counted,
				p.since))
		case p.better:
			w.rearm(Plateau)
		}
	}
	for _, q := range []event.Quantity{event.Loss, event.RMSE} {
		held := q.Validation()
		if w.curves[held] == nil {
			held = q.Test()
		}
		train, test := w.curves[q], w.curves[held]
		if train == nil || test == nil {
			continue
		}
		o, ok := Overfits(&train.Curve, &test.Curve)
		if !ok || o.Sure < certain {
			w.fits = w.epoch
		}
		switch {
		case float64(w.epoch-w.fits) > float64(w.epoch-w.started)*window:
			w.fire(Overfitting, fmt.Sprintf("the %s has risen since %s %d while the %s fell", held.Info().Name,
				w.counted, o.Since, q.Info().Name))
		case o.Rise < recovered:
			w.rearm(Overfitting)
		}
		return
	}
}

func (w *Watch) wants(k Kind) bool { return w.wanted>>k&1 != 0 }

// fire finds an alert, unless its kind was reported before.
func (w *Watch) fire(k Kind, text string) {
	if w.wants(k) && w.fired>>k&1 == 0 {
		w.fired |= 1 << k
		fields := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		w.found = append(w.found, Alert{k, w.epoch, strings.Join(fields, " ")})
	}
}

// rearm says that the run has recovered of a kind.
func (w *Watch) rearm(k Kind) { w.fired &^= 1 << k }
