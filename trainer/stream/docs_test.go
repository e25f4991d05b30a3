package stream

import (
	"bytes"
	"context"
	"encoding/json"
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

	"newtop/internal/python"
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

// The programs of docs/events.md print what is shown: the one with newtop.py its lines, the other one events.
func TestDocumentedProgramsAreWatched(t *testing.T) {
	programs := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(readDoc(t), -1)
	if len(programs) != 2 {
		t.Fatalf("%d programs in the document: expected 2", len(programs))
	}
	for _, p := range programs {
		if lines := strings.Count(strings.ReplaceAll(p[1], "\n\n", "\n"), "\n"); lines > 15 {
			t.Errorf("a program has %d lines:\n%s", lines, p[1])
		}
	}
	t.Run("with newtop.py", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "newtop.py"), []byte(python.Module()), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(runPython(t, programs[0][1], "PYTHONPATH="+dir, "NEWTOP_LOG=", "RANK=0"))), "\n")
		if len(lines) != 22 {
			t.Fatalf("%d lines", len(lines))
		}
		var first, last struct {
			Step int
			Loss float64
			Grad float64 `json:"grad_norm"`
		}
		if err := errors.Join(json.Unmarshal([]byte(lines[1]), &first), json.Unmarshal([]byte(lines[20]), &last)); err != nil {
			t.Fatal(err)
		}
		if first.Step != 1 || last.Step != 20 || !(last.Loss < first.Loss/2) || !(last.Grad > 0) {
			t.Errorf("from %+v to %+v", first, last)
		}
	})
	t.Run("without", func(t *testing.T) {
		s := Lines(bytes.NewReader(runPython(t, programs[1][1])), "-")
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

// runPython returns what a program prints. It skips the test where there is no Python that can run it.
func runPython(t *testing.T, code string, environ ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		cmd := exec.CommandContext(ctx, name, "-c", code)
		cmd.Env = append(os.Environ(), environ...)
		out, err := cmd.Output()
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
