package history

import (
	"math"
	"slices"
	"time"

	"newtop/trainer/event"
	"newtop/tui/chart"
)

// Regression reports whether the run's rows are judged by root mean squares and not by error fractions.
func (h *History) Regression() bool { return h.Run != nil && h.Measure.Train() != event.Error }

// Over reports whether the run has ended.
func (h *History) Over() bool { return h.Done != nil || h.Status.Phase == event.Ended }

// Primary is the setting that + and − scale, nil if there is none.
func (h *History) Primary() *event.Setting {
	for i := range h.Status.Settings {
		if s := &h.Status.Settings[i]; s.Primary {
			return s
		}
	}
	return nil
}

// Steering is what a method is steered by, and so what tells how it is doing.
type Steering uint8

const (
	ByRadius  Steering = iota // a trust region
	ByRate                    // a learning rate
	ByFigures                 // numbers of its own
)

// Steering tells it from what + and − scale, and where nothing can be scaled from the newest epoch.
func (h *History) Steering() Steering {
	s := h.Primary()
	switch {
	case s != nil && s.Key == "radius":
		return ByRadius
	case s != nil && s.Key == "rate":
		return ByRate
	case s != nil:
		return ByFigures
	case h.Latest.Epoch == 0 && !h.External() || h.Epochs > 0 && !h.Latest.Radius.Absent():
		return ByRadius
	case h.Epochs > 0 && !h.Latest.Rate.Absent():
		return ByRate
	}
	return ByFigures
}

// Watched reports whether the run is trained elsewhere, or was: nobody answers what it does not tell.
func (h *History) Watched() bool { return h.Status.Replay != nil }

// Offline reports whether a question would have no answer: the run is over for good, or only its record is here.
func (h *History) Offline() bool { return h.Over() && !h.Status.Held || h.Watched() }

// Loading is how much of a record has been read, and whether more is being read.
func (h *History) Loading() (share float64, ok bool) {
	r := h.Status.Replay
	if r == nil || !reading(r) {
		return 0, false
	}
	return r.Loading, true
}

func reading(r *event.Replay) bool { return r != nil && r.Loading > 0 && r.Loading < 1 }

// External reports whether the run is told by another program, which may tell little.
func (h *History) External() bool { return h.Run != nil && h.Run.External() }

// Elsewhere reports whether newtop trains a model that another program has, whose layers and rows are not known.
func (h *History) Elsewhere() bool { return h.Run != nil && h.Run.Model.Program != "" }

// Lacks reports whether the model has not what an optimizer needs.
func (h *History) Lacks(optimizer string) bool {
	return h.Run != nil && slices.Contains(h.Run.Model.Lacks, optimizer)
}

// Awaited reports whether a run is watched for that has not begun.
func (h *History) Awaited() bool {
	r := h.Status.Replay
	return h.Run == nil && r != nil && r.Loading == 1
}

// MetricsOnly reports whether the run is told by its figures alone, and by spectra at most.
func (h *History) MetricsOnly() bool {
	return h.Awaited() || h.External() && len(h.Solves.Bars) == 0 && len(h.Steps.Solves) == 0
}

// HasVerdict reports whether an epoch says anything about its step: other programs do not.
func (h *History) HasVerdict(e *event.EpochEvent) bool {
	return e.Epoch > 0 && (!h.External() || !e.Rho.Absent())
}

// Missing reports whether another program tells no values of a curve at all.
func (h *History) Missing(s *chart.Series) bool {
	return (h.External() || h.Elsewhere()) && s.Untold() && h.Diverged == nil
}

// Heard notes when the newest epoch came, for runs that tell no times.
func (h *History) Heard(now time.Time) {
	if _, loading := h.Loading(); loading || h.Status.Epoch == 0 {
		h.came = pace{}
		return
	}
	if n := len(h.came.at); n == 0 || h.came.at[n-1].epoch != float64(h.Status.Epoch) {
		h.came.add(h.Status.Epoch, float64(now.UnixNano())/1e9)
	}
}

// Remaining estimates the seconds to the epoch limit from the epochs of late; NaN without a limit, where no pace is
// known, or when the run is over or nobody goes on with it.
func (h *History) Remaining() float64 {
	s := &h.Status
	if s.EpochLimit == 0 || s.Epoch == 0 || s.Phase == event.Ended || h.Over() || s.Replay != nil &&
		s.Replay.Stale != "" {
		return math.NaN()
	}
	each := h.trained.each()
	if math.IsNaN(each) && s.Elapsed > 0 {
		each = s.Elapsed / float64(s.Epoch)
	}
	if math.IsNaN(each) {
		each = h.came.each()
	}
	return each * float64(max(s.EpochLimit-s.Epoch, 0))
}
