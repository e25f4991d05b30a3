package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// EncodeEvent returns the event's JSON object on one line, "type" first, without a line end.
func EncodeEvent(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("trainer: encoding a %s event: %w", e.EventType(), err)
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"type":%q`, e.EventType())
	if !bytes.Equal(body, []byte("{}")) {
		line.WriteByte(',')
	}
	line.Write(body[1:])
	return line.Bytes(), nil
}

// types are the names of the events.
var types = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range []Event{RunEvent{}, InnerEvent{}, EpochEvent{}, SpectrumEvent{}, SwitchEvent{}, SettingEvent{},
		DivergedEvent{}, SliceEvent{},
		WeightsEvent{}, ErrorsEvent{}, RewindEvent{}, CutEvent{}, RaceEvent{}, LapEvent{}, ResumeEvent{},
		SavedEvent{}, DoneEvent{}, ConsoleEvent{}, MachineEvent{}} {
		m[e.EventType()] = true
	}
	return m
}()

// IsType reports whether there are events of a name.
func IsType(name string) bool { return types[name] }

// DecodeEvent reads what EncodeEvent writes. Unknown fields are ignored; an unknown type gives
// (nil, nil), so that readers skip what they do not know.
func DecodeEvent(line []byte) (Event, error) {
	var header struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &header); err != nil {
		return nil, fmt.Errorf("expected a JSON object with a type: %w", err)
	}
	switch header.Type {
	case "run":
		return decode(line, RunEvent{})
	case "inner":
		return decode(line, InnerEvent{})
	case "epoch":
		return decode(line, unknownEpoch)
	case "spectrum":
		return decode(line, SpectrumEvent{})
	case "switch":
		return decode(line, SwitchEvent{})
	case "setting":
		return decode(line, SettingEvent{})
	case "diverged":
		return decode(line, DivergedEvent{})
	case "slice":
		return decode(line, SliceEvent{})
	case "weights":
		return decode(line, WeightsEvent{})
	case "errors":
		return decode(line, ErrorsEvent{})
	case "rewind":
		return decode(line, RewindEvent{})
	case "cut":
		return decode(line, CutEvent{})
	case "race":
		return decode(line, RaceEvent{})
	case "lap":
		return decode(line, LapEvent{Lap: unknownEpoch})
	case "resume":
		return decode(line, ResumeEvent{})
	case "saved":
		return decode(line, SavedEvent{})
	case "done":
		return decode(line, unknownDone)
	case "console":
		return decode(line, ConsoleEvent{})
	case "machine":
		return decode(line, MachineEvent{})
	case "":
		return nil, fmt.Errorf("expected a JSON object with a type")
	}
	return nil, nil
}

// decode reads an event, of which e is what a line leaves out: an earlier version knew fewer numbers.
func decode[E Event](line []byte, e E) (Event, error) {
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("a %s event: %w", e.EventType(), err)
	}
	return e, nil
}
