package figure

import (
	"math"
	"slices"
	"strings"

	"newtop/trainer/event"
)

// Quantity is something that can be drawn.
type Quantity struct {
	Name    string // as in Options.What
	Meaning string // for help texts, and on the axis

	unit  unit
	log   bool               // usually drawn logarithmically
	alarm bool               // a value that is not finite is bad news, not one that a method does not have
	whole bool               // its ticks are whole numbers
	bound [2]float64         // values outside are cut off, when the second is above the first
	train func(*epoch) Float // of the training rows, or the only one
	test  func(*epoch) Float // nil for what does not depend on rows
}

type (
	epoch = event.EpochEvent
	// Float is the trainer's.
	Float = event.Float
)

// unit is how values are written.
type unit uint8

const (
	plain unit = iota
	percent
)

// quantities is the table of what can be drawn. Names are those of the events' fields.
var quantities = []Quantity{
	{Name: "loss", Meaning: "mean loss", log: true, alarm: true,
		train: func(e *epoch) Float { return e.Loss }, test: func(e *epoch) Float { return e.TestLoss }},
	{Name: "error", Meaning: "error rate", log: true, alarm: true, unit: percent,
		train: func(e *epoch) Float { return e.Error }, test: func(e *epoch) Float { return e.TestError }},
	{Name: "rmse", Meaning: "root mean square error", log: true, alarm: true,
		train: func(e *epoch) Float { return e.RMSE }, test: func(e *epoch) Float { return e.TestRMSE }},
	{Name: "test_loss", Meaning: "mean test loss", log: true, alarm: true, train: func(e *epoch) Float { return e.TestLoss }},
	{Name: "test_error", Meaning: "test error rate", log: true, alarm: true, unit: percent, train: func(e *epoch) Float { return e.TestError }},
	{Name: "test_rmse", Meaning: "root mean square test error", log: true, alarm: true, train: func(e *epoch) Float { return e.TestRMSE }},
	{Name: "gradient_norm", Meaning: "gradient norm", log: true, train: func(e *epoch) Float { return e.GradientNorm }},
	{Name: "step_norm", Meaning: "step norm", log: true, train: func(e *epoch) Float { return e.StepNorm }},
	{Name: "radius", Meaning: "trust-region radius", log: true, train: func(e *epoch) Float { return e.Radius }},
	{Name: "rho", Meaning: "gain ratio", bound: [2]float64{-1, 2}, train: func(e *epoch) Float { return e.Rho }},
	{Name: "rate", Meaning: "learning rate", log: true, train: func(e *epoch) Float { return e.Rate }},
	{Name: "inner", Meaning: "inner iterations", whole: true, train: (*epoch).InnerIterations},
	{Name: "seconds", Meaning: "seconds per epoch", train: later(func(e *epoch) Float { return e.Seconds })},
}

// Quantities lists what can be drawn.
func Quantities() []Quantity { return slices.Clone(quantities) }

// later leaves out epoch 0, in which nothing was done.
func later(of func(*epoch) Float) func(*epoch) Float {
	return func(e *epoch) Float {
		if e.Epoch == 0 {
			return Float(math.NaN())
		}
		return of(e)
	}
}

func quantityOf(name string) (*Quantity, error) {
	names := make([]string, len(quantities))
	for i := range quantities {
		if names[i] = quantities[i].Name; names[i] == name {
			return &quantities[i], nil
		}
	}
	return nil, &OptionError{"quantity", name, strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]}
}

// measure is what x is.
type measure struct {
	name  string
	label string
	of    func(*epoch) Float
}

var measures = []measure{
	{"epoch", "epoch", func(e *epoch) Float { return Float(e.Epoch) }},
	{"seconds", "training time", func(e *epoch) Float { return e.Elapsed }},
	{"equivalents", "work (gradient equivalents)", func(e *epoch) Float { return e.GradientEquivalents }},
}

func measureOf(name string) (*measure, error) {
	if name == "" {
		return &measures[0], nil
	}
	for i := range measures {
		if measures[i].name == name {
			return &measures[i], nil
		}
	}
	return nil, &OptionError{"x axis", name, "epoch, seconds or equivalents"}
}
