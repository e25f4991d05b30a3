package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"newtop/internal/cli/print"
)

// collected is a database of three runs, which are recorded once.
var collected struct {
	sync.Once
	file []byte
	ids  []string
}

// collection returns a database of three runs and their IDs, the oldest first.
func collection(t *testing.T) (db string, ids []string) {
	t.Helper()
	collected.Do(func() { collected.file, collected.ids = collect(t) })
	db = database(t)
	if err := os.WriteFile(db, collected.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return db, collected.ids
}

func collect(t *testing.T) (file []byte, ids []string) {
	t.Helper()
	db := database(t)
	for _, args := range [][]string{
		{"--data", "spirals", "--opt", "tr-newton", "--epochs", "4", "--set", "spectrum-every=2", "--name", "newton"},
		{"--data", "spirals", "--opt", "adam", "--epochs", "3", "--set", "rate=0.01", "--set", "init=xavier"},
		{"--data", "sine", "--opt", "tr-gn", "--epochs", "2", "--seed", "7"},
	} {
		ids = append(ids, recordedRun(t, db, args...))
	}
	whole := filepath.Join(t.TempDir(), "whole.db") // one file
	inSQL(t, db, "VACUUM INTO ?", whole)
	return []byte(readFile(t, whole)), ids
}

// lines returns a text's lines.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

func TestRunsList(t *testing.T) {
	db, ids := collection(t)
	all := lines(succeed(t, "runs", "--record", db))
	if len(all) != 4 || !strings.HasPrefix(all[0], "ID ") {
		t.Fatalf("listed\n%s", strings.Join(all, "\n"))
	}
	for i, id := range ids {
		if !strings.HasPrefix(all[3-i], id+" ") { // newest first
			t.Errorf("line %d is %q, expected %s", 3-i, all[3-i], id)
		}
	}
	for _, c := range []struct {
		args string
		want []int
	}{
		{"", []int{2, 1, 0}}, {"--data spirals", []int{1, 0}}, {"--opt adam", []int{1}}, {"--limit 1", []int{2}}, {"--text newton", []int{0}},
		{"--state epochs", []int{2, 1, 0}}, {"--state interrupted", nil}, {"--since 1h", []int{2, 1, 0}}, {"--since 2999-01-01", nil},
		{"--since 2000-01-01 --data sine", []int{2}},
	} {
		for _, sub := range []string{"runs", "runs list"} {
			var got []struct{ ID string }
			out := succeed(t, strings.Fields(sub+" --format json --record "+db+" "+c.args)...)
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%s %s: %v in %s", sub, c.args, err, out)
			}
			var found []string
			for _, r := range got {
				found = append(found, r.ID)
			}
			var want []string
			for _, i := range c.want {
				want = append(want, ids[i])
			}
			if fmt.Sprint(found) != fmt.Sprint(want) {
				t.Errorf("%s %s: %v, expected %v", sub, c.args, found, want)
			}
		}
	}
	rows, err := csv.NewReader(strings.NewReader(succeed(t, "runs", "--format", "csv", "--record", db))).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][0] != "id" || rows[1][0] != ids[2] {
		t.Errorf("the table has %q, %v", rows, err)
	}
}

// shownRun is of a run in JSON what scripts read.
type shownRun struct {
	ID, Repeat     string
	Epoch, Spectra int
	Config         struct{ Data string }
	Run, Last      *struct{}
	Done           *struct{ Epochs int }
}

func TestRunsShow(t *testing.T) {
	db, ids := collection(t)
	out := succeed(t, "runs", "show", "newton", "--record", db)
	for _, want := range []string{ids[0], "newton", "spirals: ", "inner solves", "the Hessian over", "epoch 4", "to repeat it  newtop train --data spirals --epochs 4 --set spectrum-every=2"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	for i, id := range ids {
		var r shownRun
		if err := json.Unmarshal([]byte(succeed(t, "runs", "show", print.ShortID(id), "--format", "json", "--record", db)), &r); err != nil {
			t.Fatal(err)
		}
		if r.ID != id || r.Run == nil || r.Done == nil || r.Last == nil || r.Epoch != r.Done.Epochs || r.Config.Data == "" || (i == 0) != (r.Spectra > 0) {
			t.Errorf("run %d is %+v", i, r)
		}
	}
}

// The command that a run is shown with trains the same again, digit by digit.
func TestRepeat(t *testing.T) {
	db, ids := collection(t)
	var r shownRun
	if err := json.Unmarshal([]byte(succeed(t, "runs", "show", ids[1], "--format", "json", "--record", db)), &r); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(r.Repeat)
	if strings.Join(words[:2], " ") != "newtop train" {
		t.Fatalf("to repeat it: %q", r.Repeat)
	}
	before := epochs(decode(t, recordedEvents(t, db, ids[1])))
	after := epochs(decode(t, succeed(t, append(words[1:], "--record", "off", "--format", "jsonl")...)))
	if len(before) != len(after) {
		t.Fatalf("%d epochs, expected %d", len(after), len(before))
	}
	for i := range after {
		if after[i].Loss != before[i].Loss || after[i].TestLoss != before[i].TestLoss {
			t.Errorf("epoch %d: loss %v, expected %v", i, after[i].Loss, before[i].Loss)
		}
	}
}

func TestRunsCompare(t *testing.T) {
	db, ids := collection(t)
	out := succeed(t, "runs", "compare", "newton", ids[1], "--reach", "0.5,1e-9", "--record", db)
	for _, want := range []string{"BEST TEST ERROR", "TO REACH 50.00 %", "TO REACH 0.00 %", "never", "DIFFERS", "optimizer", "--set init"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	var c struct {
		Runs []struct {
			Label, ID string
			Last      struct{ Epoch int }
			Reached   []struct {
				Level float64
				At    *struct{ Value float64 }
			}
		}
		Differs map[string][]string
	}
	if err := json.Unmarshal([]byte(succeed(t, "runs", "compare", "newton", ids[1], "--format", "json", "--record", db)), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Runs) != 2 || c.Runs[0].ID != ids[0] || c.Runs[1].Last.Epoch != 3 || fmt.Sprint(c.Differs["optimizer"]) != "[tr-newton adam]" {
		t.Errorf("compared %+v", c)
	}
	if out := succeed(t, "runs", "compare", ids[1], ids[2], "--record", db); strings.Contains(out, "TO REACH") || !strings.Contains(out, "BEST FIGURE") {
		t.Errorf("an error and an RMSE are compared as\n%s", out)
	}
	for first, other := range map[string]string{ids[1]: ids[2], ids[2]: ids[1]} { // whatever the digits are
		out := succeed(t, "runs", "compare", first, other, "--reach", "1e9", "--record", db)
		all, level, _ := strings.Cut(out, "TO REACH")
		if strings.Index(all, print.ShortID(first)) > strings.Index(all, print.ShortID(other)) || strings.Contains(strings.Split(level, "DIFFERS")[0], print.ShortID(other)) {
			t.Errorf("%s is judged by what %s is:\n%s", other, first, out)
		}
	}
	// Where nothing is said they are held against what all of them reached.
	for _, r := range c.Runs {
		if len(r.Reached) != 1 || r.Reached[0].At == nil || r.Reached[0].At.Value > r.Reached[0].Level {
			t.Errorf("%s reached %+v", r.Label, r.Reached)
		}
	}
}

func TestRunsPlot(t *testing.T) {
	db, ids := collection(t)
	dir := t.TempDir()
	for ending, magic := range map[string]string{"svg": "<?xml", "png": "\x89PNG", "pdf": "%PDF"} {
		file := filepath.Join(dir, "figure."+ending)
		succeed(t, "runs", "plot", ids[0], ids[1], "-o", file, "--x", "seconds", "--record", db)
		if text := readFile(t, file); !strings.HasPrefix(text, magic) {
			t.Errorf("%s begins with %q", file, text[:min(len(text), 20)])
		}
	}
}

func TestRunsChange(t *testing.T) {
	db, ids := collection(t)
	succeed(t, "runs", "rename", ids[2], "waves", "--record", db)
	if out := succeed(t, "runs", "show", "waves", "--record", db); !strings.Contains(out, ids[2]) {
		t.Errorf("waves is\n%s", out)
	}
	refuses(t, print.ExitUsage, "--yes", "runs", "rm", "waves", "--record", db)
	succeed(t, "runs", "rm", "--older-than", "1h", "--state", "epochs", "--yes", "--record", db)
	if n := len(lines(succeed(t, "runs", "--record", db))); n != 4 {
		t.Errorf("%d lines are left, expected 4", n)
	}
	succeed(t, "runs", "rm", "waves", "newton", "-y", "--record", db)
	if out := succeed(t, "runs", "--record", db); len(lines(out)) != 2 || !strings.Contains(out, ids[1]) {
		t.Errorf("left\n%s", out)
	}
	inSQL(t, db, "UPDATE runs SET changed = '2999-01-01T00:00:00.000Z', crc = NULL")
	succeed(t, "runs", "rm", "--older-than", "0s", "-y", "--record", db)
	if out := succeed(t, "runs", "--record", db); len(lines(out)) != 2 {
		t.Errorf("of a run that the clock says is in the future is left\n%s", out)
	}
	succeed(t, "runs", "rm", "--state", "epochs", "-y", "--record", db)
	if out := succeed(t, "runs", "--record", db); out != "" {
		t.Errorf("left\n%s", out)
	}
}

// Whatever is wrong with a command about runs is one line with what was expected, and the right code.
func TestRunsErrors(t *testing.T) {
	db, ids := collection(t)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"runs shw", print.ExitUsage, `"shw" … did you mean show`},
		{"runs --format xml", print.ExitUsage, "--format xml … text, json or csv"},
		{"runs --since yesterday", print.ExitUsage, "--since yesterday … 24h"},
		{"runs --state ready", print.ExitUsage, "--state ready … interrupted"},
		{"runs --limit -1", print.ExitUsage, "--limit -1"},
		{"runs show", print.ExitUsage, "expected one argument"},
		{"runs show nothing", print.ExitUsage, "nothing … expected"},
		{"runs show 20", print.ExitUsage, "20" + " … " + ids[0] + " … " + ids[2]},
		{"runs show last --format xml", print.ExitUsage, "--format xml"},
		{"runs compare last", print.ExitUsage, "two runs"},
		{"runs compare last last~1 --reach low", print.ExitUsage, "--reach low … 0.1,0.05"},
		{"runs compare last last~9", print.ExitUsage, "last~9"},
		{"runs plot last", print.ExitUsage, "-o FILE … .svg"},
		{"runs plot last -o figure.bmp", print.ExitUsage, "figure.bmp … svg"},
		{"runs plot last -o figure.svg --what nonsense", print.ExitUsage, "nonsense … loss"},
		{"runs export last --format xml", print.ExitUsage, "--format xml … csv"},
		{"runs export last --format csv -o /no/such/dir/run.csv", 1, "/no/such/dir"},
		{"runs rename last", print.ExitUsage, "a run and its new name"},
		{"runs rename last newton", print.ExitUsage, "newton" + " … " + ids[0]},
		{"runs rename last two/words", print.ExitUsage, "two/words"},
		{"runs rm", print.ExitUsage, "--older-than"},
		{"runs rm --older-than soon -y", print.ExitUsage, "--older-than soon … 30d"},
		{"train --name last", print.ExitUsage, `"last"`},
		{"watch nothing", print.ExitUsage, "no file nothing here … expected"},
		{"watch --once ./nothing", 1, "./nothing … expected"},
		{"watch last --speed 0", print.ExitUsage, "--speed 0"},
		{"watch last --format xml", print.ExitUsage, "--format xml"},
		{"resume last", print.ExitUsage, "has reached its 2 epochs … --epochs above 2"},
		{"resume last --epochs 2", print.ExitUsage, "--epochs 2 … more than the 2"},
		{"resume nothing", print.ExitUsage, "nothing … expected"},
		{"resume last --set tape-memory=lots --epochs 3", print.ExitUsage, "--set tape-memory=lots … 512M"},
	} {
		refuses(t, c.code, c.want, append(strings.Fields(c.args), "--record", db)...)
	}
}

// An old file without numbers is not waited for.
func TestWatchAFileOfSomethingElse(t *testing.T) {
	text := write(t, "text.txt", "no events\nat all\n")
	if err := os.Chtimes(text, old, old); err != nil {
		t.Fatal(err)
	}
	out, errs, code := newtop("watch", text)
	if code != print.ExitFailed || out != "" || strings.Count(errs, "newtop: ") != 1 || !strings.Contains(errs, "text.txt:1") || !strings.Contains(errs, "expected") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

// Without any run the list says what makes one.
func TestNoRuns(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	if out, errs, code := newtop("runs"); code != 0 || out != "" || !strings.Contains(errs, "newtop train") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	refuses(t, print.ExitFailed, "no run is recorded yet", "runs", "show", "last")
	if _, err := os.Stat(filepath.Join(os.Getenv("NEWTOP_STATE_DIR"), "runs.db")); err == nil {
		t.Error("looking made a database")
	}
}

// A shell is offered the runs.
func TestCompletion(t *testing.T) {
	db, ids := collection(t)
	out := succeed(t, "__complete", "runs", "show", "--record", db, "")
	for _, want := range append([]string{"newton\tspirals tr-newton"}, ids...) {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
}
