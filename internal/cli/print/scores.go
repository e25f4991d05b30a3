package print

import (
	"strings"

	"newtop/internal/score"
	"newtop/trainer/event"
)

// Scores tells how well the outputs of some rows fit, in a line: "test rows: RMSE 52.7, MAE 43, R² 0.48". what names the rows.
func Scores(what string, s *event.Scores) string {
	var parts []string
	for _, f := range score.Figures(s) {
		text := f.Name + " " + Number(f.Value, 4)
		if f.Share {
			text = f.Name + " " + Percent(f.Value)
		}
		if f.Of != "" {
			text += " of " + f.Of
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return ""
	}
	return Printable(what + ": " + strings.Join(parts, ", "))
}
