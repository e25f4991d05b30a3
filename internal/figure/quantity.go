package figure

import (
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

// quantities is what can be drawn: what has both sets of rows, the same for the test rows alone, and the rest of an
// epoch's.
var quantities = func() (out []Quantity) {
	tested := []event.Quantity{event.Loss, event.Error, event.RMSE}
	var apart []Quantity
	for _, q := range tested {
		test := newQuantity(q.Test())
		both := newQuantity(q)
		both.test = test.train
		out, apart = append(out, both), append(apart, test)
	}
	out = append(out, apart...)
	for q := event.TestRMSE + 1; q < event.QuantityCount; q++ {
		if q == event.Seconds {
			out = append(out, Quantity{Name: "inner", Meaning: "inner iterations", whole: true,
				train: (*epoch).InnerIterations})
		}
		if q.Info().Meaning != "" {
			out = append(out, newQuantity(q))
		}
	}
	return out
}()

func newQuantity(q event.Quantity) Quantity {
	info := q.Info()
	d := Quantity{Name: info.Key, Meaning: info.Meaning, log: info.Log, alarm: info.Alarm,
		train: func(e *epoch) Float { return *q.Of(e) }}
	switch {
	case info.Share:
		d.unit = percent
	case q == event.Rho:
		d.bound = [2]float64{-1, 2}
	case q == event.Seconds:
		d.train = later(d.train)
	}
	return d
}

// Quantities lists what can be drawn.
func Quantities() []Quantity { return slices.Clone(quantities) }

// later leaves out epoch 0, in which nothing was done.
func later(of func(*epoch) Float) func(*epoch) Float {
	return func(e *epoch) Float {
		if e.Epoch == 0 {
			return event.Absent
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

// OptionError says what is wrong with an option or with a file's name.
type OptionError struct{ Option, Value, Expected string }
