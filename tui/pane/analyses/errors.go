package analyses

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// Errors shows where the outputs are wrong: which classes are taken for which, the rows that cost most, and
// the residuals of regression. While it is on a screen it asks for them.
type Errors struct {
	pane.Linear
	train     bool // over the training rows
	page      int  // 0: all of it, 1: the worst rows
	output    int  // of regression, whose residuals are shown
	requested pane.AskLimit

	glanced  int    // the epoch after which it asked without being asked to, 0 for none
	answered uint64 // what had come by then
}

var (
	_ pane.Keyed = (*Errors)(nil)
	_ pane.Asker = (*Errors)(nil)

	_ pane.Glancer = (*Errors)(nil)
	_ pane.Blank   = (*Errors)(nil)
)

// worstRows is how many rows are asked for.
const worstRows = 16

// theirRows says why there are no errors of a model that another program has.
const theirRows = "the rows are another program's"

func (*Errors) Name(*pane.View) string { return "errors" }

func (*Errors) Version(h *history.History) uint64 {
	return h.Gen.Run + h.Gen.Epoch + h.Analyses.ErrorsGen + h.Gen.Spectrum
}

// question is what the pane asks for. Without test rows only the training rows can be wrong.
func (p *Errors) question(h *history.History) event.Command {
	return event.ShowErrors{Train: p.train || h.Run != nil && h.Run.Data.TestRows == 0, Worst: worstRows}
}

// Ask returns the command for the analysis that the pane lacks, nil for none.
func (p *Errors) Ask(h *history.History) event.Command {
	if h.Run == nil || h.Elsewhere() || h.Epochs == 0 || !p.requested.Due(h, h.Analyses.ErrorsGen) {
		return nil
	}
	return p.question(h)
}

// Glance asks after the first epoch, and then when the run is twice as old as at the last time, if that was answered.
func (p *Errors) Glance(h *history.History) event.Command {
	if h.Run == nil || h.Elsewhere() || h.Epochs == 0 || h.Status.Epoch < 2*p.glanced || p.glanced > 0 &&
		p.answered == h.Analyses.ErrorsGen {
		return nil
	}
	p.glanced, p.answered = max(h.Status.Epoch, 1), h.Analyses.ErrorsGen
	return p.question(h)
}

// Blank reports whether nobody looked at the errors of a recorded run, or of one that has ended, or nobody can.
func (p *Errors) Blank(h *history.History) bool {
	_, loading := h.Loading()
	if h.Elsewhere() {
		return true
	}
	return h.Analyses.Errors == nil && !loading && h.Over() && h.Status.Computing == ""
}

// class names a class of an event.
func class(e *event.ErrorsEvent, i int) string {
	if i < 0 {
		return "nothing"
	}
	if i < len(e.Classes) {
		if s := strings.TrimSpace(style.Clean(e.Classes[i])); s != "" {
			return s
		}
	}
	return strconv.Itoa(i)
}

func (p *Errors) Header(v *pane.View, l *style.Line) {
	e := v.H.Analyses.Errors
	if e == nil {
		if v.H.Status.Computing == "errors" {
			l.Group(style.Warn.Of("computing"))
		}
		return
	}
	rows := "test rows"
	if e.Train {
		rows = "training rows"
	}
	if _, all := byClass(e); all.rows > 0 {
		if !l.Group(style.Strong.Of(format.Count(all.misclassified)),
			style.Muted.Of(" of "+format.Count(all.rows)+" "+rows+" wrong")) {
			l.Group(style.Strong.Of(format.Count(all.misclassified)), style.Muted.Of(" of "+format.Count(all.rows)))
		}
	} else if s, ok := residualsOf(e, p.output); ok {
		l.Group(style.Muted.Of("rms "), style.Strong.Of(format.Number(s.rms)))
		l.Group(style.Muted.Of("  " + rows))
	}
	for _, s := range []string{"  after epoch " + format.Count(e.Epoch), "  at " + format.Count(e.Epoch)} {
		if l.Group(style.Muted.Of(s)) {
			break
		}
	}
	if old := v.H.Latest.Epoch - e.Epoch; old > 0 {
		l.Group(style.Muted.Of(", " + format.Counted(old, "epoch") + " ago"))
	}
}

func (p *Errors) Body(v *pane.View, w, h int, zoomed bool) []string {
	e := v.H.Analyses.Errors
	if e == nil {
		return p.nothing(v, w, h, zoomed)
	}
	top := scoresLine(v, e, w, h)
	h -= len(top)
	if !zoomed {
		return append(top, p.brief(v, e, w, h)...)
	}
	keys := p.keyLine(v, e, w)
	h--
	var rows []string
	switch {
	case p.page == 1 || len(e.Confusion) == 0 && len(e.Residuals) == 0:
		rows = worstList(v, e, w, h)
	case len(e.Confusion) > 0:
		rows = p.confusionPage(v, e, w, h)
	default:
		rows = p.residualPage(v, e, w, h)
	}
	return append(append(top, style.Block(rows, w, h)...), keys)
}

// confusionPage puts the matrix beside what it says in words and, where there is room, beside the worst rows.
func (p *Errors) confusionPage(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	left := confusionWidth(e, w, h)
	room := w - left - 3
	if room < 22 {
		p := planMatrix(e, w, h-matrixHeader-1, chart.RowsPerCell(&v.Pen))
		used := matrixHeader + p.rows + 1
		rows := style.Block(confusionRows(v, e, w, h), w, min(used, h))
		if rest := h - used - 1; rest > 0 {
			rows = append(append(rows, ""), confusionText(v, e, w, rest)...)
		}
		return rows
	}
	words, worst := h, 0
	if h >= 20 {
		worst = h * 11 / 20
		words = h - worst - 1
	}
	side := style.Block(confusionText(v, e, room, words), room, words)
	if worst > 0 {
		side = append(side, "")
		side = append(side, worstList(v, e, room, worst)...)
	}
	return style.Beside(style.Block(confusionRows(v, e, left, h), left, h), left+1, side)
}

func (p *Errors) residualPage(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	if w < 100 && h < 24 {
		return residualRows(v, e, p.output, w, h)
	}
	if w < 100 {
		top := h/2 - 1
		return append(append(style.Block(residualRows(v, e, p.output, w, top), w, top), ""),
			worstList(v, e, w, h-top-1)...)
	}
	left := w/2 - 2
	return style.Beside(style.Block(residualRows(v, e, p.output, left, h), left, h), left+1,
		worstList(v, e, w-left-3, h))
}

// keyLine names what the keys do at present.
func (p *Errors) keyLine(v *pane.View, e *event.ErrorsEvent, w int) string {
	l := v.Line(w)
	put := func(k, what string) { l.Group(style.Accent.Of(v.Glyphs.Keys(k)), style.Muted.Of(" "+what+"   ")) }
	switch {
	case v.H.Watched():
		l.Group(style.Muted.Of("as recorded   "))
	case v.H.Offline():
		l.Group(style.Muted.Of("the run has ended   "))
	case v.Viewer:
		l.Group(style.Muted.Of("as last asked   "))
	default:
		put("v", "compute anew")
		if v.H.Run != nil && v.H.Run.Data.TestRows > 0 {
			other := "training rows"
			if p.train {
				other = "test rows"
			}
			put("r", other)
		}
	}
	other := "worst rows"
	if p.page == 1 {
		other = "confusions"
		if len(e.Confusion) == 0 {
			other = "residuals"
		}
	}
	put("w", other)
	if len(e.Residuals) > 1 {
		put("←→", "output "+strconv.Itoa(min(p.output, len(e.Residuals)-1)+1)+" of "+strconv.Itoa(len(e.Residuals)))
	}
	if v.H.Status.Computing == "errors" {
		l.Group(style.Warn.Of("computing"))
	}
	return l.Full()
}

// brief is what a small pane says: the worst confusions beside the worst classes, and beside them the matrix where its
// classes have rows of their own.
func (p *Errors) brief(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	if len(e.Confusion) == 0 {
		return residualRows(v, e, p.output, w, h)
	}
	left := confusionWidth(e, w, h)
	const words = 22
	if len(e.Confusion) > (h-matrixHeader-1)*chart.RowsPerCell(&v.Pen) || w-left-3 < words {
		return confusionText(v, e, w, h)
	}
	return style.Beside(style.Block(confusionRows(v, e, left, h), left, h), left+1, confusionText(v, e, w-left-3, h))
}

func (p *Errors) nothing(v *pane.View, w, h int, zoomed bool) []string {
	rows := make([]string, h)
	say := func(i int, t style.Token, s string) {
		if i >= 0 && i < h {
			rows[i] = v.Line(w).To((w-style.Cells(s))/2).Write(t, s).Full()
		}
	}
	at := (h - 1) / 2
	switch {
	case v.H.Run == nil:
		say(at, style.Muted, pane.Waiting(v))
	case v.H.Elsewhere():
		say(at, style.Muted, theirRows)
	case v.H.Status.Computing == "errors":
		say(at, style.Warn, "computing where the net is wrong")
	case v.H.Watched() && v.H.Epochs > 0:
		say(at, style.Muted, "nobody looked at the errors")
		say(at+1, style.Muted, "while this run was recorded")
	case v.H.Watched():
		say(at, style.Muted, pane.Waiting(v))
	case v.H.Offline():
		say(at, style.Muted, "no errors were looked at")
	case v.Viewer:
		say(at, style.Muted, "no errors looked at yet")
		say(at+1, style.Muted, "who controls can compute them")
	case zoomed:
		say(at, style.Muted, "no errors looked at yet")
		say(at+1, style.Muted, "v computes them now")
	default:
		say(at, style.Muted, "no errors looked at yet")
		say(at+1, style.Muted, "they come by themselves, and with enter now")
	}
	return rows
}

func (p *Errors) Strip(v *pane.View, w, _ int) []string {
	l := v.Line(w)
	v.Label(l, "errors")
	e := v.H.Analyses.Errors
	if e == nil {
		text := "zoomed they are computed"
		if v.H.Elsewhere() {
			text = theirRows
		} else if v.Unasked() {
			text = "none were looked at"
		}
		return []string{l.Write(style.Muted, text).Full()}
	}
	if c := confusions(e); len(c) > 0 {
		l.Group(style.Strong.Of(class(e, c[0].is)), style.Muted.Of(" taken for "), style.Strong.Of(class(e, c[0].said)),
			style.Muted.Of(": "), style.Text.Of(format.Count(c[0].n)+"  "))
	}
	p.Header(v, l)
	return []string{l.Full()}
}

func (p *Errors) Keys() []pane.Key {
	return []pane.Key{
		{Show: "v", Help: "ask again", Names: []string{"v"}, Do: func(
			v *pane.View, _ string) (tea.Cmd, bool) {
			return pane.Ask(p.question(v.H)), true
		}},
		{Show: "r", Help: "training or test rows", Names: []string{"r"}, Do: p.otherRows},
		{Show: "w", Help: "confusions or worst rows", Names: []string{"w"},
			Do: func(*pane.View, string) (tea.Cmd, bool) {
				p.page = 1 - p.page
				return nil, true
			}},
		{Show: "← →", Help: "output, of regression", Names: []string{"left", "right"}, Do: p.otherOutput},
	}
}

func (p *Errors) otherRows(v *pane.View, _ string) (tea.Cmd, bool) {
	if !v.Unasked() { // else the answer says why not
		if v.H.Run == nil || v.H.Run.Data.TestRows == 0 {
			return nil, false
		}
		p.train = !p.train
	}
	return pane.Ask(p.question(v.H)), true
}

func (p *Errors) otherOutput(v *pane.View, k string) (tea.Cmd, bool) {
	e := v.H.Analyses.Errors
	if e == nil || len(e.Residuals) < 2 {
		return nil, false
	}
	n, by := len(e.Residuals), 1
	if k == "left" {
		by = n - 1
	}
	p.output = (p.output + by) % n
	return nil, true
}
