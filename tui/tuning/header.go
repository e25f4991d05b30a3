package tuning

import (
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/style"
)

// header says what is searched, how far it is and what was found.
func header(m *model, w int) []string { return []string{headerSearch(m, w), headerState(m, w)} }

func headerSearch(m *model, w int) string {
	b := m.leaderboard
	l := m.Line(w).Write(style.Text, " ").Write(style.Accent, m.Title)
	state := phasePart(m)
	inner := m.Line(w - style.Cells(state.Text) - 2 - l.Width)
	warning := style.Clean(b.Warning)
	if m.err != nil {
		warning = style.Clean(m.err.Error())
	}
	spare := inner.Room
	if warning != "" {
		spare = max(inner.Room-style.Cells(warning)-2, inner.Room/3)
	}
	facts := m.Line(spare)
	name := "  tune " + style.Clean(b.Name)
	if strings.HasPrefix(b.Name, "tune") {
		name = "  " + style.Clean(b.Name)
	}
	facts.Group(style.Strong.Of(name))
	if b.Data != "" {
		facts.Group(style.Text.Of("  " + style.Clean(b.Data)))
	}
	if b.Measure != "" {
		facts.Group(style.Muted.Of("  by " + m.goal()))
	}
	if b.Parallel > 0 {
		text := "  " + format.Counted(b.Parallel, "trial") + " at once"
		if b.Program == nil {
			text += ", " + format.Counted(b.Threads, "thread") + " each"
		}
		facts.Group(style.Muted.Of(text))
	}
	inner.Append(facts)
	if warning != "" {
		inner.Write(style.Text, "  ").Write(style.Warn, ansi.Truncate(warning, inner.Left(), "…"))
	}
	l.Append(inner).To(w - style.Cells(state.Text) - 1)
	return l.Write(state.Token, state.Text).Full()
}

// phasePart is the search's phase as a symbol and a word.
func phasePart(m *model) style.Part {
	switch b := m.leaderboard; {
	case m.err != nil:
		return style.Bad.Of("× failed")
	case b.Phase == "stopped":
		return style.Warn.Of("■ stopped")
	case b.Phase == "done" || m.ended:
		return style.Good.Of("■ done")
	case m.leaving:
		return style.Warn.Of("■ stopping")
	case b.Phase == "":
		return style.Muted.Of("○ preparing")
	}
	return style.Good.Of("● " + ansi.Truncate(style.Clean(m.leaderboard.Phase), 12, "…"))
}

// stateOrder is the order in which the header counts the trials.
var stateOrder = [...]tune.State{tune.Running, tune.Reached, tune.Failed, tune.Diverged, tune.Done, tune.Pruned,
	tune.Paused,
	tune.Waiting, tune.Stopped}

// headerState has the progress, the trials by what became of them, and the best.
func headerState(m *model, w int) string {
	l := m.Line(w).Write(style.Text, " ")
	best := bestParts(m)
	inner := m.Line(w - l.Width - style.Width(best) - 3)
	share, text := used(m)
	inner.Write(style.Text, text)
	if format.Finite(share) && m.underway() {
		inner.Write(style.Text, " ")
		m.Pen.Progress(inner, share, max(6, min(20, w/8)))
	}
	trials := format.Counted(len(m.leaderboard.Trials), "trial")
	if all := m.leaderboard.Planned; all > len(m.leaderboard.Trials) && m.underway() {
		trials = format.Count(len(m.leaderboard.Trials)) + " of " + format.Counted(all, "trial")
	}
	inner.Group(style.Text.Of("  " + trials))
	for _, of := range stateOrder {
		s := &trialStates[of]
		if n := m.states[of]; n > 0 && !inner.Group(s.ink.Of("  "+s.sign+" "+format.Count(n)),
			style.Muted.Of(" "+s.word)) {
			inner.Group(s.ink.Of("  " + s.sign + format.Count(n)))
		}
	}
	l.Append(inner).To(w - style.Width(best) - 1)
	for _, p := range best {
		l.Write(p.Token, p.Text)
	}
	return l.Full()
}

// used is how much of what the search may take is gone, NaN without bounds, and that in words.
func used(m *model) (share float64, text string) {
	b := m.leaderboard
	share, text = math.NaN(), format.Clock(m.elapsed())
	if b.Budget > 0 && m.underway() {
		share, text = m.elapsed()/b.Budget, text+" of "+format.Clock(b.Budget)
	}
	if s := b.Spent / b.MaxWork; b.MaxWork > 0 && !(share >= s) && m.underway() {
		share, text = s, format.Clock(m.elapsed())+", "+format.CountWithin(b.Spent, 6)+" of "+format.CountWithin(
			b.MaxWork, 6)+" equivalents"
	}
	if s := float64(len(b.Trials)) / float64(b.Planned); b.Planned > 0 && !(share >= s) {
		share = s
	}
	return share, text
}

// bestParts say what is best so far, or what the folds of a cross-validation come to.
func bestParts(m *model) []style.Part {
	if m.leaderboard.Folds > 0 {
		s, _ := m.leaderboard.Crossed()
		if s.N < 2 {
			return []style.Part{style.Muted.Of("fewer than two folds done")}
		}
		return []style.Part{style.Muted.Of("mean "), style.Strong.Of(m.text(s.Mean)),
			style.Muted.Of(" ± " + m.widthText(s.Deviation))}
	}
	nothing := []style.Part{style.Muted.Of("nothing found yet")}
	if m.best < 0 {
		return nothing
	}
	t := &m.leaderboard.Trials[m.best]
	by := style.Muted.Of(" by #" + format.Count(t.Number))
	if s := float64(t.TargetSeconds); m.leaderboard.Target > 0 && format.Finite(s) {
		return []style.Part{style.Muted.Of(m.targetText() + " in "), style.Strong.Of(format.Span(s)), by}
	}
	if !format.Finite(float64(t.Best)) {
		return nothing
	}
	out := []style.Part{style.Muted.Of("best "), style.Strong.Of(m.text(float64(t.Best))), by}
	if s := &m.front; s.Trial.Number == t.Number && s.Spread.Finite() { // over its seeds
		out[1] = style.Strong.Of(m.text(float64(s.Best)))
		out = slices.Insert(out, 2, style.Muted.Of(" ± "+m.widthText(float64(s.Spread))))
	}
	return out
}
