// Package analyses has the panes of what a run is asked for beside its training: the spectrum, the network with its
// weights, and the errors.
package analyses

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Spectrum shows the extreme eigenvalues of the curvature: with certificates, over the epochs, and with
// the density of all of them if there is one, when a spectrum was computed; otherwise the Ritz values that CG
// has for nothing. It says which.
//
// Zoomed it shows how they went over the epochs first; a key leads on to the latest spectrum.
type Spectrum struct {
	chart, curve chart.Canvas
	at           int // of the views that there are
}

var (
	_ pane.Keyed    = (*Spectrum)(nil)
	_ pane.Pictured = (*Spectrum)(nil)
	_ pane.Blank    = (*Spectrum)(nil)
)

func (*Spectrum) ToggleLog() bool { return false }

func (*Spectrum) Name(*pane.View) string { return "spectrum" }

func (*Spectrum) Version(h *history.History) uint64 {
	return h.Gen.Spectrum + h.Gen.Epoch + h.Gen.Run + h.Gen.Setting
}

// Blank reports whether a run has ended without eigenvalues.
func (p *Spectrum) Blank(h *history.History) bool {
	_, loading := h.Loading()
	_, some := ritz(&h.Latest)
	return !some && len(h.Spectra) == 0 && !loading && h.Over() && h.Status.Computing == ""
}

// pair is an eigenvalue with the bound on its distance to a true one; NaN if there is none.
type pair struct{ value, bound float64 }

// unsigned reports whether the bound leaves the sign open.
func (q pair) unsigned() bool { return q.bound >= math.Abs(q.value) }

// token marks negative curvature, where the bound leaves no doubt; the minus sign says the same.
func (q pair) token() style.Token {
	switch {
	case q.unsigned():
		return style.Muted
	case q.value < 0:
		return style.NegativeCurvature
	}
	return style.Text
}

// source returns what there is to show, greatest first, and where it comes from.
func (p *Spectrum) source(v *pane.View) (pairs []pair, origin string) {
	if n := len(v.H.Spectra); n > 0 {
		e := &v.H.Spectra[n-1]
		pairs = sortedPairs(e)
		origin = matrix(e) + ", " + method(e) + " at " + format.Count(e.Epoch)
	} else if s, ok := ritz(&v.H.Latest); ok {
		for _, f := range s.Ritz {
			if x := float64(f); !math.IsNaN(x) && !math.IsInf(x, 0) {
				pairs = append(pairs, pair{x, math.NaN()})
			}
		}
		origin = "Ritz values of CG, inside the spectrum, at " + format.Count(v.H.Latest.Epoch)
		if s.Preconditioned {
			origin = "Ritz values of CG, inside the preconditioned spectrum, at " + format.Count(v.H.Latest.Epoch)
		}
	}
	sort.Slice(pairs, func(i, j int) bool { return pairs[i].value > pairs[j].value })
	return pairs, origin
}

// ritz returns the latest inner solve that has Ritz values.
func ritz(e *event.EpochEvent) (s *event.InnerSummary, ok bool) {
	for i := len(e.Inner) - 1; i >= 0; i-- {
		if len(e.Inner[i].Ritz) > 0 {
			return &e.Inner[i], true
		}
	}
	return nil, false
}

func (p *Spectrum) Header(v *pane.View, l *style.Line) {
	if v.H.Status.Computing != "" {
		l.Group(style.Warn.Of("computing  "))
	}
	pairs, origin := p.source(v)
	if len(pairs) == 0 {
		return
	}
	l.Group(style.Muted.Of(v.Glyphs.Lambda+" "), style.Strong.Of(format.Number(pairs[0].value)))
	e := latestSpectrum(v.H)
	if low := pairs[len(pairs)-1]; len(pairs) > 1 && (e == nil || !topOnly(e)) {
		least := []style.Part{style.Muted.Of(" to "), low.token().Of(format.Number(low.value))}
		if low.unsigned() {
			least = append(least, style.Muted.Of(v.Glyphs.Within+magnitude(low.bound)))
		}
		l.Group(least...)
	}
	says := []string{origin, "Ritz, inside the spectrum", "Ritz"}
	if e != nil {
		at := " at " + format.Count(e.Epoch) // the epoch stays: where spectra are rare it is long ago
		says = []string{origin, matrix(e) + at, method(e) + at, at[1:]}
		if rowsReported(v.H, e) {
			rows := ", " + format.Counted(e.Rows, "row")
			says = slices.Insert(says, 0, origin+rows, matrix(e)+at+rows)
		}
	}
	for _, s := range says {
		if l.Group(style.Muted.Of("  " + s)) {
			return
		}
	}
}

// latestSpectrum returns the last spectrum, nil if there is none.
func latestSpectrum(h *history.History) *event.SpectrumEvent {
	if n := len(h.Spectra); n > 0 {
		return &h.Spectra[n-1]
	}
	return nil
}

// topOnly reports whether the largest eigenvalues alone were looked for.
func topOnly(e *event.SpectrumEvent) bool { return e.Ends == "top" }

// method says how a spectrum was computed.
func method(e *event.SpectrumEvent) string {
	how := style.Clean(e.Method)
	if topOnly(e) {
		how += ", the largest alone"
	}
	if e.Differences {
		how += ", from differences"
	}
	return how
}

// matrix names what a spectrum is of.
func matrix(e *event.SpectrumEvent) string {
	switch e.Operator {
	case "hessian":
		return "Hessian"
	case "gauss-newton":
		return "Gauss–Newton"
	}
	return style.Clean(e.Operator)
}

// signToken marks negative curvature; the minus sign says the same.
func signToken(x float64) style.Token {
	if x < 0 {
		return style.NegativeCurvature
	}
	return style.Text
}

func (p *Spectrum) Body(v *pane.View, w, h int, zoomed bool) []string {
	pairs, _ := p.source(v)
	if len(pairs) == 0 {
		return p.nothing(v, w, h)
	}
	if views := p.views(v); zoomed && len(views) > 1 && h >= 10 && w >= 24 {
		k := p.at % len(views)
		rows := style.Block(views[k].draw(v, w, h-1), w, h-1)
		return append(rows, p.keyLine(v, views[(k+1)%len(views)].name, w))
	}
	return p.latest(v, pairs, w, h, zoomed)
}

// latest shows the current eigenvalues, and charts as far as there is room.
func (p *Spectrum) latest(v *pane.View, pairs []pair, w, h int, zoomed bool) []string {
	strong, weak := p.facts(v)
	facts := strong[:min(len(strong), max(0, (h-2)/3))]
	left := h - len(facts)
	if zoomed || left-len(pairs)-p.chartRows(v, len(pairs), left) > 0 {
		facts = slices.Concat(facts, weak)
	}
	facts = facts[:min(len(facts), max(0, h-1))]
	rows := make([]string, 0, h)
	for _, f := range facts {
		rows = append(rows, f.in(v, w))
	}
	h -= len(rows)
	chart := p.chartRows(v, len(pairs), h)
	rows = append(rows, style.Block(p.list(v, pairs, w, h-chart), w, h-chart)...)
	if chart > 0 {
		rows = append(rows, p.charts(v, w, chart, zoomed)...)
	}
	return rows
}

// chartRows is how many of h rows the charts get beside that many eigenvalues.
func (p *Spectrum) chartRows(v *pane.View, pairs, h int) int {
	e := latestSpectrum(v.H)
	if h < 8 || e == nil || e.Density == nil && len(v.H.Spectra) < 2 {
		return 0
	}
	least := 4
	if e.Density != nil {
		least = 5 // for its caption
	}
	return max(least, h*2/5, h-pairs-1)
}

func (p *Spectrum) nothing(v *pane.View, w, h int) []string {
	rows := make([]string, h)
	say := func(i int, t style.Token, s string) {
		if i >= 0 && i < h {
			rows[i] = v.Line(w).To((w-style.Cells(s))/2).Write(t, s).Full()
		}
	}
	if v.H.Status.Computing != "" {
		say((h-1)/2, style.Warn, "computing the "+style.Clean(v.H.Status.Computing))
		return rows
	}
	switch {
	case v.H.Watched() && v.H.Epochs == 0:
		say((h-1)/2, style.Muted, pane.Waiting(v))
		return rows
	case v.H.Watched():
		say((h-1)/2, style.Muted, v.Without("eigenvalues"))
		return rows
	case v.H.Offline():
		say((h-1)/2, style.Muted, "no eigenvalues were computed")
		return rows
	}
	say((h-1)/2, style.Muted, "no eigenvalues yet")
	if v.Viewer {
		say((h-1)/2+1, style.Muted, "who controls can compute them")
		return rows
	}
	say((h-1)/2+1, style.Muted, "k computes them now")
	return rows
}

// list writes the top and the bottom of the spectrum, one value a row, with a bar as long as its magnitude; a dashed
// one is a negative one's. What the bound leaves open of a bar is shaded.
func (p *Spectrum) list(v *pane.View, pairs []pair, w, h int) []string {
	if h < 1 {
		return nil
	}
	shown, gap := pairs, -1
	if len(pairs) > h {
		top := (h - 1 + 1) / 2
		bottom := h - 1 - top
		gap = top
		shown = append(slices.Clone(pairs[:top]), pairs[len(pairs)-bottom:]...)
	}
	most := math.Max(math.Abs(pairs[0].value), math.Abs(pairs[len(pairs)-1].value))
	certified := false
	for _, q := range shown {
		certified = certified || !math.IsNaN(q.bound)
	}
	rows := make([]string, 0, h)
	for i, q := range shown {
		if i == gap {
			l := v.Line(w)
			l.Write(style.Muted, style.Right("┊", 9)+"  "+format.Count(len(pairs)-len(shown))+" between")
			rows = append(rows, l.Full())
		}
		rows = append(rows, p.row(v, q, most, certified, w))
	}
	return rows
}

func (p *Spectrum) row(v *pane.View, q pair, most float64, certified bool, w int) string {
	l := v.Line(w)
	l.Write(q.token(), style.Right(format.Number(q.value), 9))
	if certified {
		bound := ""
		if !math.IsNaN(q.bound) {
			bound = v.Glyphs.Within + magnitude(q.bound)
		}
		l.Write(style.Muted, style.Pad(bound, style.Cells(v.Glyphs.Within)+8))
	}
	l.Write(style.Text, "  ")
	color, bar := style.Accent, "━"
	if q.value < 0 {
		color, bar = style.NegativeCurvature, "┄"
	}
	open := 0.0
	if !math.IsNaN(q.bound) {
		open = q.bound
	}
	room := l.Left()
	if q.unsigned() {
		room -= style.Cells(signUnknown)
	}
	cells := func(x float64) int { return int(math.Round(max(0, min(x/most, 1)) * float64(room))) }
	sure := cells(math.Abs(q.value) - open)
	if q.value != 0 && !q.unsigned() {
		sure = max(sure, 1)
	}
	l.Write(color, style.Repeat(bar, sure)).Write(style.Muted, style.Repeat("░", cells(math.Abs(q.value)+open)-sure))
	if q.unsigned() {
		l.Group(style.Muted.Of(signUnknown))
	}
	return l.Full()
}

// signUnknown follows an eigenvalue whose bound covers zero.
const signUnknown = " sign unknown"

// magnitude writes a bound in few columns.
func magnitude(x float64) string {
	if x >= 1e-3 && x < 1e3 {
		return format.Number(x)
	}
	return format.Brief(strconv.FormatFloat(leading(x), 'e', 0, 64))
}

// leading rounds up to one significant digit, as a bound must.
func leading(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return x
	}
	e := math.Floor(math.Log10(x))
	return math.Ceil(x/math.Pow(10, e)-1e-9) * math.Pow(10, e)
}

func (p *Spectrum) Strip(v *pane.View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, "spectrum")
	if pairs, _ := p.source(v); len(pairs) == 0 && v.Unasked() {
		l.Write(style.Muted, "none was computed")
	} else if len(pairs) == 0 {
		l.Write(style.Muted, "k computes it now")
	} else {
		p.Header(v, l)
	}
	return []string{l.Full()}
}
