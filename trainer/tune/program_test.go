//go:build unix

package tune

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/store"
)

func TestExpand(t *testing.T) {
	known := func(name string) bool { return name == "lr" || name == "momentum" }
	values := map[string]string{"lr": "0.1", "dir": "/tmp/x y"}
	for _, c := range []struct{ text, want, missing, unknown string }{
		{text: "--lr={lr}", want: "--lr=0.1"},
		{text: "{lr}{lr}", want: "0.10.1"},
		{text: "{dir}/out", want: "/tmp/x y/out"},
		{text: "{momentum}", missing: "yes"},
		{text: "{beta}", unknown: "beta"},
		{text: "{{lr}}", want: "{lr}"},
		{text: "${{HOME}}/{lr}", want: "${HOME}/0.1"},
		{text: `{"lr": {lr}, "in": {"a": {lr}}}`, want: `{"lr": 0.1, "in": {"a": 0.1}}`},
		{text: `{{"lr": {lr}}}`, want: `{"lr": 0.1}`},
		{text: "f() {{ echo {lr}; }}", want: "f() { echo 0.1; }"},
		{text: "{} {1} {a,b} } {", want: "{} {1} {a,b} } {"},
	} {
		got, missing, unknown := expand(c.text, known, values)
		if got != c.want && c.unknown == "" || missing != (c.missing != "") || unknown != c.unknown {
			t.Errorf("%s: %q, missing %v, unknown %q", c.text, got, missing, unknown)
		}
	}
}

// ofProgram is a search whose program tells a loss at six steps, the least where a is 30, and what else a script does.
func ofProgram(dir, script string) Config {
	over := []Dimension{{Key: "a", Low: 0, High: 60, Whole: true}, {Key: "b", Choices: []string{"u", "v"}},
		{Key: "c", Low: 1, High: 9, Whole: true, If: "b=v"}}
	return Config{Name: "prog", Over: over, Trials: 12, Finals: -1, Parallel: 1,
		Program: &Program{Dir: dir, Args: []string{"sh", "-c",
			script + `for i in 1 2 3 4 5 6; do echo step $i loss=$(( ({a}-30)*({a}-30) + 600/i )); done`, "-c", "{c}", "{b}"}}}
}

// listed are the trials as a board has them, without what depends on the clock.
func listed(b *Leaderboard) (out []string) {
	for _, t := range b.Trials {
		out = append(out, fmt.Sprintln(t.Number, text(t.Choices), t.State, t.Best, t.BestEpoch, t.Epochs, t.Error, t.Seed))
	}
	return out
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "runs.db"))
	c := ofProgram(dir, `echo $NEWTOP_a/$NEWTOP_c/$NEWTOP_TRIAL/$NEWTOP_SEED/{seed}/$#/$CUDA_VISIBLE_DEVICES; test $NEWTOP_TRIAL != 4 || { echo oh; exit 3; }; test {trial} != 5 || { echo step 1 loss=nan; echo step 2 loss=3; exit; }; `)
	c.Program.GPUs = []string{"7"}
	c.Seeds, c.Finals = 2, 1
	b := searched(t, c, s, nil)
	states := map[State]int{}
	for i, trial := range b.Trials {
		states[trial.State]++
		console, err := os.ReadFile(filepath.Join(trial.Dir, ConsoleFile))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s//%d/%d/%[3]d/0/7", trial.Choices[0].Value, i+1, trial.Seed)
		if len(trial.Choices) == 3 {
			want = fmt.Sprintf("%s/%s/%d/%d/%[4]d/2/7", trial.Choices[0].Value, trial.Choices[2].Value, i+1, trial.Seed)
		}
		if first, _, _ := strings.Cut(string(console), "\r\n"); first != want {
			t.Errorf("trial %d printed %q, want %q", i+1, first, want)
		}
		run, err := s.Find(t.Context(), trial.Run)
		if err != nil || run.Name != fmt.Sprintf("prog.%d", i+1) {
			t.Errorf("%+v: %v", run, err)
		}
	}
	if f := b.Trials[3]; f.State != Failed || !strings.HasSuffix(f.Error, "/ oh") {
		t.Errorf("%v %s", f.State, f.Error)
	}
	if f := b.Trials[4]; f.State != Diverged || f.Error != "NaN at 1" {
		t.Errorf("%v %s", f.State, f.Error)
	}
	best := b.Standings()[0]
	if states[Pruned] < 3 || best.Finals != 2 || best.Spread != 0 || b.Measure != "training loss" ||
		b.Trials[12].Seed != c.Base.Seed+1 || !strings.Contains(b.Command, "NEWTOP_b=") == strings.Contains(b.Command, " u") {
		t.Errorf("%v, %+v, %s\n%s", states, best, b.Command, listed(b))
	}
	again, err := Load(t.Context(), s, nil, "prog")
	if err != nil || !reflect.DeepEqual(listed(again), listed(b)) || again.Command != b.Command {
		t.Errorf("%v: loaded\n%s\nof\n%s", err, listed(again), listed(b))
	}
}

// The greatest is the best where a program says so.
func TestGreatest(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "runs.db"))
	c := ofProgram(dir, "")
	c.Program.By, c.Program.Max = "loss", true
	b := searched(t, c, s, nil)
	best := b.Trials[b.Order[0]]
	for _, trial := range b.Trials {
		if trial.State == Done && trial.Best > best.Best {
			t.Errorf("%v before %v", best.Best, trial.Best)
		}
	}
	if last := b.Bests[len(b.Bests)-1].Value; last != best.Best || b.Importances[0].Key != "a" {
		t.Errorf("best %v of %v, %v", last, best.Best, b.Importances)
	}
}

// All of a log that a program left is read, however much it is and however soon the program ended; a loss that rises
// beside what trials are judged by ends none.
func TestProgramLog(t *testing.T) {
	for name, log := range map[string]string{"file": "{dir}/m.csv", "directory": "{dir}"} {
		dir := t.TempDir()
		c := ofProgram(dir, "")
		c.Over, c.Trials = c.Over[:1], 2
		c.Program.Log, c.Program.By, c.Program.Max = log, "reward", true
		c.Program.Args = []string{"sh", "-c",
			`{{ echo step,loss,reward; seq 20000 | sed 's/.*/&,&&&,&/'; }} > {dir}/m.csv; echo {a} > /dev/null`}
		b := searched(t, c, openStore(t, filepath.Join(dir, "runs.db")), nil)
		if first := b.Trials[0]; first.State != Done || first.Best != 20000 || first.Epochs != 20000 {
			t.Errorf("%s: %v, best %v, %d steps: %s", name, first.State, first.Best, first.Epochs, first.Error)
		}
	}
}

// What can't be run is refused before a trial is.
func TestProgramRefused(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "runs.db"))
	for name, change := range map[string]func(c *Config){
		"unknown name": func(c *Config) { c.Program.Args = append(c.Program.Args, "{x}") },
		"no axis":      func(c *Config) { c.Over = nil },
		"no program":   func(c *Config) { c.Program.Args[0] = "newtop-nothing" },
		"same variable": func(c *Config) {
			c.Over = append(c.Over, Dimension{Key: "a-", Low: 1, High: 2}, Dimension{Key: "a_", Low: 1, High: 2})
		},
		"a file there":   func(c *Config) { os.WriteFile(filepath.Join(c.Program.Dir, c.Name), nil, 0o600) },
		"own name":       func(c *Config) { c.Over[0].Key = "dir" },
		"no variable":    func(c *Config) { c.Program.Env = []string{"A"} },
		"odd condition":  func(c *Config) { c.Over[2].If = "b=w" },
		"late condition": func(c *Config) { slices.Reverse(c.Over) },
	} {
		c := ofProgram(t.TempDir(), "")
		change(&c)
		var wrong *trainer.ConfigError
		if _, err := New(c, s); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program of which nothing can come is not run again, and why is said in a line that names what is there.
func TestProgramUseless(t *testing.T) {
	for _, c := range []struct {
		script, want string
		trials       int
	}{
		{"for i in 1 2; do echo step $i acc=0.$i loss={a}; done",
			"By foo: expected the name of a metric of the program: acc, loss", 1},
		{"echo hi {a}", "Program sh: expected one that prints or logs values as in step=1 loss=0.5; it ended and told none", 1},
		{"newtop-nothing", "Program sh: expected one that starts: exit status 127: ", 1},
		{"echo broken; exit 2; {a}", "none of 3 trials succeeded: exit status 2: broken", 3},
		{"test {trial} = 2 && echo step 1 bar=1 || echo step 1 foo=1", "", 4},
	} {
		dir := t.TempDir()
		config := ofProgram(dir, "")
		config.Over, config.Trials = config.Over[:1], 4
		config.Program.By, config.Program.Args = "foo", []string{"sh", "-c", c.script}
		q, err := New(config, openStore(t, filepath.Join(dir, "runs.db")))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := q.Run(t.Context()); err != nil {
			got = err.Error()
		}
		b := q.Leaderboard()
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) || len(b.Trials) != c.trials {
			t.Errorf("%s: %q after\n%s", c.script, got, listed(b))
		}
	}
}

// A program's equal failures end a search soon where each comes at once, and never one that has something good.
func TestHopeless(t *testing.T) {
	failure := func(change func(*trial)) *trial {
		f := newTrial(1, nil, 1, 10)
		f.ran, f.State, f.Error, f.Ended = true, Failed, "exit status 1: out of memory", 10.2
		if change != nil {
			change(f)
		}
		return f
	}
	slow := func(f *trial) { f.Ended = 12 }
	for name, c := range map[string]struct {
		n      int // failures
		change func(*trial)
		before *trial
		want   bool
	}{
		"two":                    {n: 2},
		"three":                  {n: 3, want: true},
		"three, late":            {n: 3, change: slow},
		"eight, late":            {n: 8, change: slow, want: true},
		"three, with values":     {n: 3, change: func(f *trial) { f.curve.count = 1 }},
		"of an earlier session":  {n: 3, change: func(f *trial) { f.ran = false }},
		"after a good one":       {n: 3, before: failure(func(f *trial) { f.State = Done })},
		"after a good one early": {n: 3, before: failure(func(f *trial) { f.State, f.ran = Done, false })},
		"after one mended":       {n: 3, before: failure(func(f *trial) { f.Error, f.ran = "x", false }), want: true},
		"after another failure":  {n: 3, before: failure(func(f *trial) { f.Error = "x" })},
	} {
		config := ofProgram("", "")
		r := &ranking{config: &config}
		if c.before != nil {
			r.trials = append(r.trials, c.before)
		}
		for range c.n {
			r.trials = append(r.trials, failure(c.change))
		}
		if got := newScheduler(&config, r).hopeless(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A search that gave up goes on once its program is mended.
func TestResumeMended(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "runs.db"))
	c := ofProgram(dir, "test -e "+filepath.Join(dir, "mended")+" || exit 1; ")
	q, err := New(c, s)
	if err != nil {
		t.Fatal(err)
	}
	var nothing *NothingError
	if err := q.Run(t.Context()); !errors.As(err, &nothing) {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mended"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if q, err = Resume(t.Context(), s, "prog", func(*Config) {}); err != nil {
		t.Fatal(err)
	}
	if err := q.Run(t.Context()); err != nil {
		t.Errorf("%v after\n%s", err, listed(q.Leaderboard()))
	}
	if b := q.Leaderboard(); len(b.Trials) != c.Trials {
		t.Errorf("%d trials", len(b.Trials))
	}
}

// One trial of a program that tells nothing or does not start ends no search whose other trials are good.
func TestUselessBeside(t *testing.T) {
	for _, c := range []struct {
		script, want string
		trials       int
	}{
		{"test {trial} != 1 || exit 0; sleep 0.3; echo step 1 foo={a}", "", 6},
		{"test {trial} != 2 || exit 127; sleep 0.3; echo step 1 foo={a}", "", 6},
		{"test {trial} = 1 || sleep 0.3; echo {a}", "Program sh: expected one that prints", 2},
	} {
		dir := t.TempDir()
		config := ofProgram(dir, "")
		config.Over, config.Trials, config.Parallel = config.Over[:1], 6, 2
		config.Program.By, config.Program.Args = "foo", []string{"sh", "-c", c.script}
		q, err := New(config, openStore(t, filepath.Join(dir, "runs.db")))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := q.Run(t.Context()); err != nil {
			got = err.Error()
		}
		b := q.Leaderboard()
		if (c.want == "") != (got == "") || !strings.HasPrefix(got, c.want) || len(b.Trials) != c.trials {
			t.Errorf("%s: %q after\n%s", c.script, got, listed(b))
		}
	}
}

// What stands in for srun, behind which a queue holds all jobs until the test lets them go. Slurm's words are those of
// 22.05.
const standIn = `#!/bin/sh
mode=$2
if [ $NEWTOP_TRIAL -le 50 ]; then exec 3<gate; : > $NEWTOP_DIR/queued; fi
for i in 1 2 3; do
	echo step $i loss=$(( ($3-30)*($3-30) + 600/i ))
	[ $i != 1 ] || [ $NEWTOP_TRIAL -gt 50 ] || read x <&3
	case $mode$i in
	cancelled2) echo "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-11-28T12:00:00 ***" >&2; kill -TERM $$ ;;
	requeued2) echo "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-28T12:00:00 DUE TO JOB REQUEUE ***" >&2; exit 143 ;;
	lost1) echo "srun: error: Node failure on n1" >&2; exit 1 ;;
	esac
done
`

// Fifty jobs are in the queue at once. Those that are cancelled, requeued or lost are failed trials with Slurm's words;
// the others decide.
func TestQueue(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	if err := errors.Join(syscall.Mkfifo(gate, 0o600), os.WriteFile(filepath.Join(dir, "srun"), []byte(standIn), 0o700)); err != nil {
		t.Fatal(err)
	}
	hold, err := os.OpenFile(gate, os.O_RDWR, 0) // so that nobody who opens it waits
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{"cancelled": "CANCELLED AT", "requeued": "DUE TO JOB REQUEUE", "lost": "Node failure on n1"}
	c := ofProgram(dir, "")
	c.Over = []Dimension{{Key: "mode", Choices: []string{"ok", "cancelled", "requeued", "lost"}}, c.Over[0]}
	c.Program.Args, c.Parallel, c.Trials = []string{"./srun", "-n1", "{mode}", "{a}"}, 50, 60
	c.Budget = time.Hour // there is a new board ten times a second then
	q, err := New(c, openStore(t, filepath.Join(dir, "runs.db")))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- q.Run(t.Context()) }()
	for b := q.Leaderboard(); ; {
		queued, _ := filepath.Glob(filepath.Join(dir, c.Name, "*", "queued"))
		if len(queued) == 50 {
			hold.Close()
			break
		}
		if b, err = q.Wait(t.Context(), b); err != nil {
			t.Fatalf("%d of 50 were in the queue: %v", len(queued), err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	b, failed := q.Leaderboard(), map[string]bool{}
	for _, trial := range b.Trials {
		reason, fails := reasons[trial.Choices[0].Value]
		if trial.State != Pruned && (trial.State == Failed) != fails || trial.State == Failed && !strings.Contains(trial.Error, reason) {
			t.Errorf("%s: %v: %s", text(trial.Choices), trial.State, trial.Error)
		}
		if trial.State == Failed {
			failed[reason] = true
		}
	}
	if best := b.Trials[b.Order[0]]; len(b.Trials) != 60 || len(failed) != 3 || best.Choices[0].Value != "ok" || best.Epochs == 0 {
		t.Errorf("%d trials, failed %v, the best %+v", len(b.Trials), failed, best)
	}
}

// A search with a program that is killed goes on to the trials of one that never was; none that was over runs again.
func TestKillProgram(t *testing.T) {
	dir, begin := t.TempDir(), time.Now()
	whole := searched(t, ofProgram(dir, ""), openStore(t, filepath.Join(dir, "runs.db")), nil)
	took := time.Since(begin)
	for i := range 2 * *kills {
		dir := t.TempDir()
		path := filepath.Join(dir, "runs.db")
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childStore+"="+path, childProgram+"="+dir)
		begun := time.Now()
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(2*i+1) / time.Duration(4**kills))
		child.Process.Kill()
		child.Wait()
		s := openStore(t, path)
		q, err := Resume(t.Context(), s, "prog", nil)
		var over *ExhaustedError
		var none *store.SearchError
		switch {
		case errors.As(err, &over):
			continue
		case errors.As(err, &none):
			q, err = New(ofProgram(dir, ""), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := q.Leaderboard()
		if err := q.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := q.Leaderboard()
		if got, want := listed(after), listed(whole); !reflect.DeepEqual(got, want) {
			t.Errorf("killed after %v with\n%s\nended as\n%s\nnot as\n%s", time.Since(begun), listed(before), got, want)
		}
		for k, trial := range before.Trials {
			if trial.State != Waiting && after.Trials[k].Run != trial.Run {
				t.Errorf("trial %d, which was %v, ran again", k+1, trial.State)
			}
		}
	}
}
