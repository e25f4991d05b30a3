package event

import (
	"math"
	"slices"
)

// Measure is what a run is judged by, less being better. Whatever ranks epochs or runs, names the best one or says how
// well a run does reads it, so that all decide alike:
//
//   - a classifier is judged by its error, a regression by its RMSE;
//   - over the validation rows; where the run has none over the test rows, and without those over the training rows;
//   - of two epochs with the same validation error the one with the lower validation loss is better;
//   - a run of another program may say neither. Its epochs decide as they come: the first of Judging that one of them
//     has. So it is with the zero value.
type Measure struct {
	Quantity
	decided bool // by the run, and not by its epochs as they come
}

// Judging lists what a run can be judged by, what is preferred of another program's first.
var Judging = []Quantity{ValidationError, TestError, Error, ValidationRMSE, TestRMSE, RMSE, ValidationLoss, TestLoss,
	Loss}

// Measure is what the run is judged by, as far as its beginning says. A run of which nothing is known is nil.
func (r *RunEvent) Measure() Measure {
	if r == nil {
		return Measure{}
	}
	m := Measure{RMSE, len(r.Model.Layers) > 0}
	switch {
	case r.Data.Classes > 0:
		m.Quantity = Error
	case !m.decided:
		m.Quantity = Loss
	}
	switch {
	case r.Data.ValidationRows > 0:
		m.Quantity = m.Validation()
	case r.Data.TestRows > 0:
		m.Quantity = m.Test()
	}
	return m
}

// External reports whether the run is reported by another program, which may leave out what newtop always says: it
// names no network, and no program that has one for newtop to train.
func (r *RunEvent) External() bool { return len(r.Model.Layers) == 0 && r.Model.Program == "" }

// With is the measure once an epoch was seen, which decides where the run did not.
func (m Measure) With(e *EpochEvent) Measure {
	if m.decided {
		return m
	}
	for _, q := range Judging[:slices.Index(Judging, m.Quantity)] {
		if v := float64(*q.Of(e)); !math.IsNaN(v) && !math.IsInf(v, 0) {
			m.Quantity = q
			break
		}
	}
	return m
}

// MeasureOf is the measure of a run whose epochs are known.
func MeasureOf(r *RunEvent, epochs []EpochEvent) Measure {
	m := r.Measure()
	for i := range epochs {
		m = m.With(&epochs[i])
	}
	return m
}

// parts has the quantities that are of rows: over the training, the validation and the test rows.
var parts = [...][3]Quantity{{Loss, ValidationLoss, TestLoss}, {Error, ValidationError, TestError},
	{RMSE, ValidationRMSE, TestRMSE}}

// over is the quantity over a part of the rows, the quantity itself where it is not of rows.
func (q Quantity) over(part int) Quantity {
	for i := range parts {
		if slices.Contains(parts[i][:], q) {
			return parts[i][part]
		}
	}
	return q
}

// Train is the quantity over the training rows.
func (q Quantity) Train() Quantity { return q.over(0) }

// Validation is the quantity over the validation rows.
func (q Quantity) Validation() Quantity { return q.over(1) }

// Test is the quantity over the test rows.
func (q Quantity) Test() Quantity { return q.over(2) }

// Order is what epochs are ordered by: the measure, and of those that it has for the same what Better looks at.
func (m Measure) Order() []Quantity {
	if m.Quantity == ValidationError {
		return []Quantity{ValidationError, ValidationLoss}
	}
	return []Quantity{m.Quantity}
}

// Value is an epoch's value; where that is not finite it is NaN, and the bits say whether it is absent.
func (m Measure) Value(e *EpochEvent) float64 {
	v := float64(*m.Of(e))
	if math.IsInf(v, 0) {
		return float64(NotFinite)
	}
	return v
}

// OfMember is the quantity of one net of a committee.
func (m Measure) OfMember(f *MemberMetrics) Float {
	switch m.Quantity {
	case ValidationLoss:
		return f.ValidationLoss
	case ValidationError:
		return f.ValidationError
	case ValidationRMSE:
		return f.ValidationRMSE
	case Loss:
		return f.Loss
	case TestLoss:
		return f.TestLoss
	case Error:
		return f.Error
	case TestError:
		return f.TestError
	case RMSE:
		return f.RMSE
	}
	return f.TestRMSE
}

// Better reports whether an epoch has a lower value than another, of which either may have none.
func (m Measure) Better(e, than *EpochEvent) bool {
	a, b := m.Value(e), m.Value(than)
	if a == b && m.Quantity == ValidationError {
		return e.ValidationLoss < than.ValidationLoss
	}
	return a < b || math.IsNaN(b) && !math.IsNaN(a)
}

// Best returns the first epoch with the least value, nil if none has one.
func (m Measure) Best(epochs []EpochEvent) (best *EpochEvent) {
	for i := range epochs {
		if e := &epochs[i]; best == nil && !math.IsNaN(m.Value(e)) || best != nil && m.Better(e, best) {
			best = e
		}
	}
	return best
}

// Reach returns the first epoch with a value of at most that much, nil if there is none.
func (m Measure) Reach(epochs []EpochEvent, value float64) *EpochEvent {
	for i := range epochs {
		if m.Value(&epochs[i]) <= value {
			return &epochs[i]
		}
	}
	return nil
}
