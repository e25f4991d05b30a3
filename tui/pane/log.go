package pane

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/history"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Log shows what happened, the latest at the bottom: each epoch's figures, and between them the
// switches, settings, spectra and refusals.
type Log struct {
	Linear
	search search
}

var (
	_ Keyed     = (*Log)(nil)
	_ Restarter = (*Log)(nil)
)

func (*Log) Name(*View) string { return "log" }

func (*Log) Version(h *history.History) uint64 { return h.Log.Gen + h.Gen.Run }

// Header says what the columns of an epoch's row are that do not say so themselves.
func (*Log) Header(v *View, l *style.Line) {
	thinned := v.H.Thinned
	if r := v.H.Status.Replay; r != nil {
		thinned += r.Thinned
	}
	if thinned > 0 {
		l.Group(style.Muted.Of(format.Count(thinned) + " " + v.H.Run.Counted() + "s thinned  "))
	}
	if v.H.Epochs == 0 {
		return
	}
	if v.H.MetricsOnly() {
		l.Group(style.Muted.Of(v.H.Run.Counted() + ", metrics"))
		return
	}
	l.Group(style.Muted.Of(v.H.Run.Counted()+", "), style.Train.Of("loss"))
	if v.faulty() {
		l.Group(style.Muted.Of(", "), v.faultColor().Of(v.MetricName()))
	}
}

// faulty reports whether the run tells errors or root mean squares: a model that another program has may have neither.
func (v *View) faulty() bool {
	return !v.H.Elsewhere() || v.H.Curves.Judged()
}

// faultColor is of the validation rows if there are any, else of the test rows.
func (v *View) faultColor() style.Token {
	if !v.H.Curves.ValidationMetric.Empty() {
		return style.Validation
	}
	if v.H.Curves.TestMetric.Empty() {
		return style.Train
	}
	return style.Test
}

func (p *Log) Body(v *View, w, h int, zoomed bool) []string {
	entries, up, below := v.latest(h), 0, ""
	if zoomed && h > 2 {
		h--
		entries, up = p.matching(v), p.search.up
		below = p.search.line(v, w, len(entries), "")
	}
	rows := make([]string, h)
	free := h
	for i := len(entries) - 1 - up; i >= 0 && free > 0; i-- {
		drawn := p.rows(v, &v.H.Log.Entries[entries[i]], w)
		drawn = drawn[:min(len(drawn), free)]
		free -= len(drawn)
		copy(rows[free:], drawn)
	}
	if below != "" {
		return append(rows, below)
	}
	return rows[free:]
}

// latest lists the last n entries of the log.
func (v *View) latest(n int) []int {
	first := max(0, len(v.H.Log.Entries)-n)
	out := make([]int, len(v.H.Log.Entries)-first)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// rows draws an entry: an epoch's figures on one row, text on as many as it needs.
func (p *Log) rows(v *View, e *history.Entry, w int) []string {
	column := max(4, style.Cells(format.Count(v.H.Latest.Epoch)))
	start := func() *style.Line { return v.Line(w).Write(style.Muted, style.Right(format.Count(e.Epoch), column)) }
	if e.Text == "" {
		l := start()
		p.metrics(v, e, l)
		return []string{l.Full()}
	}
	margin := column + 2
	var rows []string
	for i, s := range strings.Split(ansi.Wrap(e.Text, max(w-margin, 8), ""), "\n") {
		l := v.Line(w)
		if i == 0 {
			l = start()
		}
		rows = append(rows, l.To(margin).Write(e.Token, s).Full())
	}
	return rows
}

// figures writes what an epoch brought, as much as there is room for.
func (p *Log) metrics(v *View, e *history.Entry, l *style.Line) {
	s, wide := &e.Stats, l.Room >= 70
	if v.H.MetricsOnly() {
		v.writeReported(s, l)
		return
	}
	l.Group(style.Train.Of("  " + style.Pad(format.Number(float64(s.Loss)), 7)))
	train, test := v.H.Metrics()
	fault := func(t style.Token, q event.Quantity) {
		l.Group(t.Of(" " + style.Right(v.MetricText(float64(*q.Of(s))), 6)))
	}
	switch {
	case !v.faulty():
	case !v.H.Curves.ValidationMetric.Empty():
		fault(style.Validation, train.Validation())
	case !test.Of(s).Absent():
		fault(style.Test, test)
	default:
		fault(style.Train, train)
	}
	if e.Stop != 0 {
		l.Group(style.Muted.Of(" "+style.Right(format.Count(e.Inner), 3)),
			history.StopToken(e.Stop).Of(" "+string(e.Stop.Letter())))
	} else if len(v.H.Solves.Bars) > 0 {
		l.Group(style.Text.Of(style.Spaces(6)))
	}
	verdict := style.Text.Of("  ")
	if !s.Accepted && v.H.HasVerdict(s) {
		verdict = style.Warn.Of(" ×")
	}
	l.Group(verdict)
	took := ""
	if s.Epoch > 0 {
		took = format.Span(float64(s.Seconds))
	}
	l.Group(style.Muted.Of(" " + style.Right(took, 8)))
	if !wide {
		return
	}
	l.Group(style.Muted.Of("  ‖g‖ "), style.Text.Of(style.Pad(format.Number(float64(s.GradientNorm)), 9)))
	if !s.Radius.Absent() {
		l.Group(style.Muted.Of(" R "), style.Text.Of(style.Pad(format.Number(float64(s.Radius)), 8)))
		l.Group(style.Muted.Of(" "+v.Glyphs.Rho+" "), style.Text.Of(style.Pad(format.Short(float64(s.Rho)), 5)))
	}
	l.Group(style.Muted.Of("  " + style.Clean(s.Optimizer)))
	switch {
	case verdict.Token == style.Warn:
		l.Group(style.Warn.Of("  rejected"))
	case e.Stop != 0:
		l.Group(style.Muted.Of("  " + e.Stop.Text()))
	}
}

// logged are the numbers of an epoch that the log of a run of another program names, by what they are called there.
var logged = [...]struct {
	of    event.Quantity
	name  string
	token style.Token
}{
	{event.Loss, "loss", style.Train}, {event.ValidationLoss, "validation", style.Validation},
	{event.TestLoss, "test", style.Test},
	{event.Error, "error", style.Train}, {event.ValidationError, "validation error", style.Validation},
	{event.TestError, "test error", style.Test},
	{event.RMSE, "RMSE", style.Train}, {event.ValidationRMSE, "validation RMSE", style.Validation},
	{event.TestRMSE, "test RMSE", style.Test},
	{event.Rate, "rate", style.Text}, {event.GradientNorm, "‖g‖", style.Text},
}

// writeReported writes what another program told of an epoch, by names, as it tells not always the same.
func (v *View) writeReported(e *event.EpochEvent, l *style.Line) {
	for _, k := range logged {
		y := *k.of.Of(e)
		name, text := v.Quantity(k.of, k.name, float64(y))
		if !y.Absent() && !l.Group(style.Muted.Of("  "+name+" "), k.token.Of(text)) {
			return
		}
	}
	for _, f := range e.Metrics {
		note := f.Note()
		if f.Value.Absent() || note.Of != "" {
			continue
		}
		if !l.Group(style.Muted.Of("  "+style.Clean(cmp.Or(note.Symbol, f.Key))+" "),
			style.Text.Of(format.Number(float64(f.Value)))) {
			return
		}
	}
}

func (p *Log) Strip(v *View, w, h int) []string { return p.Body(v, w, h, false) }

// Search begins to search.
func (p *Log) Search() { p.search = search{typing: true} }

// Restart forgets the place in the lines of a run that is over.
func (p *Log) Restart() { p.search.up = 0 }

func (p *Log) scroll(v *View, k string) { p.search.scroll(k, len(p.matching(v))) }

// matching lists the entries that have what is searched for.
func (p *Log) matching(v *View) []int {
	out := make([]int, 0, len(v.H.Log.Entries))
	for i := range v.H.Log.Entries {
		e := &v.H.Log.Entries[i]
		if p.search.text == "" || widget.Has(e.Text, p.search.text) || e.Text == "" &&
			widget.Has(v.epochText(e), p.search.text) {
			out = append(out, i)
		}
	}
	return out
}

// epochText are the words that find an epoch's figures.
func (v *View) epochText(e *history.Entry) string {
	s := v.H.Run.Counted() + " " + format.Count(e.Epoch) + " " + e.Stats.Optimizer
	if e.Stop != 0 {
		s += " " + e.Stop.Text()
	}
	if !e.Stats.Accepted && v.H.HasVerdict(&e.Stats) {
		s += " rejected"
	}
	return s
}

func (p *Log) Keys() []Key {
	return []Key{
		{Do: func(v *View, k string) (tea.Cmd, bool) {
			return nil, p.search.press(k, func(k string) { p.scroll(v, k) })
		}},
		{Show: "↑ ↓", Help: "scroll; pgup and pgdn by ten, home and end",
			Names: []string{"up", "down", "pgup", "pgdown", "home", "end"},
			Do: func(v *View, k string) (tea.Cmd, bool) {
				p.scroll(v, k)
				return nil, true
			}},
		{Show: "/", Help: "search: type to narrow, enter keeps, esc ends", Names: []string{"esc"},
			Do: func(*View, string) (tea.Cmd, bool) {
				some := p.search.text != "" || p.search.up != 0
				p.search = search{}
				return nil, some
			}},
	}
}
