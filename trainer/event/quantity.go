package event

// Quantity names a number that every epoch event has. Its value is its place in Quantities.
type Quantity uint8

// The quantities, in the order of the run store's columns; behind them those that have none there. The order stands in
// stores: new ones come last.
const (
	Loss Quantity = iota
	TestLoss
	Error
	TestError
	RMSE
	TestRMSE
	GradientNorm
	StepNorm
	Radius
	Rho
	Rate
	Gradients
	Products
	Losses
	GradientEquivalents
	Seconds
	Elapsed
	ValidationLoss
	ValidationError
	ValidationRMSE
	QuantityCount
)

// QuantityInfo is what every reader of epochs needs to know of a quantity.
type QuantityInfo struct {
	Key     string // in JSON
	Column  string // in the run store; "" stands with the others in the column rest
	Tag     string // in TensorBoard's event files; "" for none
	Name    string // for readers, as in "test error"
	Meaning string // on the axis of a figure and in help texts; "" where it is not drawn over epochs
	Share   bool   // a fraction, written in per cent
	Log     bool   // usually drawn logarithmically
	Alarm   bool   // a value that is not finite is bad news, not one that a method does not have
	Extreme bool   // the least and the greatest value of a stretch stay where a long run is downsampled
}

// Quantities is the one list of an epoch's numbers. Of says where an epoch event has them.
var Quantities = [QuantityCount]QuantityInfo{
	Loss: {Key: "loss", Column: "loss", Tag: "loss/train", Name: "training loss", Meaning: "mean loss",
		Log: true, Alarm: true, Extreme: true},
	TestLoss: {Key: "test_loss", Column: "test_loss", Tag: "loss/test", Name: "test loss",
		Meaning: "mean test loss", Log: true, Alarm: true, Extreme: true},
	Error: {Key: "error", Column: "error", Tag: "error/train", Name: "training error",
		Meaning: "error rate", Share: true, Log: true, Alarm: true, Extreme: true},
	TestError: {Key: "test_error", Column: "test_error", Tag: "error/test", Name: "test error",
		Meaning: "test error rate", Share: true, Log: true, Alarm: true, Extreme: true},
	RMSE: {Key: "rmse", Column: "rmse", Tag: "rmse/train", Name: "training RMSE",
		Meaning: "root mean square error", Log: true, Alarm: true},
	TestRMSE: {Key: "test_rmse", Column: "test_rmse", Tag: "rmse/test", Name: "test RMSE",
		Meaning: "root mean square test error", Log: true, Alarm: true},
	GradientNorm: {Key: "gradient_norm", Column: "gradient_norm", Tag: "step/gradient_norm",
		Name: "gradient norm", Meaning: "gradient norm", Log: true},
	StepNorm: {Key: "step_norm", Column: "step_norm", Tag: "step/step_norm", Name: "step norm",
		Meaning: "step norm", Log: true},
	Radius: {Key: "radius", Column: "radius", Tag: "step/radius", Name: "trust-region radius",
		Meaning: "trust-region radius", Log: true},
	Rho: {Key: "rho", Column: "rho", Tag: "step/rho", Name: "gain ratio", Meaning: "gain ratio"},
	Rate: {Key: "rate", Column: "rate", Tag: "step/rate", Name: "learning rate",
		Meaning: "learning rate", Log: true},
	Gradients: {Key: "gradients", Column: "gradients", Name: "gradients"},
	Products:  {Key: "products", Column: "products", Name: "products"},
	Losses:    {Key: "losses", Column: "losses", Name: "loss evaluations"},
	GradientEquivalents: {Key: "gradient_equivalents", Column: "equivalents", Tag: "work/gradient_equivalents",
		Name: "gradient equivalents"},
	Seconds: {Key: "seconds", Column: "seconds", Tag: "work/seconds", Name: "seconds an epoch",
		Meaning: "seconds per epoch"},
	Elapsed: {Key: "elapsed", Column: "elapsed", Name: "training seconds"},
	ValidationLoss: {Key: "validation_loss", Tag: "loss/validation", Name: "validation loss",
		Meaning: "mean validation loss", Log: true, Alarm: true, Extreme: true},
	ValidationError: {Key: "validation_error", Tag: "error/validation", Name: "validation error",
		Meaning: "validation error rate", Share: true, Log: true, Alarm: true, Extreme: true},
	ValidationRMSE: {Key: "validation_rmse", Tag: "rmse/validation", Name: "validation RMSE",
		Meaning: "root mean square validation error", Log: true, Alarm: true},
}

// Info is the quantity's row of Quantities.
func (q Quantity) Info() *QuantityInfo { return &Quantities[q] }

// Of returns where an epoch has the quantity. It is a switch and not a function in the table, which made the reading of
// events a fifth to two fifths slower.
func (q Quantity) Of(e *EpochEvent) *Float {
	switch q {
	case Loss:
		return &e.Loss
	case TestLoss:
		return &e.TestLoss
	case Error:
		return &e.Error
	case TestError:
		return &e.TestError
	case RMSE:
		return &e.RMSE
	case TestRMSE:
		return &e.TestRMSE
	case GradientNorm:
		return &e.GradientNorm
	case StepNorm:
		return &e.StepNorm
	case Radius:
		return &e.Radius
	case Rho:
		return &e.Rho
	case Rate:
		return &e.Rate
	case Gradients:
		return &e.Gradients
	case Products:
		return &e.Products
	case Losses:
		return &e.Losses
	case GradientEquivalents:
		return &e.GradientEquivalents
	case Seconds:
		return &e.Seconds
	case Elapsed:
		return &e.Elapsed
	case ValidationLoss:
		return &e.ValidationLoss
	case ValidationError:
		return &e.ValidationError
	case ValidationRMSE:
		return &e.ValidationRMSE
	}
	panic("event: no such quantity")
}

// quantityOf finds a quantity by its key.
var quantityOf = func() map[string]Quantity {
	m := make(map[string]Quantity, QuantityCount)
	for q := range QuantityCount {
		m[Quantities[q].Key] = q
	}
	return m
}()

// QuantityOf finds a quantity by its key.
func QuantityOf(key string) (q Quantity, known bool) {
	q, known = quantityOf[key]
	return q, known
}

// IsQuantity reports whether a key is a quantity's.
func IsQuantity(key string) bool {
	_, known := quantityOf[key]
	return known
}

// Extremes are the quantities whose least and greatest values stay where a long run is downsampled.
var Extremes = func() (out []Quantity) {
	for q := range QuantityCount {
		if Quantities[q].Extreme {
			out = append(out, q)
		}
	}
	return out
}()
