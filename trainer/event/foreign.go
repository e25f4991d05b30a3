package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// DecodeForeign reads the event of a program that may know less than newtop: metrics that it does not have are Absent
// instead of 0, so that nothing draws them, and a step that is not said to be refused was accepted. NaN, Infinity and
// -Infinity, which Python's json prints and JSON does not have, are read as what is not finite. What newtop wrote
// itself reads as DecodeEvent reads it. Of line nothing is kept.
func DecodeForeign(line []byte) (Event, error) {
	if e, ok := scanQuick(line); ok {
		return e, nil
	}
	return decodeForeign(line)
}

// decodeForeign is the slow way for every line, and what the quick way has to agree with.
func decodeForeign(line []byte) (Event, error) {
	line = withoutNaN(line)
	var header struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return nil, fmt.Errorf("expected a JSON object with a type: %w", misfit(err))
	}
	var e Event
	var err error
	switch header.Type {
	case "epoch":
		v := unknownEpoch
		err = json.Unmarshal(line, &foreignEpoch{EpochEvent: &v, Inner: (*foreignInner)(&v.Inner)})
		e = v
	case "inner":
		v := unknownInner
		err = json.Unmarshal(line, &v)
		e = v
	case "done":
		v := unknownDone
		err = json.Unmarshal(line, &v)
		e = v
	case "lap":
		v := LapEvent{Lap: unknownEpoch}
		lap := foreignEpoch{EpochEvent: &v.Lap, Inner: (*foreignInner)(&v.Lap.Inner)}
		err = json.Unmarshal(line, &struct {
			*LapEvent
			Lap *foreignEpoch `json:"lap"`
		}{&v, &lap})
		e = v
	default:
		e, err = DecodeEvent(line)
	}
	if err != nil {
		return nil, misfit(err)
	}
	return e, nil
}

// misfit says which field of an event is of the wrong type, without the names that it has here.
func misfit(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) || mismatch.Field == "" {
		return err
	}
	path := strings.Split(mismatch.Field, ".")
	return fmt.Errorf("wrong %s: %s", path[len(path)-1], mismatch.Value)
}

// Events of which no figure is known.
var (
	unknownEpoch   = unknown(EpochEvent{Accepted: true})
	unknownInner   = unknown(InnerEvent{})
	unknownDone    = unknown(DoneEvent{})
	unknownSummary = unknown(InnerSummary{})
)

// UnknownSummary is an inner solve of which nothing is known.
func UnknownSummary() InnerSummary { return unknownSummary }

// unknown makes every Float of a struct Absent.
func unknown[T any](v T) T {
	s := reflect.ValueOf(&v).Elem()
	for i := range s.NumField() {
		if s.Field(i).Type() == reflect.TypeFor[Float]() {
			s.Field(i).SetFloat(float64(Absent))
		}
	}
	return v
}

type foreignEpoch struct {
	*EpochEvent
	Inner *foreignInner `json:"inner"`
}

// foreignInner reads summaries of which metrics may be missing.
type foreignInner []InnerSummary

func (f *foreignInner) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil || parts == nil {
		return err
	}
	*f = make(foreignInner, len(parts))
	for i, part := range parts {
		(*f)[i] = unknownSummary
		if err := json.Unmarshal(part, &(*f)[i]); err != nil {
			return err
		}
	}
	return nil
}

// withoutNaN returns the line with NaN, Infinity and -Infinity outside of strings replaced by the words in quotes.
func withoutNaN(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line
	}
	var out []byte
	quoted := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(line):
			out = append(out, c)
			i++
			c = line[i]
		case !quoted:
			if n := notFinite(line[i:]); n > 0 {
				out = append(append(append(out, '"'), line[i:i+n]...), '"')
				i += n - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// notFinite returns the length of the word for a number that is not finite at the beginning of text, or 0.
func notFinite(text []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// UnknownEpoch returns an epoch of which no figure is known: each is Absent.
func UnknownEpoch(epoch int) EpochEvent {
	e := unknownEpoch
	e.Epoch = epoch
	return e
}

// UnknownDone returns the end of a run of which no figure is known.
func UnknownDone() DoneEvent { return unknownDone }
