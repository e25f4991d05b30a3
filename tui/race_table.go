package tui

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
)

// title tells what the race is about.
func (r *raceView) title(v *view, room int) []Part {
	e := v.h.race
	parts := []Part{Strong.Of("race")}
	if e.State == "over" {
		parts = []Part{Good.Of("race is over")}
	}
	add := func(s string) {
		if Width(parts)+Cells(s) <= room {
			parts = append(parts, Muted.Of(s))
		}
	}
	add("  from epoch " + format.Count(e.Epoch))
	add("  budget of each " + budgetText(float64(e.Equivalents), float64(e.Seconds)))
	add("  ranked by " + r.measure(v))
	return parts
}

// measure names what the table is sorted by.
func (r *raceView) measure(v *view) string {
	s := "loss"
	if !r.byLoss {
		s = "error"
		if v.h.regression() {
			s = "RMSE"
		}
		if !v.h.testFault.empty() {
			s = "test " + s
		}
	}
	return "best " + s
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

// raceColumns are the widths of the table, 0 for a column that has no room.
type raceColumns struct {
	name, fault, best, laps, work, time int
	unit                                func(float64) string
	title                               string
}

func (r *raceView) columns(v *view, w int) raceColumns {
	c := raceColumns{name: 11, fault: 7, unit: format.Percent, title: "error", laps: 5}
	if v.h.regression() {
		c.fault, c.unit, c.title = 10, format.Number, "RMSE"
	}
	if c.best = c.fault + 1; r.byLoss {
		c.best = max(c.best, 9)
	}
	for i := range v.h.racers {
		c.name = max(c.name, Cells(Clean(v.h.racers[i].Name)))
	}
	if w >= 72 {
		c.work, c.time = 7, 9
	}
	if w >= 96 {
		c.laps, c.work = 8, 9
	}
	const state = 12
	c.name = min(c.name, max(11, w-(5+9+c.fault+c.best+c.laps+c.work+c.time+2+state)))
	return c
}

// table has a heading, a row for each racer, and a sentence that says who leads.
func (r *raceView) table(v *view, w int) []string {
	c := r.columns(v, w)
	l := v.Line(w)
	l.Put(Muted, Spaces(5+c.name)+Right("loss", 9)+Right(c.title, c.fault)+Right("best", c.best)+Right("laps", c.laps))
	if c.work > 0 {
		l.Put(Muted, Right("work", c.work)+Right("time", c.time))
	}
	l.Put(Muted, "  state")
	rows := []string{l.Full()}
	at := r.selected(v.h)
	for place, i := range v.h.ranking(r.byLoss) {
		rows = append(rows, r.row(v, &c, place, i, i == at, w))
	}
	last := v.Line(w).Put(Text, " ")
	if r.asking {
		return append(rows, last.Put(Warn, "abandon the race, and go on as before it?").Full())
	}
	for _, clause := range r.verdict(v, c.unit) {
		if !last.Group(clause...) {
			break
		}
	}
	return append(rows, last.Full())
}

func (r *raceView) row(v *view, c *raceColumns, place, i int, chosen bool, w int) string {
	k := &v.h.racers[i]
	l := v.Line(w)
	arrow, ink := " ", Text
	if chosen {
		arrow, ink = "▸", Chosen
	}
	l.Put(Accent, arrow).Put(Muted, strconv.Itoa(place+1)+" ").Put(RacerToken(i), RacerLetter(i)+" ")
	l.Put(ink, ansi.Truncate(Clean(k.Name), c.name, "…")).To(5 + c.name)
	if !k.begun {
		return l.Put(Muted, Right("–", 9)+Right("–", c.fault)+Right("–", c.best)).Full()
	}
	loss := Text
	if !format.Finite(float64(k.now.Loss)) {
		loss = Bad
	}
	l.Put(loss, Right(format.Number(float64(k.now.Loss)), 9)).Put(Text, Right(c.unit(v.h.lapFault(&k.now)), c.fault))
	best := c.unit(k.bestFault)
	if r.byLoss {
		best = format.Number(k.bestLoss)
	}
	l.Put(Strong, Right(best, c.best)).Put(Text, Right(format.CountWithin(float64(k.now.Epoch), c.laps-1), c.laps))
	if c.work > 0 {
		took := "0 s"
		if k.now.Elapsed > 0 {
			took = format.Span(float64(k.now.Elapsed))
		}
		l.Put(Muted, Right(format.CountWithin(float64(k.now.GradientEquivalents), c.work-1), c.work)+Right(took, c.time))
	}
	l.Put(Text, "  ")
	state := r.state(v, place, k)
	if Cells(state.Text) > l.Left() {
		state.Text = strings.TrimPrefix(state.Text, "budget ")
	}
	if bar := min(12, l.Left()-Cells(state.Text)-1); bar >= 4 && k.ended == "" {
		n := int(math.Round(float64(bar) * v.h.spent(k)))
		l.Put(Accent, Repeat("━", n)).Put(Grid, Repeat("─", bar-n)).Put(Text, " ")
	}
	return l.Put(state.Token, ansi.Truncate(state.Text, l.Left(), "…")).Full()
}

// state says in a word how a racer does.
func (r *raceView) state(v *view, place int, k *racerHistory) Part {
	switch first := place == 0 && format.Finite(k.bestLoss); {
	case k.diverged():
		return Bad.Of("× " + Clean(k.ended))
	case first && v.h.race.State == "over":
		return Good.Of("won")
	case first && k.now.Epoch > 0:
		return Good.Of("leads")
	case k.ended == "budget":
		return Muted.Of("budget spent")
	case k.ended != "":
		return Warn.Of(Clean(k.ended))
	}
	return Muted.Of("racing")
}

// verdict says who leads, or who won, with what, and by what over whom: clauses, of which the first ones are
// worth most.
func (r *raceView) verdict(v *view, unit func(float64) string) [][]Part {
	order := v.h.ranking(r.byLoss)
	if len(order) == 0 {
		return nil
	}
	first := &v.h.racers[order[0]]
	over := v.h.race.State == "over"
	switch {
	case !format.Finite(first.bestLoss) && over:
		return [][]Part{{Warn.Of("nobody won: no loss was finite")}}
	case !format.Finite(first.bestLoss) || first.now.Epoch == 0 && !over:
		return [][]Part{{Muted.Of("all go on from the same weights, in turn")}, {Muted.Of(": next is who has spent the least of the budget")}}
	}
	byLoss := r.byLoss || math.IsNaN(first.bestFault)
	best, value := func(k *racerHistory) float64 { return k.bestFault }, unit
	if byLoss {
		best, value = func(k *racerHistory) float64 { return k.bestLoss }, format.Number
	}
	word := " leads"
	if over {
		word = " won"
	}
	clauses := [][]Part{{RacerToken(order[0]).Of(racerName(v.h, order[0])), Strong.Of(word)},
		{Text.Of(" with " + r.measure(v) + " " + value(best(first)))}}
	if len(order) < 2 {
		return clauses
	}
	low, high := best(first), best(&v.h.racers[order[1]])
	by := ", " + lead(low, high, !byLoss && !v.h.regression()) + " below "
	switch {
	case !format.Finite(high):
		return clauses
	case low == high:
		by = ", no better than "
	}
	return append(clauses, []Part{Text.Of(by), RacerToken(order[1]).Of(racerName(v.h, order[1]))})
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
		return "less than 0.1%"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}
