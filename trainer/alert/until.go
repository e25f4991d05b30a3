package alert

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"newtop/trainer/event"
)

// Resolver says which quantity of an epoch a name stands for, as val_loss for the test loss, and whether the name is of
// what the quantity lacks of 1, as accuracy is of the error.
type Resolver func(name string) (q event.Quantity, invert, ok bool)

// Until waits for a run to meet conditions.
type Until struct {
	conditions []condition
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

const expectedUntil = "a metric, <, <=, > or >=, and a number, as val_loss<0.1; several with a comma or and between them"

var between = regexp.MustCompile(`(?i),|\s+and\s+`)

// ParseUntil reads conditions which must all be met: val_loss<0.1, acc >= 90% and epoch > 20. A name is the key of a
// figure as the log has it, a key or a tag of event.Quantities, epoch or step, or what the resolver knows. The resolver
// may be nil.
func ParseUntil(text string, resolve Resolver) (*Until, error) {
	u := new(Until)
	for _, part := range between.Split(text, -1) {
		c, err := parseCondition(part)
		if err != nil {
			return nil, err
		}
		c.find(resolve)
		u.conditions = append(u.conditions, c)
	}
	return u, nil
}

func parseCondition(text string) (c condition, err error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return c, fmt.Errorf("%q: expected %s", strings.TrimSpace(text), expectedUntil)
	}
	c.name, c.greater = strings.TrimSpace(text[:at]), text[at] == '>'
	var rest string
	rest, c.orEqual = strings.CutPrefix(text[at+1:], "=")
	if c.name == "" {
		return c, fmt.Errorf("%q: expected the name of a metric before %c", strings.TrimSpace(text), text[at])
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(rest), "%")
	c.value, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(c.value) || math.IsInf(c.value, 0) {
		return c, fmt.Errorf("%q: expected a number after %s, as %s<0.1", strings.TrimSpace(text),
			strings.TrimSpace(text[:len(text)-len(rest)]), c.name)
	}
	if percent {
		c.value /= 100
	}
	return c, nil
}

// find looks up what the name stands for where no figure is called so.
func (c *condition) find(resolve Resolver) {
	for q := range event.QuantityCount {
		if i := q.Info(); c.name == i.Key || c.name == i.Name || i.Tag != "" && c.name == i.Tag {
			c.quantity, c.known = q, true
			return
		}
	}
	if resolve != nil {
		c.quantity, c.inverse, c.known = resolve(c.name)
	}
}

// See takes the next event and reports whether all conditions are met by the newest values that the run has told. Logs
// tell training and validation apart, so that they need not come from one epoch.
func (u *Until) See(e event.Event) (met bool) {
	met = true
	epoch, ok := e.(event.EpochEvent)
	for i := range u.conditions {
		c := &u.conditions[i]
		if ok {
			c.see(&epoch)
		}
		met = met && c.met
	}
	return met
}

func (c *condition) see(e *event.EpochEvent) {
	v, inverse := c.of(e)
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
func (c *condition) of(e *event.EpochEvent) (v event.Float, inverse bool) {
	for i := range e.Figures {
		if e.Figures[i].Key == c.name {
			return e.Figures[i].Value, false
		}
	}
	switch {
	case c.known:
		return *c.quantity.Of(e), c.inverse
	case c.name == "epoch" || c.name == "step":
		return event.Float(e.Epoch), false
	}
	return event.Absent, false
}

// Missing lists the names that the run has not told so far, so that a misspelt one can be said.
func (u *Until) Missing() (names []string) {
	for i := range u.conditions {
		if !u.conditions[i].seen {
			names = append(names, u.conditions[i].name)
		}
	}
	return names
}

// String writes the conditions as ParseUntil reads them.
func (u *Until) String() string {
	var b strings.Builder
	for i := range u.conditions {
		c := &u.conditions[i]
		if i > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(c.name + " " + map[bool]string{false: "<", true: ">"}[c.greater])
		if c.orEqual {
			b.WriteByte('=')
		}
		b.WriteString(" " + strconv.FormatFloat(c.value, 'g', -1, 64))
	}
	return b.String()
}
