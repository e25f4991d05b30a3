package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/launch"
	"newtop/internal/format/formattest"
	"newtop/internal/nightly"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// harmless runs a command and fails where a terminal would act on what it prints, or a line is not its own; where the
// last is a matter of the format, table is true.
func harmless(t *testing.T, table bool, args ...string) (out, errs string, code int) {
	t.Helper()
	out, errs, code = newtop(args...)
	if table {
		out = strings.ReplaceAll(out, "\n"+formattest.Forged, "\n")
	}
	for stream, text := range map[string]string{"output": "\n" + out, "messages": "\n" + errs} {
		if place := formattest.Acts(text, false); place != "" {
			t.Errorf("newtop %.80q: %s: %s", strings.Join(args, " "), stream, place)
		}
	}
	if code == 70 {
		t.Errorf("newtop %.80q: %s", strings.Join(args, " "), errs)
	}
	return out, errs, code
}

// hostileEvents is a run of one event of every kind, all of whose texts a terminal would act on.
func hostileEvents() (list []event.Event) {
	add := func(e event.Event) { list = append(list, e) }
	run := filled[event.RunEvent]()
	run.Version, run.Epochs, run.Model.Layers, run.Model.Activations = 1, 5, []int{1, 1}, run.Model.Activations[:1]
	add(run)
	start := filled[event.EpochEvent]()
	start.Epoch, start.Inner = 0, nil
	add(start)
	add(filled[event.InnerEvent]())
	add(filled[event.EpochEvent]())
	add(filled[event.SpectrumEvent]())
	add(filled[event.SwitchEvent]())
	add(filled[event.SettingEvent]())
	add(filled[event.SliceEvent]())
	add(filled[event.WeightsEvent]())
	add(filled[event.ErrorsEvent]())
	add(filled[event.RaceEvent]())
	add(filled[event.LapEvent]())
	add(filled[event.ResumeEvent]())
	add(filled[event.SavedEvent]())
	add(filled[event.DivergedEvent]())
	done := filled[event.DoneEvent]()
	done.Reason = event.ReasonStalled
	add(done)
	return list
}

func filled[E any]() (e E) {
	formattest.Fill(&e, formattest.All())
	return e
}

// What another program says in its events acts on no terminal.
func TestHostileEventsWatched(t *testing.T) {
	var file bytes.Buffer
	lines := trainer.NewJSONLines(&file)
	for _, e := range hostileEvents() {
		if err := lines.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	file.WriteString("no event \x1b[2J\u202e\n")
	path := write(t, "run.jsonl", file.String())
	out, _, code := harmless(t, false, "watch", path, "--format", "text")
	if code != 0 || strings.Count(out, "\n") < 4 {
		t.Errorf("exit %d\n%s", code, out)
	}
	out, _, _ = harmless(t, false, "watch", path, "--format", "jsonl")
	for line := range strings.Lines(out) {
		e, err := event.DecodeEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(formattest.All(), "\ufffd")
		if saved, ok := e.(event.SavedEvent); ok && strings.ReplaceAll(saved.File, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Errorf("the escapes of JSON mean %q", saved.File)
		}
	}
}

// What a database of strangers' holds acts on no terminal.
func TestHostileRecords(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	s, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"20260101-000000-aaaaaa", "20260101-000000-bbbbbb"} {
		about := filled[recorder.About]()
		about.Exclusive, about.Config.Epochs = false, 5
		r := recorder.New(s, about)
		for _, e := range hostileEvents() {
			if run, ok := e.(event.RunEvent); ok {
				run.ID = id
				e = run
			}
			if err := r.Record(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	at := []string{"--record", path}
	for _, c := range []struct {
		args string
		code int
	}{
		{"runs", 0}, {"runs list --format json", 0}, {"runs list --format csv", 0}, {"runs show aaaaaa", 0}, {"runs show aaaaaa --format json", 0}, {"runs show nosuch", 64},
		{"runs compare aaaaaa bbbbbb --format text", 0}, {"runs compare aaaaaa bbbbbb --format json", 0}, {"runs export aaaaaa", 0}, {"runs export aaaaaa --format jsonl", 0},
		{"runs plot aaaaaa -o " + dir + "/run.svg", 0}, {"runs export aaaaaa --format onnx -o " + dir + "/run.onnx", 1}, {"resume aaaaaa --format text", 64}, {"watch aaaaaa --format text", 0},
		{"runs rename aaaaaa a\u202eb", 64}, {"runs merge " + path, 1}, {cobra.ShellCompRequestCmd + " runs show a", 0}, {"runs rm aaaaaa --yes", 0},
	} {
		args := strings.Fields(c.args)
		if args[0] == cobra.ShellCompRequestCmd {
			args = append(args[:len(args)-1:len(args)-1], append(slices.Clone(at), "a")...)
		} else {
			args = append(args, at...)
		}
		out, errs, code := harmless(t, strings.Contains(c.args, "csv") || strings.HasSuffix(c.args, "export aaaaaa"), args...)
		if code != c.code {
			t.Errorf("%s: exit %d\n%s%s", c.args, code, out, errs)
		}
	}
	if exported, err := os.ReadFile(filepath.Join(dir, "run.svg")); err != nil || len(exported) == 0 {
		t.Error("no figure was written:", err)
	}
}

// What the header, the fields and the name of a table say acts on no terminal.
func TestHostileTable(t *testing.T) {
	t.Chdir(t.TempDir())
	quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	var b strings.Builder
	b.WriteString(quoted(formattest.All()+" x") + ",y," + quoted(formattest.All()) + "\n")
	for i := range 60 {
		b.WriteString(string(rune('0'+i%10)) + "," + string(rune('0'+i%7)) + "," + quoted(string(rune('A'+i%2))+formattest.All()) + "\n")
	}
	name := strings.NewReplacer("/", "", "\x00", "").Replace(formattest.All())
	name = strings.ToValidUTF8(name[:150], "") + ".csv"
	for _, file := range []string{"data.csv", name} {
		if err := os.WriteFile(file, []byte(strings.ToValidUTF8(b.String(), "?")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := harmless(t, false, "data", "show", file); code != 0 {
			t.Fatalf("%q: exit %d: %s", file, code, errs)
		}
		if _, errs, code := harmless(t, false, "train", "--data", file, "--net", "2", "--epochs", "1", "--save", "m.safetensors", "--record", "runs.db"); code != 0 {
			t.Fatalf("%q: exit %d: %s", file, code, errs)
		}
	}
	for _, format := range []string{"csv", "jsonl"} {
		if _, errs, code := harmless(t, false, "predict", "m.safetensors", "data.csv", "--format", format); code != 0 {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
	harmless(t, false, "runs", "--record", "runs.db")
	harmless(t, false, "runs", "show", "last", "--record", "runs.db")
}

// wrongly has for some commands what keeps them from beginning where one flag is not wrong.
var wrongly = map[string][]string{
	"newtop":       {"--epochs", "-1"},
	"newtop train": {"--epochs", "-1"}, "newtop serve": {"--epochs", "-1"}, "newtop tune": {"--top", "0"}, "newtop resume": {"nosuch"}, "newtop watch": {"nosuch"},
}

// Errors repeat arguments in a form that acts on no terminal, and not the whole of long ones. By day one text is both,
// and a flag that several commands have is tried on the first of them.
func TestHostileArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	texts := []string{formattest.All() + strings.Repeat(` y "z"`, 2000)}
	if nightly.On() {
		texts = []string{formattest.All(), strings.Repeat("x", 10_000), strings.Repeat(`y "z" `, 2000)}
	}
	for _, text := range texts {
		tried := map[string]bool{}
		try := func(args ...string) {
			_, errs, _ := harmless(t, false, args...)
			if len(errs) > 8000 || strings.Count(errs, "\n") > 3 {
				t.Errorf("%.80q: an error of %d bytes, %d lines", args, len(errs), strings.Count(errs, "\n"))
			}
		}
		var each func(cmd *cobra.Command)
		each = func(cmd *cobra.Command) {
			path := strings.Fields(cmd.CommandPath())[1:]
			with := wrongly[cmd.CommandPath()]
			try(append(append(slices.Clone(path), text), with...)...)
			try(append(slices.Clone(path), "--no"+text)...)
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !tried[f.Name] || nightly.On() {
					tried[f.Name] = true
					try(append(append(slices.Clone(path), "--"+f.Name+"="+text), with...)...)
				}
			})
			for _, c := range cmd.Commands() {
				each(c)
			}
		}
		each(newRoot(launch.New(os.Stderr)))
	}
}

// TestReferencesWithoutEnd: a file as /dev/zero is not read to its end.
func TestReferencesWithoutEnd(t *testing.T) {
	file := write(t, "references.json", "{")
	if err := os.Truncate(file, maxReferences+1); err != nil {
		t.Fatal(err)
	}
	refuses(t, 1, "more than 67108864 bytes", "verify", "--references", file)
}
