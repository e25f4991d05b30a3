package wandb

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// rowState is the position of a row of the history.
type rowState struct {
	step, runtime, timestamp float64
	media                    media // what is no number, but has some that describe it
	// What the program counts as steps, for all its metrics, where it says so, and what that was last. W&B's own steps
	// count the calls of log.
	stepKey  string
	lastStep float64
	// What some of its metrics are counted by, as define_metric says.
	axes   []axis
	axisOf map[string]string  // by a metric's label; empty: none of its own
	lastOf map[string]float64 // of an axis
	apart  logs.Row
}

// axis says what metrics are counted by.
type axis struct {
	metrics string // a label, or with * behind it how labels begin
	step    string
}

func (r *reader) history(data []byte) error {
	r.row.Clear()
	r.step, r.runtime, r.timestamp, r.media = math.NaN(), math.NaN(), math.NaN(), r.media[:0]
	num := math.NaN()
	err := protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case n == 1 && b != nil:
			label, value, err := r.item(b)
			r.measured(label, value)
			return err
		case n == 2 && b != nil:
			num = 0
			return protobuf.Fields(b, func(n protowire.Number, v uint64, _ []byte) error {
				if n == 1 {
					num = float64(int64(v))
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.row.Set("_runtime", r.runtime)
	r.row.Set("_timestamp", r.timestamp)
	switch {
	case r.stepKey != "":
		r.row.Step = r.lastStep
	case r.step >= 0:
		r.row.Step = r.step
	case num >= 0:
		r.row.Step = num
	}
	r.media.give(r.path.Dir().Join("files"), &r.row, r.to)
	if len(r.media) > 0 {
		r.row.Values = slices.DeleteFunc(r.row.Values, func(v logs.Value) bool { return r.media.of(v.Key) })
	}
	r.giveApart()
	r.give()
	return nil
}

// giveApart gives the values that have an axis of their own at their places on it, and takes them out of the row.
func (r *reader) giveApart() {
	if len(r.axes) == 0 {
		return
	}
	for _, a := range r.axes {
		x := r.lastOf[a.step]
		if math.IsNaN(x) {
			continue
		}
		r.apart.Clear()
		r.apart.Step, r.apart.Wall, r.apart.Elapsed = x, r.row.Wall, r.row.Elapsed
		r.row.Values = slices.DeleteFunc(r.row.Values, func(v logs.Value) bool {
			if r.axisFor(v.Key) != a.step {
				return false
			}
			r.apart.Add(v.Key, v.V)
			return true
		})
		if len(r.apart.Values) > 0 {
			r.reportInfo()
			r.to.Row(&r.apart)
			r.rows++
		}
	}
}

// axisFor returns the label of what a metric is counted by, empty for W&B's own steps. A name counts more than a
// pattern, and of several the newest.
func (r *reader) axisFor(label string) string {
	if step, known := r.axisOf[label]; known {
		return step
	}
	step := ""
	for i := len(r.axes) - 1; i >= 0 && label != step; i-- {
		a := r.axes[i]
		if begin, pattern := strings.CutSuffix(a.metrics, "*"); a.metrics == label {
			step = a.step
			break
		} else if pattern && step == "" && strings.HasPrefix(label, begin) {
			step = a.step
		}
	}
	if step == label {
		step = ""
	}
	if r.axisOf[label] = step; step != "" && r.info.Axes[label] != step {
		if r.info.Axes == nil {
			r.info.Axes = map[string]string{}
		}
		r.info.Axes[label], r.news = step, true
	}
	return step
}

// item returns the key and the value of an item; nested keys are joined by slashes.
func (r *reader) item(data []byte) (label string, value []byte, err error) {
	r.key = r.key[:0]
	err = protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case (n == 1 || n == 2) && len(b) > 0:
			if len(r.key) > 0 {
				r.key = append(r.key, '/')
			}
			r.key = append(r.key, b...)
		case n == 16:
			value = b
		}
		return nil
	})
	return r.label(r.key), value, err
}

// label returns the text of a key, which most records share with others.
func (r *reader) label(key []byte) string {
	if label, ok := r.labels[string(key)]; ok {
		return label
	}
	label := clean(key)
	if len(r.labels) < maxLabels {
		r.labels[string(key)] = label
	}
	return label
}

// measured puts an item of the history into the row.
func (r *reader) measured(label string, value []byte) {
	v, ok := number(value)
	_, counts := r.lastOf[label]
	if counts && ok {
		r.lastOf[label] = v
	}
	switch {
	case counts && ok && logs.AxisOf(label[strings.LastIndexByte(label, '/')+1:]) != logs.Metric: // x, and no metric
	case bytes.HasPrefix(value, []byte(`"`)), bytes.HasPrefix(value, []byte("[")):
		r.media.note(label, value)
	case label == "", !ok && !bytes.HasPrefix(value, []byte("{")):
	case label == "_step":
		r.step = v
	case label == "_runtime":
		r.runtime = v
	case label == "_timestamp":
		r.timestamp = v
	case label[0] == '_':
	case label == r.stepKey && ok:
		r.lastStep = v
	case ok:
		if r.inSummary[label] { // W&B repeats it
			delete(r.inSummary, label)
			delete(r.config, "summary/"+label)
		}
		r.row.Set(label, v)
	default:
		r.nested(label, value)
	}
}

// nested puts the numbers of an object into the row, unless it is a picture or the like.
func (r *reader) nested(label string, value []byte) {
	v, _, _ := jsontext.Decode(value)
	if object, ok := v.(jsontext.Object); ok {
		object.Numbers(label+"/", func(key string, v float64) { r.row.Add(r.label([]byte(key)), v) })
	}
}

// defined reads by which metric the program counts its steps, or those of some of its metrics.
func (r *reader) defined(data []byte) error {
	var a axis
	err := protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch n {
		case 1, 2:
			if len(b) > 0 {
				a.metrics = r.label(b)
			}
		case 4:
			a.step = r.label(b)
		}
		return nil
	})
	counts := logs.AxisOf(a.step)
	switch {
	case err != nil || a.step == "" || a.step[0] == '_':
	case a.metrics != "*":
		if len(r.axes) < maxConfig && !slices.Contains(r.axes, a) {
			r.axes = append(r.axes, a)
			r.axisOf = map[string]string{}
			if r.lastOf == nil {
				r.lastOf = map[string]float64{}
			}
			if _, known := r.lastOf[a.step]; !known {
				r.lastOf[a.step] = math.NaN()
			}
		}
	case counts == logs.Steps || counts == logs.Metric:
		r.stepKey, r.lastStep = a.step, math.NaN()
	}
	return err
}
