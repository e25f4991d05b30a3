package dialogs

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// rewindOverlay is the list of epochs that the run can go back to, latest first, beside the curve of the loss. Of a
// watched run they are those to be shown.
type rewindOverlay struct {
	choose func(a *desk.App, epoch int) tea.Cmd
	filter textinput.Model // a beginning of the epoch's number, or of its method's name
	at     int             // the epoch that is chosen
	chart  chart.Canvas
	window widget.Window
}

// OpenRewind opens the list of epochs; choose is what becomes of the one that is chosen.
func OpenRewind(a *desk.App, choose func(a *desk.App, epoch int) tea.Cmd) {
	o := &rewindOverlay{choose: choose, filter: widget.NewInput(20), at: -1}
	o.filter.Focus()
	a.Dialog = o
	if a.H.Watched() {
		o.at = a.H.Status.Replay.Epoch
		return
	}
	shown := o.shown(a.H)
	if len(shown) > 0 {
		o.at = shown[min(1, len(shown)-1)] // the latest is where the run stands
	}
}

func (o *rewindOverlay) Hints(a *desk.App) []widget.Hint {
	enter := "go back"
	if a.H.Watched() {
		enter = "go there"
	}
	return []widget.Hint{widget.NewHint("enter", enter), widget.NewHint("↑↓", "choose"),
		widget.NewHint("type", "to search"), widget.NewHint("esc", "close")}
}

// shown lists the epochs that match the filter, latest first.
func (o *rewindOverlay) shown(h *history.History) []int {
	var out []int
	text := o.filter.Value()
	epochs := h.Status.RewindEpochs
	if h.Watched() {
		epochs = recordedEpochs(h, text)
	}
	for i := len(epochs) - 1; i >= 0; i-- {
		e := epochs[i]
		if text == "" || widget.Has(strconv.Itoa(e), text) || widget.Has(h.Earlier.Epochs[e].Optimizer, text) {
			out = append(out, e)
		}
	}
	return out
}

// position is where the chosen epoch stands in a list that goes downwards; of one that is no longer there, its
// neighbour's.
func (o *rewindOverlay) position(shown []int) int {
	for i, e := range shown {
		if e <= o.at {
			return i
		}
	}
	return max(0, len(shown)-1)
}

func (o *rewindOverlay) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	shown := o.shown(a.H)
	at, by := o.position(shown), 0
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "enter":
			if len(shown) == 0 {
				return screen.Stay, nil
			}
			return screen.Close, o.choose(a, shown[at])
		case "up", "ctrl+p":
			by = -1
		case "down", "ctrl+n":
			by = 1
		case "pgup":
			by = -10
		case "pgdown":
			by = 10
		case "home":
			by = -len(shown)
		case "end":
			by = len(shown)
		}
	}
	if by == 0 {
		o.filter, _ = o.filter.Update(msg)
		shown = o.shown(a.H)
		if e, err := strconv.Atoi(strings.TrimSpace(o.filter.Value())); err == nil && slices.Contains(shown, e) {
			o.at = e
		} else if !slices.Contains(shown, o.at) && len(shown) > 0 {
			o.at = shown[0]
		}
		return screen.Stay, nil
	}
	if len(shown) > 0 {
		o.at = shown[max(0, min(at+by, len(shown)-1))]
	}
	return screen.Stay, nil
}

func (o *rewindOverlay) List(a *desk.App) (*widget.Window, func(int)) {
	return &o.window, func(row int) { o.at = o.shown(a.H)[row] }
}

func (o *rewindOverlay) Draw(a *desk.App, w, h int) []string {
	v := a.PaneView()
	bw := min(w-2, 110)
	inner := bw - 4
	shown := o.shown(v.H)
	at := o.position(shown)
	header := v.Line(inner)
	if o.filter.Value() == "" {
		header.Write(style.Muted, "type an epoch or a method to search")
	} else {
		header.Write(style.Muted, "filter ")
		widget.InputLine(&v.Pen, header, &o.filter, true)
	}
	rows := []string{header.Full(), ""}
	o.window.Rect = layout.Rect{}
	switch {
	case len(v.H.Status.RewindEpochs) == 0 && !v.H.Watched():
		rows = append(rows, v.Line(inner).Write(style.Warn, "no epoch is kept yet").Full())
	case len(shown) == 0:
		rows = append(rows, v.Line(inner).Write(style.Warn, "no epoch matches").Full())
	default:
		const left = 50
		room := max(2, min(h-4, 24))
		n := room - len(rows)
		if inner >= left+26 {
			list := o.list(v, shown, at, left, n)
			rows = append(rows, style.Beside(list, left, o.picture(v, shown[at], inner-left-2, n))...)
		} else {
			rows = append(rows, o.list(v, shown, at, inner, n)...)
		}
	}
	title := "back to an epoch"
	if v.H.Watched() {
		title = "to an epoch"
	}
	return widget.DialogBox(&v.Pen, title, style.Clip(rows, h-2), bw)
}

// recordedEpochs lists epochs of a watched run to go to, ascending: those that were shown, others evenly spaced, and
// the one that was typed.
func recordedEpochs(h *history.History, typed string) (out []int) {
	const spaced = 100
	last := h.Status.Replay.Last
	for e := range h.Earlier.Epochs {
		if e <= last {
			out = append(out, e)
		}
	}
	step := max(1, int(chart.Nice(float64(last)/spaced)))
	for e := step; e < last; e += step {
		out = append(out, e)
	}
	if e, err := strconv.Atoi(strings.TrimSpace(typed)); err == nil && e >= 0 && e <= last {
		out = append(out, e)
	}
	out = append(out, last, min(h.Status.Replay.Epoch, last))
	slices.Sort(out)
	return slices.Compact(out)
}

// list has a heading and at most n−1 epochs around the chosen one.
func (o *rewindOverlay) list(v *pane.View, shown []int, at, w, n int) []string {
	fault, unit := v.MetricName(), v.MetricText
	token, of := style.Train, func(e *history.EarlierEpoch) float64 { return e.Metric }
	validated := !v.H.Curves.ValidationMetric.Empty()
	switch {
	case validated:
		fault, token = "valid "+fault, style.Validation
		of = func(e *history.EarlierEpoch) float64 { return e.ValidationMetric }
	case !v.H.Curves.TestMetric.Empty():
		fault, token = "test "+fault, style.Test
		of = func(e *history.EarlierEpoch) float64 { return e.TestMetric }
	}
	rows := []string{v.Line(w).Write(style.Muted, "  "+style.Right(v.H.Run.Counted(), 7)+
		style.Right("loss", 10)+style.Right(fault, 12)+"  by").Full()}
	first, end := o.window.Show(at, len(shown), max(1, n-1), 4, w)
	for i := first; i < end; i++ {
		e := shown[i]
		l := v.Line(w)
		arrow, color := "  ", style.Text
		if i == at {
			arrow, color = "▸ ", style.Chosen
		}
		metrics, ok := v.H.Earlier.Epochs[e]
		if !ok {
			metrics = history.EarlierEpoch{Loss: math.NaN(), Metric: math.NaN(), TestMetric: math.NaN(),
				ValidationMetric: math.NaN()}
		}
		l.Write(style.Accent, arrow).Write(color, style.Right(format.Count(e), 7)).Write(
			style.Train, style.Right(format.Number(metrics.Loss), 10))
		l.Write(token, style.Right(unit(of(&metrics)), 12)).Write(style.Muted, "  "+style.Clean(metrics.Optimizer))
		if validated && v.H.Best.Known && e == v.H.Best.Epoch {
			l.Group(style.Good.Of(" best"))
		}
		if e == v.H.Status.Epoch {
			now := ", now"
			if metrics.Optimizer == "" {
				now = "now"
			}
			l.Group(style.Muted.Of(now))
		}
		rows = append(rows, l.Full())
	}
	return rows
}

// picture is the curve of the loss with the chosen epoch marked.
func (o *rewindOverlay) picture(v *pane.View, epoch, w, h int) []string {
	p := pane.EpochPlot(v.H, pane.PairCurves(&v.H.Curves.Loss, &v.H.Curves.ValidationLoss, &v.H.Curves.TestLoss)...)
	p.Log, p.Closed = true, true
	p.Marks = []chart.Mark{{X: float64(epoch), Text: format.Count(epoch)}}
	return o.chart.Draw(&v.Pen, p, w, h)
}
