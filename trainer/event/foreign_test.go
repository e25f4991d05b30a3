package event

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func isNaN(f Float) bool { return math.IsNaN(float64(f)) }

func TestForeignFiguresThatAreMissing(t *testing.T) {
	decoded := func(line string) Event {
		t.Helper()
		e, err := DecodeForeign([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return e
	}
	e := decoded(`{"type":"epoch","epoch":3,"loss":0.25}`).(EpochEvent)
	if e.Epoch != 3 || e.Loss != 0.25 || !e.Accepted {
		t.Errorf("read as %+v", e)
	}
	for i, v := 0, reflect.ValueOf(e); i < v.NumField(); i++ {
		if f, ok := v.Field(i).Interface().(Float); ok && v.Type().Field(i).Name != "Loss" && !isNaN(f) {
			t.Errorf("%s is %v: expected NaN, as it is missing", v.Type().Field(i).Name, f)
		}
	}
	e = decoded(`{"type":"epoch","epoch":3,"accepted":false,"inner":[{"iterations":4,"stop":"boundary"},{"residual":0.5}],"figures":[{"key":"a","value":2}]}`).(EpochEvent)
	if e.Accepted || len(e.Inner) != 2 || e.Inner[0].Iterations != 4 || !isNaN(e.Inner[0].Residual) || e.Inner[1].Residual != 0.5 || e.Metrics[0].Value != 2 {
		t.Errorf("read as %+v", e)
	}
	if i := decoded(`{"type":"inner","iteration":2,"residual":1}`).(InnerEvent); i.Iteration != 2 || i.Residual != 1 || !isNaN(i.Radius) {
		t.Errorf("read as %+v", i)
	}
	if d := decoded(`{"type":"done","reason":"epochs","epochs":4}`).(DoneEvent); d.Epochs != 4 || !isNaN(d.TestError) || !isNaN(d.Elapsed) {
		t.Errorf("read as %+v", d)
	}
	if l := decoded(`{"type":"lap","racer":1,"lap":{"epoch":2,"inner":[{"block":1}]}}`).(LapEvent); l.Racer != 1 || l.Lap.Epoch != 2 || !isNaN(l.Lap.Loss) || !isNaN(l.Lap.Inner[0].Residual) {
		t.Errorf("read as %+v", l)
	}
	// Python's json prints what JSON does not have.
	e = decoded(`{"type":"epoch","epoch":1,"loss":NaN,"test_loss":Infinity,"error":-Infinity,"optimizer":"NaN \"Infinity"}`).(EpochEvent)
	if !e.Loss.NonFinite() || !e.TestLoss.NonFinite() || !e.Error.NonFinite() || !e.RMSE.Absent() || e.Optimizer != `NaN "Infinity` {
		t.Errorf("read as %+v", e)
	}
}

// What newtop wrote is read as it reads it itself.
func TestForeignReadsWhatNewtopWrites(t *testing.T) {
	for _, e := range []Event{
		InnerEvent{Epoch: 3, Iteration: 12, Residual: 0.25, Model: -1e-9},
		EpochEvent{Epoch: 3, Loss: 0.1, Accepted: true, Inner: []InnerSummary{{Iterations: 31, Stop: 2, Ritz: []Float{-1, 2}}}, Blocks: []BlockNorms{{To: 1, Weight: 3}}},
		EpochEvent{Epoch: 4, Optimizer: "adam", Rate: 1e-3},
		LapEvent{Racer: 2, Lap: EpochEvent{Epoch: 1, Loss: 2, Inner: []InnerSummary{{Iterations: 1, Stop: 3}}}},
		DoneEvent{Reason: ReasonTarget, Epochs: 4, Message: "m"},
		SettingEvent{Epoch: 9, Key: "radius", Value: 2.0},
		RaceEvent{State: "begun", Racers: []Racer{{Name: "a"}}},
	} {
		line, err := EncodeEvent(e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeForeign(line)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as %#v (%v)", line, back, err)
		}
	}
}

func FuzzDecodeForeign(f *testing.F) {
	for _, line := range []string{
		`{"type":"epoch","epoch":3,"loss":0.25,"test_loss":1e-3,"accepted":true,"optimizer":"adam","elapsed":null}`,
		` { "type" : "epoch" , "epoch" : -0 , "lr" : 3, "note":"x y", "ok":false, "none":null} `,
		`{"type":"inner","epoch":3,"block":1,"member":0,"iteration":2,"residual":1,"step_norm":2,"radius":3,"curvature":-4,"model":5}`,
		`{"type":"epoch","epoch":1.0}`, `{"type":"epoch","Loss":1}`, `{"type":"epoch","type":"run"}`, `{"type":"epoch","loss":1e999}`,
		`{"type":"epoch","loss":01}`, `{"type":"epoch","loss":1.}`, `{"type":"epoch","epoch":99999999999999999999}`, `{"type":"epoch"}x`,
		`{"type":"epoch","loss":NaN,"a":Infinity,"b":"NaN"}`, `{"type":"epoch","inner":null,"figures":[{"key":"a","value":1}]}`,
		`{"type":"epoch","loss":nullx}`, `{"type":"epoch",}`, `{"type":"done"}`, `{"type":"epoch","epoch":null,"accepted":null,"optimizer":null}`,
		`{"type":"epoch","inner":[{"block":1,"iterations":3,"stop":"boundary","ritz":[1,null],"preconditioned":true,"lanczos_steps":2,"multiplier":0.5,"steihaug_share":null}, {}],"blocks":[],"figures":[{"key":"λ","value":2}]}`,
		`{"type":"epoch","inner":[],"inner":[{"block":2}]}`, `{"type":"epoch","blocks":[{"to":1},null]}`, `{"type":"epoch","inner":[{"stop":"bored"}]}`,
		`{"type":"epoch","members":[{"seed":1}],"gates":[{"a":1}]}`, `{"type":"epoch","inner":[{"ritz":[]}],"figures":[{"key":"a","key":"b"}]}`,
		`{"type":"lap","lap":null}`, `{"type":"lap","lap":{"inner":null}}`, `{"type":"epoch","loss":"1"}`, `{"type":"epoch","":1}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		quick, ok := scanQuick(line)
		slow, err := decodeForeign(line)
		if !ok {
			return
		}
		// NaN differs from itself, but not when it is printed; −0 and 0 do.
		if err != nil || fmt.Sprintf("%#v", quick) != fmt.Sprintf("%#v", slow) {
			t.Fatalf("%s was read as %#v: expected %#v (%v)", line, quick, slow, err)
		}
	})
}

func TestQuickLinesAreQuick(t *testing.T) {
	for _, line := range []string{
		`{"type":"epoch","epoch":3,"loss":0.25,"test_loss":0.5}`,
		`{"type": "epoch", "epoch": 3, "loss": NaN, "lr": 0.1}`,
		`{"type":"inner","epoch":3,"block":0,"iteration":2,"residual":1}`,
	} {
		if _, ok := scanQuick([]byte(line)); !ok {
			t.Errorf("%s takes the slow way", line)
		}
	}
}

func BenchmarkDecodeForeign(b *testing.B) {
	own, err := EncodeEvent(EpochEvent{Epoch: 3, Loss: 0.1234567, Inner: []InnerSummary{{Iterations: 31, Stop: 2}}, Blocks: make([]BlockNorms, 3)})
	if err != nil {
		b.Fatal(err)
	}
	for name, line := range map[string][]byte{
		"flat":          []byte(`{"type":"epoch","epoch":123456,"loss":0.0123456789,"test_loss":0.0234567891}`),
		"encoding/json": []byte(strings.Replace(`{"type":"epoch","epoch":123456,"loss":0.0123456789,"test_loss":0.0234567891}`, `"epoch":`, `"Epoch":`, 1)),
		"own":           own,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, err := DecodeForeign(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWithoutNaNLeavesJSONAlone(t *testing.T) {
	for _, text := range []string{`{"a":"NaN","b\"NaN":"\\","c":1}`, `[]`} {
		if got := withoutNaN([]byte(text)); string(got) != text || !json.Valid(got) {
			t.Errorf("%s became %s", text, got)
		}
	}
}
