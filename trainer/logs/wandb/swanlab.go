package wandb

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
	"newtop/trainer/logs"
)

// The fields of SwanLab's records that are read (protos/swanlab):
//
//	Record        10 start · 11 finish · 13 scalar · 16 log
//	StartRecord   4 name · 10 id · 12 started_at {1 seconds · 2 nanos}
//	ScalarRecord  1 key · 2 step · 4 timestamp · 5 value {1 number}
//	LogRecord     1 line
//	FinishRecord  1 state (1 finished, 2 crashed, 3 aborted by the user) · 2 error
func readSwanLab(r *reader, record []byte) error {
	return protobuf.Fields(record, func(n protowire.Number, _ uint64, b []byte) error {
		if b == nil {
			return nil
		}
		switch n {
		case 10:
			return swanStarted(r, b)
		case 11:
			return swanFinished(r, b)
		case 13:
			return swanScalar(r, b)
		case 16:
			return protobuf.Fields(b, func(n protowire.Number, _ uint64, b []byte) error {
				if n == 1 {
					r.line(clean(b))
				}
				return nil
			})
		}
		return nil
	})
}

// scalars are those of one step that came one after the other: a row that may get more.
type scalars struct {
	pending    bool
	at         float64 // the step
	first      string  // the first key
	systemwide bool    // whether the row tells of the machine
}

// systemKey is how the keys of what SwanLab measures of the machine begin.
const systemKey = "__swanlab__."

func swanScalar(r *reader, data []byte) error {
	var key string
	var step, v float64
	reported, wall := false, math.NaN()
	err := protobuf.Fields(data, func(n protowire.Number, u uint64, b []byte) (err error) {
		switch n {
		case 1:
			key = r.label(b)
		case 2:
			step = float64(int64(u))
		case 4:
			wall, err = since1970(b)
		case 5:
			reported = true
			err = protobuf.Fields(b, func(n protowire.Number, u uint64, _ []byte) error {
				if n == 1 {
					v = math.Float64frombits(u)
				}
				return nil
			})
		}
		return err
	})
	if err != nil || !reported || key == "" {
		return err
	}
	name, system := strings.CutPrefix(key, systemKey)
	if r.pending && (step != r.at || system != r.systemwide || key == r.first) {
		flushScalars(r)
	}
	if !r.pending {
		r.row.Clear()
		r.row.Set("_timestamp", wall)
		r.pending, r.at, r.first, r.systemwide = true, step, key, system
	}
	if system {
		r.row.Add(systemLabel(name), v)
	} else {
		r.row.Set(key, v)
		r.row.Step = step
	}
	return nil
}

// flushScalars gives the scalars that are held back for others of their step.
func flushScalars(r *reader) {
	if r.pending {
		r.pending = false
		r.give()
	}
}

func swanStarted(r *reader, data []byte) error {
	r.news = true
	var name, id string
	err := protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case b == nil:
		case n == 4:
			name = clean(b)
		case n == 10:
			id = clean(b)
		case n == 12:
			return r.began(b)
		}
		return nil
	})
	if name == "" {
		name = id
	}
	r.info.Name = name
	return err
}

func swanFinished(r *reader, data []byte) error {
	state, message := uint64(0), ""
	err := protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			state = v
		case 2:
			message = clean(b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch state {
	case 1:
		r.ended, r.state, r.message = true, logs.Finished, message
	case 2:
		r.ended, r.state, r.message = true, logs.Failed, message
	case 3:
		r.ended, r.state, r.message = true, logs.Stopped, message
	}
	return nil
}
