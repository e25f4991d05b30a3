package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/style"
)

// comparedRun is a run with its curves.
type comparedRun struct {
	Recorded
	label   string
	series  []chart.Series // of comparedQuantities
	notes   []history.Note
	measure event.Measure
	records []*event.EpochEvent // each better than all before by the measure
	best    *event.EpochEvent   // the last one of them; nil for none
	last    *event.EpochEvent
	hidden  bool
}

// comparedQuantity is something that runs are compared by.
type comparedQuantity struct {
	event.QuantityInfo
	drawn string // what internal/figure calls it
	rows  string // which rows it is of, as figure.Options.Rows
	of    func(*event.EpochEvent) event.Float
}

// comparedQuantities are what can be looked at, in the order in which v goes through them; a regression has its RMSE
// before its errors, of which there are none.
var comparedQuantities = []comparedQuantity{
	compared(event.TestLoss), compared(event.TestError), compared(event.TestRMSE),
	compared(event.ValidationLoss), compared(event.ValidationError), compared(event.ValidationRMSE),
	compared(event.Loss), compared(event.Error), compared(event.RMSE),
	compared(event.GradientNorm), compared(event.StepNorm),
	{event.QuantityInfo{Name: "inner iterations"}, "inner", "", (*event.EpochEvent).InnerIterations},
	compared(event.Radius), compared(event.Rate), compared(event.Seconds),
}

func compared(q event.Quantity) comparedQuantity {
	c := comparedQuantity{QuantityInfo: *q.Info(), drawn: q.Info().Key,
		of: func(e *event.EpochEvent) event.Float { return *q.Of(e) }}
	switch q {
	case event.Loss, event.Error, event.RMSE:
		c.rows = "train"
	case event.TestLoss, event.TestError, event.TestRMSE:
		c.rows, c.drawn = "test", strings.TrimPrefix(c.drawn, "test_")
	case event.Seconds:
		c.of = epochSeconds
	}
	return c
}

// epochSeconds leaves out epoch 0, in which nothing was done.
func epochSeconds(e *event.EpochEvent) event.Float {
	if e.Epoch == 0 {
		return event.Absent
	}
	return e.Seconds
}

func newComparedRuns(runs []Recorded) []comparedRun {
	openings, names := make([]*event.RunEvent, len(runs)), make([]string, len(runs))
	for i := range runs {
		openings[i], names[i] = runs[i].Run, style.Clean(runs[i].Name)
	}
	labels := rundiff.Labels(openings, names)
	out := make([]comparedRun, len(runs))
	for i := range out {
		out[i] = newComparedRun(runs[i], style.Clean(labels[i]))
	}
	return out
}

func newComparedRun(c Recorded, label string) comparedRun {
	r := comparedRun{Recorded: c, label: label, series: make([]chart.Series, len(comparedQuantities)),
		measure: event.MeasureOf(c.Run, c.Epochs)}
	newest, least, external := -1, math.Inf(1), c.Run != nil && c.Run.External()
	for i := range c.Epochs {
		e := &c.Epochs[i]
		if v := r.measure.Value(e); v < least {
			least, r.best, r.records = v, e, append(r.records, e)
		}
		back := e.Epoch <= newest
		newest = e.Epoch
		for k := range r.series {
			if back {
				r.series[k].Cut(float64(e.Epoch - 1))
			}
			history.Put(&r.series[k], history.PositionOf(e), comparedQuantities[k].of(e), external)
		}
	}
	if n := len(c.Epochs); n > 0 {
		r.last = &c.Epochs[n-1]
	}
	for _, e := range c.Switches {
		r.mark(e.Epoch, "to "+style.Clean(e.To))
	}
	for _, e := range c.Settings {
		r.mark(e.Epoch, style.Clean(e.Key)+" = "+style.Clean(fmt.Sprint(e.Value)))
	}
	return r
}

// mark notes an event after an epoch.
func (r *comparedRun) mark(epoch int, text string) {
	if at, ok := r.series[0].Find(chart.Epochs, float64(epoch)); ok {
		r.notes = chart.Newest(append(r.notes, history.Note{At: at, Text: text, Major: true}), history.KeptMarks)
	}
}

// marks returns what a chart marks along an axis.
func (r *comparedRun) marks(by chart.Axis) (out []chart.Mark) {
	for _, n := range r.notes {
		out = append(out, chart.Mark{X: n.At[by], Text: n.Text})
	}
	return out
}

// value is an epoch's value of the measure.
func (r *comparedRun) value(e *event.EpochEvent) float64 {
	if e == nil {
		return math.NaN()
	}
	return r.measure.Value(e)
}

// text writes a value of the measure.
func (r *comparedRun) text(v float64) string {
	if !r.measure.Info().Share {
		return format.Number(v)
	}
	return format.Percent(v)
}

// state says in a word or two what became of the run.
func (r *comparedRun) state() style.Part {
	switch {
	case r.Run == nil && len(r.Epochs) == 0:
		return style.Warn.Of("did not begin")
	case r.Diverged != nil || r.Done != nil && r.Done.Reason == event.ReasonDiverged:
		return style.Bad.Of("× diverged")
	case r.Done != nil && r.Done.Reason == event.ReasonFailed:
		return style.Bad.Of("failed")
	case r.Done != nil && r.Done.Reason == event.ReasonEpochs:
		return style.Muted.Of("done")
	case r.Done != nil:
		return style.Muted.Of(style.Clean(string(r.Done.Reason)))
	}
	return style.Muted.Of(style.Clean(r.State))
}

// ranked orders the runs by the best value of their measure; what has none comes last. An error and an RMSE can't be
// compared: those of the other kind than the first run's come after.
func ranked(runs []comparedRun) []int {
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		other := func(k int) int {
			if runs[k].measure != runs[0].measure {
				return 1
			}
			return 0
		}
		return cmp.Or(other(i)-other(j), cmp.Compare(history.LastIfMissing(runs[i].value(runs[i].best)),
			history.LastIfMissing(runs[j].value(runs[j].best))))
	})
	return order
}

// measuredName names what the runs are ranked by.
func measuredName(m *model) string { return "best " + m.runs[0].measure.Info().Name }

// reachable returns round values of the measure between the best of the best run and the first values, falling.
func reachable(runs []comparedRun) (out []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range runs {
		r := &runs[i]
		if r.best == nil || r.measure != runs[0].measure {
			continue
		}
		low, high = min(low, r.value(r.best)), max(high, absentLow(r.value(&r.Epochs[0])))
	}
	if !(low > 0) || !(high > low) || math.IsInf(high, 0) {
		return nil
	}
	out = chart.Powers(math.Log10(low), math.Log10(high), 1000, []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9})
	slices.Reverse(out)
	return out
}

// absentLow ranks a missing number before all others.
func absentLow(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

// commonTarget is the hardest target that all runs reach which reach the easiest one, −1 without targets.
func commonTarget(m *model) int {
	at := -1
	reached := func(target float64) (n int) {
		for i := range m.runs {
			if m.runs[i].reach(target, m.runs[0].measure) != nil {
				n++
			}
		}
		return n
	}
	for k, target := range m.targets {
		if k > 0 && reached(target) < reached(m.targets[0]) {
			break
		}
		at = k
	}
	return at
}

// reach is the first epoch at which a run had so small a value of a measure, nil if it never had.
func (r *comparedRun) reach(target float64, by event.Measure) *event.EpochEvent {
	if r.measure != by {
		return nil
	}
	i := sort.Search(len(r.records), func(i int) bool { return r.value(r.records[i]) <= target })
	if i == len(r.records) {
		return nil
	}
	return r.records[i]
}

// present lists the quantities that some run has, those of a regression in its order.
func present(runs []comparedRun) (out []int) {
	for k := range comparedQuantities {
		if slices.ContainsFunc(runs, func(r comparedRun) bool { return !r.series[k].Empty() }) {
			out = append(out, k)
		}
	}
	if !runs[0].measure.Info().Share {
		return out
	}
	rmse := func(k int) int {
		if strings.HasSuffix(comparedQuantities[k].Name, "RMSE") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b int) int { return rmse(a) - rmse(b) })
	return out
}

// subject is what all runs have in common: the data and the net.
func subject(m *model) (out []string) {
	one := func(of func(*event.RunEvent) string) {
		var all []string
		for i := range m.runs {
			if r := m.runs[i].Run; r != nil {
				all = append(all, style.Clean(of(r)))
			}
		}
		slices.Sort(all)
		if all = slices.Compact(all); len(all) == 1 && all[0] != "" {
			out = append(out, all[0])
		}
	}
	one(func(r *event.RunEvent) string { return r.Data.Name })
	one(func(r *event.RunEvent) string { return r.Model.Program })
	one(func(r *event.RunEvent) string { return r.Model.Shape() })
	return out
}
