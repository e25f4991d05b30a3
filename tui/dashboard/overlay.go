package dashboard

import (
	"strings"

	"newtop/trainer/krylov"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// legendSections says what the letters, signs and words of the panes mean.
func legendSections(a *desk.App) []widget.Section {
	inner := stopText()
	if a.H.Factors.Reported() {
		inner = factorText()
	}
	words := widget.Section{Title: "in the panes"}
	if a.H.MetricsOnly() {
		for _, r := range [][2]string{
			{"▾ ▴ =", "less, more than before, the same"},
			{"line", "solid for training rows, dashed for test rows"},
			{"×", "a value was not finite"},
			{"min max", "the best value so far"},
		} {
			words.Rows = append(words.Rows, widget.Explain(style.Muted, r[0], 12, r[1]))
		}
		return []widget.Section{words}
	}
	for _, r := range [][2]string{
		{"▾ ▴ =", "less, more than an epoch before, the same"},
		{"line", "solid for training rows, dashed for test rows"},
		{"R", "trust-region radius, the longest step allowed"},
		{a.Glyphs.Rho, "actual over predicted reduction; 1 is perfect"},
		{"×", "step rejected, or a value was not finite"},
		{"‖r‖/‖g‖", "residual of the inner solve, 1 at its start"},
		{"‖s‖/R", "length of its step, 1 on the boundary"},
		{"curv, q", "curvature along its direction; promised gain"},
		{a.Glyphs.Lambda + strings.TrimRight(a.Glyphs.Within, " "), "eigenvalue; a true one is within the bound"},
		{"equivalents", "all work in units of one full gradient"},
	} {
		words.Rows = append(words.Rows, widget.Explain(style.Muted, r[0], 12, r[1]))
	}
	return []widget.Section{inner, words}
}

// stopText say why inner solves end.
func stopText() widget.Section {
	stops := widget.Section{Title: "why an inner solve ended"}
	for _, s := range krylov.Stops() {
		stops.Rows = append(stops.Rows, widget.Explain(history.StopToken(s), string(s.Letter()), 12, s.Text()))
	}
	return stops
}

// factorText say what is told of factors.
func factorText() widget.Section {
	words := widget.Section{Title: "in the factors"}
	for _, r := range [][2]string{
		{"outputs", "the side of a layer that its weights lead to"},
		{"inputs", "the side that they come from, with the bias"},
		{"by rank", "eigenvalues, the largest at the left"},
		{"condition", "the largest over the least, damping added"},
		{"singular", "the least is 0 in double precision"},
		{"refreshes", "how often the factors were renewed"},
	} {
		words.Rows = append(words.Rows, widget.Explain(style.Muted, r[0], 12, r[1]))
	}
	return words
}
