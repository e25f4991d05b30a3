package print

import (
	"fmt"
	"strings"
	"time"

	"newtop/trainer/event"
)

// Now is what is known of a run, whoever trains it, as watch --once --format json and runs show print it.
type Now struct {
	Name    string      `json:"name"`
	Source  string      `json:"source"` // where it is read from
	State   string      `json:"state"`  // live, quiet, or the reason of its end
	Message string      `json:"message,omitempty"`
	Begun   *time.Time  `json:"begun"`   // null: unknown
	Written *time.Time  `json:"written"` // when something was written last; null: unknown
	Elapsed event.Float `json:"elapsed"` // seconds
	Told
	Warning string `json:"warning,omitempty"`
}

// Told is what a run tells of itself beside its state.
type Told struct {
	ExitCode *int           `json:"exit_code"` // null: unknown
	Unit     string         `json:"unit"`      // what x counts: step or epoch
	Limit    int            `json:"limit"`     // how many there will be; 0: unknown
	Settings map[string]any `json:"settings"`
	Summary  map[string]any `json:"summary"` // what the run came to, by its writer
	Metrics  []MetricNow    `json:"metrics"`
	Machine  []MetricNow    `json:"machine,omitempty"` // what the log tells of its machine; x is in seconds
	Images   int            `json:"images,omitempty"`  // that the log has
	Console  []string       `json:"console"`           // the last lines that the program printed
}

// MetricNow is what is known of a metric of a run.
type MetricNow struct {
	Name      string    `json:"name"`
	Latest    ValueNow  `json:"newest"`
	Least     *ValueNow `json:"least"` // null: none of its values is finite
	Greatest  *ValueNow `json:"greatest"`
	Values    int       `json:"values"`
	NotFinite int       `json:"not_finite"`
}

// ValueNow is a value at a step or an epoch.
type ValueNow struct {
	X     int         `json:"x"`
	Value event.Float `json:"value"`
}

// Collector collects of a run's events what Now tells.
type Collector struct {
	event.Collection
	Done    *event.DoneEvent
	console []string
}

// maxConsole is how many of the last lines of a program are told.
const maxConsole = 20

// See takes the next event. Another run begins it anew.
func (c *Collector) See(e event.Event) {
	if run, begins := e.(event.RunEvent); begins && c.Run.ID != run.ID {
		*c = Collector{console: c.console}
	}
	switch e := e.(type) {
	case event.DoneEvent:
		c.Done = &e
	case event.ResumeEvent:
		c.Done = nil
	case event.ConsoleEvent:
		if c.console = append(c.console, e.Text); len(c.console) > 2*maxConsole {
			c.console = append(c.console[:0], c.console[maxConsole:]...)
		}
	}
	c.Collection.See(e)
}

// Now tells what was collected.
func (c *Collector) Now() *Now {
	n := &Now{Name: c.Run.Data.Name, Elapsed: c.Elapsed, Told: Told{Unit: c.Run.Counted(), Limit: c.Run.Epochs,
		Settings: map[string]any{}, Summary: map[string]any{},
		Console: append([]string{}, c.console[max(0, len(c.console)-maxConsole):]...)}}
	for key, v := range c.Run.Settings {
		if name, is := strings.CutPrefix(key, "summary/"); is {
			n.Summary[name] = v
		} else {
			n.Settings[key] = v
		}
	}
	if !c.Run.Time.IsZero() {
		n.Begun = &c.Run.Time
	}
	if c.Done != nil {
		n.State, n.Message = string(c.Done.Reason), c.Done.Message
		var code int
		if _, err := fmt.Sscanf(n.Message, "exit code %d", &code); err == nil {
			n.ExitCode = &code
		}
	}
	n.Metrics, n.Machine = metricsNow(&c.Collection), metricsNow(c.Machine)
	return n
}

func metricsNow(c *event.Collection) []MetricNow {
	out := []MetricNow{}
	if c == nil {
		return out
	}
	value := func(p *event.Point) *ValueNow {
		if p == nil {
			return nil
		}
		return &ValueNow{p.X, p.V}
	}
	for _, s := range c.Told() {
		least, greatest, broken := s.Range()
		latest := s.Last()
		out = append(out, MetricNow{Name: s.Key, Latest: *value(&latest), Least: value(least),
			Greatest: value(greatest), Values: s.Len(), NotFinite: broken})
	}
	return out
}
