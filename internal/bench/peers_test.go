//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/trainer"
)

// fakePython writes an interpreter that has the modules listed, and for which scripts are written in sh.
func fakePython(t *testing.T, modules string) string {
	t.Helper()
	return put(t, filepath.Join(t.TempDir(), "python"), fmt.Sprintf(`#!/bin/sh
if [ "$1" = -c ]; then
	for module in $(echo "${2#import}" | tr -d ,); do
		case " sys %s " in *" $module "*) ;; *) exit 1 ;; esac
	done
	exit 0
fi
exec /bin/sh "$@"
`, modules))
}

// scripts writes a directory of scripts.
func scripts(t *testing.T, text map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bench")
	for name, text := range text {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProductsBeside(t *testing.T) {
	dir := scripts(t, map[string]string{productsScript: `
echo "$@"
echo '{"peer": "torch 9", "dtype": "float64", "threads": 1, "gradient_ms": 4000, "hv_kept_ms": 5000, "hv_fresh_ms": 9000}'
echo '{"peer": "torch 9", "dtype": "float64", "threads": 2, "gradient_ms": 3000, "hv_kept_ms": 6000, "hv_fresh_ms": 9500}'
echo '{"peer": "torch 9", "dtype": "float32", "threads": 2, "gradient_ms": 1e-6, "hv_kept_ms": 2e-6, "hv_fresh_ms": 3e-6}'
echo '{"peer": "torch 9", "dtype": "float32", "threads": 1, "gradient_ms": 0, "hv_kept_ms": 2, "hv_fresh_ms": 3}'
echo '{"peer": "\u001b[2J", "dtype": "float32", "threads": 1, "gradient_ms": 1, "hv_kept_ms": 2, "hv_fresh_ms": 3}'`})
	var live []string
	p, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir, Python: fakePython(t, "torch"), Quick: true, Threads: 1, rows: 200,
		Live: func(l Live) { live = append(live, l.Source+" "+l.Text) }})
	if err != nil || p.Failures != nil {
		t.Fatal(err, p)
	}
	script := productsScript + " "
	if want := []string{"newtop ", script + "--reps 3", script, script, script}; len(live) != 8 || !reflect.DeepEqual(live[:5], want) || live[7] != "newtop " {
		t.Errorf("told %q", live)
	}
	if len(p.Products.Newtop) != 2 || len(p.Products.Peers) != 3 || len(p.Products.Ratios) != 6 {
		t.Fatalf("measured %+v", p.Products)
	}
	before, after := p.Products.Newtop[0], p.Products.Newtop[1]
	if !positive(before.GradientMS, before.HvKeptMS, before.HvFreshMS) || before.Threads != 1 || before.DType != "float64" {
		t.Errorf("newtop's own: %+v", before)
	}
	r := p.Products.Ratios[0]
	mean := (before.GradientMS + after.GradientMS) / 2
	if r.What != passGradient || r.Threads != 2 || r.PeerMS != 3000 || r.Ratio != 3000/r.NewtopMS ||
		r.NewtopMS/mean > 1.0001 || r.NewtopMS/mean < 0.9999 || *r.Goal != (Goal{AtLeast: 5, Holds: true}) {
		t.Errorf("the first ratio is %+v beside %g ms", r, mean)
	}
	if r := p.Products.Ratios[1]; r.What != passHessian || r.Threads != 1 || *r.Goal != (Goal{AtLeast: 6, Holds: true}) {
		t.Errorf("the second ratio is %+v", r)
	}
	if r := p.Products.Ratios[2]; r.Goal != nil {
		t.Errorf("the third ratio is %+v", r)
	}
	if r := p.Products.Ratios[3]; r.DType != "float32" || *r.Goal != (Goal{AtLeast: 2.5}) {
		t.Errorf("the fourth ratio is %+v", r)
	}
	roundTrip(t, p)
}

// roundTrip reads what JSON writes.
func roundTrip(t *testing.T, p *Peers) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again Peers
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(p, &again) {
		t.Errorf("%v: wrote %+v\nread %+v", err, p, &again)
	}
}

// letterData writes a file of the form of UCI letter in which two attributes tell the letter.
func letterData(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for i := range 20000 {
		k := i * 7 % 26
		fmt.Fprintf(&b, "%c", 'A'+k)
		for j := range 16 {
			fmt.Fprintf(&b, ",%d", []int{3 * (k / 6), 3 * (k % 6)}[j%2])
		}
		b.WriteByte('\n')
	}
	return put(t, filepath.Join(dir, letterFile), b.String())
}

func TestLetterBeside(t *testing.T) {
	dir := scripts(t, map[string]string{letterScript: `
echo '{"peer": "torch adam lr=1e-2 batch=64", "target_percent": 5, "seconds_to_target": 1000, "best_test_error": 4.9, "train_error": 3, "seconds": 1000, "epochs": 7}'
echo "$@" > "$(dirname "$0")/arguments"
echo '{"peer": "torch lbfgs", "target_percent": 5, "seconds_to_target": null, "best_test_error": 7.3, "train_error": 0, "seconds": 60, "epochs": 7}'`})
	file := letterData(t, filepath.Join(filepath.Dir(dir), "data"))
	hopeless := letterRun{name: "sgd", config: trainer.Config{Optimizer: "sgd", Batch: 1000, Set: []string{"rate=1e-9"}}}
	wild := letterRun{name: "wild", config: trainer.Config{Optimizer: "sgd", Batch: 1000, Set: []string{"rate=1e6"}}}
	p, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir, Python: fakePython(t, "torch sklearn"), Threads: 1,
		Budget: 100 * time.Millisecond, runs: []letterRun{hopeless, adam(1e-2, 64), wild}})
	if err != nil || p.Failures != nil {
		t.Fatal(err, p)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil || !strings.HasPrefix(string(arguments), "--data ") || !strings.HasSuffix(string(arguments), letterFile+" --budget 0.1\n") {
		t.Errorf("ran with %q: expected %s", arguments, file)
	}
	l := p.Letter
	if len(l.Newtop) < 3 || len(l.Peers) != 2 || l.Peers[1].SecondsToTarget != nil {
		t.Fatalf("measured %+v", l)
	}
	if never := l.Newtop[0]; never.SecondsToTarget != nil || never.Epochs < 1 || never.Seconds < 0.1 {
		t.Errorf("the hopeless run ended as %+v", never)
	}
	if apart := l.Newtop[2]; apart.SecondsToTarget != nil || apart.Peer != "newtop wild" {
		t.Errorf("the wild run ended as %+v", apart)
	}
	if len(l.Results) < 2 || l.Results[0].What != "best of all" || l.Results[0].Newtop != "adam lr=0.01 batch=64" {
		t.Errorf("compared %+v", l.Results)
	}
	if reached := l.Newtop[1].SecondsToTarget != nil; reached != (len(l.Newtop) == 4) {
		t.Errorf("%d runs: expected the one that reached the target twice", len(l.Newtop))
	}
	roundTrip(t, p)
}

func TestOtherScriptsAndFailures(t *testing.T) {
	dir := scripts(t, map[string]string{
		"peer_a.py":    "echo one; echo; echo two; printf three",
		"peer_b.py":    "echo half; echo Traceback >&2; echo 'ValueError: no' >&2; exit 3",
		"peer_c.py":    "exit 4",
		productsScript: "echo nothing",
		letterScript:   "echo never",
		"readme.txt":   "",
		"helper.py":    "echo wrong",
	})
	var failures []string
	p, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir, Python: fakePython(t, "torch sklearn"), Threads: 1, Quick: true, rows: 100,
		Live: func(l Live) {
			if l.Failure != "" {
				failures = append(failures, l.Source)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []PeerOutput{{"peer_a.py", []string{"one", "two", "three"}}, {"peer_b.py", []string{"half"}}, {"peer_c.py", []string{}}}; !reflect.DeepEqual(p.Others, want) {
		t.Errorf("others %+v", p.Others)
	}
	reasons := map[string]string{"peer_b.py": "ValueError: no", "peer_c.py": "it failed without a word: exit status 4",
		productsScript: "it printed no figures", letterScript: letterFile + " is missing"}
	for _, f := range p.Failures {
		if !strings.Contains(f.Reason, reasons[f.Script]) {
			t.Errorf("%s: %q, expected %q", f.Script, f.Reason, reasons[f.Script])
		}
	}
	if want := []string{"peer_b.py", "peer_c.py", productsScript, letterScript}; !reflect.DeepEqual(failures, want) || len(p.Failures) != 4 || len(p.Scripts) != 5 {
		t.Errorf("%d of %q failed, told of %q", len(p.Failures), p.Scripts, failures)
	}
	roundTrip(t, p)
}

func TestCancellingKillsTheScript(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_slow.py": "sleep 60 & echo $!; wait"})
	ctx, cancel := context.WithCancel(t.Context())
	pid := 0
	_, err := MeasurePeers(ctx, PeerOptions{Dir: dir, Python: fakePython(t, ""), Live: func(l Live) {
		pid, _ = strconv.Atoi(l.Text)
		cancel()
	}})
	if !errors.Is(err, context.Canceled) || pid == 0 {
		t.Fatalf("process %d, %v", pid, err)
	}
	dies(t, pid)
}

// TestWhatAScriptLeavesBehind is no failure of the script's, and does not compute beside what is measured next.
func TestWhatAScriptLeavesBehind(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_fork.py": "echo warning >&2; sleep 60 & echo $!"})
	p, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir, Python: fakePython(t, "")})
	if err != nil || p.Failures != nil {
		t.Fatal(err, p.Failures)
	}
	pid, err := strconv.Atoi(p.Others[0].Lines[0])
	if err != nil {
		t.Fatal(err)
	}
	dies(t, pid)
}

// dies waits for the end of a process. Whoever inherits a child's child may take a while to bury it.
func dies(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) != syscall.ESRCH && !buried(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d, a child of the script, lives on", pid)
		}
	}
}

// buried reports whether Linux lists a process as dead.
func buried(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestPython(t *testing.T) {
	none, some, all := fakePython(t, ""), fakePython(t, "torch"), fakePython(t, "sklearn torch")
	both := []string{letterScript, productsScript}
	for _, c := range []struct {
		tried, scripts []string
		want           string
	}{
		{[]string{none, some, all}, both, all},
		{[]string{none, some, all}, both[1:], some},
		{[]string{"/no/such/python", none}, []string{"peer_x.py"}, none},
	} {
		if got, err := findPython(t.Context(), c.tried, c.scripts); got != c.want || err != nil {
			t.Errorf("found %q, %v: expected %q", got, err, c.want)
		}
	}
	_, err := findPython(t.Context(), []string{none, some}, both)
	var missing *NoPythonError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "imports torch and sklearn") ||
		!strings.Contains(err.Error(), "python3 python3-torch python3-sklearn") || !strings.Contains(err.Error(), none) {
		t.Errorf("said %v", err)
	}
	if _, err := findPython(t.Context(), []string{"/no/such/python"}, []string{"peer_x.py"}); err == nil || strings.Contains(err.Error(), "import") {
		t.Errorf("said %v", err)
	}
}

func TestNoPeers(t *testing.T) {
	dir := t.TempDir()
	_, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir})
	var none *NoPeersError
	if !errors.As(err, &none) || none.Dir != dir {
		t.Errorf("said %v", err)
	}
	if _, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir + "/none"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("said %v", err)
	}
}

func TestLinesOfAnyLength(t *testing.T) {
	var got []string
	w := &lines{each: func(s string) { got = append(got, s) }}
	long := strings.Repeat("x", longestLine+5)
	w.Write([]byte("\x1b[2Jcle\ta\u009br\a\xff\n\x00\n"))
	if want := []string{"[2Jcle ar�"}; !reflect.DeepEqual(got, want) {
		t.Errorf("read %q", got)
	}
	got = nil
	for _, part := range []string{"a", "b\n\nc \r\n", long[:100], long[100:], "\nend"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	w.end()
	if want := []string{"ab", "c", long[:longestLine], "end"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%d lines, lengths differ or order", len(got))
	}
}
