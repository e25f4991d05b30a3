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
	for _, e := range []Event{RunEvent{}, InnerEvent{}, EpochEvent{}, SpectrumEvent{}, SwitchEvent{}, SettingEvent{}, DivergedEvent{}, SliceEvent{},
		WeightsEvent{}, ErrorsEvent{}, RewindEvent{}, RaceEvent{}, LapEvent{}, ResumeEvent{}, SavedEvent{}, DoneEvent{}, ConsoleEvent{}} {
		m[e.EventType()] = true
	}
	return m
}()

// IsType reports whether there are events of a name.
func IsType(name string) bool { return types[name] }

// DecodeEvent reads what EncodeEvent writes. Unknown fields are ignored; an unknown type gives
// (nil, nil), so that readers skip what they do not know.
func DecodeEvent(line []byte) (Event, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("expected a JSON object with a type: %w", err)
	}
	switch head.Type {
	case "run":
		return decode[RunEvent](line)
	case "inner":
		return decode[InnerEvent](line)
	case "epoch":
		return decode[EpochEvent](line)
	case "spectrum":
		return decode[SpectrumEvent](line)
	case "switch":
		return decode[SwitchEvent](line)
	case "setting":
		return decode[SettingEvent](line)
	case "diverged":
		return decode[DivergedEvent](line)
	case "slice":
		return decode[SliceEvent](line)
	case "weights":
		return decode[WeightsEvent](line)
	case "errors":
		return decode[ErrorsEvent](line)
	case "rewind":
		return decode[RewindEvent](line)
	case "race":
		return decode[RaceEvent](line)
	case "lap":
		return decode[LapEvent](line)
	case "resume":
		return decode[ResumeEvent](line)
	case "saved":
		return decode[SavedEvent](line)
	case "done":
		return decode[DoneEvent](line)
	case "console":
		return decode[ConsoleEvent](line)
	case "":
		return nil, fmt.Errorf("expected a JSON object with a type")
	}
	return nil, nil
}

func decode[E Event](line []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, fmt.Errorf("a %s event: %w", e.EventType(), err)
	}
	return e, nil
}
