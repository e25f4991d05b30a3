package trainer

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"newtop/internal/format"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/trajectory"
)

// limit is a part of a Config that can change while the run continues: when it ends, and its spectra. The keys are the
// names of flags, which no hyperparameter has.
type limit struct {
	key, meaning, expected string
	text                   func(*config.Config) string
	set                    func(*config.Config, string) error
}

var limits = []limit{
	whole("epochs", "end after this many epochs; 0: never", func(c *config.Config) *int { return &c.Epochs }),
	{"time-limit", "end after this much work, as in 90s; 0: never", "a duration ≥ 0, as 90s",
		func(c *config.Config) string { return c.TimeLimit.String() },
		func(c *config.Config, text string) (err error) {
			if text == "0" {
				text = "0s"
			}
			c.TimeLimit, err = time.ParseDuration(text)
			return err
		}},
	number("target-loss", "end at this training loss; 0: never",
		func(c *config.Config) *float64 { return &c.TargetLoss }),
	{"patience", "end after this many epochs without improvement on the validation rows; 0: never", "a whole number " +
		"≥ 0",
		func(c *config.Config) string { return strconv.Itoa(max(c.Patience, 0)) },
		func(c *config.Config, text string) (err error) {
			if c.Patience, err = strconv.Atoi(text); c.Patience == 0 {
				c.Patience = -1
			}
			return err
		}},
	number("target-error",
		"end at this error as a fraction, or RMSE, of the validation rows, else of the test rows; 0: never",
		func(c *config.Config) *float64 { return &c.TargetError }),
	{"until", "end when this is met, as in error<5% or loss<0.1; empty: never", "terms with or between them",
		func(c *config.Config) string { return c.Until },
		func(c *config.Config, text string) error {
			c.Until = text
			return nil
		}},
	whole("spectrum-every", "epochs between spectra; 0: never by itself",
		func(c *config.Config) *int { return &c.SpectrumEvery }),
	whole("spectrum", "eigenvalues of a spectrum at either end; 0: the default",
		func(c *config.Config) *int { return &c.Spectrum }),
}

func whole(key, meaning string, of func(*config.Config) *int) limit {
	return limit{key, meaning, "a whole number ≥ 0",
		func(c *config.Config) string { return strconv.Itoa(*of(c)) },
		func(c *config.Config, text string) (err error) {
			*of(c), err = strconv.Atoi(text)
			return err
		}}
}

func number(key, meaning string, of func(*config.Config) *float64) limit {
	return limit{key, meaning, "a number ≥ 0",
		func(c *config.Config) string { return strconv.FormatFloat(*of(c), 'g', -1, 64) },
		func(c *config.Config, text string) (err error) {
			*of(c), err = strconv.ParseFloat(text, 64)
			return err
		}}
}

func limitOf(key string) (limit, bool) {
	for _, l := range limits {
		if l.key == key {
			return l, true
		}
	}
	return limit{}, false
}

// parse makes a limit of the Config what a text says.
func (l *limit) parse(c *config.Config, text string) error {
	if err := l.set(c, text); err != nil || c.Check() != nil {
		return event.Refuse("%s %q: expected %s", l.key, format.Printable(text), l.expected)
	}
	return nil
}

// ChangeLimits makes the limits of a Config those that a run's events have changed it to.
func ChangeLimits(c *config.Config, events []event.Event) {
	for _, e := range events {
		change, ok := e.(event.SettingEvent)
		if !ok {
			continue
		}
		if l, ok := limitOf(change.Key); ok {
			if text, ok := change.Value.(string); ok {
				next := *c
				if l.parse(&next, text) == nil {
					*c = next
				}
			}
		}
	}
}

// limiter has the limits of a run, which are fields of its Config.
type limiter struct {
	requested config.Config // what a run that continues beyond a limit gets as much of again
	nets      *trajectory.Trajectory
	clocks    *trajectory.Clocks
	publish   func(key, text string) // that a limit has changed
	shown     []event.Setting        // nil when one has changed since
}

// list returns the limits as the settings show them, in the same slice until one changes.
func (m *limiter) list() []event.Setting {
	if m.shown != nil {
		return m.shown
	}
	for i := range limits {
		of := &limits[i]
		if of.key == "patience" && !m.nets.Work.HasValidation() || of.key == "until" && m.requested.Until == "" {
			continue
		}
		m.shown = append(m.shown, event.Setting{Key: of.key, Text: of.text(m.nets.Work.Config), Meaning: of.meaning,
			Range: of.expected})
	}
	return m.shown
}

// change changes a limit of the run, which continues as if it had begun with it.
func (m *limiter) change(of limit, text string) error {
	work, epoch, active := m.nets.Work, m.nets.Epoch, m.clocks.Active.Elapsed()
	next := *work.Config
	if err := of.parse(&next, text); err != nil {
		return err
	}
	switch last := &m.nets.Last; {
	case of.key == "epochs" && next.Epochs > 0 && next.Epochs <= epoch:
		return event.Refuse("epochs %d: expected more than the %d that the run has done, or 0 for no "+
			"limit", next.Epochs,
			epoch)
	case of.key == "patience" && !work.HasValidation():
		return event.Refuse("there are no validation rows: expected a run that has some")
	case of.key == "patience" && next.Patience > 0 && next.Patience <= epoch-m.nets.Best.Epoch:
		return event.Refuse("patience %d: expected more than the %d epochs since the best, or 0 for never",
			next.Patience, epoch-m.nets.Best.Epoch)
	case of.key == "time-limit" && next.TimeLimit > 0 && next.TimeLimit <= active:
		return event.Refuse("time-limit %s: expected more than the %s that the run has taken, or 0 for no limit",
			next.TimeLimit, active.Round(time.Millisecond))
	case (of.key == "target-loss" || of.key == "target-error" || of.key == "until") &&
		next.ReachedTarget(last, work.Measure) != "" && work.Config.ReachedTarget(last, work.Measure) == "":
		return event.Refuse("%s %s: expected less than the run has reached, or 0 for none", of.key, of.text(&next))
	}
	*work.Config = next
	m.changed(of.key)
	return nil
}

// changed publishes a limit that has changed.
func (m *limiter) changed(key string) {
	of, _ := limitOf(key)
	m.shown = nil
	m.publish(key, of.text(m.nets.Work.Config))
}

// reached returns which limit an epoch has reached, that of time left out, and what it was where that alone does not
// say it.
func (m *limiter) reached(e *event.EpochEvent) (reason event.Reason, text string) {
	c := m.nets.Work.Config
	target := c.ReachedTarget(e, m.nets.Work.Measure)
	switch {
	case target != "":
		return event.ReasonTarget, target
	case c.Epochs > 0 && m.nets.Epoch >= c.Epochs:
		return event.ReasonEpochs, ""
	case m.outOfPatience():
		return event.ReasonPatience, fmt.Sprintf("no better epoch for %d", c.Patience)
	}
	return "", ""
}

// timeOver reports whether the time limit has been reached.
func (m *limiter) timeOver() bool {
	limit := m.nets.Work.Config.TimeLimit
	return limit > 0 && m.clocks.Active.Elapsed() >= limit
}

// outOfPatience reports whether the run has had no better epoch for as long as its patience.
func (m *limiter) outOfPatience() bool {
	c := m.nets.Work.Config
	return c.Patience > 0 && m.nets.Work.HasValidation() && m.nets.Epoch-m.nets.Best.Epoch >= c.Patience
}

// extend gives a run that continues beyond its epochs, or its patience, as many again, and one that has reached a
// target none.
func (m *limiter) extend() {
	c, last, measure := m.nets.Work.Config, &m.nets.Last, m.nets.Work.Measure
	if c.Epochs > 0 && m.nets.Epoch >= c.Epochs {
		c.Epochs = m.nets.Epoch + cmp.Or(m.requested.Epochs, c.Epochs)
		m.changed("epochs")
	}
	if m.outOfPatience() {
		c.Patience = m.nets.Epoch - m.nets.Best.Epoch + cmp.Or(max(m.requested.Patience, 0), c.Patience)
		m.changed("patience")
	}
	if last.Epoch == 0 || c.ReachedTarget(last, measure) == "" {
		return
	}
	if c.TargetLoss > 0 && float64(last.Loss) <= c.TargetLoss {
		c.TargetLoss = 0
		m.changed("target-loss")
	}
	if c.TargetError > 0 && measure.Value(last) <= c.TargetError {
		c.TargetError = 0
		m.changed("target-error")
	}
	if c.ReachedTarget(last, measure) != "" {
		c.Until = ""
		m.changed("until")
	}
}

// extendTime gives a run that has spent its time as much again.
func (m *limiter) extendTime(spent time.Duration) {
	if c := m.nets.Work.Config; c.TimeLimit > 0 && spent >= c.TimeLimit {
		c.TimeLimit = spent + cmp.Or(m.requested.TimeLimit, c.TimeLimit)
		m.changed("time-limit")
	}
}
