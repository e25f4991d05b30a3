package event

import "unsafe"

// Size estimates how many bytes of memory an event takes, of most kinds those alone that differ from one event to
// another.
func Size(e Event) int {
	const float = 8
	switch e := e.(type) {
	case EpochEvent:
		n := int(unsafe.Sizeof(e)) + sizes(e.Inner) + sizes(e.Blocks) + sizes(e.Metrics) + sizes(e.Members) +
			sizes(e.Gates)
		for i := range e.Inner {
			n += float * len(e.Inner[i].Ritz)
		}
		if p := e.Preconditioner; p != nil {
			n += sizes(p.Factors)
			for i := range p.Factors {
				n += float * len(p.Factors[i].Eigenvalues)
			}
		}
		return n
	case SpectrumEvent:
		n := len(e.Eigenvalues) + len(e.Residuals)
		if d := e.Density; d != nil {
			n += len(d.Grid) + len(d.Values) + len(d.Errors)
		}
		return float * n
	case ConsoleEvent:
		return len(e.Text)
	case MachineEvent:
		return sizes(e.Metrics)
	case LapEvent:
		return Size(e.Lap)
	case SliceEvent:
		return 4 * float * len(e.At)
	case WeightsEvent:
		return float * len(e.Values)
	case ErrorsEvent:
		n := len(e.Confusion) * len(e.Confusion)
		for _, r := range e.Residuals {
			n += len(r)
		}
		for i := range e.Worst {
			n += len(e.Worst[i].Inputs)
		}
		return float * n
	}
	return 0
}

// sizes is how many bytes a list's elements have.
func sizes[T any](list []T) int {
	var e T
	return len(list) * int(unsafe.Sizeof(e))
}
