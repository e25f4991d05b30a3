package umbridge

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestVectorsComeBack(t *testing.T) {
	want := []float64{0, 1, -1, 1e6, 1e21, 0.1, math.Pi, 5e-324, math.MaxFloat64, math.Copysign(0, -1)}
	var got []float64
	if err := json.Unmarshal(appendVector(nil, want), &got); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Errorf("%v comes back as %v", want[i], got[i])
		}
	}
}

// What is JSON stays the same JSON, but for numbers that 64 bits don't hold; and whatever comes is an answer or an error.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		`{"output": [[1.5, nan, -inf, null]]}`, `{"output": [np.float64(0.5), array([1., 2.])]}`, `{"error": {"type": "InvalidInput", "message": "a\"b"}}`,
		`{"protocolVersion": 1.0, "models": ["nan", "a(b)"]}`, `[1e999, -0, 1E+2, true, "\\"`, `"\`, `nan(`, `{"output": [[0x1p-2, 1_0, 1e]]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		strict := toJSON(text)
		var vectors struct {
			Output [][]number `json:"output"`
		}
		_ = read("/Evaluate", 200, text, &vectors)
		want, err := decode(text)
		if err != nil {
			return
		}
		got, err := decode(strict)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, strict, err)
		}
		var all any
		if json.Unmarshal(text, &all) == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q becomes %q", text, strict)
		}
		if again := toJSON(strict); !bytes.Equal(again, strict) {
			t.Fatalf("%q, and at the second time %q", strict, again)
		}
	})
}

// decode keeps the texts of numbers.
func decode(text []byte) (v any, err error) {
	if !json.Valid(text) {
		return nil, json.Unmarshal(text, &v)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
