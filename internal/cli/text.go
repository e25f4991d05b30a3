package cli

import (
	"fmt"
	"io"
	"math"
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
	layers := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Model.Layers), " ", "-"), "[]")
	fmt.Fprintf(t.messages, "%s: %d + %d rows, net %s, %d weights, %s, seed %d, %d threads\n",
		r.Data.Name, r.Data.TrainRows, r.Data.TestRows, layers, r.Model.Parameters, r.Optimizer, r.Seed, r.Threads)
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
	var inner []string
	for _, s := range e.Inner {
		inner = append(inner, fmt.Sprintf("%d%c", s.Iterations, s.Stop.Letter()))
	}
	solves := strings.Join(inner, ",")
	if !e.Accepted {
		solves += " ×"
	}
	return fmt.Sprintf("%5d %11s %11s %s %9s %7s %-10s %9.1f %9.2f", e.Epoch, number(e.Loss, 6), number(e.TestLoss, 6), figures,
		number(radius, 3), number(e.Rho, 3), solves, float64(e.GradientEquivalents), float64(e.Elapsed))
}

func spectrumLine(e *trainer.SpectrumEvent) string {
	var parts []string
	for i, v := range e.Eigenvalues {
		parts = append(parts, fmt.Sprintf("%.4g±%.1g", float64(v), float64(e.Residuals[i])))
	}
	return fmt.Sprintf("%5d eigenvalues of the %s over %d rows: %s", e.Epoch, e.Operator, e.Rows, strings.Join(parts, " "))
}

// number formats a figure with the given digits, and a missing one as a dot.
func number(f trainer.Float, digits int) string {
	if math.IsNaN(float64(f)) {
		return "."
	}
	return fmt.Sprintf("%.*g", digits, float64(f))
}
