package print

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"newtop/trainer/event"
)

// column is one column of a run's table: its heading, its width, and what an epoch has to say in it.
type column struct {
	head  string
	width int
	text  func(e *event.EpochEvent) string
}

// decimal is a column of a number with so many digits, fewer where the width has no room for them.
func decimal(head string, width, digits int, of func(e *event.EpochEvent) event.Float) column {
	return column{head, width, func(e *event.EpochEvent) string { return fitted(of(e), digits, width) }}
}

// columns returns the table of a run whose first step was e: what every method has, and between that and the
// cost what this one has. Of a run that another program trains the epoch may tell more than its opening.
func columns(run *event.RunEvent, e *event.EpochEvent) []column {
	list := []column{
		{"epoch", 5, func(e *event.EpochEvent) string { return fmt.Sprint(e.Epoch) }},
		decimal("loss", 9, 6, func(e *event.EpochEvent) event.Float { return e.Loss }),
	}
	exists := func(f event.Float) bool { return !math.IsNaN(float64(f)) }
	tested := run.Data.TestRows > 0 || exists(e.TestLoss) || exists(e.TestError) || exists(e.TestRMSE)
	if tested {
		list = append(list, decimal("test loss", 9, 6, func(e *event.EpochEvent) event.Float { return e.TestLoss }))
	}
	list = append(list, faults(run.Data.Classes > 0 || exists(e.Error) || exists(e.TestError), tested)...)
	if exists(e.Radius) {
		list = append(list, decimal("radius", 8, 3, func(e *event.EpochEvent) event.Float { return e.Radius }))
	}
	if exists(e.Rate) {
		list = append(list, decimal("rate", 8, 3, func(e *event.EpochEvent) event.Float { return e.Rate }))
	}
	if exists(e.Radius) || exists(e.Rho) {
		list = append(list, decimal("rho", 7, 3, func(e *event.EpochEvent) event.Float { return e.Rho }))
	}
	for _, f := range e.Figures {
		head := Printable(f.Key)
		list = append(list, decimal(head, max(len(head), 8), 3, FigureOf(f.Key)))
	}
	return append(list,
		column{"gradients", 9, func(e *event.EpochEvent) string { return Fixed(e.GradientEquivalents, 1) }},
		column{"seconds", 8, func(e *event.EpochEvent) string { return Fixed(e.Elapsed, 2) }})
}

// faults are the columns of the error in per cent, or of a regression's root mean square.
func faults(classes, tested bool) []column {
	list := []column{
		decimal("rmse", 7, 5, func(e *event.EpochEvent) event.Float { return e.RMSE }),
		decimal("test", 7, 5, func(e *event.EpochEvent) event.Float { return e.TestRMSE }),
	}
	if classes {
		share := func(f event.Float) string { return Fixed(100*f, 2) }
		list = []column{
			{"error %", 7, func(e *event.EpochEvent) string { return share(e.Error) }},
			{"test %", 6, func(e *event.EpochEvent) string { return share(e.TestError) }},
		}
	}
	if !tested {
		return list[:1]
	}
	return list
}

// FigureOf returns a method's own figure by its key, NaN in an epoch that lacks it.
func FigureOf(key string) func(e *event.EpochEvent) event.Float {
	return func(e *event.EpochEvent) event.Float {
		for i := range e.Figures {
			if e.Figures[i].Key == key {
				return e.Figures[i].Value
			}
		}
		return event.Float(math.NaN())
	}
}

// tableHead writes the headings; inner solves, of any number, stand last.
func tableHead(list []column, inner bool) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%*s ", c.width, c.head)
	}
	if inner {
		b.WriteString("inner")
	}
	return strings.TrimRight(b.String(), " ")
}

// tableRow writes an epoch.
func tableRow(list []column, e *event.EpochEvent) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "%*s ", c.width, c.text(e))
	}
	b.WriteString(solves(e))
	return strings.TrimRight(b.String(), " ") + members(e)
}

// solves tells of an epoch's inner solves: each one where there are few, or else all their iterations and how
// often they ended for each reason. A cross says that no step was taken.
func solves(e *event.EpochEvent) string {
	const few = 4
	var parts []string
	iterations, reasons := 0, map[byte]int{}
	for _, s := range e.Inner {
		parts = append(parts, fmt.Sprintf("%d%c", s.Iterations, s.Stop.Letter()))
		iterations += s.Iterations
		reasons[s.Stop.Letter()]++
	}
	if len(parts) > few {
		parts = []string{fmt.Sprint(iterations)}
		for _, letter := range slices.Sorted(maps.Keys(reasons)) {
			parts[0] += fmt.Sprintf(" %c%d", letter, reasons[letter])
		}
	}
	text := strings.Join(parts, ",")
	if !e.Accepted {
		text = strings.TrimLeft(text+" ×", " ")
	}
	return text
}

// members gives the range of what the members of a committee reach by themselves on the test rows, or on
// the training rows where there are no others.
func members(e *event.EpochEvent) string {
	if len(e.Members) == 0 {
		return ""
	}
	what, text := "loss", func(v float64) string { return fmt.Sprintf("%.4g", v) }
	of := func(m *event.MemberFigures) event.Float { return m.Loss }
	switch first := &e.Members[0]; {
	case !math.IsNaN(float64(first.TestError)):
		what, text = "test %", func(v float64) string { return fmt.Sprintf("%.2f", 100*v) }
		of = func(m *event.MemberFigures) event.Float { return m.TestError }
	case !math.IsNaN(float64(first.TestRMSE)):
		what = "test rmse"
		of = func(m *event.MemberFigures) event.Float { return m.TestRMSE }
	}
	low, high, sum := math.Inf(1), math.Inf(-1), 0.0
	for i := range e.Members {
		v := float64(of(&e.Members[i]))
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	return fmt.Sprintf("  members' %s %s to %s, mean %s", what, text(low), text(high), text(sum/float64(len(e.Members))))
}

// fitted formats a figure with as many digits, up to so many, as the width has room for.
func fitted(f event.Float, digits, width int) string {
	text := Number(f, digits)
	for ; len(text) > width && digits > 1; text = Number(f, digits) {
		digits--
	}
	return text
}
