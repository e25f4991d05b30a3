package history

import (
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// Curves are what a run's charts show over its epochs, and the events that they mark.
type Curves struct {
	Loss, TestLoss, Metric, TestMetric chart.Series // Metric: error, or RMSE for regression
	// Over the validation rows; empty where the run has none.
	ValidationLoss, ValidationMetric chart.Series

	Radius, Rho, Rate     chart.Series
	Gradient, Step        chart.Series
	Seconds, Inner        chart.Series
	Metrics               []MetricSeries // the latest epoch's method's own
	MemberLow, MemberHigh chart.Series   // the metric of a committee's best and worst member
	Machine               Machine

	maxBuckets int            // buckets of a curve; 0: chart.MaxBuckets
	metricAt   map[string]int // where a figure of another program stands, by its key
	logged     []loggedName

	now   chart.Position // of the latest epoch
	notes []Note
}

// MaxMarks bounds how many events the charts can mark.
const MaxMarks = 128

// Note is an event that the charts over the run mark. Major ones, changes of method and ways back, show on small
// charts too.
type Note struct {
	At    chart.Position
	Text  string
	Major bool

	change bool // of the method or a setting
}

// Mark notes an event after an epoch.
func (c *Curves) Mark(epoch int, major bool, text string) {
	at := c.now
	at[chart.Epochs] = float64(epoch)
	if s, ok := c.Loss.Find(chart.Epochs, at[chart.Epochs]); ok && s[chart.Epochs] <= at[chart.Epochs] {
		at[chart.Seconds], at[chart.Equivalents] = s[chart.Seconds], s[chart.Equivalents]
	}
	c.notes = chart.KeepLast(append(c.notes, Note{At: at, Text: text, Major: major}), MaxMarks)
}

// changed says that the latest mark is a change of the method or a setting.
func (c *Curves) changed() {
	if n := len(c.notes); n > 0 {
		c.notes[n-1].change = true
	}
}

// Changes says what was changed of the method and its settings, and when.
func (c *Curves) Changes() string {
	var out []string
	for _, n := range c.notes {
		if n.change {
			out = append(out, n.Text+" at "+format.Count(int(n.At[chart.Epochs])))
		}
	}
	return strings.Join(out, "; ")
}

// cut takes the curves back to an epoch: what came after it stays as a branch that was left.
func (c *Curves) cut(to int) {
	for _, s := range c.all() {
		s.Cut(float64(to))
	}
	c.notes = slices.DeleteFunc(c.notes, func(n Note) bool { return n.At[chart.Epochs] > float64(to) })
}

// coarsen bounds the buckets of the curves that there are and will be.
func (c *Curves) coarsen(most int) {
	c.maxBuckets = most
	for _, s := range c.all() {
		s.Capacity = most
	}
}

// all are the series over the epochs.
func (c *Curves) all() []*chart.Series {
	out := []*chart.Series{&c.Loss, &c.TestLoss, &c.Metric, &c.TestMetric, &c.ValidationLoss, &c.ValidationMetric,
		&c.Radius, &c.Rho, &c.Rate, &c.Gradient, &c.Step, &c.Seconds, &c.Inner,
		&c.MemberLow, &c.MemberHigh}
	for i := range c.Metrics {
		out = append(out, &c.Metrics[i].Series)
	}
	return out
}

// HeldLoss is the loss over the rows that are not trained on and decide: the validation rows, or without them the test
// rows.
func (c *Curves) HeldLoss() *chart.Series {
	if c.ValidationLoss.Empty() {
		return &c.TestLoss
	}
	return &c.ValidationLoss
}

// Extent is from which epoch to which there are values.
func (c *Curves) Extent() (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, s := range c.all() {
		if from, to, ok := s.Extent(); ok {
			first, last = min(first, from[chart.Epochs]), max(last, to[chart.Epochs])
		}
	}
	return first, last
}

// Judged reports whether there are errors or root mean squares of any rows.
func (c *Curves) Judged() bool {
	return !c.Metric.Empty() || !c.ValidationMetric.Empty() || !c.TestMetric.Empty()
}

// PositionOf is where an epoch stands on every axis.
func PositionOf(e *event.EpochEvent) chart.Position {
	return chart.Position{float64(e.Epoch), float64(e.Elapsed), float64(e.GradientEquivalents)}
}

// Marks returns the major events by epoch.
func (c *Curves) Marks() []chart.Mark { return c.marked(chart.Epochs, false) }

// AllMarks returns every event along an axis, for a chart that has room for them.
func (c *Curves) AllMarks(by chart.Axis) []chart.Mark { return c.marked(by, true) }

// marked returns what the charts mark along an axis: only the major events, or all.
func (c *Curves) marked(by chart.Axis, all bool) []chart.Mark {
	m := make([]chart.Mark, 0, len(c.notes))
	for _, n := range c.notes {
		if all || n.Major {
			m = append(m, chart.Mark{X: n.At[by], Text: n.Text})
		}
	}
	return m
}

// MetricSeries is the curve of a number of a method's own.
type MetricSeries struct {
	Key, Symbol, Meaning string
	Value                event.Float
	Series               chart.Series
	whole                bool   // all its values so far are whole numbers: it counts something
	reported             string // its symbol as it came
}

// Format writes one of its values.
func (f *MetricSeries) Format(v float64) string {
	if f.whole && math.Abs(v) < 1e6 {
		return format.Count(int(v))
	}
	return format.Number(v)
}

// Bounds of the curves of a program that tells figures of its own. The first ones are as fine as others; of that many
// that nobody looks at each closely, the rest have fewer buckets: a thousand long ones take 250 MB.
const (
	maxMetrics     = 1000
	maxFineMetrics = 256
	coarseBuckets  = 1024
)

// own adds the method's own figures. Those of another method begin again; those of another program stay, which may tell
// some of them now and then only.
func (c *Curves) own(e *event.EpochEvent, before string, external bool) {
	if external {
		c.ownExternal(e)
		return
	}
	c.metricAt = nil
	if len(e.Metrics) == 0 {
		if e.Epoch > 0 && e.Optimizer != before {
			c.Metrics = nil
		}
		return
	}
	same := slices.EqualFunc(c.Metrics, e.Metrics, func(a MetricSeries, b event.Metric) bool { return a.Key == b.Key })
	if !same {
		c.Metrics = make([]MetricSeries, len(e.Metrics))
		for i := range c.Metrics {
			c.Metrics[i].whole = true
		}
	}
	for i, f := range e.Metrics {
		c.Metrics[i].add(f, c.now, false)
	}
}

func (c *Curves) ownExternal(e *event.EpochEvent) {
	if c.metricAt == nil {
		c.metricAt = map[string]int{}
		for i := range c.Metrics {
			c.metricAt[c.Metrics[i].Key] = i
		}
	}
	for i, f := range e.Metrics {
		if f.Value.Absent() || f.Late() && event.IsQuantity(f.Key) {
			continue
		}
		if of := f.Note().Of; of != "" {
			c.named(f.Key, of)
			continue
		}
		x := c.now
		x[chart.Epochs] = float64(f.At(e.Epoch))
		at := i
		if at >= len(c.Metrics) || c.Metrics[at].Key != f.Key {
			var known bool
			if at, known = c.metricAt[f.Key]; !known {
				if at = c.newMetric(f.Key); at < 0 {
					continue
				}
			}
		}
		c.Metrics[at].add(f, x, true)
	}
}

// loggedName is what another program calls a quantity in its log.
type loggedName struct {
	of   event.Quantity
	name string
}

// named notes what a quantity is called in the log.
func (c *Curves) named(name, of string) {
	if slices.ContainsFunc(c.logged, func(l loggedName) bool { return l.name == name }) {
		return
	}
	if q, known := event.QuantityOf(of); known {
		c.logged = append(c.logged, loggedName{q, name})
	}
}

// Logged is what a log calls a quantity that it has under another name, "" for none; accuracy: its values are what the
// quantity, an error, lacks of 1.
func (c *Curves) Logged(q event.Quantity) (name string, accuracy bool) {
	i := slices.IndexFunc(c.logged, func(l loggedName) bool { return l.of == q })
	if i < 0 {
		return "", false
	}
	return c.logged[i].name, event.ParseTag(c.logged[i].name).Accuracy
}

// newMetric makes the curve of a key, and returns -1 where there are too many.
func (c *Curves) newMetric(key string) int {
	at := len(c.Metrics)
	if at >= maxMetrics {
		return -1
	}
	c.metricAt[key] = at
	f := MetricSeries{whole: true}
	if f.Series.Capacity = c.maxBuckets; at >= maxFineMetrics && (c.maxBuckets == 0 || c.maxBuckets > coarseBuckets) {
		f.Series.Capacity = coarseBuckets
	}
	c.Metrics = append(c.Metrics, f)
	return at
}

// add takes the next value.
func (f *MetricSeries) add(now event.Metric, at chart.Position, external bool) {
	if note := now.Note(); now.Key != f.Key || note.Symbol != f.reported {
		f.Key, f.reported = now.Key, note.Symbol
		f.Symbol, f.Meaning = style.Clean(note.Symbol), style.Clean(note.Meaning)
		if f.Symbol == "" {
			f.Symbol = style.Clean(now.Key)
		}
	}
	f.Value = now.Value
	v := float64(now.Value)
	f.whole = f.whole && (!now.Value.Finite() || v == math.Trunc(v))
	AppendQuantity(&f.Series, at, now.Value, external)
}

// committee adds the least and the greatest value of the measure among the members of a committee.
func (c *Curves) committee(e *event.EpochEvent, m event.Measure) {
	if len(e.Members) == 0 {
		return
	}
	low, high, worst := math.NaN(), math.NaN(), event.Absent
	for i := range e.Members {
		switch v := m.OfMember(&e.Members[i]); {
		case v.Finite():
			low, high = chart.Lesser(float64(v), low), -chart.Lesser(-float64(v), -high)
		case v.NonFinite():
			worst = v
		}
	}
	if worst.Absent() {
		worst = event.Float(high)
	}
	AppendQuantity(&c.MemberLow, PositionOf(e), event.Float(low), false)
	AppendQuantity(&c.MemberHigh, PositionOf(e), worst, false)
}
