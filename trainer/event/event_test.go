package event

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"newtop/trainer/krylov"
)

func TestEventsSurviveJSON(t *testing.T) {
	for _, e := range []Event{
		RunEvent{Version: 1, ID: "x", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Data:      DataInfo{Name: "letter", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
			Model:     ModelInfo{Layers: []int{16, 70, 50, 26}, Activations: []string{"tanh", "tanh", "tanh"}, Loss: "mse", Connections: []ConnectionInfo{{1, 0, 1120}}, Parameters: 6066},
			Optimizer: "tr-gn", Settings: map[string]any{"radius": 1.5, "boundary": "segment"}, Seed: 1},
		InnerEvent{Epoch: 3, Iteration: 12, Residual: 0.25, StepNorm: 1, Radius: 2, Curvature: -0.5, Model: -1e-9},
		EpochEvent{Epoch: 3, Loss: 0.1, Accepted: true, Inner: []InnerSummary{{Iterations: 31, Stop: krylov.Boundary, Ritz: []Float{-1, 2}}},
			Blocks: []BlockNorms{{To: 1, Weight: 3}}},
		SpectrumEvent{Epoch: 3, Method: "lanczos", Operator: "hessian", Eigenvalues: []Float{3, -1}, Residuals: []Float{0, 1e-9}, Rows: 10, Products: 4},
		SliceEvent{Epoch: 3, Optimizer: "lm", At: []Float{0, 1}, Loss: []Float{0, -2}, GaussNewton: []Float{0, -3}, Quadratic: []Float{0, -1}, StepNorm: 1, Rho: 0.5},
		WeightsEvent{Epoch: 3, To: 1, Rows: 1, Cols: 2, Values: []Float{1, -2}, Height: 1, Width: 2},
		ErrorsEvent{Epoch: 3, Train: true, Classes: []string{"a", "b"}, Confusion: [][]int{{1, 2}, {0, 4}}, Worst: []WorstRow{{Row: 1, Loss: 2, Output: 1, Inputs: []Float{3}}}},
		ErrorsEvent{Residuals: [][]Float{{1, -2}}, Worst: []WorstRow{{Target: -1, Output: -1, Targets: []Float{1}, Outputs: []Float{2}, Inputs: []Float{3}}}},
		SwitchEvent{Epoch: 9, From: "tr-gn", To: "adam"},
		SettingEvent{Epoch: 9, Key: "radius", Value: 2.0},
		DivergedEvent{Epoch: 9, Reason: "the loss is not finite"},
		DoneEvent{Reason: ReasonTarget, Epochs: 4, Message: "m"},
	} {
		line, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"type":"` + e.EventType() + `",`; !strings.HasPrefix(string(line), want) {
			t.Errorf("%s: expected it to begin with %s", line, want)
		}
		back, err := DecodeEvent(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !reflect.DeepEqual(back, e) {
			t.Errorf("%#v came back as %#v", e, back)
		}
	}
}

// TestLanczosStepsOfASolve: what is not there is not written, and what is not written is not there, whoever reads; λ =
// 0 is.
func TestLanczosStepsOfASolve(t *testing.T) {
	with := InnerSummary{Iterations: 9, Stop: krylov.Boundary, LanczosSteps: 2, Multiplier: 0, SteihaugShare: 0.5}
	without := InnerSummary{Iterations: 7, Stop: krylov.Residual, Multiplier: Absent, SteihaugShare: Absent}
	line, err := EncodeEvent(EpochEvent{Inner: []InnerSummary{with, without}})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(line), `"lanczos_steps":2,"multiplier":0,"steihaug_share":0.5}`); n != 1 || strings.Count(string(line), "multiplier") != 1 {
		t.Errorf("written as %s", line)
	}
	for name, read := range map[string]func([]byte) (Event, error){"own": DecodeEvent, "foreign": DecodeForeign, "foreign, the slow way": decodeForeign} {
		e, err := read(line)
		if err != nil {
			t.Fatal(err)
		}
		in := e.(EpochEvent).Inner
		if !reflect.DeepEqual(in[0], with) || in[1].LanczosSteps != 0 || !in[1].Multiplier.Absent() || !in[1].SteihaugShare.Absent() {
			t.Errorf("%s: read as %+v", name, in)
		}
	}
}

// The lines are those that the design promises to other programs.
func TestDesignedLinesAreRead(t *testing.T) {
	e, err := DecodeEvent([]byte(`{"type":"epoch","epoch":3,"loss":0.5,"error":0.031,"test_error":0.058,"accepted":true,
		"inner":[{"block":0,"iterations":31,"stop":"boundary","residual":0.1,"ritz":[1,2]}],"gradient_equivalents":12.5,"unheard_of":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	epoch := e.(EpochEvent)
	if epoch.TestError != 0.058 || epoch.Inner[0].Stop != krylov.Boundary || epoch.GradientEquivalents != 12.5 {
		t.Errorf("read as %+v", epoch)
	}
	if e, err := DecodeEvent([]byte(`{"type":"weather","sun":true}`)); e != nil || err != nil {
		t.Errorf("an unknown type gave %v, %v: expected to be skipped", e, err)
	}
	for _, bad := range []string{``, `{`, `[]`, `{}`, `{"type":3}`, `{"type":"epoch","epoch":"three"}`, `{"type":"epoch","inner":[{"stop":"bored"}]}`} {
		if _, err := DecodeEvent([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestFloatsThatJSONCannotHold(t *testing.T) {
	for _, c := range []struct {
		v    Float
		want string
	}{{Absent, `null`}, {NotFinite, `"NaN"`}, {ValueOf(math.NaN()), `"NaN"`}, {Float(math.Inf(1) - math.Inf(1)), `"NaN"`}, {Float(math.Inf(1)), `"Infinity"`}, {Float(math.Inf(-1)), `"-Infinity"`}} {
		line, err := EncodeEvent(EpochEvent{Loss: c.v})
		if err != nil || !strings.Contains(string(line), `"loss":`+c.want+`,`) {
			t.Errorf("%v became %s (%v)", c.v, line, err)
		}
		e, err := DecodeEvent(line)
		if err != nil || e.(EpochEvent).Loss.Absent() != c.v.Absent() || e.(EpochEvent).Loss.NonFinite() != c.v.NonFinite() {
			t.Errorf("%s came back as %v (%v)", line, e, err)
		}
	}
	if zero := Float(0); (zero / zero).Absent() || !(zero / zero).NonFinite() {
		t.Error("what a division made is taken for absent")
	}
	var e EpochEvent
	if err := json.Unmarshal([]byte(`{"loss":null,"radius":1e300}`), &e); err != nil || !math.IsNaN(float64(e.Loss)) || e.Radius != 1e300 {
		t.Errorf("read %v, %v (%v)", e.Loss, e.Radius, err)
	}
	for _, v := range []float64{0, 1, -1.5, 0.1, 1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		text, _ := json.Marshal(Float(v))
		var back Float
		if err := json.Unmarshal(text, &back); err != nil || float64(back) != v {
			t.Errorf("%v came back as %v from %s (%v)", v, back, text, err)
		}
	}
}

// TestShapes writes what a model is made of.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		m    ModelInfo
		want string
	}{
		{ModelInfo{}, ""},
		{ModelInfo{Layers: []int{16, 70, 26}}, "16-70-26"},
		{ModelInfo{Layers: []int{16, 12, 10, 12, 10, 10}, Experts: 2}, "2 × 16-12-10"},
		{ModelInfo{Blocks: make([]BlockInfo, 1)}, "1 tensor"},
		{ModelInfo{Blocks: make([]BlockInfo, 14)}, "14 tensors"},
	} {
		if got := c.m.Shape(); got != c.want {
			t.Errorf("%+v is %q, expected %q", c.m, got, c.want)
		}
	}
	for _, c := range []struct {
		shape   []int
		text    string
		weights int
	}{{nil, "1", 1}, {[]int{64}, "64", 64}, {[]int{64, 1, 3, 3}, "64×1×3×3", 576}, {[]int{5, 0}, "5×0", 0}} {
		if b := (BlockInfo{Shape: c.shape}); b.ShapeText() != c.text || b.Weights() != c.weights {
			t.Errorf("%v is %s of %d weights, expected %s of %d", c.shape, b.ShapeText(), b.Weights(), c.text, c.weights)
		}
	}
}
