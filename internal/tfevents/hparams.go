package tfevents

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
)

// Status is what became of a run whose hyperparameters are reported.
type Status uint8

// The statuses (tensorboard/plugins/hparams/api.proto).
const (
	Unknown Status = iota
	Success
	Failure
	Running
)

// Session is what a run says of itself when it begins, or when it ends.
type Session struct {
	Hparams map[string]any // float64, string or bool; nil at the end
	Group   string         // which runs with the same hyperparameters share
	Began   float64        // seconds since 1970; 0: not told
	Status  Status         // at the end
	Ended   float64        // seconds since 1970; 0: not told
}

// placeholder is the tag of the metric that Lightning writes with the hyperparameters, as -1, when it knows of none.
const placeholder = "hp_metric"

// session reads an HParamsPluginData:
//
//	HParamsPluginData  3 session_start_info · 4 session_end_info
//	SessionStartInfo   1 hparams, a map · 4 group_name · 5 start_time_secs double
//	SessionEndInfo     1 status · 2 end_time_secs double
//
// It reports false where that is about neither the beginning nor the end.
func session(data []byte) (s Session, ok bool, err error) {
	err = protobuf.Fields(data, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case n == 3 && b != nil:
			ok = true
			if s.Hparams == nil {
				s.Hparams = make(map[string]any)
			}
			return s.start(b)
		case n == 4 && b != nil:
			ok = true
			return s.end(b)
		}
		return nil
	})
	return s, ok, err
}

func (s *Session) start(data []byte) error {
	return protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch {
		case n == 1 && b != nil:
			return s.hparam(b)
		case n == 4 && b != nil:
			s.Group = string(b)
		case n == 5 && b == nil:
			s.Began = math.Float64frombits(v)
		}
		return nil
	})
}

func (s *Session) end(data []byte) error {
	return protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch {
		case n == 1 && b == nil && v <= uint64(Running):
			s.Status = Status(v)
		case n == 2 && b == nil:
			s.Ended = math.Float64frombits(v)
		}
		return nil
	})
}

// hparam reads an entry of the map: 1 key · 2 Value {2 number double · 3 string · 4 bool}.
func (s *Session) hparam(entry []byte) error {
	var key string
	var value any
	err := protobuf.Fields(entry, func(n protowire.Number, _ uint64, b []byte) error {
		switch {
		case n == 1 && b != nil:
			key = string(b)
		case n == 2 && b != nil:
			return protobuf.Fields(b, func(n protowire.Number, v uint64, b []byte) error {
				switch {
				case n == 2 && b == nil:
					value = math.Float64frombits(v)
				case n == 3 && b != nil:
					value = string(b)
				case n == 4 && b == nil:
					value = v != 0
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && value != nil {
		s.Hparams[key] = value
	}
	return err
}
