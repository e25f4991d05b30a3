package analysis

import (
	"slices"
	"strings"
	"testing"

	"newtop/models"
	"newtop/trainer/event"
)

func TestSparseWeightsThatAreShown(t *testing.T) {
	b := models.Block{Offset: 1, Rows: 2, Cols: 3, Sources: models.NewSources([][]int{{2, 0}, {1}})}
	got := dense(&b, []float64{9, 1, 2, 3, 9})
	want := []event.Float{1, event.Absent, 2, event.Absent, 3, event.Absent}
	if !slices.EqualFunc(got, want, func(a, b event.Float) bool { return a == b || a != a && b != b }) {
		t.Errorf("%v, want %v", got, want)
	}
	line, err := event.EncodeEvent(event.WeightsEvent{Values: got})
	if err != nil || !strings.Contains(string(line), `[1,null,2,null,3,null]`) {
		t.Errorf("%s, %v", line, err)
	}
}
