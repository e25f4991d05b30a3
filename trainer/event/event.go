// Package event defines what a run says and what it is told: events, commands, the status between two inner units, and
// their JSON form. It knows no network and no method; every other package that shows, stores or reads a run knows
// this one.
package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/trainer/krylov"
)

// Event is something that happened in a run. Events are what a run is made of for everyone outside the
// session: viewers, recorders, and programs that read `newtop train --format jsonl`.
//
//	Run ─► ( Inner | Epoch | Spectrum | Switch | Setting | Rewind | Race | Lap | Resume | Saved | looks )* ─► [ Diverged ] ─► Done
//
// Run is first and Done is last, but for what the program of a model elsewhere prints behind it; a run that could not begin has Done alone. Diverged comes right before Done. A run that is
// gone on with after its end has Resume behind that Done, and another Done. The Inner events of an outer iteration come before its Epoch event, if it gets one: a solve
// that is given up, because its method or its radius was changed, leaves Inner events and the work it cost,
// and the next one counts its iterations from 1 again. Losses are means over rows and errors are fractions.
type Event interface{ EventType() string }

// Float is a float64 with three states: a finite number; Absent, which nobody told or a method does not have; and a value that
// was computed or written and is not finite. JSON writes the first as a number, Absent as null, and the last as "NaN",
// "Infinity" or "-Infinity", and reads them back.
type Float float64

// Absent stands for a quantity that is not there. It is math.NaN(), whose bits no computation has: a NaN that a computation
// made is another one, and is not finite.
var Absent = Float(math.NaN())

// NotFinite stands for a NaN that was computed or written.
var NotFinite = Float(math.Float64frombits(math.Float64bits(math.NaN()) + 1))

// Absent reports whether nobody told the number.
func (f Float) Absent() bool {
	return math.Float64bits(float64(f)) == math.Float64bits(float64(Absent))
}

// Finite reports whether there is a number to draw.
func (f Float) Finite() bool { return f-f == 0 }

// Broken reports whether a value was told that is not finite.
func (f Float) Broken() bool { return !f.Finite() && !f.Absent() }

// Told makes a Float of a value that was computed or written, which is never Absent.
func Told(v float64) Float {
	if v != v {
		return NotFinite
	}
	return Float(v)
}

// MarshalJSON writes a number with as many digits as it needs, null, or the word for what is not finite.
func (f Float) MarshalJSON() ([]byte, error) {
	switch v := float64(f); {
	case f.Finite():
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	case f.Absent():
		return []byte("null"), nil
	case v > 0:
		return []byte(`"Infinity"`), nil
	case v < 0:
		return []byte(`"-Infinity"`), nil
	}
	return []byte(`"NaN"`), nil
}

// UnmarshalJSON reads a number, null, or a word that MarshalJSON writes.
func (f *Float) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null":
		*f = Absent
	case `"NaN"`:
		*f = NotFinite
	case `"Infinity"`:
		*f = Float(math.Inf(1))
	case `"-Infinity"`:
		*f = Float(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(f))
	}
	return nil
}

// Floats converts a slice.
func Floats(v []float64) []Float {
	if v == nil {
		return nil
	}
	f := make([]Float, len(v))
	for i := range v {
		f[i] = Float(v[i])
	}
	return f
}

// DataInfo describes the data of a run.
type DataInfo struct {
	Name      string `json:"name"`
	TrainRows int    `json:"train_rows"`
	TestRows  int    `json:"test_rows"`
	Inputs    int    `json:"inputs"`
	Outputs   int    `json:"outputs"`
	Classes   int    `json:"classes"` // 0 for regression
}

// ModelInfo describes the network of a run. Layers counts nodes, the inputs first; Connections are
// (to, from) pairs of layers with their number of weights, biases apart. Of a mixture Experts is how many
// equal nets stand side by side in Layers, before the layer that combines them.
type ModelInfo struct {
	Layers      []int            `json:"layers"`
	Activations []string         `json:"activations,omitempty"` // one for each layer after the inputs
	Loss        string           `json:"loss,omitempty"`
	Connections []ConnectionInfo `json:"connections,omitempty"`
	Parameters  int              `json:"parameters"`
	Experts     int              `json:"experts,omitempty"`
	Program     string           `json:"program,omitempty"` // what has the model, where that is not newtop; its layers are not known
	Blocks      []BlockInfo      `json:"blocks,omitempty"`  // its tensors; block i stands in events as leading from layer i to layer i + 1
	Lacks       []string         `json:"lacks,omitempty"`   // the optimizers that it can't be trained by, as another program does not give what they need
}

// BlockInfo is a tensor of weights of a model that another program has.
type BlockInfo struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// Weights is how many weights the tensor has.
func (b *BlockInfo) Weights() int {
	n := 1
	for _, k := range b.Shape {
		n *= k
	}
	return n
}

// ShapeText writes the tensor's shape as 64×1×3×3, that of a scalar as 1.
func (b *BlockInfo) ShapeText() string {
	if len(b.Shape) == 0 {
		return "1"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(b.Shape), " ", "×"), "[]")
}

// Shape writes the layers as 16-70-50-26, those of a mixture as 5 × 16-16-10. Of a model that another program has it
// counts the tensors; it is empty where neither is known.
func (m *ModelInfo) Shape() string {
	switch n := len(m.Blocks); {
	case n == 0 || len(m.Layers) > 0:
	case n == 1:
		return "1 tensor"
	default:
		return fmt.Sprintf("%d tensors", n)
	}
	layers, prefix := m.Layers, ""
	if each := len(layers) - 2; m.Experts > 0 && each >= m.Experts {
		layers = layers[:1+each/m.Experts]
		prefix = fmt.Sprintf("%d × ", m.Experts)
	}
	return prefix + strings.Trim(strings.ReplaceAll(fmt.Sprint(layers), " ", "-"), "[]")
}

// ConnectionInfo is one block of weights.
type ConnectionInfo struct {
	To      int `json:"to"`
	From    int `json:"from"`
	Weights int `json:"weights"`
}

// RunEvent opens a run.
type RunEvent struct {
	Version   int            `json:"version"`
	ID        string         `json:"id"`
	Time      time.Time      `json:"time"`
	Data      DataInfo       `json:"data"`
	Model     ModelInfo      `json:"model"`
	Optimizer string         `json:"optimizer"`
	Settings  map[string]any `json:"settings"`
	Seed      uint64         `json:"seed"`
	Committee int            `json:"committee,omitempty"` // nets, of this seed and the following; 0 for one
	Threads   int            `json:"threads,omitempty"`
	Ranks     int            `json:"ranks,omitempty"`  // processes that train together; 0 for one
	Hosts     int            `json:"hosts,omitempty"`  // on how many machines, where there are several ranks
	Reduce    string         `json:"reduce,omitempty"` // how sums over ranks are added up: "fast"; empty: in the fixed order of one process
	Kernel    string         `json:"kernel,omitempty"` // the machine code that computes; runs of one kernel have the same digits
	Batch     int            `json:"batch,omitempty"`
	Epochs    int            `json:"epochs,omitempty"` // the limit; 0 for none
	Unit      string         `json:"unit,omitempty"`   // what another program counts where its epochs are none: "step"
}

// Counted is what the run counts, "epoch" or "step".
func (r *RunEvent) Counted() string {
	if r != nil && r.Unit == "step" {
		return r.Unit
	}
	return "epoch"
}

// Seeds writes the seed, of a committee the first and the last.
func (e *RunEvent) Seeds() string {
	if e.Committee > 1 {
		return fmt.Sprintf("seeds %d to %d", e.Seed, e.Seed+uint64(e.Committee)-1)
	}
	return fmt.Sprintf("seed %d", e.Seed)
}

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
	Iterations     int         `json:"iterations"`
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
}

// Figure is a number of a method's own: a damping, a step length, a rank.
type Figure struct {
	Key     string `json:"key"`
	Symbol  string `json:"symbol,omitempty"`
	Meaning string `json:"meaning,omitempty"`
	Value   Float  `json:"value"`
}

// MemberFigures tell how one net of a committee does by itself.
type MemberFigures struct {
	Seed      uint64 `json:"seed"`
	Loss      Float  `json:"loss"`
	TestLoss  Float  `json:"test_loss"`
	Error     Float  `json:"error"`
	TestError Float  `json:"test_error"`
	RMSE      Float  `json:"rmse"`
	TestRMSE  Float  `json:"test_rmse"`
}

// GateFigures are the parameters of one gate of a mixture of experts, the bell 1/(1 + |(h − c)/a|^2b) of
// the feature h, and its mean share over the training rows.
type GateFigures struct {
	Width  Float `json:"a"`
	Slope  Float `json:"b"`
	Center Float `json:"c"`
	Share  Float `json:"share"`
}

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
	Epoch               int             `json:"epoch"`
	Optimizer           string          `json:"optimizer,omitempty"`
	Loss                Float           `json:"loss"`
	TestLoss            Float           `json:"test_loss"`
	Error               Float           `json:"error"`
	TestError           Float           `json:"test_error"`
	RMSE                Float           `json:"rmse"`
	TestRMSE            Float           `json:"test_rmse"`
	GradientNorm        Float           `json:"gradient_norm"`
	StepNorm            Float           `json:"step_norm"`
	Radius              Float           `json:"radius"`
	Rho                 Float           `json:"rho"`
	Rate                Float           `json:"rate"`
	Accepted            bool            `json:"accepted"`
	Inner               []InnerSummary  `json:"inner,omitempty"`
	Blocks              []BlockNorms    `json:"blocks,omitempty"`
	Figures             []Figure        `json:"figures,omitempty"`
	Members             []MemberFigures `json:"members,omitempty"` // of a committee, whose own figures stand above
	Gates               []GateFigures   `json:"gates,omitempty"`   // of a mixture of experts
	Gradients           Float           `json:"gradients"`         // full-data gradients so far
	Products            Float           `json:"products"`          // curvature products so far
	Losses              Float           `json:"losses"`            // loss evaluations so far
	GradientEquivalents Float           `json:"gradient_equivalents"`
	Seconds             Float           `json:"seconds"` // of this epoch, pauses left out
	Elapsed             Float           `json:"elapsed"` // of all epochs so far, pauses left out
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

// SpectrumEvent has estimates of the largest and the smallest eigenvalues at the weights after an epoch,
// in descending order, each with the norm of its residual ‖Hv − λv‖, within which an eigenvalue lies.
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
	Stop    krylov.Stop `json:"stop,omitempty"`
	Density *Density    `json:"density,omitempty"`
	Trace   *Trace      `json:"trace,omitempty"`
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

// DoneEvent ends a run.
type DoneEvent struct {
	Reason        Reason `json:"reason"`
	Epochs        int    `json:"epochs"`
	Loss          Float  `json:"loss"`
	Error         Float  `json:"error"`
	TestError     Float  `json:"test_error"`
	TestRMSE      Float  `json:"test_rmse"`
	BestTestError Float  `json:"best_test_error"`
	BestTestRMSE  Float  `json:"best_test_rmse"`
	BestEpoch     int    `json:"best_epoch"` // by what the run is judged by, see Measure
	Elapsed       Float  `json:"elapsed"`
	Message       string `json:"message,omitempty"` // why a run failed, or what made it stall
}

// Reason is why a run ended.
type Reason string

// The reasons.
const (
	ReasonEpochs   Reason = "epochs"   // the limit was reached
	ReasonTarget   Reason = "target"   // the target loss or error was reached
	ReasonTime     Reason = "time"     // the time limit was reached
	ReasonStopped  Reason = "stopped"  // by a command or a signal
	ReasonStalled  Reason = "stalled"  // no further progress possible
	ReasonDiverged Reason = "diverged" // after a DivergedEvent
	ReasonFailed   Reason = "failed"   // an error that Message tells
	ReasonFinished Reason = "finished" // of another program, which came to its end
)

// ConsoleEvent is a line that the program which trains has printed.
type ConsoleEvent struct {
	Text string `json:"text"`
}

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

// EncodeEvent returns the event's JSON object on one line, "type" first, without a line end.
func EncodeEvent(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("trainer: encoding a %s event: %w", e.EventType(), err)
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"type":%q`, e.EventType())
	if !bytes.Equal(body, []byte("{}")) {
		line.WriteByte(',')
	}
	line.Write(body[1:])
	return line.Bytes(), nil
}

// types are the names of the events.
var types = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range []Event{RunEvent{}, InnerEvent{}, EpochEvent{}, SpectrumEvent{}, SwitchEvent{}, SettingEvent{}, DivergedEvent{}, SliceEvent{},
		WeightsEvent{}, ErrorsEvent{}, RewindEvent{}, RaceEvent{}, LapEvent{}, ResumeEvent{}, SavedEvent{}, DoneEvent{}, ConsoleEvent{}} {
		m[e.EventType()] = true
	}
	return m
}()

// IsType reports whether there are events of a name.
func IsType(name string) bool { return types[name] }

// DecodeEvent reads what EncodeEvent writes. Unknown fields are ignored; an unknown type gives
// (nil, nil), so that readers skip what they do not know.
func DecodeEvent(line []byte) (Event, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("expected a JSON object with a type: %w", err)
	}
	switch head.Type {
	case "run":
		return decode[RunEvent](line)
	case "inner":
		return decode[InnerEvent](line)
	case "epoch":
		return decode[EpochEvent](line)
	case "spectrum":
		return decode[SpectrumEvent](line)
	case "switch":
		return decode[SwitchEvent](line)
	case "setting":
		return decode[SettingEvent](line)
	case "diverged":
		return decode[DivergedEvent](line)
	case "slice":
		return decode[SliceEvent](line)
	case "weights":
		return decode[WeightsEvent](line)
	case "errors":
		return decode[ErrorsEvent](line)
	case "rewind":
		return decode[RewindEvent](line)
	case "race":
		return decode[RaceEvent](line)
	case "lap":
		return decode[LapEvent](line)
	case "resume":
		return decode[ResumeEvent](line)
	case "saved":
		return decode[SavedEvent](line)
	case "done":
		return decode[DoneEvent](line)
	case "console":
		return decode[ConsoleEvent](line)
	case "":
		return nil, fmt.Errorf("expected a JSON object with a type")
	}
	return nil, nil
}

func decode[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("a %s event: %w", e.EventType(), err)
	}
	return e, nil
}

// SettingsText writes the hyperparameters that the run began with, in the order of their names.
func (r *RunEvent) SettingsText() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		text := fmt.Sprint(r.Settings[key])
		if v, ok := r.Settings[key].(float64); ok {
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		parts = append(parts, key+"="+text)
	}
	return strings.Join(parts, " ")
}
