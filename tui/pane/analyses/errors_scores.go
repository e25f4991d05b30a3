package analyses

import (
	"newtop/internal/format"
	"newtop/internal/score"
	"newtop/trainer/event"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// minForScores is how many rows a pane has that gives one of them to the scores.
const minForScores = 6

// scoresLine reports how well the rows fit, as far as there is room; nil where nobody computed it. The share of wrong
// rows stands in the head.
func scoresLine(v *pane.View, e *event.ErrorsEvent, w, h int) []string {
	if len(e.Scores) == 0 || h < minForScores {
		return nil
	}
	l, some := v.Line(w), false
	for _, f := range score.Metrics(&e.Scores[0]) {
		if f.Share {
			continue
		}
		gap := ""
		if some {
			gap = "  "
		}
		if !l.Group(style.Muted.Of(gap+f.Name+" "), style.Strong.Of(format.Number(float64(f.Value)))) {
			break
		}
		if some = true; f.Of != "" {
			l.Group(style.Muted.Of(" of "), style.Text.Of(style.Clean(f.Of)))
		}
	}
	if !some {
		return nil
	}
	return []string{l.Full()}
}
