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
		Live: func(l PeerLine, failed bool) { live = append(live, fmt.Sprint(l.Source, " ", l.Text, " ", failed)) }})
	if err != nil || p.Failures != nil {
		t.Fatal(err, p)
	}
	if len(live) != 8 || !strings.HasPrefix(live[0], "newtop {") || live[1] != productsScript+" --reps 3 false" || !strings.HasPrefix(live[7], "newtop {") || len(p.Lines) != 8 {
		t.Errorf("told %q", live)
	}
	if len(p.Ratios) != 9 {
		t.Fatalf("measured %+v", p.Ratios)
	}
	var before, after peerProducts
	for i, own := range map[int]*peerProducts{0: &before, 7: &after} {
		if err := json.Unmarshal([]byte(p.Lines[i].Text), own); err != nil || !positive(own.GradientMS, own.HvKeptMS, own.HvFreshMS) || own.Threads != 1 || own.DType != "float64" {
			t.Errorf("newtop's own: %+v, %v", own, err)
		}
	}
	mean := (before.GradientMS + after.GradientMS) / 2
	if r := p.Ratios[0]; r.What != "gradient_ms" || r.Peer != "torch 9, float64, 2 threads" || r.PeerIs != 3000 || float64(r.OwnIs) != mean || float64(r.Quicker) != 3000/mean {
		t.Errorf("the first ratio is %+v beside %g ms", r, mean)
	}
	if r := p.Ratios[1]; r.What != "hv_kept_ms" || r.Peer != "torch 9, float64, 1 thread" || r.PeerIs != 5000 {
		t.Errorf("the second ratio is %+v", r)
	}
	if r := p.Ratios[3]; r.Peer != "torch 9, float32, 2 threads" || r.PeerIs != 1e-6 {
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
	hopeless := letterRun{"sgd", trainer.Config{Optimizer: "sgd", Batch: 1000, Set: []string{"rate=1e-9"}}}
	wild := letterRun{"wild", trainer.Config{Optimizer: "sgd", Batch: 1000, Set: []string{"rate=1e6"}}}
	p, err := MeasurePeers(t.Context(), PeerOptions{Dir: dir, Python: fakePython(t, "torch sklearn"), Threads: 1,
		Budget: 100 * time.Millisecond, runs: []letterRun{hopeless, adam(1e-2, 64), wild}})
	if err != nil || p.Failures != nil {
		t.Fatal(err, p)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil || !strings.HasPrefix(string(arguments), "--data ") || !strings.HasSuffix(string(arguments), letterFile+" --budget 0.1\n") {
		t.Errorf("ran with %q: expected %s", arguments, file)
	}
	var own []peerLetter
	for _, l := range p.Lines {
		if l.Source == Newtop {
			var run peerLetter
			if err := json.Unmarshal([]byte(l.Text), &run); err != nil {
				t.Fatal(err)
			}
			own = append(own, run)
		}
	}
	if len(own) < 3 || len(p.Lines) != len(own)+2 {
		t.Fatalf("measured %+v", p.Lines)
	}
	if never := own[0]; never.SecondsToTarget != nil || never.Epochs < 1 || never.Seconds < 0.1 {
		t.Errorf("the hopeless run ended as %+v", never)
	}
	if apart := own[2]; apart.SecondsToTarget != nil || apart.Peer != "newtop wild" {
		t.Errorf("the wild run ended as %+v", apart)
	}
	if len(p.Ratios) != 2 || p.Ratios[0] != p.Ratios[1] || p.Ratios[0].Newtop != "newtop adam lr=0.01 batch=64" || p.Ratios[0].PeerIs != 1000 {
		t.Errorf("compared %+v", p.Ratios)
	}
	if reached := own[1].SecondsToTarget != nil; reached != (len(own) == 4) {
		t.Errorf("%d runs: expected the one that reached the target twice", len(own))
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
		Live: func(l PeerLine, failed bool) {
			if failed {
				failures = append(failures, l.Source)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	var others []PeerLine
	for _, l := range p.Lines {
		if l.Source != Newtop {
			others = append(others, l)
		}
	}
	if want := []PeerLine{{"peer_a.py", "one"}, {"peer_a.py", "two"}, {"peer_a.py", "three"}, {"peer_b.py", "half"}, {productsScript, "nothing"}}; !reflect.DeepEqual(others, want) {
		t.Errorf("others %+v", others)
	}
	reasons := map[string]string{"peer_b.py": "ValueError: no", "peer_c.py": "it failed without a word: exit status 4",
		productsScript: "it printed no figures", letterScript: letterFile + " is missing"}
	for _, f := range p.Failures {
		if !strings.Contains(f.Text, reasons[f.Source]) {
			t.Errorf("%s: %q, expected %q", f.Source, f.Text, reasons[f.Source])
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
	_, err := MeasurePeers(ctx, PeerOptions{Dir: dir, Python: fakePython(t, ""), Live: func(l PeerLine, _ bool) {
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
	pid, err := strconv.Atoi(p.Lines[0].Text)
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
