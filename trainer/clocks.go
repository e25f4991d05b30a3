package trainer

import (
	"time"

	"newtop/trainer/optim"
)

// clocks say how long a run has taken.
type clocks struct {
	training stopwatch // inside Method.Step, pauses and analyses left out
	active   stopwatch // everything but pauses
	spectra  stopwatch
}

func (c *clocks) archive(k *optim.Archive) {
	for _, w := range []struct {
		key string
		*stopwatch
	}{{"training", &c.training}, {"active", &c.active}, {"looking", &c.spectra}} {
		spent := int(w.elapsed())
		k.Count(w.key, &spent, optim.MaxCount)
		if k.Restoring() {
			*w.stopwatch = stopwatch{total: time.Duration(spent)}
		}
	}
}

// stopwatch adds up the time between starts and stops.
type stopwatch struct {
	since   time.Duration // by the clock that stands while the process is stopped
	total   time.Duration
	running bool
}

func (w *stopwatch) start() {
	if !w.running {
		w.since, w.running = awake.now(), true
	}
}

func (w *stopwatch) stop() {
	if w.running {
		w.total += awake.now() - w.since
		w.running = false
	}
}

func (w *stopwatch) elapsed() time.Duration {
	if w.running {
		return w.total + awake.now() - w.since
	}
	return w.total
}

func (w *stopwatch) seconds() float64 { return w.elapsed().Seconds() }
