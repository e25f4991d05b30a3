package runs

import (
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// drawDetail has what is known of the selected run, and its loss.
func drawDetail(m *Model, r layout.Rect) []string {
	title := []style.Part{style.Strong.Of("selected")}
	in := layout.Rect{W: r.W - 4, H: r.H - 2}
	var rows []string
	if s := m.selected(); s != nil {
		title = []style.Part{style.Strong.Of(s.label())}
		rows = facts(m, s, in.W)
		if h := in.H - len(rows) - 2; s.run != nil && h >= 6 {
			rows = append(rows, style.Spaces(in.W), legend(m, in.W))
			rows = append(rows, lossChart(m, s, in.W, min(h, 24))...)
		}
	}
	return style.Block(widget.Framed(&m.Pen, style.Border, widget.TitleParts(title, r.W-6),
		style.Block(rows, in.W, in.H), r.W), r.W, r.H)
}

// legend names the curves.
func legend(m *Model, w int) string {
	return m.Line(w).Write(style.Strong, "loss").Write(style.Train, "  train").Write(style.Test, "  test").Full()
}

// lossChart draws the loss over the epochs.
func lossChart(m *Model, r *row, w, h int) []string {
	c := m.curves[r.run.ID]
	train, test := c.series()
	p := chart.Plot{XAxis: chart.XAxis{Whole: true}, Log: true, Closed: true, Waiting: "no epoch yet"}
	p.Add(chart.Curve{Name: "train", Token: style.Train, Series: &train, Mark: '*'})
	p.Add(chart.Curve{Name: "test", Token: style.Test, Series: &test, Mark: 'o', Dashed: true})
	return m.detail.canvas.Draw(&m.Pen, p, w, h)
}

// facts are the rows about a row of the list.
func facts(m *Model, r *row, w int) (rows []string) {
	const columns = 10
	put := func(color style.Token, name, s string) {
		if s = style.Clean(s); s == "" {
			return
		}
		for _, piece := range style.Wrapped(s, w-columns) {
			rows = append(rows, m.Line(w).Write(style.Muted, name).To(columns).Write(color, piece).Full())
			name = ""
		}
	}
	state := r.state()
	put(state.Token, "state", state.Text)
	if r.run == nil {
		put(style.Text, "search", r.sweep.Name)
		put(style.Text, "data", r.all.Data)
		put(style.Text, "trials", format.Count(r.all.Trials))
		put(style.Text, "time", format.Elapsed(r.all.Seconds))
		put(style.Text, "work", format.Work(r.all.Spent)+" equivalents")
		put(style.Text, "begun", r.all.Started.Local().Format("2006-01-02 15:04"))
		put(style.Muted, "", "newtop tune show "+r.sweep.Name)
		return rows
	}
	run := r.run
	if run.Damage != nil {
		put(style.Bad, "damage", run.Damage.Error())
	}
	put(style.Text, "run", run.ID)
	put(style.Strong, "note", run.Note)
	put(style.Text, "tags", strings.Join(run.Tags, " "))
	put(style.Text, "data", run.DataName())
	if o := run.Opening; o != nil {
		put(style.Text, "program", style.Clean(o.Model.Program))
		if shape := o.Model.Shape(); shape != "" {
			put(style.Text, "net", shape+", "+format.Counted(o.Model.Parameters, "weight"))
		}
		put(style.Text, "settings", o.SettingsText())
	}
	put(style.Text, "method", run.Method()+", seed "+strconv.FormatUint(run.Config.Seed, 10))
	put(style.Strong, "best", valueAt(m, r, run.Best))
	put(style.Text, "last", valueAt(m, r, run.Last))
	if e := run.Last; e != nil {
		put(style.Text, "time", format.Elapsed(float64(e.Elapsed))+", "+format.Work(
			float64(e.GradientEquivalents))+" equivalents")
	}
	put(style.Text, "begun", run.Started.Local().Format("2006-01-02 15:04")+" on "+run.Host)
	if run.Checkpoint >= 0 {
		put(style.Text, "resumes", "from epoch "+format.Count(run.Checkpoint))
	}
	put(style.Muted, "command", run.Command)
	return rows
}

// valueAt writes what a run is judged by in an epoch.
func valueAt(m *Model, r *row, e *event.EpochEvent) string {
	if e == nil || r.measure.Of(e).Absent() {
		return ""
	}
	name, text := valueText(m, r, e)
	return style.Clean(name) + " " + text + " in " + r.run.Opening.Counted() + " " + format.Count(e.Epoch)
}
