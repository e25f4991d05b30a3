//go:build mpi && linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// output collects what a process writes while others look at it.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// crewRun is newtop under mpirun.
type crewRun struct {
	t         *testing.T
	cmd       *exec.Cmd
	out, errs output
}

// startRanks starts the program in several ranks on this machine.
func startRanks(t *testing.T, ranks int, args ...string) *crewRun {
	t.Helper()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("no mpirun")
	}
	self := process(t)
	l := &crewRun{t: t, cmd: exec.Command(mpirun, append([]string{"-np", strconv.Itoa(ranks), self.Path}, args...)...)}
	l.cmd.Env = append(self.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_btl=tcp,self", "OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_mpi_yield_when_idle=1",
		"NEWTOP_CACHE="+t.TempDir())
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.errs
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for rank := range ranks {
			if pid := l.rank(rank); pid != 0 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		l.cmd.Process.Kill()
		l.cmd.Wait()
	})
	return l
}

// ends waits for mpirun and returns its exit code.
func (l *crewRun) ends() int {
	l.t.Helper()
	late := time.AfterFunc(patience, func() { l.cmd.Process.Kill() })
	l.cmd.Wait()
	if !late.Stop() {
		l.t.Fatalf("%v did not end within %v\n%s", l.cmd.Args, patience, l.errs.String())
	}
	return l.cmd.ProcessState.ExitCode()
}

// rank returns the process of a rank; 0 if there is none.
func (l *crewRun) rank(rank int) (pid int) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 || fields[1] != strconv.Itoa(l.cmd.Process.Pid) {
			continue
		}
		variables, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if slices.Contains(strings.Split(string(variables), "\x00"), fmt.Sprint("OMPI_COMM_WORLD_RANK=", rank)) {
			pid, _ = strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}

// crewTrains runs a command in several ranks. It must exit with 0.
func crewTrains(t *testing.T, ranks int, args ...string) (out, errs string) {
	t.Helper()
	l := startRanks(t, ranks, args...)
	if code := l.ends(); code != print.ExitDone {
		t.Fatalf("%d ranks, newtop %s: exit %d\n%s", ranks, strings.Join(args, " "), code, l.errs.String())
	}
	return l.out.String(), l.errs.String()
}

// clockless returns events without what may differ between two runs of the same digits.
func clockless(t *testing.T, events string) []string {
	t.Helper()
	var out []string
	for _, line := range lines(events) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		maps.DeleteFunc(e, func(key string, _ any) bool {
			return slices.Contains([]string{"seconds", "elapsed", "id", "time", "threads", "ranks", "hosts", "reduce"}, key)
		})
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// TestRanksHaveTheDigitsOfOneProcess trains in one process, and in one to four ranks: every event is the same.
func TestRanksHaveTheDigitsOfOneProcess(t *testing.T) {
	for _, c := range []struct {
		args  string
		ranks []int
	}{
		{"--data letters --opt tr-newton --epochs 2 --set spectrum-every=2", []int{2, 4}},
		{"--data digits --opt tr-gn --set blocks=2 --net 20 --epochs 2", []int{3}},
		{"--data spirals --opt lm --net 7 --epochs 4", []int{2}},
		{"--data digits --opt scg --net 20 --epochs 6 --set out=tanh", []int{3}},
		{"--data digits --opt adam --set batch=0 --net 20 --epochs 5", []int{2}},
		{"--data spirals --opt lbfgs --set skip=all --net 9-9 --epochs 6 --until error<=0.01", []int{2}},
	} {
		t.Run(strings.Fields(c.args)[3], func(t *testing.T) {
			args := append([]string{"train", "--format", "jsonl", "--record", "off", "--threads", "1"}, strings.Fields(c.args)...)
			want := clockless(t, succeed(t, args...))
			for _, ranks := range c.ranks {
				out, _ := crewTrains(t, ranks, args...)
				sameLines(t, fmt.Sprint(ranks, " ranks"), clockless(t, out), want)
			}
		})
	}
}

func sameLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: line %d is\n%s\nexpected\n%s", what, i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d lines, expected %d", what, len(got), len(want))
	}
}

// Sums in MPI's order have other last digits, and say so.
func TestRanksSumFast(t *testing.T) {
	args := []string{"train", "--data", "digits", "--opt", "scg", "--net", "20", "--epochs", "4", "--record", "off", "--format", "jsonl"}
	want := epochs(decode(t, succeed(t, args...)))
	out, errs := crewTrains(t, 3, append(args, "--reduce", "fast")...)
	events := decode(t, out)
	for i, e := range epochs(events) {
		if got, want := float64(e.Loss), float64(want[i].Loss); got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("epoch %d: loss %v, expected about %v", e.Epoch, got, want)
		}
	}
	if run := events[0].(event.RunEvent); run.Ranks != 3 || run.Reduce != "fast" {
		t.Errorf("the run has %d ranks and sums %q", run.Ranks, run.Reduce)
	}
	if !strings.Contains(errs, "sums in MPI's order") {
		t.Errorf("not said how sums are added up:\n%s", errs)
	}
}

// The first line on standard error says who takes part; the epochs are printed once.
func TestRanksStart(t *testing.T) {
	out, errs := crewTrains(t, 3, "train", "--data", "spirals", "--opt", "scg", "--epochs", "2", "--record", "off", "--threads", "1")
	host, _ := os.Hostname()
	first := lines(errs)[0]
	for _, want := range []string{"3 ranks", "1 host", host, "rows", "1 thread", "MPI"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first line is %q, expected %q in it", first, want)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^ +2 `).FindAllString(out, -1)); n != 1 {
		t.Errorf("epoch 2 is printed %d times\n%s", n, out)
	}
}

// What is wrong is said once, in one line, and mpirun has its exit code.
func TestRanksRefuse(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"train --opt magic", print.ExitUsage, []string{`"magic"`}},
		{"train --data /no/such/file.csv", print.ExitFailed, []string{"/no/such/file.csv"}},
		{"train --committee 3", print.ExitUsage, []string{"--committee 3"}},
		{"train --opt bpls", print.ExitUsage, []string{"bpls"}},
		{"train --opt adam", print.ExitUsage, []string{"--set batch=0"}},
		{"tune --data spirals --budget 1s", print.ExitUsage, []string{"tune"}},
		{"", print.ExitUsage, []string{"newtop train"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel() // as processes take their time to end
			db := database(t)
			args := strings.Fields(c.args)
			if len(args) > 0 && args[0] == "train" {
				args = append(args, "--record", db)
			}
			l := startRanks(t, 2, args...)
			code := l.ends()
			said := slices.DeleteFunc(lines(l.errs.String()), func(line string) bool { return !strings.HasPrefix(line, "newtop: ") })
			if code != c.code || len(said) != 1 || l.out.String() != "" && !strings.Contains(l.out.String(), "mpirun") {
				t.Errorf("newtop %s: exit %d, expected %d and one line:\n%s%s", c.args, code, c.code, l.errs.String(), l.out.String())
				return
			}
			for _, want := range c.want {
				if !strings.Contains(said[0], want) {
					t.Errorf("newtop %s: %q, expected %q in it", c.args, said[0], want)
				}
			}
			if r := newest(t, db); r != nil && r.Last != nil && r.Last.Epoch > 0 {
				t.Errorf("newtop %s: trained %+v", c.args, r)
			}
		})
	}
}

// What writes no run is what it is without a launcher.
func TestRanksNeedNotBe(t *testing.T) {
	l := startRanks(t, 2, "version")
	if code := l.ends(); code != print.ExitDone || strings.Count(l.out.String(), "newtop") < 2 {
		t.Errorf("exit %d\n%s%s", code, l.out.String(), l.errs.String())
	}
	if out := succeed(t, "version"); !strings.Contains(out, "MPI") {
		t.Errorf("newtop version does not tell of MPI:\n%s", out)
	}
}

// A run goes on in another number of ranks, and without any, to the digits of one process.
func TestRanksResume(t *testing.T) {
	args := []string{"--data", "digits", "--opt", "tr-newton", "--net", "20"}
	db := database(t)
	crewTrains(t, 2, append([]string{"train", "--name", "moved", "--epochs", "2", "--record", db}, args...)...)
	crewTrains(t, 3, "resume", "moved", "--epochs", "4", "--record", db, "--format", "text")
	succeed(t, "resume", "moved", "--epochs", "5", "--record", db, "--format", "text")
	crewTrains(t, 2, "resume", "moved", "--epochs", "6", "--record", db, "--format", "text")
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, newest(t, db).ID))), unstopped(t, append(args, "--epochs", "6")...))
}

// TestRanksReadTheirRows trains on files of which each rank reads its own rows.
func TestRanksReadTheirRows(t *testing.T) {
	check := func(t *testing.T, ranks int, args ...string) {
		t.Helper()
		args = append([]string{"train", "--format", "jsonl", "--record", "off"}, args...)
		out, _ := crewTrains(t, ranks, args...)
		sameLines(t, fmt.Sprint(ranks, " ranks"), clockless(t, out), clockless(t, succeed(t, args...)))
	}
	t.Run("letter", func(t *testing.T) {
		dir := filepath.Dir(shared(t, "letter-recognition.data"))
		check(t, 3, "--data", "letter", "--data-dir", dir, "--opt", "tr-newton", "--epochs", "1")
	})
	t.Run("images", func(t *testing.T) {
		dir := t.TempDir()
		for _, kind := range []string{"images-idx3", "labels-idx1"} {
			file := shared(t, "t10k-"+kind+"-ubyte.gz")
			plain, err := exec.Command("gzip", "-dc", file).Output()
			if err != nil {
				t.Skip("no gzip")
			}
			if err := os.WriteFile(filepath.Join(dir, "train-"+kind+"-ubyte"), plain, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(file, filepath.Join(dir, "t10k-"+kind+"-ubyte.gz")); err != nil {
				t.Fatal(err)
			}
		}
		check(t, 2, "--data", "mnist", "--data-dir", dir, "--net", "5", "--opt", "scg", "--epochs", "1")
	})
	t.Run("table", func(t *testing.T) {
		file := write(t, "numbers.csv", strings.ReplaceAll(numbersWithAWord()+strings.Repeat("1,2,3\n", 400), "wide", "3"))
		check(t, 3, "--data", file, "--target", "price", "--net", "4", "--opt", "tr-gn-jacobi", "--epochs", "3")
		check(t, 2, "--data", file, "--target", "width", "--net", "4", "--opt", "lbfgs", "--epochs", "3")
	})
}

// Model files are those of one process.
func TestRanksSave(t *testing.T) {
	dir := t.TempDir()
	args := []string{"train", "--data", "spirals", "--opt", "tr-newton", "--net", "8", "--epochs", "3", "--record", "off"}
	alone, both := filepath.Join(dir, "alone.safetensors"), filepath.Join(dir, "both.safetensors")
	succeed(t, append(args, "--save", alone)...)
	crewTrains(t, 2, append(args, "--save", both)...)
	a, err := os.ReadFile(alone)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(both)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tensors(a), tensors(b)) {
		t.Error("the saved weights differ")
	}
}

// tensors returns what follows the header of a safetensors file.
func tensors(file []byte) []byte {
	return file[8+int(file[0])+int(file[1])<<8+int(file[2])<<16:]
}
