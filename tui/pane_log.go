package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// logPane shows what happened, the newest at the bottom: each epoch's figures, and between them the
// switches, settings, spectra and refusals.
type logPane struct{ linear }

func (*logPane) name(*view) string { return "log" }

func (*logPane) seen(h *history) uint64 { return h.logGen + h.runGen }

func (*logPane) head(v *view, l *line) {
	if v.h.thinned > 0 {
		l.group(part{tokMuted, count(v.h.thinned) + " epochs thinned"})
	}
}

func (p *logPane) body(v *view, w, h int, _ bool) []string {
	rows := make([]string, h)
	free := h
	for i := len(v.h.entries) - 1; i >= 0 && free > 0; i-- {
		drawn := p.rows(v, &v.h.entries[i], w)
		drawn = drawn[:min(len(drawn), free)]
		free -= len(drawn)
		copy(rows[free:], drawn)
	}
	return rows[free:]
}

// rows draws an entry: an epoch's figures on one row, text on as many as it needs.
func (p *logPane) rows(v *view, e *entry, w int) []string {
	const margin = 6
	if e.text == "" {
		return []string{p.figures(v, e, w)}
	}
	var rows []string
	for i, s := range strings.Split(ansi.Wrap(e.text, max(w-margin, 8), ""), "\n") {
		l := v.th.line(w)
		if i == 0 {
			l.put(tokMuted, right(count(e.epoch), 4))
		}
		rows = append(rows, l.to(margin).put(e.tok, s).full())
	}
	return rows
}

// figures writes what an epoch brought, as much as there is room for.
func (p *logPane) figures(v *view, e *entry, w int) string {
	l := v.th.line(w)
	l.put(tokMuted, right(count(e.epoch), 4)+"  ")
	s := &e.stats
	l.group(part{tokTrain, pad(number(float64(s.Loss)), 8)})
	fault, testFault, unit := float64(s.Error), float64(s.TestError), percent
	if v.h.regression() {
		fault, testFault, unit = float64(s.RMSE), float64(s.TestRMSE), number
	}
	if testFault == testFault {
		l.group(part{tokTest, " " + right(unit(testFault), 6)})
	} else {
		l.group(part{tokTrain, " " + right(unit(fault), 6)})
	}
	if e.stop != 0 {
		l.group(part{tokMuted, " " + right(count(e.inner), 4)}, part{stopToken(e.stop), " " + string(e.stop.Letter())})
	}
	verdict := part{tokText, "  "}
	if !s.Accepted && s.Epoch > 0 {
		verdict = part{tokWarn, " ×"}
	}
	l.group(verdict)
	l.group(part{tokMuted, " " + right(span(float64(s.Seconds)), 8)})
	if w >= 70 {
		l.group(part{tokMuted, "  ‖g‖ "}, part{tokText, pad(number(float64(s.GradientNorm)), 9)})
		if s.Radius == s.Radius {
			l.group(part{tokMuted, " R "}, part{tokText, pad(number(float64(s.Radius)), 8)})
			l.group(part{tokMuted, " " + v.gl.rho + " "}, part{tokText, pad(short(float64(s.Rho)), 5)})
		}
		l.group(part{tokMuted, "  " + clean(s.Optimizer)})
	}
	if e.stop != 0 && w >= 110 {
		l.group(part{tokMuted, "  " + e.stop.Words()})
	}
	if verdict.t == tokWarn && w >= 70 {
		l.group(part{tokWarn, "  rejected"})
	}
	return l.full()
}

func (p *logPane) strip(v *view, w, h int) []string { return p.body(v, w, h, false) }
