package event

import "testing"

func TestWith(t *testing.T) {
	first, late := UnknownEpoch(3), UnknownEpoch(3)
	first.Loss, first.Seconds, first.Elapsed = 2, 0.5, 10
	first.Metrics = []Metric{{Key: "a", Value: 1}, {Key: "b", Value: 2}}
	late.TestLoss, late.Seconds, late.Elapsed = 3, 7, 17
	late.Metrics = []Metric{{Key: "c", Value: 5}, {Key: "b", Value: 4}, {Key: "a", Value: Absent}}
	e := first.With(&late)
	if e.Epoch != 3 || e.Loss != 2 || e.TestLoss != 3 || e.Seconds != 0.5 || e.Elapsed != 17 || !e.Rate.Absent() {
		t.Errorf("%+v", e)
	}
	if len(e.Metrics) != 3 || e.Metrics[0].Value != 1 || e.Metrics[1].Value != 4 || e.Metrics[2].Value != 5 || first.Metrics[1].Value != 2 {
		t.Errorf("figures %+v of %+v", e.Metrics, first.Metrics)
	}
}
