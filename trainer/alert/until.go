package alert

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/trainer/event"
)

// Until waits for a run to meet one of several terms, each of which is some conditions that must all be met.
type Until struct {
	terms [][]condition
	own   bool // the run is newtop's
}

// condition compares what a name stands for with a number.
type condition struct {
	name           string
	orEqual        bool
	greater        bool
	value          float64
	quantity       event.Quantity
	known, inverse bool // it is a quantity; the name is of what that lacks of 1
	seen, met      bool // the run has told it; the newest that it told meets the condition
}

const expectedUntil = "a metric, <, <=, > or >=, and a number, as val_loss<0.1; or a time, as 90s; or 200 epochs; " +
	"several with and between them, or with or"

var (
	between   = regexp.MustCompile(`(?i),|\s+and\s+`)
	betweenOr = regexp.MustCompile(`(?i)\s+or\s+`)
	ends      = regexp.MustCompile(`(?i)\s(and|or)$`) // what reads as one of these once there is a blank behind it
	epochs    = regexp.MustCompile(`(?i)^(\d+)\s*(?:epochs?|steps?)$`)
)

// ParseUntil reads terms with or between them, of conditions with commas or and between them: val_loss<0.1 and
// epoch>20, or acc>=90%, or 90s, or 200 epochs. A name is the key of a figure as the log has it, a key or a tag of
// event.Quantities, epoch or step, or what event.PlaceOf knows. In a run of newtop's, loss, error and rmse are of the
// rows that the run is judged by: the validation rows, else the test rows, else the training rows.
func ParseUntil(text string) (*Until, error) {
	u := new(Until)
	for _, text := range betweenOr.Split(text, -1) {
		var term []condition
		for _, part := range between.Split(text, -1) {
			c, err := parseCondition(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			c.find()
			term = append(term, c)
		}
		u.terms = append(u.terms, term)
	}
	return u, nil
}

// parseCondition reads a comparison, a time or a number of epochs.
func parseCondition(text string) (c condition, err error) {
	c.greater, c.orEqual = true, true
	if m := epochs.FindStringSubmatch(text); m != nil {
		c.name = "epoch"
		c.value, err = strconv.ParseFloat(m[1], 64)
		return c, err
	}
	if time, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil && time > 0 {
		c.name, c.value = event.Elapsed.Info().Key, time.Seconds()
		return c, nil
	}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return c, fmt.Errorf("%q: expected %s", text, expectedUntil)
	}
	c.name, c.greater = strings.TrimSpace(text[:at]), text[at] == '>'
	var rest string
	rest, c.orEqual = strings.CutPrefix(text[at+1:], "=")
	if c.name == "" || ends.MatchString(c.name) {
		return c, fmt.Errorf("%q: expected the name of a metric before %c", text, text[at])
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(rest), "%")
	c.value, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(c.value) || math.IsInf(c.value, 0) {
		return c, fmt.Errorf("%q: expected a number after %s, as %s<0.1", text,
			strings.TrimSpace(text[:len(text)-len(rest)]), c.name)
	}
	if percent {
		c.value /= 100
	}
	return c, nil
}

// find looks up what the name stands for where no figure is called so.
func (c *condition) find() {
	for q := range event.QuantityCount {
		if i := q.Info(); c.name == i.Key || c.name == i.Name || i.Tag != "" && c.name == i.Tag {
			c.quantity, c.known = q, true
			return
		}
	}
	p := event.ParseTag(c.name)
	c.quantity, c.inverse, c.known = p.Quantity, p.Accuracy, p.Known
}

// Own says that the run is newtop's, as its RunEvent would.
func (u *Until) Own() *Until {
	u.own = true
	return u
}

// Unknown returns a name that no epoch of newtop's has; empty if there is none.
func (u *Until) Unknown() string {
	for _, term := range u.terms {
		for i := range term {
			if c := &term[i]; !c.known && c.name != "epoch" && c.name != "step" {
				return c.name
			}
		}
	}
	return ""
}

// See takes the next event and reports whether all conditions of a term are met by the newest values that the run has
// told. Logs tell training and validation apart, so that they need not come from one epoch.
func (u *Until) See(e event.Event) (met bool) {
	switch e := e.(type) {
	case event.RunEvent:
		u.own = !e.External()
	case event.EpochEvent:
		return u.Met(&e) != ""
	}
	return u.first() != ""
}

// Met is See of an epoch. It returns the first term that is met as String writes it, empty if none is.
func (u *Until) Met(e *event.EpochEvent) (term string) {
	late, own := e.Late()
	for i := range late {
		if term = u.met(&late[i]); term != "" {
			return term
		}
	}
	return u.met(&own)
}

func (u *Until) met(e *event.EpochEvent) (term string) {
	for _, term := range u.terms {
		for i := range term {
			term[i].see(e, u.own)
		}
	}
	return u.first()
}

// first returns the first term that is met.
func (u *Until) first() string { _, text := u.Reached(); return text }

// Reached is the first term that is met, and the reason why it ends a run, as a trainer that has such a limit says it.
func (u *Until) Reached() (reason event.Reason, text string) {
	reasons := map[string]event.Reason{"epoch": event.ReasonEpochs, "step": event.ReasonEpochs,
		event.Elapsed.Info().Key: event.ReasonTime}
	for _, term := range u.terms {
		if !slices.ContainsFunc(term, func(c condition) bool { return !c.met }) {
			return cmp.Or(reasons[term[0].name], event.ReasonTarget), write(term)
		}
	}
	return "", ""
}

func (c *condition) see(e *event.EpochEvent, own bool) {
	v, inverse := c.of(e, own)
	if v.Absent() {
		return
	}
	c.seen = true
	if !v.Finite() {
		c.met = false
		return
	}
	const rounding = 1e-12 // of what an error lacks of 1; rows are some billions at most
	more, slack := float64(v)-c.value, 0.0
	if inverse {
		value := c.value
		if value > 1 && value <= 100 { // per cent, which errors are not in
			value /= 100
		}
		more, slack = 1-float64(v)-value, rounding
	}
	if !c.greater {
		more = -more
	}
	c.met = more > slack || c.orEqual && more >= -slack
}

// of returns the value that the name stands for, Absent if the epoch does not tell it, and whether the name is of what
// that lacks of 1.
func (c *condition) of(e *event.EpochEvent, own bool) (v event.Float, inverse bool) {
	for i := range e.Metrics {
		if e.Metrics[i].Key == c.name {
			return e.Metrics[i].Value, false
		}
	}
	switch {
	case own && c.known && (c.name == c.quantity.Info().Key || c.inverse):
		return judged(c.quantity, e), c.inverse
	case c.known:
		return *c.quantity.Of(e), c.inverse
	case c.name == "epoch" || c.name == "step":
		return event.Float(e.Epoch), false
	}
	return event.Absent, false
}

// judged is a quantity of an epoch over the rows that a run of newtop's is judged by. What is said of the error holds
// for the RMSE where the run has no classes.
func judged(q event.Quantity, e *event.EpochEvent) event.Float {
	if q == event.Error && e.Error.Absent() {
		q = event.RMSE
	}
	if q == q.Train() {
		for _, of := range []event.Quantity{q.Validation(), q.Test()} {
			if v := *of.Of(e); !v.Absent() {
				return v
			}
		}
	}
	return *q.Of(e)
}

// Limits are the terms that a trainer has settings for, the least of each, zero where there is none, and the rest.
type Limits struct {
	Time      time.Duration
	Epochs    int
	TrainLoss float64 // train_loss <= it
	Error     float64 // error <= it
	Rest      string
}

// Limits takes the terms apart.
func (u *Until) Limits() (l Limits) {
	rest := new(Until)
	for _, term := range u.terms {
		c := &term[0]
		atLeast, atMost := len(term) == 1 && c.greater && c.orEqual, len(term) == 1 && !c.greater && c.orEqual
		switch {
		case atLeast && c.name == event.Elapsed.Info().Key && c.value > 0:
			l.Time = lower(l.Time, time.Duration(math.Round(c.value*float64(time.Second))))
		case atLeast && c.name == "epoch" && c.value >= 1 && c.value <= 1<<31:
			l.Epochs = lower(l.Epochs, int(math.Ceil(c.value)))
		case atMost && c.name == "train_loss" && c.value > 0:
			l.TrainLoss = lower(l.TrainLoss, c.value)
		case atMost && c.name == event.Error.Info().Key && c.value > 0:
			l.Error = lower(l.Error, c.value)
		default:
			rest.terms = append(rest.terms, term)
		}
	}
	l.Rest = rest.String()
	return l
}

// lower returns the lower of two limits, the first of which may be none.
func lower[T int | float64 | time.Duration](a, b T) T {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// Missing lists the names that the run has not told so far, so that a misspelt one can be said.
func (u *Until) Missing() (names []string) {
	for _, term := range u.terms {
		for i := range term {
			if !term[i].seen {
				names = append(names, term[i].name)
			}
		}
	}
	return names
}

// String writes the terms as ParseUntil reads them.
func (u *Until) String() string {
	var terms []string
	for _, term := range u.terms {
		terms = append(terms, write(term))
	}
	return strings.Join(terms, " or ")
}

func write(term []condition) string {
	var conditions []string
	for i := range term {
		conditions = append(conditions, term[i].String())
	}
	return strings.Join(conditions, " and ")
}

func (c *condition) String() string {
	sign := "<"
	if c.greater {
		sign = ">"
	}
	if c.orEqual {
		sign += "="
	}
	return c.name + " " + sign + " " + strconv.FormatFloat(c.value, 'g', -1, 64)
}

// Metric returns what a name stands for in an epoch, as conditions have it, and the epoch that it belongs to; Absent
// where the epoch does not tell it.
func Metric(name string) func(e *event.EpochEvent) (v event.Float, epoch int) {
	c := condition{name: name}
	c.find()
	return func(e *event.EpochEvent) (event.Float, int) {
		for i := range e.Metrics {
			if m := &e.Metrics[i]; m.Key == name {
				return m.Value, m.At(e.Epoch)
			}
		}
		late, own := e.Late()
		for _, e := range append(late, own) {
			if v, inverse := c.of(&e, false); !v.Absent() {
				if inverse {
					v = 1 - v
				}
				return v, e.Epoch
			}
		}
		return event.Absent, e.Epoch
	}
}
