package tui

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/tune"
)

// header says what is searched, how far it is and what was found.
func (m *tuning) header(w int) []string { return []string{m.headerSearch(w), m.headerState(w)} }

func (m *tuning) headerSearch(w int) string {
	b := m.board
	l := m.line(w).put(tokText, " ").put(tokAccent, m.title)
	state := m.phase()
	inner := m.line(w - cells(state.s) - 2 - l.w)
	warning := clean(b.Warning)
	if m.err != nil {
		warning = clean(m.err.Error())
	}
	spare := inner.room
	if warning != "" {
		spare = max(inner.room-cells(warning)-2, inner.room/3)
	}
	facts := m.line(spare)
	name := "  tune " + clean(b.Name)
	if strings.HasPrefix(b.Name, "tune") {
		name = "  " + clean(b.Name)
	}
	facts.group(tokStrong.of(name))
	if b.Data != "" {
		facts.group(tokText.of("  " + clean(b.Data)))
	}
	if b.Measure != "" {
		facts.group(tokMuted.of("  by " + m.goal()))
	}
	if b.Parallel > 0 {
		facts.group(tokMuted.of("  " + format.Counted(b.Parallel, "trial") + " at once, " + format.Counted(b.Threads, "thread") + " each"))
	}
	inner.raw(facts.b.String(), facts.w)
	if warning != "" {
		inner.put(tokText, "  ").put(tokWarn, ansi.Truncate(warning, inner.left(), "…"))
	}
	l.raw(inner.b.String(), inner.w).to(w - cells(state.s) - 1)
	return l.put(state.t, state.s).full()
}

// phase is the search's phase as a symbol and a word.
func (m *tuning) phase() part {
	switch b := m.board; {
	case m.err != nil:
		return tokBad.of("× failed")
	case b.Phase == "stopped":
		return tokWarn.of("■ stopped")
	case b.Phase == "done" || m.ended:
		return tokGood.of("■ done")
	case m.leaving:
		return tokWarn.of("■ stopping")
	case b.Phase == "":
		return tokMuted.of("○ preparing")
	}
	return tokGood.of("● " + ansi.Truncate(clean(m.board.Phase), 12, "…"))
}

// told is the order in which the header counts the trials.
var told = [...]tune.State{tune.Running, tune.Reached, tune.Failed, tune.Diverged, tune.Done, tune.Pruned, tune.Paused, tune.Waiting, tune.Stopped}

// headerState has the progress, the trials by what became of them, and the best.
func (m *tuning) headerState(w int) string {
	l := m.line(w).put(tokText, " ")
	best := m.bestParts()
	inner := m.line(w - l.w - width(best) - 3)
	share, text := m.used()
	inner.put(tokText, text)
	if format.Finite(share) && m.underway() {
		inner.put(tokText, " ")
		m.pen.progress(inner, share, max(6, min(20, w/8)))
	}
	trials := format.Counted(len(m.board.Trials), "trial")
	if all := m.board.Planned; all > len(m.board.Trials) && m.underway() {
		trials = format.Count(len(m.board.Trials)) + " of " + format.Counted(all, "trial")
	}
	inner.group(tokText.of("  " + trials))
	for _, of := range told {
		s := &tuneStates[of]
		if n := m.states[of]; n > 0 && !inner.group(s.ink.of("  "+s.sign+" "+format.Count(n)), tokMuted.of(" "+s.word)) {
			inner.group(s.ink.of("  " + s.sign + format.Count(n)))
		}
	}
	l.raw(inner.b.String(), inner.w).to(w - width(best) - 1)
	for _, p := range best {
		l.put(p.t, p.s)
	}
	return l.full()
}

// used is how much of what the search may take is gone, NaN without bounds, and that in words.
func (m *tuning) used() (share float64, text string) {
	b := m.board
	share, text = math.NaN(), format.Clock(m.elapsed())
	if b.Budget > 0 && m.underway() {
		share, text = m.elapsed()/b.Budget, text+" of "+format.Clock(b.Budget)
	}
	if s := b.Spent / b.Most; b.Most > 0 && !(share >= s) && m.underway() {
		share, text = s, format.Clock(m.elapsed())+", "+format.CountWithin(b.Spent, 6)+" of "+format.CountWithin(b.Most, 6)+" equivalents"
	}
	if s := float64(len(b.Trials)) / float64(b.Planned); b.Planned > 0 && !(share >= s) {
		share = s
	}
	return share, text
}

// bestParts say what is best so far.
func (m *tuning) bestParts() []part {
	nothing := []part{tokMuted.of("nothing found yet")}
	if m.best < 0 {
		return nothing
	}
	t := &m.board.Trials[m.best]
	by := tokMuted.of(" by #" + format.Count(t.Number))
	if s := float64(t.TargetSeconds); m.board.Target > 0 && format.Finite(s) {
		return []part{tokMuted.of(m.targetText() + " in "), tokStrong.of(format.Span(s)), by}
	}
	if !format.Finite(float64(t.Best)) {
		return nothing
	}
	return []part{tokMuted.of("best "), tokStrong.of(m.text(float64(t.Best))), by}
}
