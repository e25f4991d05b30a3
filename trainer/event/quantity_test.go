package event

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// TestQuantities: the table has every number of an epoch, each once, by the key that JSON has, and Of finds it.
func TestQuantities(t *testing.T) {
	var e EpochEvent
	v := reflect.ValueOf(&e).Elem()
	floats := map[*Float]string{}
	for i := range v.NumField() {
		if p, ok := v.Field(i).Addr().Interface().(*Float); ok {
			floats[p] = v.Type().Field(i).Tag.Get("json")
		}
	}
	columns := map[string]bool{}
	for q := range QuantityCount {
		info := q.Info()
		if key, ok := floats[q.Of(&e)]; !ok || key != info.Key {
			t.Errorf("%s stands where JSON has %q", info.Key, key)
		}
		delete(floats, q.Of(&e))
		if info.Name == "" || info.Column != "" && columns[info.Column] {
			t.Errorf("%s: %+v", info.Key, info)
		}
		columns[info.Column] = true
	}
	for _, key := range floats {
		t.Errorf("%s is no quantity", key)
	}
}

// TestMeasure: what a run is judged by, with and without classes, test rows and a word of its own.
func TestMeasure(t *testing.T) {
	epochs := []EpochEvent{
		{Epoch: 0, Error: 0.01, TestError: 0.9, RMSE: 1, TestRMSE: 2}, {Epoch: 1, Error: 0.01, TestError: Absent, RMSE: 0.4, TestRMSE: Absent},
		{Epoch: 2, Error: 0.02, TestError: 0.3, RMSE: 0.5, TestRMSE: 0.8}, {Epoch: 3, Error: 0.02, TestError: 0.3, RMSE: 0.5, TestRMSE: Float(math.Inf(-1))},
	}
	for i := range epochs {
		e := &epochs[i]
		e.ValidationLoss, e.ValidationError, e.ValidationRMSE = Absent, Absent, Absent
	}
	without := func(what ...Quantity) []EpochEvent {
		out := slices.Clone(epochs)
		for i := range out {
			for _, q := range what {
				*q.Of(&out[i]) = Absent
			}
		}
		return out
	}
	own := func(classes, test int) *RunEvent {
		return &RunEvent{Data: DataInfo{Classes: classes, TestRows: test}, Model: ModelInfo{Layers: []int{2, 1}}}
	}
	untested := without(TestError, TestRMSE, TestLoss)
	for _, c := range []struct {
		run   *RunEvent
		of    []EpochEvent
		want  Quantity
		best  int
		level float64
		reach int // −1: never
	}{
		{own(3, 10), epochs, TestError, 2, 0.5, 2},
		{own(3, 0), epochs, Error, 0, 0.001, -1},
		{own(0, 10), epochs, TestRMSE, 2, 1, 2},
		{own(0, 0), epochs, RMSE, 1, 0.5, 1},
		{nil, epochs, TestError, 2, 0.9, 0},
		{&RunEvent{}, untested, Error, 0, 0.01, 0},
		{&RunEvent{}, without(Error, TestError), TestRMSE, 2, 1, 2},
		{&RunEvent{}, without(Error, TestError, RMSE, TestRMSE, TestLoss), Loss, 0, 0, 0},
	} {
		m := MeasureOf(c.run, c.of)
		if m.Quantity != c.want {
			t.Errorf("the measure is %q, not %q", m.Info().Name, c.want.Info().Name)
		}
		if got := m.Best(c.of); got == nil || got.Epoch != c.best {
			t.Errorf("%s: the best is %v, not epoch %d", m.Info().Name, got, c.best)
		}
		if got := m.Reach(c.of, c.level); (got == nil) != (c.reach < 0) || got != nil && got.Epoch != c.reach {
			t.Errorf("%s: %g is reached at %v, not %d", m.Info().Name, c.level, got, c.reach)
		}
	}
	if m := MeasureOf(nil, nil); m.Best(nil) != nil || m.Reach(nil, 1) != nil {
		t.Error("a run without epochs has a best one")
	}
}
