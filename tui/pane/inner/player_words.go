package inner

import (
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// title says which solve and which iteration is shown.
func (t *solvePlayer) title(v *pane.View, s *solveCursor, w int) string {
	l := v.Line(w)
	l.Write(style.Muted, "epoch ").Write(style.Strong, format.Count(s.Epoch))
	if s.Member > 0 || v.H.Run != nil && v.H.Run.Committee > 1 {
		l.Group(style.Muted.Of("  net "), style.Strong.Of(format.Count(s.Member+1)))
	}
	if n := solveBlocks(v.H); s.Block > 0 || n > 1 {
		l.Group(style.Muted.Of("  "+v.H.Part()+" "), style.Strong.Of(format.Count(s.Block+1)))
		if n > s.Block {
			l.Group(style.Muted.Of(" of " + format.Count(n)))
		}
	}
	l.Write(style.Muted, "  iteration ").Write(style.Strong, format.Count(s.now().N))
	if !s.running || t.pinned {
		l.Group(style.Muted.Of(" of " + format.Count(s.Last().N)))
	} else if s.Limit > 0 {
		l.Group(style.Muted.Of(", at most " + format.Count(s.Limit)))
	}
	if s.Summary != nil && s.Summary.Preconditioned {
		l.Group(style.Muted.Of("  preconditioned"))
	}
	state := style.Good.Of("● following")
	switch {
	case t.pinned && s.latest:
		state = style.Warn.Of("← looking back")
	case t.pinned:
		behind := v.H.Steps.Dropped + len(v.H.Steps.Solves) - 1 - s.id
		state = style.Warn.Of("← " + format.Counted(behind, "solve") + " back")
	case v.H.Over():
		state = style.Muted.Of("■ the last one")
	}
	if n := style.Cells(state.Text); n+2 <= l.Left() {
		l.To(w-n).Write(state.Token, state.Text)
	}
	return l.Full()
}

// solveBlocks is how many blocks of rows the latest epochs went through, at most: one through all rows may come in
// between.
func solveBlocks(h *history.History) int {
	most := 1
	for _, b := range h.Solves.Bars[max(0, len(h.Solves.Bars)-recent):] {
		most = max(most, b.Blocks)
	}
	return most
}

// gauge fills as the step nears the boundary.
func (t *solvePlayer) gauge(v *pane.View, s *solveCursor, w int) string {
	l := v.Line(w)
	now := s.now()
	share := now.Norm / now.Radius
	l.Write(style.Accent, "‖s‖/R ")
	text := ""
	switch {
	case math.IsNaN(share):
		text = " no radius"
	case math.IsInf(now.Radius, 1):
		text = " ‖s‖ " + format.Number(now.Norm) + ", no bound"
	default:
		text = " " + style.Pad(format.Short(share), 4) + "  R " + format.Number(now.Radius)
	}
	room := max(l.Left()-style.Cells(text)-1, 0)
	t.fill(v, l, share, room)
	return l.Write(style.Text, text).Full()
}

// fill draws the gauge: what the step has of the way, and the boundary at its end, which turns solid when the
// step has reached it.
func (t *solvePlayer) fill(v *pane.View, l *style.Line, share float64, room int) {
	if !format.Finite(share) {
		share = 0
	}
	n := int(math.Floor(math.Min(share, 1)*float64(room) + 1e-9))
	full, color, wall := share >= 1-1e-6, style.Accent, "│"
	if full {
		n, color, wall = room, style.Boundary, "█"
	}
	n = max(0, min(n, room))
	l.Write(color, style.Repeat("━", n)).Write(style.Grid, style.Repeat("─", room-n))
	l.Write(style.Boundary, wall)
}

// meanings say what follows from each reason.
var meanings = map[krylov.Stop]string{
	krylov.NegativeCurvature: "the model falls without bound along p; the step follows p to the boundary",
	krylov.Boundary:          "the next iterate lies outside; the step ends where it crosses ‖s‖ = R",
	krylov.Residual:          "the model's minimum is found as exactly as was asked, inside the region",
	krylov.Progress:          "the last iterations brought the model too little; the step ends there",
	krylov.Limit:             "no more iterations are allowed; the step is the best of the model so far",
	krylov.NotFinite:         "a product overflowed; the step is thrown away",
	krylov.Interrupted:       "the solve was cut short; its step is not used",
}

// text say why the solve ended and what that means, in n rows.
func (s *solveCursor) text(v *pane.View, w, n int) []string {
	t, lead, rest := s.reason(v.H)
	text := lead
	if all := lead + ": " + rest; rest != "" && (n > 1 || style.Cells(all) <= w) {
		text = all
	}
	rows := make([]string, n)
	all := style.Wrapped(text, w)
	for i, r := range all[:min(n, len(all))] {
		if i == n-1 && len(all) > n {
			r = ansi.Truncate(r+" "+all[n], w, "…")
		}
		l := v.Line(w)
		if i == 0 && strings.HasPrefix(r, lead) {
			l.Write(t, lead).Write(style.Text, r[len(lead):])
		} else {
			l.Write(style.Text, r)
		}
		rows[i] = l.Full()
	}
	return rows
}

// reason returns the end of the solve as a few words and an explanation.
func (s *solveCursor) reason(h *history.History) (t style.Token, lead, rest string) {
	if in := s.Summary; in != nil {
		rest := meanings[in.Stop]
		if words := minimumText(in); words != "" {
			rest = words
		}
		return history.StopToken(in.Stop), string(in.Stop.Letter()) + " " + in.Stop.Text() + verdictText(s.Verdict),
			rest
	}
	last := s.Last()
	switch {
	case s.running && format.Finite(s.Goal):
		return style.Accent, "▸ under way", "residual " + format.Number(last.Residual) + " of ‖g‖, " +
			format.Number(s.Goal) + " ends it"
	case s.running:
		return style.Accent, "▸ under way", "residual " + format.Number(last.Residual) + " of ‖g‖"
	case s.Epoch > h.Latest.Epoch && h.Over():
		return style.Muted, "over", "the run ended before the epoch did"
	case s.Epoch > h.Latest.Epoch && solveBlocks(h) > 1:
		return style.Muted, "over", "the reason comes with the end of the epoch"
	case s.Epoch > h.Latest.Epoch:
		return style.Muted, "given up", "the method, its radius or the run was changed before the solve ended"
	}
	return style.Muted, "over", "its reason was not told"
}

// minimumText tell what the model's minimum in the Krylov space promises beside CG's own step; empty where the step is
// CG's.
func minimumText(in *event.InnerSummary) string {
	if !in.Multiplier.Finite() || !(in.SteihaugShare > 0) {
		return ""
	}
	text, times := "minimum in the Krylov space, ", 1/float64(in.SteihaugShare)
	if in.LanczosSteps > 0 {
		text = "+" + format.Counted(in.LanczosSteps, "Lanczos step") + ", "
	}
	if times < 1.005 {
		return text + "the decrease of CG's step, λ " + format.Number(float64(in.Multiplier))
	}
	return text + format.Short(times) + " times the decrease of CG's step, λ " + format.Number(float64(in.Multiplier))
}

// verdictText tell what became of the step.
func verdictText(v history.Verdict) string {
	switch {
	case !v.Known || !format.Finite(v.Rho):
		return ""
	case v.Accepted:
		return ", step taken, ρ " + format.Short(v.Rho)
	}
	return ", step rejected, ρ " + format.Short(v.Rho)
}

// axis has the iterations along x, and room to continue while the solve does.
func (s *solveCursor) axis() chart.MultipleAxis {
	x := chart.MultipleAxis{Left: float64(s.Steps[0].N), Right: float64(s.Last().N), Cursor: float64(s.now().N)}
	if x.Left == 1 {
		x.Left = 0
	}
	if s.running {
		right := 10.0
		for right < x.Right {
			right = math.Ceil(right * 1.25)
		}
		if s.Limit > 0 {
			right = math.Min(right, float64(s.Limit))
		}
		x.Right = math.Max(x.Right, right)
	}
	return x
}

// multiples are the four curves of the solve. At iteration 0 the step is 0 and the residual is the gradient.
func (s *solveCursor) multiples(v *pane.View) [4]chart.Multiple {
	now := s.now()
	share := now.Norm / now.Radius
	m := [4]chart.Multiple{
		{Symbol: "‖s‖/R", Name: "length of the step", Token: style.Boundary,
			Value: []style.Part{style.Text.Of(format.Short(share))}, Zero: true, Rule: 1, RuleName: "R"},
		{Symbol: "m(s)", Name: "model, change of loss", Token: style.Train,
			Value: []style.Part{style.Text.Of(format.Number(now.Model))}, Zero: true, Rule: math.NaN()},
		{Symbol: "‖r‖/‖g‖", Name: "residual", Token: style.Residual,
			Value: []style.Part{style.Text.Of(format.Number(now.Residual))}, Log: true, Rule: s.Goal, RuleName: "ξ"},
		{Symbol: "pᵀBp/pᵀp", Name: "curvature", Token: style.Test, Value: []style.Part{curved(now.Curvature)},
			Log: true, Rule: math.NaN(), Signs: true},
	}
	for k := range m {
		m[k].X, m[k].Y = make([]float64, 0, len(s.Steps)+1), make([]float64, 0, len(s.Steps)+1)
	}
	if s.Steps[0].N == 1 {
		for k, y := range [3]float64{0, 0, 1} {
			m[k].X, m[k].Y = append(m[k].X, 0), append(m[k].Y, y)
		}
	}
	for i := range s.Steps {
		p := &s.Steps[i]
		for k, y := range [4]float64{p.Norm / p.Radius, p.Model, p.Residual, p.Curvature} {
			m[k].X, m[k].Y = append(m[k].X, float64(p.N)), append(m[k].Y, y)
		}
	}
	for k := range m {
		m[k].Extra = chart.Dot{Y: math.NaN()}
	}
	if math.IsInf(now.Radius, 1) || math.IsNaN(now.Radius) {
		m[0].Symbol, m[0].Rule, m[0].Value[0].Text = "‖s‖", math.NaN(), format.Number(now.Norm)
		m[0].Y = m[0].Y[:len(m[0].Y)-len(s.Steps)]
		for i := range s.Steps {
			m[0].Y = append(m[0].Y, s.Steps[i].Norm)
		}
	}
	s.truth(&m[2], s.Summary)
	return m
}

// truth puts the residual by an extra product beside the one of CG's recurrence.
func (s *solveCursor) truth(m *chart.Multiple, in *event.InnerSummary) {
	if in == nil || !format.Finite(float64(in.TrueResidual)) {
		return
	}
	m.Extra = chart.Dot{X: float64(s.Last().N), Y: float64(in.TrueResidual), R: '×', Token: style.Warn}
	m.Value = append(m.Value, style.Warn.Of("  × true "+format.Number(float64(in.TrueResidual))))
}

// curved writes a curvature with its sign.
func curved(y float64) style.Part {
	switch {
	case math.IsNaN(y):
		return style.Muted.Of("not told")
	case y > 0:
		return style.Text.Of("+" + format.Number(y))
	case y == 0:
		return style.NegativeCurvature.Of("0 flat")
	}
	return style.NegativeCurvature.Of("−" + format.Number(-y) + " negative")
}
