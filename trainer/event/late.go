package event

import "slices"

// With returns the epoch with what a later event of the same epoch reports: values that it has take the place of older
// ones. The seconds of the epoch stay those of the first event that told them. The receiver is untouched.
func (e *EpochEvent) With(late *EpochEvent) EpochEvent {
	out := *e
	for q := range QuantityCount {
		if f := *q.Of(late); !f.Absent() && (q != Seconds || e.Seconds.Absent()) {
			*q.Of(&out) = f
		}
	}
	out.Metrics = slices.Clone(e.Metrics)
	for _, f := range late.Metrics {
		if f.Value.Absent() {
			continue
		}
		if f.Late() { // a cut takes the place of an older value away before
			out.Metrics = append(out.Metrics, f)
			continue
		}
		at := slices.IndexFunc(out.Metrics, func(old Metric) bool { return old.Key == f.Key && !old.Late() })
		if at < 0 {
			out.Metrics = append(out.Metrics, f)
		} else {
			out.Metrics[at] = f
		}
	}
	return out
}
