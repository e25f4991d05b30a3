package print

import (
	"strings"

	"newtop/internal/score"
	"newtop/trainer/event"
)

// Scores reports how well the outputs of some rows fit, in a line: "test rows: RMSE 52.7, MAE 43, R² 0.48". what names
// the rows.
func Scores(what string, s *event.Scores) string {
	if text := Metrics(score.Metrics(s)); text != "" {
		return Printable(what) + ": " + text
	}
	return ""
}

// Metrics writes scores in a line.
func Metrics(list []score.Metric) string {
	var parts []string
	for _, f := range list {
		text := f.Name + " " + Number(f.Value, 4)
		if f.Share {
			text = f.Name + " " + Percent(f.Value)
		}
		if f.Of != "" {
			text += " of " + f.Of
		}
		parts = append(parts, text)
	}
	return Printable(strings.Join(parts, ", "))
}
