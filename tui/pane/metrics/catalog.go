package metrics

import (
	"slices"
	"sort"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Run is a run whose metrics a Grid shows.
type Run struct {
	Name   string
	H      *history.History
	Token  style.Token // ink of its curves
	Mark   rune        // that stands for their dots in ASCII
	Dashed bool
	Front  bool   // it is drawn over others
	Thick  bool   // over those too, as they are compared with it
	Tag    string // at its latest point on a large chart
}

// rank is the greater the later the run is drawn.
func (r *Run) rank() int {
	switch {
	case r.Thick:
		return 2
	case r.Front:
		return 1
	}
	return 0
}

// curve is one line of a chart: a run's, and which of its series.
type curve struct {
	run  int
	part part
	at   int // of the run's figures; below 0: ^at of the quantities
	kind kind
}

// kind is where a curve's values come from.
type kind uint8

const (
	logged  kind = iota // by the program
	machine             // of the machine that it runs on, over seconds
)

// metric is one chart.
type metric struct {
	name   string // of all its curves, or that of its only one
	group  string
	better event.Direction
	log    bool // unless the user says otherwise
	share  bool // its values are percentages
	// complement says that its curves are errors, of which it shows what they lack of 1, an accuracy.
	complement bool
	own        string // x of its own, which is not that of the others; "" for none
	x          string // the part of x that it alone shows, where that is a small one of all; else ""
	flat       bool   // it is a line of a list, as there is nothing to see in a chart of it
	curves     []curve
}

// moves reports whether a curve does, or has a value that is not finite.
func (m *metric) moves(runs []Run) bool {
	return slices.ContainsFunc(m.curves, func(k curve) bool { return !k.series(runs).Flat() })
}

// main reports whether a metric says how good the model is: it comes before those that say how it is trained.
func (m *metric) main() bool {
	_, p := split(m.name)
	return p >= held || m.better != event.Undirected ||
		slices.ContainsFunc(m.curves, func(k curve) bool { return k.part >= held || k.at < 0 && ^k.at < judged })
}

// quantity is what a history has of every run, whether its program calls it so or not.
type quantity struct {
	name    string
	part    part
	log     bool
	of      func(*history.Curves) *chart.Series
	several bool // only where several runs are compared
}

var quantities = []quantity{
	{"loss", plain, true, func(c *history.Curves) *chart.Series { return &c.Loss }, false},
	{"loss", held, true, func(c *history.Curves) *chart.Series { return &c.ValidationLoss }, false},
	{"loss", test, true, func(c *history.Curves) *chart.Series { return &c.TestLoss }, false},
	{"", plain, false, func(c *history.Curves) *chart.Series { return &c.Metric }, false},
	{"", held, false, func(c *history.Curves) *chart.Series { return &c.ValidationMetric }, false},
	{"", test, false, func(c *history.Curves) *chart.Series { return &c.TestMetric }, false},
	{"learning rate", plain, false, func(c *history.Curves) *chart.Series { return &c.Rate }, false},
	{"radius", plain, true, func(c *history.Curves) *chart.Series { return &c.Radius }, false},
	{"rho", plain, false, func(c *history.Curves) *chart.Series { return &c.Rho }, false},
	{"gradient norm", plain, true, func(c *history.Curves) *chart.Series { return &c.Gradient }, false},
	{"step norm", plain, true, func(c *history.Curves) *chart.Series { return &c.Step }, false},
	{"inner iterations", plain, true, func(c *history.Curves) *chart.Series { return &c.Inner }, true},
	{"seconds per ", plain, false, func(c *history.Curves) *chart.Series { return &c.Seconds }, false},
}

// seriesOf is the index of the quantity that a run is judged by.
func seriesOf(q event.Quantity) int {
	switch q {
	case event.ValidationLoss:
		return 1
	case event.TestLoss:
		return 2
	case event.Error, event.RMSE:
		return 3
	case event.ValidationError, event.ValidationRMSE:
		return 4
	case event.TestError, event.TestRMSE:
		return 5
	}
	return 0
}

// judged are how many of the quantities are losses and errors.
const judged = 6

// shares are the quantities that can be shown as accuracies, by their place among all.
var shares = map[int]event.Quantity{3: event.Error, 4: event.ValidationError, 5: event.TestError}

// accuracyName is what the first run whose log has a quantity as an accuracy calls it, "" for none.
func accuracyName(runs []Run, q event.Quantity) string {
	for i := range runs {
		if name, accuracy := runs[i].H.Curves.Logged(q); accuracy {
			return name
		}
	}
	return ""
}

// shown is a value of the metric's curves as it is written.
func (m *metric) shown(v float64) float64 {
	if m.complement {
		return 1 - v
	}
	return v
}

// bounds are the least and the greatest value of a curve as they are written.
func (m *metric) bounds(s *chart.Series) (low, high float64, ok bool) {
	low, high, ok = s.Bounds(false)
	if m.complement {
		low, high = 1-high, 1-low
	}
	return low, high, ok
}

func (k *curve) series(runs []Run) *chart.Series { return k.of(runs[k.run].H) }

// of is the series in a history.
func (k *curve) of(h *history.History) *chart.Series {
	if k.at < 0 {
		return quantities[^k.at].of(&h.Curves)
	}
	return &k.metric(h).Series
}

// metric is what a history has of a curve that is none of a quantity: nothing where it began again with fewer, until
// the grid is shown it.
func (k *curve) metric(h *history.History) *history.MetricSeries {
	switch {
	case k.kind == machine && k.at < len(h.Curves.Machine.Series):
		return h.Curves.Machine.Series[k.at]
	case k.kind == logged && k.at < len(h.Curves.Metrics):
		return &h.Curves.Metrics[k.at]
	}
	return &history.MetricSeries{}
}

// own is what a curve is counted by, if that is not what the run counts; "" for that.
func (k *curve) own(h *history.History) string {
	switch {
	case k.kind == machine:
		return "s"
	case k.at < 0:
		return history.OwnX(h, k.of(h))
	case h.Run == nil:
		return ""
	}
	return h.Run.Axes[k.metric(h).Key]
}

// text writes a value of a metric, an accuracy where it shows that.
func (m *metric) text(runs []Run, v float64) string {
	switch k := &m.curves[0]; {
	case v != v:
		return "–"
	case m.share:
		return format.Percent(v)
	case k.at >= 0:
		return k.metric(runs[k.run].H).Format(v)
	}
	return format.Number(v)
}

// outline reports when the metrics of a run are others.
type outline struct {
	h           *history.History
	restarts    int
	metrics     int
	machine     int
	axes        int
	first, last string
	has         uint32 // a bit for each quantity that there is
	regression  bool
}

func outlineOf(h *history.History) outline {
	o := outline{h: h, restarts: h.Restarts, metrics: len(h.Curves.Metrics),
		machine: len(h.Curves.Machine.Series), regression: h.Regression()}
	if h.Run != nil {
		o.axes = len(h.Run.Axes)
	}
	if f := h.Curves.Metrics; len(f) > 0 {
		o.first, o.last = f[0].Key, f[len(f)-1].Key
	}
	for i := range quantities {
		if !quantities[i].of(&h.Curves).Blank() {
			o.has |= 1 << i
		}
	}
	return o
}

// catalog lists the metrics of some runs.
type catalog struct {
	all []metric
	at  map[string]int // by name

	names    []string // of all
	accuracy bool     // errors are shown as accuracies
}

// newCatalog lists the metrics of runs as they were written first. Those of one run that differ in nothing but the part
// of the rows share a chart; of several runs each metric has its own, with a curve a run.
func newCatalog(runs []Run, outlines []outline, accuracy bool) *catalog {
	c := &catalog{at: map[string]int{}, accuracy: accuracy}
	for i := range runs {
		last := len(quantities) - 1 // the time that it takes is the least of them
		for k := range last {
			c.report(runs, outlines, i, k)
		}
		epoch := -1 // of a run that counts steps, which is a place and no metric
		for k := range runs[i].H.Curves.Metrics {
			f := &runs[i].H.Curves.Metrics[k]
			if f.Key == "epoch" {
				epoch = k
				continue
			}
			c.add(f.Symbol, metric{}, curve{run: i, at: k}, len(runs) == 1)
		}
		if epoch >= 0 {
			c.add("epoch", metric{}, curve{run: i, at: epoch}, len(runs) == 1)
		}
		c.report(runs, outlines, i, last)
	}
	for i := range runs {
		for k, f := range runs[i].H.Curves.Machine.Series {
			if len(runs) > 1 { // one run has a pane of its machine
				c.add(f.Symbol, metric{}, curve{run: i, at: k, kind: machine}, false)
			}
		}
	}
	for i := range c.all {
		m := &c.all[i]
		m.own = m.curves[0].own(runs[m.curves[0].run].H)
	}
	if len(runs) == 1 {
		c.pair()
	}
	for i := range c.all {
		m := &c.all[i]
		m.group, m.better = groupOf(m.name), event.MoreBetter // what an error lacks of 1
		c.names = append(c.names, m.name)
	}
	for i := range c.all {
		if m := &c.all[i]; !m.complement {
			m.better = event.DirectionOf(m.name, c.names)
		}
	}
	return c
}

// report adds a quantity that a run has.
func (c *catalog) report(runs []Run, outlines []outline, run, k int) {
	o, q := &outlines[run], quantities[k]
	if o.has&(1<<k) == 0 || q.several && len(runs) == 1 {
		return
	}
	m := metric{log: q.log, share: q.name == "" && !o.regression}
	k0 := curve{run: run, part: q.part, at: ^k}
	apart := len(runs) > 1 || k0.own(runs[run].H) != ""
	name := q.name
	switch {
	case k == len(quantities)-1:
		name += runs[run].H.Run.Counted()
	case m.share && c.accuracy:
		m.complement = true
		if name = accuracyName(runs, shares[k]); name != "" && !apart {
			name, _ = split(name)
		} else if apart = apart && name == ""; name == "" {
			name = "accuracy"
		}
	case m.share:
		name = "error"
	case name == "":
		name = "RMSE"
	case name == "loss":
		name = pane.LossName(runs[run].H)
	}
	if q.part >= held && apart {
		name = partNames[q.part] + " " + name
	}
	c.add(name, m, k0, len(runs) == 1)
}

// add adds a curve to the metric of a name. alone says that it is one of a single run's, of which no two figures are
// one.
func (c *catalog) add(name string, m metric, k curve, alone bool) {
	at, known := c.at[name]
	if known && alone && k.at >= 0 { // another name that is drawn alike
		for n := 2; known; n++ {
			next := name + " " + format.Count(n)
			if at, known = c.at[next]; !known {
				name = next
			}
		}
	}
	if known {
		m := &c.all[at]
		if alone || m.curves[len(m.curves)-1].run != k.run {
			m.curves = append(m.curves, k)
		}
		return
	}
	c.at[name] = len(c.all)
	m.name, m.curves = name, []curve{k}
	c.all = append(c.all, m)
}

// pair puts metrics of one base into one chart, at the place of the first of them. A part that the base has already
// keeps its own chart, and so does a name that no other one goes with.
func (c *catalog) pair() {
	type family struct {
		parts   [test + 1]bool
		members []int
	}
	families := map[string]*family{}
	parts, bases := make([]part, len(c.all)), make([]string, len(c.all))
	for i := range c.all {
		bases[i], parts[i] = split(c.all[i].name)
		key := strings.ToLower(bases[i]) + "\x00" + c.all[i].own
		f := families[key]
		if f == nil {
			f = &family{}
			families[key] = f
		}
		taken := f.parts[parts[i]] || parts[i] == plain && f.parts[train] || parts[i] == train && f.parts[plain]
		for _, k := range c.all[i].curves[1:] {
			taken = taken || f.parts[k.part]
		}
		if taken {
			continue
		}
		f.parts[parts[i]] = true
		for _, k := range c.all[i].curves[1:] {
			f.parts[k.part] = true
		}
		f.members = append(f.members, i)
	}
	gone := make([]bool, len(c.all))
	for _, f := range families {
		if len(f.members) > 1 {
			c.merge(f.members, bases, parts, gone)
		}
	}
	retained := c.all[:0]
	clear(c.at)
	for i := range c.all {
		if !gone[i] {
			c.at[c.all[i].name] = len(retained)
			retained = append(retained, c.all[i])
		}
	}
	c.all = retained
}

// merge makes one chart of the metrics of a base.
func (c *catalog) merge(members []int, bases []string, parts []part, gone []bool) {
	first := &c.all[members[0]]
	if at, other := c.at[bases[members[0]]]; !other || slices.Contains(members, at) {
		first.name = bases[members[0]]
	}
	first.curves[0].part = max(first.curves[0].part, parts[members[0]])
	for _, i := range members[1:] {
		gone[i] = true
		for _, k := range c.all[i].curves {
			k.part = max(k.part, parts[i])
			first.curves = append(first.curves, k)
		}
		first.log = first.log || c.all[i].log
	}
	sort.SliceStable(first.curves, func(i, j int) bool { return first.curves[i].part < first.curves[j].part })
}
