package trainer

import (
	"strconv"
	"time"

	"newtop/internal/format"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// limit is a part of a Config that can change while the run goes on: when it ends, and its spectra. The keys are the
// names of flags, which no hyperparameter has.
type limit struct {
	key, meaning, expected string
	text                   func(*config.Config) string
	set                    func(*config.Config, string) error
}

var limits = []limit{
	whole("epochs", "end after so many epochs; 0: never", func(c *config.Config) *int { return &c.Epochs }),
	{"time-limit", "end after so much work, as in 90s; 0: never", "a duration ≥ 0, as 90s",
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
	{"patience", "end after so many epochs without a better one by the validation rows; 0: never", "a whole number ≥ 0",
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

// limits lists the limits as the settings show them, until they change the same slice.
func (l *loop) limits() []event.Setting {
	if l.shownLimits == nil {
		l.shownLimits = make([]event.Setting, 0, len(limits))
		for i := range limits {
			if of := &limits[i]; (of.key != "patience" || l.work.HasValidation()) &&
				(of.key != "until" || l.requested.Until != "") {
				l.shownLimits = append(l.shownLimits, event.Setting{Key: of.key, Text: of.text(l.work.Config),
					Meaning: of.meaning,
					Range:   of.expected})
			}
		}
	}
	return l.shownLimits
}

// setLimit changes a limit of the run, which goes on as if it had begun with it.
func (l *loop) setLimit(of limit, text string) error {
	next := *l.work.Config
	if err := of.parse(&next, text); err != nil {
		return err
	}
	switch last := &l.nets.Last; {
	case of.key == "epochs" && next.Epochs > 0 && next.Epochs <= l.nets.Epoch:
		return event.Refuse("epochs %d: expected more than the %d that the run has had, or 0 for no limit", next.Epochs,
			l.nets.Epoch)
	case of.key == "patience" && !l.work.HasValidation():
		return event.Refuse("there are no validation rows to decide by: expected a run that has some")
	case of.key == "patience" && next.Patience > 0 && next.Patience <= l.nets.Epoch-l.nets.Best.Epoch:
		return event.Refuse("patience %d: expected more than the %d epochs since the best, or 0 for no end of it",
			next.Patience, l.nets.Epoch-l.nets.Best.Epoch)
	case of.key == "time-limit" && next.TimeLimit > 0 && next.TimeLimit <= l.clocks.Active.Elapsed():
		return event.Refuse("time-limit %s: expected more than the %s that the run has had, or 0 for no limit",
			next.TimeLimit, l.clocks.Active.Elapsed().Round(time.Millisecond))
	case (of.key == "target-loss" || of.key == "target-error" || of.key == "until") &&
		next.ReachedTarget(last, l.work.Measure) != "" &&
		l.work.Config.ReachedTarget(last, l.work.Measure) == "":
		return event.Refuse("%s %s: expected less than the run has reached, or 0 for none", of.key, of.text(&next))
	}
	*l.work.Config = next
	l.publishLimit(of.key)
	return nil
}

// publishLimit publishes a limit that has changed.
func (l *loop) publishLimit(key string) {
	of, _ := limitOf(key)
	l.shownLimits = nil
	l.out.Publish(event.SettingEvent{Epoch: l.nets.Epoch, Key: key, Value: of.text(l.work.Config)})
	l.checkpoints.markAltered()
}
