package cli

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"newtop/trainer"
)

// textRecorder prints a run as a table: one line an epoch to out, and what the run is to messages.
type textRecorder struct {
	out, messages io.Writer
	run           trainer.RunEvent
	optimizer     string
}

func (t *textRecorder) Record(e trainer.Event) error {
	switch e := e.(type) {
	case trainer.RunEvent:
		t.run, t.optimizer = e, e.Optimizer
		t.opening()
		_, err := fmt.Fprintln(t.out, t.header())
		return err
	case trainer.EpochEvent:
		t.optimizer = e.Optimizer
		_, err := fmt.Fprintln(t.out, t.row(&e))
		return err
	case trainer.SpectrumEvent:
		_, err := fmt.Fprintln(t.out, spectrumLine(&e))
		return err
	case trainer.DoneEvent:
		if t.run.ID != "" && e.Reason != trainer.ReasonFailed {
			_, err := fmt.Fprintln(t.out, summary(&t.run, &e, t.optimizer))
			return err
		}
	}
	return nil
}

func (t *textRecorder) Flush() error { return nil }

func (t *textRecorder) opening() {
	r := &t.run
	fmt.Fprintf(t.messages, "%s: %d + %d rows, net %s, %d weights, %s, %s, %d threads\n",
		r.Data.Name, r.Data.TrainRows, r.Data.TestRows, r.Model.Shape(), r.Model.Parameters, r.Optimizer, r.Seeds(), r.Threads)
}

func (t *textRecorder) classes() bool { return t.run.Data.Classes > 0 }

func (t *textRecorder) header() string {
	figures := fmt.Sprintf("%9s %9s", "rmse", "test")
	if t.classes() {
		figures = fmt.Sprintf("%9s %9s", "error %", "test %")
	}
	return fmt.Sprintf("%5s %11s %11s %s %9s %7s %-10s %9s %9s", "epoch", "loss", "test loss", figures, "radius", "rho", "inner", "gradients", "seconds")
}

func (t *textRecorder) row(e *trainer.EpochEvent) string {
	figures := fmt.Sprintf("%9s %9s", number(e.RMSE, 5), number(e.TestRMSE, 5))
	if t.classes() {
		figures = fmt.Sprintf("%9.2f %9.2f", 100*float64(e.Error), 100*float64(e.TestError))
	}
	radius := e.Radius
	if math.IsNaN(float64(radius)) {
		radius = e.Rate
	}
	line := fmt.Sprintf("%5d %11s %11s %s %9s %7s %-10s %9.1f %9.2f", e.Epoch, number(e.Loss, 6), number(e.TestLoss, 6), figures,
		number(radius, 3), number(e.Rho, 3), solves(e), float64(e.GradientEquivalents), float64(e.Elapsed))
	for _, f := range e.Figures {
		line += fmt.Sprintf("  %s %s", f.Key, number(f.Value, 3))
	}
	return line + members(e)
}

// solves tells of an epoch's inner solves: each one where there are few, or else all their iterations and how
// often they ended for each reason.
func solves(e *trainer.EpochEvent) string {
	const few = 4
	var parts []string
	iterations, reasons := 0, map[byte]int{}
	for _, s := range e.Inner {
		parts = append(parts, fmt.Sprintf("%d%c", s.Iterations, s.Stop.Letter()))
		iterations += s.Iterations
		reasons[s.Stop.Letter()]++
	}
	text := strings.Join(parts, ",")
	if len(parts) > few {
		text = fmt.Sprint(iterations)
		for _, letter := range slices.Sorted(maps.Keys(reasons)) {
			text += fmt.Sprintf(" %c%d", letter, reasons[letter])
		}
	}
	if !e.Accepted {
		text += " ×"
	}
	return text
}

// members gives the range of what the members of a committee reach by themselves on the test rows, or on
// the training rows where there are no others.
func members(e *trainer.EpochEvent) string {
	if len(e.Members) == 0 {
		return ""
	}
	what, scale, unit := "loss", 1.0, ""
	of := func(m *trainer.MemberFigures) trainer.Float { return m.Loss }
	switch first := &e.Members[0]; {
	case !math.IsNaN(float64(first.TestError)):
		what, scale, unit = "test", 100, " %"
		of = func(m *trainer.MemberFigures) trainer.Float { return m.TestError }
	case !math.IsNaN(float64(first.TestRMSE)):
		what = "test rmse"
		of = func(m *trainer.MemberFigures) trainer.Float { return m.TestRMSE }
	}
	low, high, sum := math.Inf(1), math.Inf(-1), 0.0
	for i := range e.Members {
		v := scale * float64(of(&e.Members[i]))
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	return fmt.Sprintf("  members' %s %.4g to %.4g, mean %.4g%s", what, low, high, sum/float64(len(e.Members)), unit)
}

func spectrumLine(e *trainer.SpectrumEvent) string {
	var parts []string
	for i, v := range e.Eigenvalues {
		parts = append(parts, fmt.Sprintf("%.4g±%.1g", float64(v), float64(e.Residuals[i])))
	}
	line := fmt.Sprintf("%5d eigenvalues of the %s over %d rows (%s): %s", e.Epoch, e.Operator, e.Rows, e.Selection, strings.Join(parts, " "))
	if e.Trace != nil {
		line += fmt.Sprintf("; trace %.4g±%.1g", float64(e.Trace.Value), float64(e.Trace.Error))
	}
	return line
}

// number formats a figure with the given digits, and a missing one as a dot.
func number(f trainer.Float, digits int) string {
	if math.IsNaN(float64(f)) {
		return "."
	}
	return fmt.Sprintf("%.*g", digits, float64(f))
}
