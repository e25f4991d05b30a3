package trajectory

import (
	"time"

	"newtop/trainer/optim"
)

// Clocks say how long a run has taken.
type Clocks struct {
	Training stopwatch // inside Method.Step, pauses and analyses left out
	Active   stopwatch // everything but pauses
	Spectra  stopwatch
}

// Archive carries how long the run has taken.
func (c *Clocks) Archive(k *optim.Archive) {
	for _, w := range []struct {
		key string
		*stopwatch
	}{{"training", &c.Training}, {"active", &c.Active}, {"looking", &c.Spectra}} {
		spent := int(w.Elapsed())
		k.Count(w.key, &spent, optim.MaxCount)
		if k.Restoring() {
			*w.stopwatch = stopwatch{Total: time.Duration(spent)}
		}
	}
}

// stopwatch adds up the time between starts and stops.
type stopwatch struct {
	since   time.Duration // by the clock that stands while the process is stopped
	Total   time.Duration
	Running bool
}

func (w *stopwatch) Start() {
	if !w.Running {
		w.since, w.Running = Awake.Now(), true
	}
}

func (w *stopwatch) Stop() {
	if w.Running {
		w.Total += Awake.Now() - w.since
		w.Running = false
	}
}

func (w *stopwatch) Elapsed() time.Duration {
	if w.Running {
		return w.Total + Awake.Now() - w.since
	}
	return w.Total
}

func (w *stopwatch) Seconds() float64 { return w.Elapsed().Seconds() }
