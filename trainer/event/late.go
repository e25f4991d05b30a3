package event

import "slices"

// With returns the epoch with what a later event of the same epoch tells: values that it has take the place of older
// ones. The seconds of the epoch stay those of the first event that told them. The receiver is untouched.
func (e *EpochEvent) With(late *EpochEvent) EpochEvent {
	out := *e
	for q := range QuantityCount {
		if f := *q.Of(late); !f.Absent() && (q != Seconds || e.Seconds.Absent()) {
			*q.Of(&out) = f
		}
	}
	out.Figures = slices.Clone(e.Figures)
	for _, f := range late.Figures {
		if f.Value.Absent() {
			continue
		}
		at := slices.IndexFunc(out.Figures, func(old Figure) bool { return old.Key == f.Key })
		if at < 0 {
			out.Figures = append(out.Figures, f)
		} else {
			out.Figures[at] = f
		}
	}
	return out
}
