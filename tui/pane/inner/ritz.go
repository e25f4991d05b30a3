package inner

import (
	"math"
	"slices"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// ritz shows the Ritz values of a solve in n rows: what they are in words, and where they stand.
func (s *solveCursor) ritz(v *pane.View, w, n int) []string {
	if n == 0 {
		return nil
	}
	rows := make([]string, n)
	l := v.Line(w)
	l.Write(style.Accent, "Ritz values ")
	told := s.Summary
	if told == nil && s.running && s.before != nil {
		told = s.before.Summary
		if w >= 60 {
			l.Write(style.Muted, "of epoch "+format.Count(s.before.Epoch)+": ")
		}
	}
	values := ritzValues(told)
	switch {
	case told == nil && s.running:
		l.Write(style.Muted, "come when the solve is over")
	case len(values) == 0:
		l.Write(style.Muted, "were not told")
	default:
		writeRitz(l, values)
		if n >= 4 {
			copy(rows[1:], chart.Strip(&v.Pen, values, style.Accent, style.NegativeCurvature, w))
		}
	}
	rows[0] = l.Full()
	return rows
}

// ritzValues are the finite ones, ascending.
func ritzValues(in *event.InnerSummary) []float64 {
	if in == nil {
		return nil
	}
	var out []float64
	for _, x := range in.Ritz {
		if format.Finite(float64(x)) {
			out = append(out, float64(x))
		}
	}
	slices.Sort(out)
	return out
}

// writeRitz writes their ends, how many are negative, and else what they say of the condition.
func writeRitz(l *style.Line, values []float64) {
	low, high := values[0], values[len(values)-1]
	t := style.Text
	if low < 0 {
		t = style.NegativeCurvature
	}
	l.Group(t.Of(format.Number(low)), style.Muted.Of(" to "), style.Text.Of(format.Number(high)))
	negative, least := 0, math.Inf(1)
	for _, x := range values {
		if x < 0 {
			negative++
		} else if x > 0 {
			least = math.Min(least, x)
		}
	}
	switch {
	case negative > 0:
		l.Group(style.NegativeCurvature.Of("  ○ " + format.Count(negative) + " negative"))
		if !math.IsInf(least, 1) {
			l.Group(style.Muted.Of("  the positive ones reach down to "), style.Text.Of(format.Number(least)))
		}
	case high > least:
		l.Group(style.Muted.Of("  condition number at least "), style.Text.Of(format.Number(high/least)))
	}
}
