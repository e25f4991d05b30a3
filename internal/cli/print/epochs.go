package print

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"newtop/trainer/event"
)

// column is one column of a run's table: its heading, its width, and what an epoch has to say in it.
type column struct {
	header string
	width  int
	text   func(e *event.EpochEvent) string
}

// decimal is a column of a number with that many digits, fewer where the width has no room for them.
func decimal(header string, width, digits int, of func(e *event.EpochEvent) event.Float) column {
	return column{header, width, func(e *event.EpochEvent) string { return fitted(of(e), digits, width) }}
}

// innerWidth is room for what solves reports, as 111 B39N1.
const innerWidth = 9

// columns returns the table of a run of which e has all that was reported: what every method has, and between that and
// the cost what this one has, of its own figures as many as have room in a width; 0 is any. A committee has the range
// of its members in the place of the radius and the ratio of one step. Of a run that another program trains the epoch
// may tell more than its opening, and has what it tells alone.
func columns(run *event.RunEvent, e *event.EpochEvent, width int) []column {
	list := []column{
		{run.Counted(), 5, func(e *event.EpochEvent) string { return fmt.Sprint(e.Epoch) }},
		decimal("loss", 8, 6, func(e *event.EpochEvent) event.Float { return e.Loss }),
	}
	exists := func(f event.Float) bool { return !f.Absent() }
	tested := run.Data.TestRows > 0 || exists(e.TestLoss) || exists(e.TestError) || exists(e.TestRMSE)
	validated := run.Data.ValidationRows > 0 || exists(e.ValidationLoss) || exists(e.ValidationError) ||
		exists(e.ValidationRMSE)
	classes := run.Data.Classes > 0 || exists(e.Error) || exists(e.TestError) || exists(e.ValidationError)
	erring := len(run.Model.Layers) > 0 || classes || exists(e.RMSE) || exists(e.TestRMSE) || exists(e.ValidationRMSE)
	if validated && !erring || run.External() && exists(e.ValidationLoss) {
		list = append(list, decimal("valid", 8, 6, func(e *event.EpochEvent) event.Float { return e.ValidationLoss }))
	}
	if tested && !(validated && erring) { // else the errors have the room
		list = append(list, decimal("test", 8, 6, func(e *event.EpochEvent) event.Float { return e.TestLoss }))
	}
	external := run.External()
	if erring {
		list = append(list, faults(classes, validated, tested)...)
	}
	single := len(e.Members) == 0
	if exists(e.Radius) && single {
		list = append(list, decimal("radius", 6, 3, func(e *event.EpochEvent) event.Float { return e.Radius }))
	}
	if exists(e.Rate) {
		list = append(list, decimal("rate", 7, 3, func(e *event.EpochEvent) event.Float { return e.Rate }))
	}
	if (exists(e.Radius) || exists(e.Rho)) && single {
		list = append(list, decimal("rho", 6, 3, func(e *event.EpochEvent) event.Float { return e.Rho }))
	}
	if !single {
		list = append(list, members(&e.Members[0]))
	}
	var cost []column
	if !external || exists(e.GradientEquivalents) {
		cost = append(cost, column{"gradients", 9, func(e *event.EpochEvent) string {
			return Fixed(e.GradientEquivalents, 1)
		}})
	}
	if !external || exists(e.Elapsed) {
		cost = append(cost, column{"seconds", 7, func(e *event.EpochEvent) string { return Fixed(e.Elapsed, 2) }})
	}
	var own []column
	metrics, _ := shownMetrics(e.Metrics)
	for _, f := range metrics {
		header := Printable(f.Key)
		own = append(own, decimal(header, max(len(header), 7), 3, MetricOf(f.Key)))
	}
	if width > 0 && len(e.Inner) > 0 {
		width -= 1 + innerWidth
	}
	for width > 0 && len(own) > 0 && widthOf(list, own, cost) > width {
		widest := 0
		for i := range own {
			if own[i].width > own[widest].width {
				widest = i
			}
		}
		own = slices.Delete(own, widest, widest+1)
	}
	return slices.Concat(list, own, cost)
}

// maxOfGroup is how many figures of one group can be columns: those of larger ones are for programs and screens.
const maxOfGroup = 8

// shownMetrics returns the figures that are columns, and how many are not: those of groups, which are named GROUP/NAME,
// that have too many.
func shownMetrics(all []event.Metric) (shown []event.Metric, more int) {
	group := func(f *event.Metric) string {
		name, _, _ := strings.Cut(f.Key, "/")
		return name
	}
	size := map[string]int{}
	for i := range all {
		size[group(&all[i])]++
	}
	for i := range all {
		if size[group(&all[i])] <= maxOfGroup {
			shown = append(shown, all[i])
		}
	}
	return shown, len(all) - len(shown)
}

// widthOf returns how wide columns are side by side.
func widthOf(parts ...[]column) (width int) {
	for _, c := range slices.Concat(parts...) {
		width += c.width + 1
	}
	return width - 1
}

// faults are the columns of the error in per cent, or of a regression's root mean square, over the rows that there are.
func faults(classes, validated, tested bool) []column {
	list := []column{
		decimal("rmse", 7, 5, func(e *event.EpochEvent) event.Float { return e.RMSE }),
		decimal("valid", 7, 5, func(e *event.EpochEvent) event.Float { return e.ValidationRMSE }),
		decimal("test", 7, 5, func(e *event.EpochEvent) event.Float { return e.TestRMSE }),
	}
	if classes {
		share := func(f event.Float) string {
			if f.Finite() {
				f *= 100
			}
			return Fixed(f, 2)
		}
		list = []column{
			{"error %", 7, func(e *event.EpochEvent) string { return share(e.Error) }},
			{"valid %", 7, func(e *event.EpochEvent) string { return share(e.ValidationError) }},
			{"test %", 6, func(e *event.EpochEvent) string { return share(e.TestError) }},
		}
	}
	if !tested {
		list = list[:2]
	}
	if !validated {
		list = slices.Delete(list, 1, 2)
	}
	return list
}

// MetricOf returns a method's own figure by its key, NaN in an epoch that lacks it.
func MetricOf(key string) func(e *event.EpochEvent) event.Float {
	return func(e *event.EpochEvent) event.Float {
		for i := range e.Metrics {
			if e.Metrics[i].Key == key {
				return e.Metrics[i].Value
			}
		}
		return event.Absent
	}
}

// tableHeader writes the headings; inner solves, of any number, stand last.
func tableHeader(list []column, inner bool) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%*s ", c.width, c.header)
	}
	if inner {
		b.WriteString("inner")
	}
	return strings.TrimRight(b.String(), " ")
}

// tableRow writes an epoch in a width, which is only exceeded by numbers that are too large for their columns.
func tableRow(list []column, e *event.EpochEvent, width int) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%*s ", c.width, c.text(e))
	}
	b.WriteString(solves(e, max(width-utf8.RuneCountInString(b.String()), len("inner"))))
	return strings.TrimRight(b.String(), " ")
}

// solves tells of an epoch's inner solves: each one where they are few and have room, or else all their iterations and
// how often they ended for each reason, as far as there is room. A cross says that no step was taken.
func solves(e *event.EpochEvent, room int) string {
	const few = 4
	end := ""
	if !e.Accepted {
		end = " ×"
		room -= 2
	}
	var each []string
	iterations, reasons := 0, map[byte]int{}
	for _, s := range e.Inner {
		each = append(each, fmt.Sprintf("%d%c", s.Iterations, s.Stop.Letter()))
		iterations += s.Iterations
		reasons[s.Stop.Letter()]++
	}
	text := strings.Join(each, ",")
	if len(each) > few || len(text) > room {
		text = fmt.Sprint(iterations)
		letters := slices.Sorted(maps.Keys(reasons))
		slices.SortStableFunc(letters, func(a, b byte) int { return reasons[b] - reasons[a] })
		for i, letter := range letters {
			next := fmt.Sprintf("%c%d", letter, reasons[letter])
			if i == 0 {
				next = " " + next
			}
			if len(text)+len(next) > room {
				break
			}
			text += next
		}
	}
	return strings.TrimLeft(text+end, " ")
}

// members is the column of what the members of a committee reach by themselves on the validation rows, without them on
// the test rows, or on the training rows where there are no others, from the best to the worst.
func members(first *event.MemberMetrics) column {
	header, width, format := "members", 15, "%.4g"
	scale, of := 1.0, func(m *event.MemberMetrics) event.Float { return m.Loss }
	switch {
	case !first.ValidationError.Absent():
		header, width, format = "members %", 11, "%.2f"
		scale, of = 100, func(m *event.MemberMetrics) event.Float { return m.ValidationError }
	case !first.ValidationRMSE.Absent():
		header, width, format = "members", 13, "%.3g"
		of = func(m *event.MemberMetrics) event.Float { return m.ValidationRMSE }
	case !first.TestError.Absent():
		header, width, format = "members %", 11, "%.2f"
		scale, of = 100, func(m *event.MemberMetrics) event.Float { return m.TestError }
	case !first.TestRMSE.Absent():
		header, width, format = "members", 13, "%.3g"
		of = func(m *event.MemberMetrics) event.Float { return m.TestRMSE }
	}
	return column{header, width, func(e *event.EpochEvent) string {
		if len(e.Members) == 0 {
			return "."
		}
		low, high := math.Inf(1), math.Inf(-1)
		for i := range e.Members {
			v := scale * float64(of(&e.Members[i]))
			low, high = min(low, v), max(high, v)
		}
		return fmt.Sprintf(format+"–"+format, low, high)
	}}
}

// fitted formats a figure with as many digits, up to that many, as the width has room for.
func fitted(f event.Float, digits, width int) string {
	text := Number(f, digits)
	for ; len(text) > width && digits > 1; text = Number(f, digits) {
		digits--
	}
	return text
}
