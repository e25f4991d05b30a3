package event

import (
	"slices"

	"newtop/trainer/krylov"
)

// SpectrumEvent has estimates of the largest and the smallest eigenvalues at the weights after an epoch, in descending
// order, each with a bound, within which an eigenvalue lies: some eigenvalue, not surely the one of that rank. The
// bound is the norm of the residual ‖Hv − λv‖ and what the product may be off by.
type SpectrumEvent struct {
	Epoch       int     `json:"epoch"`
	Method      string  `json:"method"`   // "lanczos" or "power"
	Operator    string  `json:"operator"` // "hessian" or "gauss-newton"
	Eigenvalues []Float `json:"eigenvalues"`
	Residuals   []Float `json:"residuals"`
	Rows        int     `json:"rows"`                // how many training rows the operator averages over
	Selection   string  `json:"selection,omitempty"` // which ones: "all" or "evenly spaced"
	Products    int     `json:"products"`
	// Stop is "residual" where every residual is as small as it was asked to be, "limit" where the iteration ran
	// out before, and "not-finite" where a product was not and there are no eigenvalues.
	Stop krylov.Stop `json:"stop,omitempty"`
	// Open is the end that ran out: "largest", "smallest" or "both". Empty: neither, or the method is power.
	Open string `json:"open,omitempty"`
	Ends string `json:"ends,omitempty"` // "top" where the largest alone were looked for
	// whether products are differences of gradients: the bounds have an estimate of their error, and are no proof
	Differences bool `json:"differences,omitempty"`

	Density *Density `json:"density,omitempty"`
	Trace   *Trace   `json:"trace,omitempty"`
}

// Density is a spectral density by stochastic Lanczos quadrature: Values[i] at eigenvalue Grid[i], smoothed
// by Gaussians of width Sigma. It integrates to 1. Errors are the standard errors over the probes.
type Density struct {
	Grid   []Float `json:"grid"`
	Values []Float `json:"values"`
	Errors []Float `json:"errors"`
	Sigma  Float   `json:"sigma"`
	Probes int     `json:"probes"`
	Steps  int     `json:"steps"`
}

// Trace is Hutchinson's estimate of the sum of all eigenvalues with its standard error over the probes.
type Trace struct {
	Value  Float `json:"value"`
	Error  Float `json:"error"`
	Probes int   `json:"probes"`
}

// SliceEvent is the loss along the last step that a trust-region method proposed, beside the models that it
// was chosen by. All are changes from where the step began, over all training rows; where the loss leaves the
// models is why ρ was what it was.
type SliceEvent struct {
	Epoch       int     `json:"epoch"`
	Member      int     `json:"member,omitempty"`
	Optimizer   string  `json:"optimizer"`
	At          []Float `json:"at"`           // multiples of the step, ascending; 0 and 1 are among them
	Loss        []Float `json:"loss"`         // E(w + t·s) − E(w)
	GaussNewton []Float `json:"gauss_newton"` // t·gᵀs + ½t²·sᵀGs
	Quadratic   []Float `json:"quadratic"`    // t·gᵀs + ½t²·sᵀHs
	StepNorm    Float   `json:"step_norm"`
	Rho         Float   `json:"rho"`
	Accepted    bool    `json:"accepted"`
}

// WeightsEvent is a block of weights as it is after an epoch, row-major; weights that a sparse block does not
// have are null. Of weights from the inputs of image data Height × Width is the image, 0 otherwise.
type WeightsEvent struct {
	Epoch  int     `json:"epoch"`
	To     int     `json:"to"`
	From   int     `json:"from"`
	Rows   int     `json:"rows"`
	Cols   int     `json:"cols"`
	Values []Float `json:"values"`
	Height int     `json:"height,omitempty"`
	Width  int     `json:"width,omitempty"`
}

// ErrorsEvent says where the outputs are wrong, over the test rows or over the training rows.
type ErrorsEvent struct {
	Epoch   int      `json:"epoch"`
	Train   bool     `json:"train,omitempty"`   // over the training rows; test rows else
	Classes []string `json:"classes,omitempty"` // their names; none for regression
	// rows counted by class, then by what the net says, but those whose outputs are no numbers
	Confusion [][]int `json:"confusion,omitempty"`
	// of regression, by output: u − t in the units of the data, of at most 2,048 evenly spaced rows
	Residuals [][]Float  `json:"residuals,omitempty"`
	Worst     []WorstRow `json:"worst,omitempty"`  // rows of the greatest loss, downwards
	Scores    []Scores   `json:"scores,omitempty"` // of all the rows, one entry
}

// WorstRow is one row that costs much. Target and Output are class numbers, or −1 for regression;
// an Output of −1 of classes is none, as the outputs are no numbers.
type WorstRow struct {
	Row     int     `json:"row"` // of the set, from 0
	Loss    Float   `json:"loss"`
	Target  int     `json:"target"`
	Output  int     `json:"output"`
	Targets []Float `json:"targets,omitempty"` // of regression, like Outputs in the units of the data
	Outputs []Float `json:"outputs,omitempty"`
	Inputs  []Float `json:"inputs"` // as the data have them, before scaling
	Height  int     `json:"height,omitempty"`
	Width   int     `json:"width,omitempty"`
}

// RewindEvent says that the run went back to the weights after an earlier epoch; the next epoch is To + 1.
type RewindEvent struct {
	Epoch int `json:"epoch"` // the newest one before
	To    int `json:"to"`
}

// CutEvent says that the values of one metric from an epoch on are void, as its writer went back to before them. Other
// metrics stay.
type CutEvent struct {
	Metric string `json:"metric"` // the key of a figure, or of a quantity
	From   int    `json:"from"`
}

// voids reports whether a value of an event of an epoch is void.
func (e CutEvent) voids(m *Metric, epoch int) bool { return m.Key == e.Metric && m.At(epoch) >= e.From }

// Cut returns the epochs without the values that are void. What is changed is copied: events are shared. Values of a
// metric stand in the order of their epochs, so that those before the first which stays are not looked at.
func (e CutEvent) Cut(epochs []EpochEvent) {
	q, known := quantityOf[e.Metric]
	for i := len(epochs) - 1; i >= 0; i-- {
		at := &epochs[i]
		stays := known && at.Epoch < e.From && !q.Of(at).Absent()
		if known && at.Epoch >= e.From {
			*q.Of(at) = Absent
		}
		void := false
		for k := range at.Metrics {
			if m := &at.Metrics[k]; m.Key == e.Metric {
				void = void || e.voids(m, at.Epoch)
				stays = stays || !e.voids(m, at.Epoch)
			}
		}
		if void {
			at.Metrics = slices.DeleteFunc(slices.Clone(at.Metrics),
				func(m Metric) bool { return e.voids(&m, at.Epoch) })
		}
		if stays {
			return
		}
	}
}

// RaceEvent begins and ends a race: several methods or settings resume from the same weights, in turn, each with the
// same budget.
type RaceEvent struct {
	Epoch       int     `json:"epoch"` // after which it began
	State       string  `json:"state"` // "begun", "over" (all have spent their budget), "picked" or "abandoned"
	Racers      []Racer `json:"racers"`
	Equivalents Float   `json:"gradient_equivalents,omitempty"` // the budget of each, whichever is spent first
	Seconds     Float   `json:"seconds,omitempty"`
	Picked      int     `json:"picked"` // from 0; −1 unless picked
}

// Racer is who takes part.
type Racer struct {
	Name      string   `json:"name"`
	Optimizer string   `json:"optimizer"`
	Set       []string `json:"set,omitempty"` // KEY=VALUE
}

// LapEvent is one outer iteration of a racer, or with Epoch 0 its beginning.
type LapEvent struct {
	Racer int        `json:"racer"`           // from 0
	Ended string     `json:"ended,omitempty"` // why this racer continues no more: "budget", "stalled: …", "diverged: …"
	Lap   EpochEvent `json:"lap"`             // counts, work and seconds since the race began
}

// EventType returns the name that the JSON form carries.
func (SliceEvent) EventType() string   { return "slice" }
func (WeightsEvent) EventType() string { return "weights" }
func (ErrorsEvent) EventType() string  { return "errors" }
func (RewindEvent) EventType() string  { return "rewind" }
func (CutEvent) EventType() string     { return "cut" }
func (RaceEvent) EventType() string    { return "race" }
func (LapEvent) EventType() string     { return "lap" }
