package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

// shardProcess is a task of an array, a process of its own with a state directory that all share.
func shardProcess(t *testing.T, state string, task, of int, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], append([]string{"tune", "--name", "sweep", "--data", "sine", "--net", "3", "--trials", "12", "--trial", "20", "--finals", "1",
		"--parallel", "1", "--threads", "1", "--over", "opt=adam,scg", "--over", "adam.rate=1e-3..1e-1:log"}, args...)...)
	c.Env = append(os.Environ(), asNewtop+"=1", "NEWTOP_STATE_DIR="+state)
	for k, v := range map[string]int{"ID": task, "MIN": 0, "MAX": of - 1, "STEP": 1, "COUNT": of} {
		c.Env = append(c.Env, fmt.Sprintf("SLURM_ARRAY_TASK_%s=%d", k, v))
	}
	return c
}

// TestSweep runs three shards as an array would, at the same time and in one directory, merges what they recorded, and
// looks at all of it as one search.
func TestSweep(t *testing.T) {
	state := t.TempDir()
	var tasks []*exec.Cmd
	var texts [3]strings.Builder
	for i := range 3 {
		c := shardProcess(t, state, i, 3)
		c.Stderr = &texts[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, c)
	}
	for i, c := range tasks {
		if err := c.Wait(); err != nil || !strings.HasPrefix(texts[i].String(), fmt.Sprintf("shard %d of 3 (from SLURM_ARRAY_TASK_ID) of sweep, kept in ", i+1)) {
			t.Fatalf("task %d: %v\n%s", i, err, texts[i].String())
		}
	}
	files, err := filepath.Glob(filepath.Join(state, "sweep-*of3.db"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	into := filepath.Join(state, "all.db")
	merge := append([]string{"runs", "merge", "--record", into}, files...)
	out, errs, code := newtop(merge...)
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "-2of3.db: 5 runs, 1 search (shard 2 of 3)\n") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	const name = "sweep"
	if errs != fmt.Sprintf("%s: 3 shards: newtop tune show %s --record %s\n", name, name, into) {
		t.Error(errs)
	}
	show := []string{"tune", "show", name, "--record", into}
	text := succeed(t, show...)
	for _, want := range []string{name + ": 15 trials in ", "3 shards: 1 on ", "the best is trained by\nnewtop train --data sine --validation 0.15 --net 3", " 2."} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	var b foundSearch
	if err := json.Unmarshal([]byte(succeed(t, append(show, "--format", "json")...)), &b); err != nil || b.Of != 3 || fmt.Sprint(b.Shards) != "[1 2 3]" || b.Count != 15 {
		t.Errorf("%+v, %v", b, err)
	}
	if list := succeed(t, "tune", "list", "--record", into); strings.Count(list, "\n") != 2 || !strings.Contains(list, name+" ") || !strings.Contains(list, "3 shards") {
		t.Errorf("the list is\n%s", list)
	}
	if again := succeed(t, merge...); strings.Count(again, ": nothing new\n") != 3 || succeed(t, show...) != text {
		t.Errorf("merged again:\n%s", again)
	}
	// A task that is run again has nothing left to do.
	again := shardProcess(t, state, 1, 3, "--top", "1")
	best, err := again.Output()
	if err != nil || string(best) != succeed(t, "tune", "show", name+"-2of3", "--top", "1", "--record", into) {
		t.Errorf("%s: %v", best, err)
	}
	succeed(t, "tune", "rm", name, "-y", "--record", into)
	if runs := succeed(t, "runs", "--trials", "--record", into); strings.Contains(runs, "sweep") {
		t.Errorf("left are\n%s", runs)
	}
}

func TestMergeErrors(t *testing.T) {
	dir := t.TempDir()
	into := filepath.Join(dir, "into.db")
	text := write(t, "text.db", strings.Repeat("not a database ", 50))
	for _, c := range []struct {
		files []string
		code  int
		want  string
	}{
		{nil, print.ExitUsage, "expected databases with recorded runs"},
		{[]string{filepath.Join(dir, "none.db")}, print.ExitFailed, "none.db: file does not exist"},
		{[]string{text}, print.ExitFailed, "text.db: no SQLite database: expected a run store"},
		{[]string{dir}, print.ExitFailed, "a directory"},
	} {
		refuses(t, c.code, c.want, append([]string{"runs", "merge", "--record", into}, c.files...)...)
	}
	if _, err := os.Stat(into); err == nil {
		t.Error("a store was made though there was nothing to merge")
	}
}

func TestShardFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--shard 9/8", "--shard 9/8: expected I/N"},
		{"--shard 1/5000", "--shard 1/5000"},
		{"--shard 1/2", "--shard 1/2: expected --name beside it"},
		{"--shard 1/2 --name " + strings.Repeat("n", 78), "name"},
	} {
		refuses(t, print.ExitUsage, c.want, append([]string{"tune", "--data", "sine"}, strings.Fields(c.args)...)...)
	}
}

// TestResumeOfAShard needs no --shard and takes none: the record knows which it is.
func TestResumeOfAShard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shard.db")
	succeed(t, append(quickSearch(file), "--name", "mine", "--shard", "1/2")...)
	t.Setenv("SLURM_ARRAY_TASK_ID", "7") // half set, which does not matter here
	out := succeed(t, "tune", "--resume", "mine-1of2", "--trials", "5", "--record", file, "--format", "json")
	var b foundSearch
	if err := json.Unmarshal([]byte(out), &b); err != nil || b.Shard != 1 || b.Of != 2 || b.Name != "mine-1of2" {
		t.Errorf("%+v, %v", b, err)
	}
	refuses(t, print.ExitUsage, "--shard 2/2: expected it without --resume", "tune", "--resume", "mine-1of2", "--shard", "2/2", "--record", file)
}
