package logs

import (
	"math"
	"strings"
)

// Axis is what a column counts, if it is no metric.
type Axis uint8

// The axes.
const (
	Metric  Axis = iota
	Steps        // updates: goes to Row.Step
	Epochs       // Row.Epoch
	Wall         // seconds or milliseconds since 1970: Row.Wall
	Elapsed      // seconds since the run began: Row.Elapsed
	Ignored      // neither a metric nor a place, as a version
)

var axes = map[string]Axis{
	"step": Steps, "steps": Steps, "global_step": Steps, "_step": Steps, "trainer/global_step": Steps, "iter": Steps,
	"iters":     Steps,
	"iteration": Steps, "iterations": Steps, "it": Steps, "n_iter": Steps, "batch": Steps, "update": Steps,
	"num_updates": Steps,
	"total_steps": Steps, "train/global_step": Steps, "round": Steps, "tree": Steps,
	"epoch": Epochs, "_epoch": Epochs, "epochs": Epochs, "train/epoch": Epochs, "ep": Epochs,
	"_timestamp": Wall, "timestamp": Wall, "wall_time": Wall, "walltime": Wall, "ts": Wall, "datetime": Wall,
	"date":     Wall,
	"_runtime": Elapsed, "elapsed": Elapsed, "elapsed_time": Elapsed, "time_elapsed": Elapsed, "time": Elapsed,
	"runtime": Elapsed, "seconds_elapsed": Elapsed, "passed_time": Elapsed, "remaining_time": Ignored,
	"v_num": Ignored, "_wandb": Ignored,
}

// AxisOf says what a key counts. Case and surrounding blanks do not matter.
func AxisOf(key string) Axis {
	if a, ok := axes[key]; ok {
		return a
	}
	return axes[strings.ToLower(strings.TrimSpace(key))]
}

// sinceEpoch is the least number that is taken for a time of day and not for a span: 2001 in seconds.
const sinceEpoch = 1e9

// Set puts a number where its key says: to a coordinate, or to the values.
func (r *Row) Set(key string, v float64) { r.SetAs(AxisOf(key), key, v) }

// SetAs is Set for a key of which AxisOf is known: readers of millions of rows ask once a key.
func (r *Row) SetAs(a Axis, key string, v float64) {
	if (a == Wall || a == Elapsed) && !(math.Abs(v) < math.MaxFloat64) {
		return
	}
	switch {
	case a == Ignored:
	case a == Steps && v >= 0 && v < 1<<53:
		r.Step = v
	case a == Epochs && v >= 0 && v < 1<<53:
		r.Epoch = v
	case a == Wall, a == Elapsed && v >= sinceEpoch:
		r.Wall = seconds(v)
	case a == Elapsed:
		r.Elapsed = v
	default:
		r.Add(key, v)
	}
}

// seconds makes seconds of a time of day in seconds, milli-, micro- or nanoseconds.
func seconds(v float64) float64 {
	for v > 1e11 {
		v /= 1000
	}
	return v
}
