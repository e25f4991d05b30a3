package dashboard

import (
	"slices"
	"strings"

	"newtop/trainer/krylov"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// word is a sign or a word of some panes, and what it means there.
type word struct {
	sign, means string
	panes       []layout.ID
}

var curves = []layout.ID{layout.Loss, layout.Accuracy, layout.Metrics}

// words lists what stands in the panes of a run.
func words(a *desk.App) []word {
	rows := []word{
		{"▾ ▴ =", "less, more than an epoch before, the same", curves},
		{"line", "solid for training rows, dashed for test rows", curves},
		{"×", "step rejected, or a value was not finite", []layout.ID{layout.Loss, layout.Accuracy, layout.Metrics,
			layout.Region}},
	}
	if a.H.MetricsOnly() {
		rows[0].means, rows[2].means = "less, more than before, the same", "a value was not finite"
		return append(rows, word{"min max", "the best value so far", curves})
	}
	inner := []layout.ID{layout.Inner}
	return append(rows,
		word{"R", "trust-region radius, the longest step allowed", []layout.ID{layout.Region}},
		word{a.Glyphs.Rho, "actual over predicted reduction; 1 is perfect", []layout.ID{layout.Region}},
		word{"12 it B", "iterations of a solve, and why it ended", inner},
		word{"‖r‖/‖g‖", "residual of the inner solve, 1 at its start", inner},
		word{"ξ", "the residual at which a solve may end", inner},
		word{"‖s‖/R", "length of its step, 1 on the boundary", inner},
		word{"curv, q", "curvature along its direction; promised gain", inner},
		word{a.Glyphs.Lambda + strings.TrimRight(a.Glyphs.Within, " "), "eigenvalue; a true one is within the bound",
			[]layout.ID{layout.Spectrum}},
		word{"equivalents", "all work in units of one full gradient", []layout.ID{layout.Work}})
}

// helpSections says what the letters, signs and words of the focused pane mean, what the keys do, and what those of the
// other panes mean.
func helpSections(a *desk.App) (focused []widget.Section) {
	var others []widget.Section
	here, there := widget.Section{}, widget.Section{Title: "in the panes"}
	if !desk.Racing(a) {
		here.Title, there.Title = "in "+a.Panes[a.Focus].Name(a.PaneView()), "in the other panes"
	}
	for _, w := range words(a) {
		in := &there
		if here.Title != "" && slices.Contains(w.panes, a.Focus) {
			in = &here
		}
		in.Rows = append(in.Rows, widget.Explain(style.Muted, w.sign, 12, w.means))
	}
	if len(here.Rows) > 0 {
		focused = append(focused, here)
	} else {
		there.Title = "in the panes"
	}
	if !a.H.MetricsOnly() {
		inner := stopText()
		if a.H.Factors.Reported() {
			inner = factorText()
		}
		if a.Focus == layout.Inner && here.Title != "" {
			focused = append(focused, inner)
		} else {
			others = append(others, inner)
		}
	}
	return slices.Concat(focused, keySections(a), others, []widget.Section{there})
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
	return widget.Explained("in the factors", 12,
		[2]string{"outputs", "the side of a layer that its weights lead to"},
		[2]string{"inputs", "the side that they come from, with the bias"},
		[2]string{"by rank", "eigenvalues, the largest at the left"},
		[2]string{"condition", "the largest over the least, damping added"},
		[2]string{"singular", "the least is 0 in double precision"},
		[2]string{"refreshes", "how often the factors were renewed"})
}
