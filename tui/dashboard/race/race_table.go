package race

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// title reports what the race is about.
func (r *View) title(v *pane.View, room int) []style.Part {
	e := v.H.Race.Event
	parts := []style.Part{style.Strong.Of("race")}
	if e.State == "over" {
		parts = []style.Part{style.Good.Of("race is over")}
	}
	add := func(s string) {
		if style.Width(parts)+style.Cells(s) <= room {
			parts = append(parts, style.Muted.Of(s))
		}
	}
	add("  from epoch " + format.Count(e.Epoch))
	add("  budget of each " + budgetText(float64(e.Equivalents), float64(e.Seconds)))
	add("  ranked by " + r.measure(v))
	return parts
}

// measure names what the table is sorted by.
func (r *View) measure(v *pane.View) string {
	if r.byLoss {
		return "best loss"
	}
	name, _ := v.Judged("valid")
	return "best " + name
}

// budgetText writes a race's budget.
func budgetText(equivalents, seconds float64) string {
	var parts []string
	if equivalents > 0 {
		parts = append(parts, format.Tick(format.Round(equivalents, 2))+" gradient equivalents")
	}
	if seconds > 0 {
		parts = append(parts, strings.TrimSuffix(format.Span(seconds), ".00 s"))
		if strings.HasSuffix(format.Span(seconds), ".00 s") {
			parts[len(parts)-1] += " s"
		}
	}
	if len(parts) == 0 {
		return "without bound"
	}
	return strings.Join(parts, " or ")
}

// columnWidths are the widths of the table, 0 for a column that has no room.
type columnWidths struct {
	name, fault, best, laps, work, time int
	unit                                func(float64) string
	title                               string
	state                               int      // of the longest text beside a bar
	names                               []string // of all racers
}

func (r *View) columns(v *pane.View, w int) columnWidths {
	c := columnWidths{name: 11, laps: 5}
	if c.title, c.unit = v.Judged("valid"); w < 96 {
		c.title = strings.TrimPrefix(strings.TrimPrefix(c.title, "valid "), "test ")
	}
	c.fault, c.best = 8, 8
	if v.H.Regression() {
		c.fault = 10
	}
	if v.H.Regression() || r.byLoss {
		c.best = 10
	}
	c.fault = max(c.fault, style.Cells(c.title)+2)
	ended := 0
	for place, i := range v.H.Race.Ranking(r.byLoss) {
		k := &v.H.Race.Racers[i]
		c.names = append(c.names, style.Clean(k.Name))
		c.name = max(c.name, style.Cells(c.names[place]))
		state := r.state(v, place, k).Text
		if ended = max(ended, style.Cells(inShort(state))); k.Ended == "" {
			c.state = max(c.state, style.Cells(state))
		}
	}
	if w >= 72 {
		c.work, c.time = 7, 9
	}
	if w >= 96 {
		c.laps, c.work = 8, 9
	}
	c.name = min(c.name, max(11, w-(5+9+c.fault+c.best+c.laps+c.work+c.time+2+ended)))
	return c
}

// table has a heading, a row for each racer, and a sentence that says who leads.
func (r *View) table(v *pane.View, w int) []string {
	c := r.columns(v, w)
	l := v.Line(w)
	l.Write(style.Muted, style.Spaces(5+c.name)+style.Right("loss", 9)+style.Right(c.title, c.fault)+style.Right(
		"best", c.best)+style.Right("laps", c.laps))
	if c.work > 0 {
		l.Write(style.Muted, style.Right("work", c.work)+style.Right("time", c.time))
	}
	l.Write(style.Muted, "  state")
	rows := []string{l.Full()}
	at := r.selected(v.H)
	for place, i := range v.H.Race.Ranking(r.byLoss) {
		rows = append(rows, r.row(v, &c, place, i, i == at, w))
	}
	last := v.Line(w).Write(style.Text, " ")
	if r.confirming {
		return append(rows, last.Write(style.Warn, "abandon the race, and go on as before it?").Full())
	}
	for _, clause := range r.verdict(v, c.unit) {
		if !last.Group(clause...) {
			break
		}
	}
	return append(rows, last.Full())
}

func (r *View) row(v *pane.View, c *columnWidths, place, i int, chosen bool, w int) string {
	k := &v.H.Race.Racers[i]
	l := v.Line(w)
	arrow, color := " ", style.Text
	if chosen {
		arrow, color = "▸", style.Chosen
	}
	l.Write(style.Accent, arrow).Write(style.Muted, strconv.Itoa(place+1)+" ").Write(
		style.RacerToken(i), style.RacerLetter(i)+" ")
	l.Write(color, widget.Cut(style.Clean(k.Name), c.name, c.names)).To(5 + c.name)
	if !k.Started {
		return l.Write(style.Muted, style.Right("–", 9)+style.Right("–", c.fault)+style.Right("–", c.best)).Full()
	}
	loss := style.Text
	if !format.Finite(float64(k.Now.Loss)) {
		loss = style.Bad
	}
	l.Write(loss, style.Right(format.Number(float64(k.Now.Loss)), 9)).Write(
		style.Text, style.Right(c.unit(v.H.Measure.Value(&k.Now)), c.fault))
	best := c.unit(k.BestMetric)
	if r.byLoss {
		best = format.Number(k.BestLoss)
	}
	l.Write(style.Strong, style.Right(best, c.best)).Write(style.Text,
		style.Right(format.CountWithin(float64(k.Now.Epoch), c.laps-1), c.laps))
	if c.work > 0 {
		took := "0 s"
		if k.Now.Elapsed > 0 {
			took = format.Span(float64(k.Now.Elapsed))
		}
		l.Write(style.Muted, style.Right(format.CountWithin(float64(k.Now.GradientEquivalents), c.work-1),
			c.work)+style.Right(took, c.time))
	}
	l.Write(style.Text, "  ")
	state := r.state(v, place, k)
	if style.Cells(state.Text) > l.Left() {
		state.Text = inShort(state.Text)
	}
	if bar := min(40, l.Left()-c.state-1); bar >= 4 && k.Ended == "" {
		n := int(math.Round(float64(bar) * v.H.Race.Spent(k)))
		l.Write(style.Accent, style.Repeat("━", n)).Write(style.Grid, style.Repeat("─", bar-n)).Write(style.Text, " ")
	}
	return l.Write(state.Token, ansi.Truncate(state.Text, l.Left(), "…")).Full()
}

// inShort is a state without what explains it.
func inShort(state string) string {
	state, _, _ = strings.Cut(strings.TrimPrefix(state, "budget "), ":")
	return state
}

// state says in a word how a racer does.
func (r *View) state(v *pane.View, place int, k *history.Racer) style.Part {
	switch first := place == 0 && format.Finite(k.BestLoss); {
	case k.Diverged():
		return style.Bad.Of("× " + style.Clean(k.Ended))
	case first && v.H.Race.Event.State == "over":
		return style.Good.Of("won")
	case first && k.Now.Epoch > 0:
		return style.Good.Of("leads")
	case k.Ended == "budget":
		return style.Muted.Of("budget spent")
	case k.Ended != "":
		return style.Warn.Of(style.Clean(k.Ended))
	}
	return style.Muted.Of("racing")
}

// verdict says who leads, or who won, with what, and by what over whom: clauses, of which the first ones are
// worth most.
func (r *View) verdict(v *pane.View, unit func(float64) string) [][]style.Part {
	order := v.H.Race.Ranking(r.byLoss)
	if len(order) == 0 {
		return nil
	}
	first := &v.H.Race.Racers[order[0]]
	over := v.H.Race.Event.State == "over"
	switch {
	case !format.Finite(first.BestLoss) && over:
		return [][]style.Part{{style.Warn.Of("nobody won: no loss was finite")}}
	case !format.Finite(first.BestLoss) || first.Now.Epoch == 0 && !over:
		return [][]style.Part{{style.Muted.Of("all go on from the same weights, in turn")},
			{style.Muted.Of(": next is who has spent the least of the budget")}}
	}
	byLoss := r.byLoss || math.IsNaN(first.BestMetric)
	best, value := func(k *history.Racer) float64 { return k.BestMetric }, unit
	if byLoss {
		best, value = func(k *history.Racer) float64 { return k.BestLoss }, format.Number
	}
	word := " leads"
	if over {
		word = " won"
	}
	clauses := [][]style.Part{{style.RacerToken(order[0]).Of(racerName(v.H, order[0])), style.Strong.Of(word)},
		{style.Text.Of(" with " + r.measure(v) + " " + value(best(first)))}}
	if len(order) < 2 {
		return clauses
	}
	low, high := best(first), best(&v.H.Race.Racers[order[1]])
	rates := !byLoss && v.H.Measure.Train() == event.Error
	by := ", " + lead(low, high, rates) + " below "
	if rates && v.Accuracy {
		by = strings.Replace(by, "below", "above", 1)
	}
	switch {
	case !format.Finite(high):
		return clauses
	case low == high:
		by = ", no better than "
	}
	return append(clauses, []style.Part{style.Text.Of(by), style.RacerToken(order[1]).Of(racerName(v.H, order[1]))})
}

// lead says by how much a value is below another: of rates in points, as a part of a percentage would be read as
// one of them, of others as a part of the higher one.
func lead(low, high float64, rates bool) string {
	if rates {
		if high-low < 1e-4 {
			return "less than 0.01 points"
		}
		return format.Tick(format.Round(100*(high-low), 2)) + " points"
	}
	p := 100 * (high - low) / high
	if !format.Finite(p) || high <= 0 {
		return format.Number(high - low)
	}
	switch {
	case p < 0.1:
		return "less than 0.1 %"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}
