package chart

// AxisKeeper is a pane whose charts have the x axis that the user chose last, in whatever run. How curves are smoothed
// is forgotten with the run: it would bend those of the next one unasked.
type AxisKeeper interface {
	XAxis() string
	// SetXAxis ignores a name that it does not know.
	SetXAxis(name string)
}

// AxisNames are what preferences call the x axes.
var AxisNames = []string{Epochs: "epoch", Seconds: "seconds", Equivalents: "equivalents"}

var _ AxisKeeper = (*Controls)(nil)
