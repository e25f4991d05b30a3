package event

import (
	"reflect"
	"testing"
)

// Scores come back from JSON, and what a program leaves out is Absent.
func TestScoresInJSON(t *testing.T) {
	e := UnknownDone()
	e.Scores = []Scores{UnknownScores(), UnknownScores()}
	e.Scores[0].Split, e.Scores[0].Rows, e.Scores[0].RMSE = "test", 7, 52.5
	e.Scores[1].Log = NotFinite
	line, err := EncodeEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, decode := range []func([]byte) (Event, error){DecodeEvent, DecodeForeign} {
		got, err := decode(line)
		if err != nil || !sameBits(got.(DoneEvent).Scores, e.Scores) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	got, err := DecodeForeign([]byte(`{"type":"done","scores":[{"rows":3,"mae":2}]}`))
	if s := got.(DoneEvent).Scores; err != nil || len(s) != 1 || s[0].MAE != 2 || !s[0].Error.Absent() || !s[0].R2.Absent() {
		t.Errorf("%+v, %v", got, err)
	}
}

// sameBits compares scores, of which absent ones equal absent ones.
func sameBits(a, b []Scores) bool {
	for i := range min(len(a), len(b)) {
		x, y := reflect.ValueOf(a[i]), reflect.ValueOf(b[i])
		for k := range x.NumField() {
			f, ok := x.Field(k).Interface().(Float)
			if g, _ := y.Field(k).Interface().(Float); ok && f.Absent() && g.Absent() || ok && f.NonFinite() && g.NonFinite() {
				continue
			}
			if x.Field(k).Interface() != y.Field(k).Interface() {
				return false
			}
		}
	}
	return len(a) == len(b)
}
