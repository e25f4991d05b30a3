package score

import (
	"math"
	"slices"

	"newtop/trainer/event"
)

// By is a score that epochs and trials may be judged by, of the validation rows.
type By struct {
	Key   string // as --by and --set weights name it
	Title string // for readers, as "AUC"
	Max   bool   // the greatest is the best
	// Outputs says that it is computed from the outputs of all rows; the others are a Quantity, which every epoch has.
	Outputs bool
	event.Quantity
	classes bool // the targets may be classes,
	values  bool // or numbers
	scored  func(*event.Scores) event.Float
}

var bys = [...]By{
	{Key: "error", Title: "error", classes: true, Quantity: event.ValidationError},
	{Key: "auc", Title: "AUC", Max: true, Outputs: true, classes: true,
		scored: func(s *event.Scores) event.Float { return s.AUC }},
	{Key: "f1", Title: "F1", Max: true, Outputs: true, classes: true,
		scored: func(s *event.Scores) event.Float { return s.F1 }},
	{Key: "logloss", Title: "log loss", Outputs: true, classes: true,
		scored: func(s *event.Scores) event.Float { return s.Log }},
	{Key: "rmse", Title: "RMSE", values: true, Quantity: event.ValidationRMSE},
	{Key: "mae", Title: "MAE", Outputs: true, values: true, scored: func(s *event.Scores) event.Float { return s.MAE }},
	{Key: "loss", Title: "loss", classes: true, values: true, Quantity: event.ValidationLoss},
}

// ByKey returns the score of a name, nil for none.
func ByKey(key string) *By {
	if i := slices.IndexFunc(bys[:], func(b By) bool { return b.Key == key }); i >= 0 {
		return &bys[i]
	}
	return nil
}

// ByKeys names the scores.
func ByKeys() (keys []string) {
	for i := range bys {
		keys = append(keys, bys[i].Key)
	}
	return keys
}

// Unfit says which scores there are for targets of K classes, 0: for numbers, where this one is none of them; else it
// is empty.
func (b *By) Unfit(classes int) string {
	switch {
	case classes > 0 && !b.classes:
		return "error, auc, f1, logloss or loss, as the targets are classes"
	case classes == 0 && !b.values:
		return "rmse, mae or loss, as the targets are numbers"
	}
	return ""
}

// Name is the score's of a split, as "validation AUC".
func (b *By) Name(split string) string { return split + " " + b.Title }

// ByName returns the score that has a name of the validation rows, nil for none and where every epoch has it.
func ByName(name string) *By {
	if i := slices.IndexFunc(bys[:], func(b By) bool { return b.Outputs && b.Name("validation") == name }); i >= 0 {
		return &bys[i]
	}
	return nil
}

// Value returns what an epoch has of a split, "validation" or "test"; NaN for none.
func (b *By) Value(e *event.EpochEvent, split string) float64 {
	for i := range e.Metrics {
		if e.Metrics[i].Key == b.key(split) {
			return float64(e.Metrics[i].Value)
		}
	}
	return math.NaN()
}

func (b *By) key(split string) string { return split + "_" + b.Key }

// Set has an epoch know the score of the rows of a split. Metrics that others may have seen stay as they are.
func (b *By) Set(e *event.EpochEvent, split string, v event.Float) {
	metrics := slices.DeleteFunc(slices.Clone(e.Metrics), func(m event.Metric) bool { return m.Key == b.key(split) })
	e.Metrics = append(metrics, event.NewMetric(b.key(split), b.Title, b.Title+" of the "+split+" rows", v))
}

// Add is Set for what rows were scored.
func (b *By) Add(e *event.EpochEvent, s *event.Scores) { b.Set(e, s.Split, b.scored(s)) }

// Better reports whether an epoch is better by the validation rows than another, of which either may have no value. Of
// equals the one with the lower loss is.
func (b *By) Better(e, than *event.EpochEvent) bool {
	if !b.Outputs {
		return event.Measure{Quantity: b.Quantity}.Better(e, than)
	}
	x, y := b.Sign()*b.Value(e, "validation"), b.Sign()*b.Value(than, "validation")
	return x < y || x == y && e.ValidationLoss < than.ValidationLoss || math.IsNaN(y) && !math.IsNaN(x)
}

// Sign is −1 where the greatest value is the best.
func (b *By) Sign() float64 {
	if b.Max {
		return -1
	}
	return 1
}
