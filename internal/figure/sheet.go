package figure

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"newtop/internal/rundiff"
	"newtop/trainer/event"
)

// report is the figure of some runs, and what is said of them.
type report struct {
	sheet
	runs   []Run
	labels []string // short names of the runs
	about  []quantityPanel
	broken bool // some curve is broken
}

// quantityPanel is a panel of one quantity.
type quantityPanel struct {
	panel
	quantity *Quantity
	pair     bool // it has curves of both sets of rows
	cut      bool // values beyond the quantity's bounds are cut off
	zero     bool // some values are zero, below a logarithmic axis
}

const (
	maxPanels = 6
	bothRuns  = 3 // up to that many runs are drawn with their training rows, if nobody says otherwise
)

func newReport(runs []Run, o Options) (*report, error) {
	if len(runs) > MaxRuns {
		return nil, &OptionError{"number of runs", strconv.Itoa(len(runs)), "at most " + strconv.Itoa(MaxRuns)}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	by, err := measureOf(o.X)
	if err != nil {
		return nil, err
	}
	s := &report{runs: runs, labels: labels(runs)}
	s.x = scale{log: o.LogX, label: by.label, whole: by.name == "epoch"}
	epochs := make([][]*epoch, len(runs))
	for i := range runs {
		epochs[i] = path(runs[i].Epochs)
	}
	what := o.What
	if len(what) == 0 {
		what = defaultQuantities(runs)
	}
	for _, name := range what {
		q, err := quantityOf(name)
		if err != nil {
			return nil, err
		}
		p := newPanel(q, epochs, by, &o)
		switch empty := len(p.curves) == 0; {
		case empty && len(o.What) == 0 && len(s.about) > 0: // not every program tells it
			continue
		case empty:
			return nil, &EmptyError{q.Meaning}
		}
		s.about = append(s.about, p)
	}
	s.extent()
	if by.name == "seconds" {
		s.clock()
	}
	for i := range s.about {
		p := &s.about[i]
		p.fit(o.Linear)
		p.diverge(runs)
		for _, c := range p.curves {
			s.broken = s.broken || len(c.broken) > 0
		}
		s.dress(p)
		s.panels = append(s.panels, p.panel)
	}
	s.switches(epochs, by)
	s.width = cmp.Or(o.Width, 16) * centimeter
	s.legend = s.entries()
	s.describe(&o)
	s.height = cmp.Or(o.Height*centimeter, s.natural(defaultHeight(len(s.panels))))
	if least := s.natural(minHeight); s.height < least {
		return nil, &OptionError{"figure height", strconv.FormatFloat(o.Height, 'g', -1, 64),
			"at least " + strconv.FormatFloat(math.Ceil(10*least/centimeter)/10, 'f', 1, 64) +
				" cm for what stands in it"}
	}
	return s, nil
}

func (o *Options) check() error {
	within := func(what string, v, low, high float64) error {
		if v == 0 || v >= low && v <= high {
			return nil
		}
		return &OptionError{what, strconv.FormatFloat(v, 'g', -1, 64),
			"centimeters from " + strconv.Itoa(int(low)) + " to " + strconv.Itoa(int(high))}
	}
	if err := cmp.Or(within("figure width", o.Width, 6, 60), within("figure height", o.Height, 5, 100)); err != nil {
		return err
	}
	switch {
	case len(o.What) > maxPanels:
		return &OptionError{"number of quantities", strconv.Itoa(len(o.What)), "at most " + strconv.Itoa(maxPanels)}
	case o.Rows != "" && o.Rows != "test" && o.Rows != "train" && o.Rows != "both":
		return &OptionError{"rows", o.Rows, "test, train or both"}
	case !(o.Smooth >= 0) || math.IsInf(o.Smooth, 0):
		return &OptionError{"smoothing", strconv.FormatFloat(o.Smooth, 'g', -1, 64), "a half-life in epochs, or 0"}
	}
	return nil
}

// defaultQuantities is what is drawn if nobody says.
func defaultQuantities(runs []Run) []string {
	for i := range runs {
		if event.MeasureOf(runs[i].Opening, runs[i].Epochs).Train() == event.Error {
			return []string{"loss", "error"}
		}
	}
	return []string{"loss", "rmse"}
}

// labels are the runs' short names as they stand in a legend.
func labels(runs []Run) []string {
	openings, names := openingsOf(runs), make([]string, len(runs))
	for i := range runs {
		names[i] = printable(runs[i].Name)
	}
	out := rundiff.Labels(openings, names)
	for i := range out {
		out[i] = printable(out[i])
	}
	return out
}

// printable leaves out what has no place in a line of text.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s))
}

func newPanel(q *Quantity, epochs [][]*epoch, by *measure, o *Options) quantityPanel {
	p := quantityPanel{quantity: q}
	train := q.test == nil || o.Rows == "train" || o.Rows == "both" || o.Rows == "" && len(epochs) <= bothRuns
	test := q.test != nil && o.Rows != "train"
	add := func(run int, of func(*epoch) Float, training bool) bool {
		ps, some := points(epochs[run], by.of, of, o.LogX, q.alarm)
		if !some {
			return false
		}
		c := curve{run: run, train: training}
		c.pieces, c.broken = pieces(ps, o.LogX)
		if o.Smooth > 0 {
			c.soft, _ = pieces(smooth(ps, o.Smooth), o.LogX)
		}
		p.curves = append(p.curves, c)
		return true
	}
	for run := range epochs {
		tested := test && add(run, q.test, false)
		if train || !tested && o.Rows == "" {
			add(run, q.train, q.test != nil)
		}
	}
	some := func(train bool) bool {
		return slices.ContainsFunc(p.curves, func(c curve) bool { return c.train == train })
	}
	p.pair = some(true) && some(false)
	return p
}

// extent finds the range of x over all panels.
func (s *report) extent() {
	s.x.min, s.x.max = math.Inf(1), math.Inf(-1)
	for _, p := range s.about {
		for _, c := range p.curves {
			for _, piece := range c.pieces {
				s.x.min, s.x.max = min(s.x.min, piece[0].X), max(s.x.max, piece[len(piece)-1].X)
			}
		}
	}
	if !s.x.log && s.x.min > 0 && s.x.min < s.x.max/10 {
		s.x.min = 0
	}
	switch by := max(0.5, math.Abs(s.x.max)/10); {
	case s.x.min < s.x.max:
	case s.x.log:
		s.x.min, s.x.max = s.x.min/2, s.x.max*2
	default:
		s.x.min, s.x.max = s.x.min-by, s.x.max+by
	}
}

// clock writes long times in minutes or hours.
func (s *report) clock() {
	each, unit := 1.0, "s"
	switch {
	case s.x.max >= 3*3600:
		each, unit = 3600, "h"
	case s.x.max >= 300:
		each, unit = 60, "min"
	}
	s.x.each = each
	s.x.label += " (" + unit + ")"
}

// fit finds the scale of y. Training rows may be learnt without an error: a zero of theirs does not keep a quantity
// from a logarithmic axis, but lies below it.
func (p *quantityPanel) fit(linear bool) {
	q := p.quantity
	low, high, positive := math.Inf(1), math.Inf(-1), math.Inf(1)
	logarithmic := q.log && !linear
	for _, c := range p.curves {
		for _, piece := range slices.Concat(c.pieces, c.soft) {
			for _, at := range piece {
				low, high = min(low, at.Y), max(high, at.Y)
				if at.Y >= least {
					positive = min(positive, at.Y)
				} else if !c.train || at.Y < 0 {
					logarithmic = false
				}
			}
		}
	}
	p.y = scale{label: q.Meaning, unit: q.unit, whole: q.whole}
	if q.test != nil && !p.pair {
		p.y.label += map[bool]string{false: " (test)", true: " (training)"}[p.curves[0].train]
	}
	if q.unit == percent {
		p.y.each = 0.01
	}
	if b := q.bound; b[1] > b[0] && (low < b[0] || high > b[1]) {
		low, high = min(max(low, b[0]), b[1]), max(min(high, b[1]), b[0])
		p.cut = true
	}
	const worthwhile = 4 // times; below that a logarithm shows nothing more
	if logarithmic && high > worthwhile*positive {
		p.y.log, p.zero = true, low < positive
		low = positive
	}
	p.y.widen(low, high)
}

// lasted reports whether the epoch after a switch, of those from it on, is of its method: a run that went back behind
// it kept the method, but not what it had done until then.
func lasted(epochs []*epoch, e *event.SwitchEvent) bool {
	for _, p := range epochs {
		if p.Epoch > e.Epoch {
			return p.Optimizer == "" || p.Optimizer == e.To
		}
	}
	return true
}

// switches finds where methods changed.
func (s *report) switches(epochs [][]*epoch, by *measure) {
	for i := range s.runs {
		for _, e := range s.runs[i].Switches {
			k := slices.IndexFunc(epochs[i], func(p *epoch) bool { return p.Epoch >= e.Epoch })
			if k < 0 {
				continue
			}
			if !lasted(epochs[i][k:], &e) {
				continue
			}
			if x := float64(by.of(epochs[i][k])); x >= s.x.min && x <= s.x.max && (x >= least || !s.x.log) {
				s.marks = append(s.marks, mark{x, "to " + printable(e.To), s.markColor(i)})
			}
		}
	}
	sort.SliceStable(s.marks, func(i, j int) bool { return cmp.Less(s.marks[i].x, s.marks[j].x) })
	const most = 64
	s.marks = s.marks[:min(len(s.marks), most)]
}
