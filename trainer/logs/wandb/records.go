package wandb

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// The fields of W&B's records that are read (wandb/proto/wandb_internal.proto):
//
//	Record           2 history · 3 summary · 4 output · 5 config · 7 stats · 12 metric · 13 output_raw · 17 run ·
//	                 18 exit · 26 environment
//	HistoryRecord    1 item, repeated · 2 step {1 num}
//	SummaryRecord    1 update, repeated
//	HistoryItem, SummaryItem, ConfigItem, StatsItem      1 key, or 2 nested_key, repeated · 16 value_json
//	ConfigRecord     1 update, repeated · 2 remove, repeated
//	StatsRecord      2 timestamp {1 seconds · 2 nanos} · 3 item, repeated
//	MetricRecord     1 name · 2 glob_name · 4 step_metric
//	OutputRecord, OutputRawRecord           1 output_type (0 stderr, 1 stdout) · 3 line
//	RunRecord        1 run_id · 4 config · 6 run_group · 8 display_name · 10 tags, repeated · 17 start_time
//	RunExitRecord    1 exit_code
func (r *reader) wandb(record []byte) error {
	return protobuf.Fields(record, func(n protowire.Number, _ uint64, b []byte) error {
		if b == nil {
			return nil
		}
		switch n {
		case 2:
			return r.history(b)
		case 3:
			return r.summarized(b)
		case 4, 13:
			return r.printed(b)
		case 5:
			return r.configured(b)
		case 7:
			return r.stats(b)
		case 12:
			return r.defined(b)
		case 17:
			return r.run(b)
		case 18:
			return r.exit(b)
		case 26:
			return readEnvironment(r, b)
		}
		return nil
	})
}

// stats gives what W&B measured of the machine. Its keys, as gpu.0.temp and disk./home.usageGB, get slashes.
func (r *reader) stats(data []byte) error {
	r.row.Clear()
	err := protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case n == 2 && b != nil:
			s, err := since1970(b)
			r.row.Set("_timestamp", s)
			return err
		case n == 3 && b != nil:
			label, value, err := r.item(b)
			label = systemLabel(label)
			if v, ok := number(value); ok {
				r.row.Add(label, v)
			} else {
				r.nested(label, value)
			}
			return err
		}
		return nil
	})
	if err == nil {
		r.give()
	}
	return err
}

func systemLabel(key string) string {
	parts := strings.FieldsFunc(key, func(c rune) bool { return c == '.' || c == '/' })
	return "system/" + strings.Join(parts, "/")
}

func (r *reader) configured(data []byte) error {
	r.news = true
	return protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		if b == nil || n > 2 {
			return nil
		}
		label, value, err := r.item(b)
		if n == 2 {
			delete(r.config, label)
		} else {
			r.configure(label, value)
		}
		return err
	})
}

// summarized keeps what the program wrote to the run's summary and not to its history, whose newest values W&B repeats
// there.
func (r *reader) summarized(data []byte) error {
	return protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		if n != 1 || b == nil {
			return nil
		}
		known := len(r.labels)
		label, value, err := r.item(b)
		if label == "" || label[0] == '_' || len(r.labels) == known && !r.inSummary[label] {
			return err
		}
		if r.inSummary == nil {
			r.inSummary = map[string]bool{}
		}
		r.inSummary[label], r.news = true, true
		r.configure("summary/"+label, value)
		return err
	})
}

// configure keeps a hyperparameter, or those of an object.
func (r *reader) configure(label string, value []byte) {
	const widths, most = 100, 64 << 10 // of a list, as of layers; of an object
	if label == "" || label[0] == '_' || len(r.config) >= maxConfig || len(value) > most {
		return
	}
	switch v, _, _ := jsontext.Decode(value); v := v.(type) {
	case nil:
	case jsontext.Object:
		v.Flatten(label+"/", r.config)
	case jsontext.List:
		if len(v) <= widths {
			r.config[label] = clean(v)
		}
	case string:
		r.config[label] = clean([]byte(v))
	default:
		r.config[label] = v
	}
}

func (r *reader) run(data []byte) error {
	r.news = true
	var id, name, group string
	var tags []string
	err := protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case b == nil:
		case n == 1:
			id = clean(b)
		case n == 4:
			return r.configured(b)
		case n == 6:
			group = clean(b)
		case n == 8:
			name = clean(b)
		case n == 10:
			tags = append(tags, clean(b))
		case n == 17:
			return r.began(b)
		}
		return nil
	})
	if name == "" {
		name = id
	}
	for key, v := range map[string]string{"group": group, "tags": strings.Join(tags, " ")} {
		if _, known := r.config[key]; v != "" && !known {
			r.config[key] = v
		}
	}
	r.info.Name = name
	return err
}

// environmentNames are the fields of an EnvironmentRecord that are kept.
var environmentNames = map[protowire.Number]string{1: "os", 2: "python", 5: "args", 6: "program", 12: "host",
	14: "executable", 16: "cpu_count", 18: "gpu", 19: "gpu_count", 25: "cuda"}

// readEnvironment keeps where the program runs.
func readEnvironment(r *reader, data []byte) error {
	return protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		name, wanted := environmentNames[n]
		key := "environment/" + name
		switch before, some := r.config[key].(string); {
		case !wanted || len(r.config) >= maxConfig:
			return nil
		case b == nil:
			r.config[key] = float64(v)
		case some && n == 5: // one of several arguments
			r.config[key] = before + " " + clean(b)
		default:
			r.config[key] = clean(b)
		}
		r.news = true
		return nil
	})
}

// ctrlC is the exit code that W&B writes for a run whose user interrupted it (wandb/sdk/lib/exit_hooks.py).
const ctrlC = 255

func (r *reader) exit(data []byte) error {
	code := int32(0)
	err := protobuf.Fields(data, func(n protowire.Number, v uint64, _ []byte) error {
		if n == 1 {
			code = int32(v)
		}
		return nil
	})
	switch {
	case err != nil:
	case code == ctrlC:
		r.ended, r.state, r.message = true, logs.Stopped, ""
	case code == 0:
		r.ended, r.state, r.message = true, logs.Finished, ""
	default:
		r.ended, r.state, r.message = true, logs.Failed, fmt.Sprintf("exit code %d", code)
	}
	return err
}

func (r *reader) printed(data []byte) error {
	kind, text := 0, []byte(nil)
	err := protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			kind = int(v & 1)
		case 3:
			text = b
		}
		return nil
	})
	r.pieces[kind].write(text, r.line)
	return err
}
