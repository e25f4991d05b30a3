// Package event defines what a run says and what it is sent: events, commands, the status between two inner units,
// and their JSON form. It knows no network and no method; every other package that shows, stores or reads a run knows
// this one.
package event

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"newtop/trainer/krylov"
)

// Event is something that happened in a run. Events are what a run is made of for everyone outside the
// session: viewers, recorders, and programs that read `newtop train --format jsonl`.
//
//	Run ─► ( Inner | Epoch | Spectrum | Switch | Setting | Rewind | Race | Lap | Resume | Saved | looks )*
//	    ─► [ Diverged ] ─► Done
//
// Run is first and Done is last, but for what the program of an external model prints behind it; a run that could not
// begin has Done alone. Diverged comes right before Done. A run that is resumed after its end has Resume behind
// that Done, and another Done. The Inner events of an outer iteration come before its Epoch event, if it gets one: a
// solve that is given up, because its method or its radius was changed, leaves Inner events and the work it cost, and
// the next one counts its iterations from 1 again. Losses are means over rows and errors are fractions.
type Event interface{ EventType() string }

// InnerEvent is one inner iteration of a CG solve.
type InnerEvent struct {
	Epoch     int   `json:"epoch"`
	Block     int   `json:"block"`
	Member    int   `json:"member,omitempty"` // of a committee, from 0
	Iteration int   `json:"iteration"`
	Residual  Float `json:"residual"` // relative to the gradient norm
	StepNorm  Float `json:"step_norm"`
	Radius    Float `json:"radius"`
	Curvature Float `json:"curvature"`
	Model     Float `json:"model"` // q(s), the promised change of the loss
}

// InnerSummary is one finished inner solve.
type InnerSummary struct {
	Block          int         `json:"block"`
	Member         int         `json:"member,omitempty"` // of a committee, from 0
	Iterations     int         `json:"iterations"`       // the Lanczos steps among them
	Stop           krylov.Stop `json:"stop"`
	Residual       Float       `json:"residual"`      // relative to the gradient norm
	TrueResidual   Float       `json:"true_residual"` // the same from an extra product; null if none was spent
	StepNorm       Float       `json:"step_norm"`
	Curvature      Float       `json:"curvature"`
	Ritz           []Float     `json:"ritz,omitempty"` // ascending; the ends of a long list
	Preconditioned bool        `json:"preconditioned,omitempty"`
	// Flops is what one inner iteration took on average, in floating-point operations: the product and
	// CG's own vectors.
	Flops Float `json:"flops"`
	// Where CG left the region the solve may have continued to the model's minimizer over the Krylov space.
	LanczosSteps int   `json:"lanczos_steps,omitempty"` // to widen that space
	Multiplier   Float `json:"multiplier,omitzero"`     // λ of the minimizer; Absent where it is not the step
	// what CG's own step promised of the decrease; Absent where no other was looked for
	SteihaugShare Float `json:"steihaug_share,omitzero"`
}

// UnmarshalJSON reads what an earlier version wrote, too, which knew of no minimizer. Other fields that are not told
// stay as they are.
func (s *InnerSummary) UnmarshalJSON(text []byte) error {
	type plain InnerSummary
	s.Multiplier, s.SteihaugShare = Absent, Absent
	return json.Unmarshal(text, (*plain)(s))
}

// Metric is a number of a method's own: a damping, a step length, a rank.
type Metric struct {
	Key string `json:"key"`
	*MetricNote
	Value Float `json:"value"`
}

// MetricNote is what a metric has beside its value, most have none of it: other programs log them by the million.
type MetricNote struct {
	Symbol  string `json:"symbol,omitempty"`
	Meaning string `json:"meaning,omitempty"`
	// X is the epoch that the value belongs to, if that is an earlier one than the event's; else nil. Key is then a
	// quantity's key, if the value is that quantity's.
	X *int `json:"x,omitempty"`
	// Of is the key of the quantity of which this is what the writer called and logged, as an accuracy in per cent of
	// which the quantity is the error; else empty.
	Of string `json:"of,omitempty"`
}

// NewMetric returns a metric with the symbol that it has on screens, and what it means.
func NewMetric(key, symbol, meaning string, v Float) Metric {
	return Metric{Key: key, MetricNote: &MetricNote{Symbol: symbol, Meaning: meaning}, Value: v}
}

// LateMetric returns a metric of an earlier epoch.
func LateMetric(key string, epoch int, v Float) Metric {
	return Metric{Key: key, MetricNote: &MetricNote{X: &epoch}, Value: v}
}

// Note is what the metric has beside its value.
func (m *Metric) Note() MetricNote {
	if m.MetricNote == nil {
		return MetricNote{}
	}
	return *m.MetricNote
}

// String writes all that the metric has.
func (m Metric) String() string {
	n := m.Note()
	x := ""
	if n.X != nil {
		x = fmt.Sprint("@", *n.X)
	}
	return fmt.Sprintf("%s%s=%v (%s %s %s)", m.Key, x, m.Value, n.Symbol, n.Meaning, n.Of)
}

// GoString is String.
func (m Metric) GoString() string { return m.String() }

// Late reports whether the value belongs to an earlier epoch than the event's.
func (m *Metric) Late() bool { return m.MetricNote != nil && m.MetricNote.X != nil }

// At is the epoch that the metric's value belongs to, of an event of an epoch.
func (m *Metric) At(epoch int) int {
	if m.Late() {
		return *m.X
	}
	return epoch
}

// Late returns what an event tells of earlier epochs, each as an event of its own, and the event without that. Neither
// has what is told of a quantity a second time.
func (e *EpochEvent) Late() (late []EpochEvent, own EpochEvent) {
	own = *e
	if !slices.ContainsFunc(e.Metrics, func(m Metric) bool { return m.Late() || m.Note().Of != "" }) {
		return nil, own
	}
	own.Metrics = nil
	for _, m := range e.Metrics {
		switch {
		case m.Note().Of != "":
			continue
		case !m.Late():
			own.Metrics = append(own.Metrics, m)
			continue
		}
		if n := len(late); n == 0 || late[n-1].Epoch != *m.X {
			late = append(late, UnknownEpoch(*m.X))
			late[n].Elapsed = e.Elapsed
		}
		to := &late[len(late)-1]
		if q, known := quantityOf[m.Key]; known {
			*q.Of(to) = m.Value
		} else {
			to.Metrics = append(to.Metrics, Metric{Key: m.Key, Value: m.Value})
		}
	}
	return late, own
}

// Settle adds an epoch to those of a run, and what it tells late to the epochs that it belongs to.
func Settle(epochs []EpochEvent, e *EpochEvent) []EpochEvent {
	late, own := e.Late()
	for i := range late {
		at, found := slices.BinarySearchFunc(epochs, late[i].Epoch,
			func(o EpochEvent, x int) int { return o.Epoch - x })
		if found {
			late[i].Elapsed = Absent
			epochs[at] = epochs[at].With(&late[i])
		} else {
			epochs = slices.Insert(epochs, at, late[i])
		}
	}
	if n := len(epochs); n > 0 && epochs[n-1].Epoch == own.Epoch && len(late) > 0 {
		epochs[n-1] = epochs[n-1].With(&own)
		return epochs
	}
	return append(epochs, own)
}

// MemberMetrics tell how one net of a committee does by itself. Validation metrics are Absent where a run has no such
// rows.
type MemberMetrics struct {
	Seed      uint64 `json:"seed"`
	Loss      Float  `json:"loss"`
	TestLoss  Float  `json:"test_loss"`
	Error     Float  `json:"error"`
	TestError Float  `json:"test_error"`
	RMSE      Float  `json:"rmse"`
	TestRMSE  Float  `json:"test_rmse"`

	ValidationLoss  Float `json:"validation_loss"`
	ValidationError Float `json:"validation_error"`
	ValidationRMSE  Float `json:"validation_rmse"`
}

// UnmarshalJSON reads what an earlier version wrote, too, which knew no validation rows.
func (f *MemberMetrics) UnmarshalJSON(text []byte) error {
	type plain MemberMetrics
	f.ValidationLoss, f.ValidationError, f.ValidationRMSE = Absent, Absent, Absent
	return json.Unmarshal(text, (*plain)(f))
}

// GateMetrics are the parameters of one gate of a mixture of experts, the bell 1/(1 + |(h − c)/a|^2b) of
// the feature h, and its mean share over the training rows.
type GateMetrics struct {
	Width  Float `json:"a"`
	Slope  Float `json:"b"`
	Center Float `json:"c"`
	Share  Float `json:"share"`
}

// PreconditionerMetrics describe the matrices by which a method scales gradients, as they are after an epoch.
type PreconditionerMetrics struct {
	Refreshes int             `json:"refreshes"` // how often in the epoch bases, roots or inverses were made again
	Seconds   Float           `json:"seconds"`   // that this took
	Factors   []FactorMetrics `json:"factors"`
}

// FactorMetrics describe one of these matrices, of the size of one side of a block of weights.
type FactorMetrics struct {
	To   int    `json:"to"`
	From int    `json:"from"`
	Side string `json:"side"` // SideOutputs or SideInputs
	Size int    `json:"size"`
	// Eigenvalues are some of the factor's, or of what the method takes for them, in descending order: the first, the
	// last, and of more than 16 evenly spaced ones, to five digits. None: this side has no factor, and is not scaled,
	// or where there is damping scaled by one number.
	Eigenvalues []Float `json:"eigenvalues,omitempty"`
	Ends        bool    `json:"ends,omitempty"` // they are the largest and the smallest, half of them each
	Damping     Float   `json:"damping"`        // what is added to them; Absent: nothing is
}

// The sides of a block.
const (
	SideOutputs = "outputs"
	SideInputs  = "inputs"
)

// BlockNorms are the norms of one block of weights, biases of its target layer left out.
type BlockNorms struct {
	To       int   `json:"to"`
	From     int   `json:"from"`
	Weight   Float `json:"weight_norm"`
	Gradient Float `json:"gradient_norm"`
	Step     Float `json:"step_norm"`
}

// EpochEvent closes one outer iteration. Epoch counts from 1; 0 describes the starting weights.
type EpochEvent struct {
	Epoch     int    `json:"epoch"`
	Optimizer string `json:"optimizer,omitempty"`
	Loss      Float  `json:"loss"`
	TestLoss  Float  `json:"test_loss"`
	Error     Float  `json:"error"`
	TestError Float  `json:"test_error"`
	RMSE      Float  `json:"rmse"`
	TestRMSE  Float  `json:"test_rmse"`
	// Absent without validation rows, as the next two
	ValidationLoss  Float          `json:"validation_loss"`
	ValidationError Float          `json:"validation_error"`
	ValidationRMSE  Float          `json:"validation_rmse"`
	GradientNorm    Float          `json:"gradient_norm"`
	StepNorm        Float          `json:"step_norm"`
	Radius          Float          `json:"radius"`
	Rho             Float          `json:"rho"`
	Rate            Float          `json:"rate"`
	Accepted        bool           `json:"accepted"`
	Inner           []InnerSummary `json:"inner,omitempty"`
	Blocks          []BlockNorms   `json:"blocks,omitempty"`
	Metrics         []Metric       `json:"figures,omitempty"`
	// of a committee, whose own metrics stand above
	Members []MemberMetrics `json:"members,omitempty"`
	Gates   []GateMetrics   `json:"gates,omitempty"` // of a mixture of experts
	// of a method that scales gradients by matrices
	Preconditioner      *PreconditionerMetrics `json:"preconditioner,omitempty"`
	Gradients           Float                  `json:"gradients"` // full-data gradients so far
	Products            Float                  `json:"products"`  // curvature products so far
	Losses              Float                  `json:"losses"`    // loss evaluations so far
	GradientEquivalents Float                  `json:"gradient_equivalents"`
	Seconds             Float                  `json:"seconds"` // of this epoch, pauses left out
	Elapsed             Float                  `json:"elapsed"` // of all epochs so far, pauses left out
}

// InnerIterations returns how many iterations the epoch's inner solves took, Absent where there were none.
func (e *EpochEvent) InnerIterations() Float {
	if len(e.Inner) == 0 {
		return Absent
	}
	n := 0
	for i := range e.Inner {
		n += e.Inner[i].Iterations
	}
	return Float(n)
}

// SwitchEvent says that another optimizer took over after the epoch.
type SwitchEvent struct {
	Epoch int    `json:"epoch"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// SettingEvent says that a hyperparameter was changed by hand. Value is a number, or a choice's name.
type SettingEvent struct {
	Epoch int    `json:"epoch"`
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// DivergedEvent says that the run met a loss or weights that are not finite.
type DivergedEvent struct {
	Epoch  int    `json:"epoch"`
	Reason string `json:"reason"`
}

// DoneEvent ends a run. Its metrics are those of the weights that the run ends with.
type DoneEvent struct {
	Reason        Reason `json:"reason"`
	Epochs        int    `json:"epochs"`
	Weights       string `json:"weights,omitempty"` // "best": the weights are those of BestEpoch; empty: the last ones
	Loss          Float  `json:"loss"`
	Error         Float  `json:"error"`
	TestError     Float  `json:"test_error"`
	TestRMSE      Float  `json:"test_rmse"`
	BestTestError Float  `json:"best_test_error"`
	BestTestRMSE  Float  `json:"best_test_rmse"`
	BestEpoch     int    `json:"best_epoch"` // by what the run is judged by, see Measure
	Elapsed       Float  `json:"elapsed"`
	Message       string `json:"message,omitempty"` // why a run failed, or what made it stall

	// The validation metrics of BestEpoch, Absent without validation rows.
	ValidationLoss  Float `json:"validation_loss"`
	ValidationError Float `json:"validation_error"`
	ValidationRMSE  Float `json:"validation_rmse"`

	// Scores tell how well the weights that the run ends with do on the validation and test rows, or on the training
	// rows where there are no others. A run that failed, or was cancelled, has none.
	Scores []Scores `json:"scores,omitempty"`
}

// WeightsBest is the DoneEvent's Weights of a run that ends with those of its best epoch.
const WeightsBest = "best"

// Reason is why a run ended.
type Reason string

// The reasons.
const (
	ReasonEpochs   Reason = "epochs"   // the limit was reached
	ReasonTarget   Reason = "target"   // the target loss or error was reached
	ReasonTime     Reason = "time"     // the time limit was reached
	ReasonStopped  Reason = "stopped"  // by a command or a signal
	ReasonStalled  Reason = "stalled"  // no further progress possible
	ReasonPatience Reason = "patience" // no better epoch by the validation rows for as long as the run's patience
	ReasonDiverged Reason = "diverged" // after a DivergedEvent
	ReasonFailed   Reason = "failed"   // an error that Message tells
	ReasonFinished Reason = "finished" // of another program, which came to its end
)

// ConsoleEvent is a line that the program which trains has printed.
type ConsoleEvent struct {
	Text string `json:"text"`
}

// MachineEvent is what the log of another program tells of its machine at a time: how busy it was, its memory. It
// belongs to no epoch.
type MachineEvent struct {
	Elapsed Float    `json:"elapsed"` // seconds since the run began
	Metrics []Metric `json:"figures"`
}

// IsMachine reports whether a program's metric of a name is of its machine.
func IsMachine(key string) bool { return strings.HasPrefix(key, "system/") }

// EventType returns the name that the JSON form carries.
func (RunEvent) EventType() string      { return "run" }
func (InnerEvent) EventType() string    { return "inner" }
func (EpochEvent) EventType() string    { return "epoch" }
func (SpectrumEvent) EventType() string { return "spectrum" }
func (SwitchEvent) EventType() string   { return "switch" }
func (SettingEvent) EventType() string  { return "setting" }
func (DivergedEvent) EventType() string { return "diverged" }
func (DoneEvent) EventType() string     { return "done" }
func (ConsoleEvent) EventType() string  { return "console" }
func (MachineEvent) EventType() string  { return "machine" }
