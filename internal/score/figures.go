package score

import "newtop/trainer/event"

// Metric is one of the scores that rows have.
type Metric struct {
	Name  string // as "F1"
	Of    string // the class that it is of; empty: all
	Value event.Float
	Share bool // a fraction, written in per cent
}

// Metrics returns the scores that are there, in the order in which they are shown.
func Metrics(s *event.Scores) (list []Metric) {
	rmse := (&event.DataInfo{Standardized: s.Standardized}).RMSE()
	for _, f := range []Metric{
		{Name: "error", Value: s.Error, Share: true},
		{Name: "log loss", Value: s.Log},
		{Name: "AUC", Value: s.AUC},
		{Name: "F1", Of: s.Positive, Value: s.F1},
		{Name: "ECE", Value: s.Calibration},
		{Name: rmse, Value: s.RMSE},
		{Name: "MAE", Value: s.MAE},
		{Name: "R²", Value: s.R2},
	} {
		if !f.Value.Absent() {
			list = append(list, f)
		}
	}
	return list
}

// Rows names the rows of a split as Scores.Split has it.
func Rows(split string) string {
	switch split {
	case "train":
		return "training rows"
	case "validation", "test":
		return split + " rows"
	}
	return "rows"
}
