package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"newtop/trainer/event"
)

func readDoc(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// The programs of docs/events.md print what is shown.
func TestDocumentedProgramsAreWatched(t *testing.T) {
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(readDoc(t), -1)
	if len(programs) != 2 {
		t.Fatalf("%d programs in the document: expected 2", len(programs))
	}
	for i, name := range []string{"with PyTorch", "without"} {
		t.Run(name, func(t *testing.T) {
			code := programs[i][1]
			if lines := strings.Count(strings.ReplaceAll(code, "\n\n", "\n"), "\n"); lines > 15 {
				t.Errorf("the program has %d lines", lines)
			}
			out := runPython(t, code)
			s := JSONLines(bytes.NewReader(out), "-")
			defer s.Close()
			var events []event.Event
			for {
				e, err := s.Next(t.Context())
				if err == io.EOF {
					break
				}
				if err != nil && !errors.Is(err, ErrNone) {
					t.Fatal(err)
				}
				if err == nil {
					events = append(events, e)
				}
			}
			if len(events) != 21 || s.(warner).Warning() != "" {
				t.Fatalf("%d events, %s", len(events), s.(warner).Warning())
			}
			first, last := events[0].(event.EpochEvent), events[19].(event.EpochEvent)
			if first.Epoch != 1 || last.Epoch != 20 || !(last.Loss < first.Loss/2) {
				t.Errorf("from %+v to %+v", first, last)
			}
			if done, ok := events[20].(event.DoneEvent); !ok || done.Reason != event.ReasonEpochs || done.Epochs != 20 {
				t.Errorf("ends with %+v", events[20])
			}
		})
	}
}

// runPython returns what a program prints. It skips the test where there is no Python that can run it.
func runPython(t *testing.T, code string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		out, err := exec.CommandContext(ctx, name, "-c", code).Output()
		var failed *exec.ExitError
		switch {
		case err == nil:
			return out
		case errors.As(err, &failed) && !strings.Contains(string(failed.Stderr), "ModuleNotFoundError"):
			t.Fatalf("%v: %s", err, failed.Stderr)
		}
	}
	t.Skip("there is no Python 3 that has what the program imports")
	return nil
}

// Every field of every event stands in the document.
func TestEventsAreDocumented(t *testing.T) {
	doc := readDoc(t)
	var check func(of string, typ reflect.Type)
	check = func(of string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("%s of the %s event is not in docs/events.md", name, of)
			}
			if typ.Field(i).Type != reflect.TypeFor[event.EpochEvent]() {
				check(of, typ.Field(i).Type)
			}
		}
	}
	for _, e := range []event.Event{
		event.RunEvent{}, event.InnerEvent{}, event.EpochEvent{}, event.SpectrumEvent{}, event.SwitchEvent{}, event.SettingEvent{}, event.DivergedEvent{}, event.DoneEvent{},
		event.SliceEvent{}, event.WeightsEvent{}, event.ErrorsEvent{}, event.RewindEvent{}, event.RaceEvent{}, event.LapEvent{}, event.ResumeEvent{}, event.SavedEvent{},
	} {
		if !strings.Contains(doc, "`"+e.EventType()+"`") {
			t.Errorf("the %s event is not in docs/events.md", e.EventType())
		}
		check(e.EventType(), reflect.TypeOf(e))
	}
}
