//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/trainer/event"
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
	dir := filepath.Join(t.TempDir(), "bench [of] *")
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

// beside has options for a directory of scripts and works of newtop's, and what they tell as it comes.
func beside(dir, python string, pairs int, works map[string][]work) (o PeerOptions, live *[]string) {
	live = new([]string)
	return PeerOptions{Dir: dir, Python: python, Pairs: pairs, Budget: 100 * time.Millisecond, Threads: 1, Quick: true, works: works,
		Live: func(l PeerLine, failed bool) {
			if failed {
				l.Source += " failed:"
			}
			*live = append(*live, l.Source+" "+l.Text)
		}}, live
}

// counted begins a script in sh that knows as $n how often it has run.
const counted = `n=$(($(cat "$0.n" 2>/dev/null || echo 0) + 1)); echo $n >"$0.n"
`

func TestProductsInPairs(t *testing.T) {
	dir := scripts(t, map[string]string{productsScript: counted + `
echo "$@"
echo '{"peer": "torch 9", "dtype": "float64", "threads": 1, "gradient_ms": '$((n * 4000))', "hv_kept_ms": 5000, "hv_fresh_ms": 9000}'
echo '{"peer": "torch 9", "dtype": "float64", "threads": 2, "gradient_ms": 3000, "hv_kept_ms": 6000, "hv_fresh_ms": 9500}'
echo '{"peer": "torch 9", "dtype": "float32", "threads": 2, "gradient_ms": 1e-6, "hv_kept_ms": 2e-6, "hv_fresh_ms": 3e-6}'
echo '{"peer": "torch 9", "dtype": "float32", "threads": 1, "gradient_ms": 0, "hv_kept_ms": "2", "hv_fresh_ms": -3}'
echo '{"peer": "\u001b[2J", "dtype": "float32", "threads": 1, "gradient_ms": 1, "hv_kept_ms": 2, "hv_fresh_ms": 3, "step_ms": 4}'`})
	o, live := beside(dir, fakePython(t, "torch"), 3, nil)
	o.works = map[string][]work{productsScript: {o.products("small", []int{5, 4, 3}, 20)}}
	p, err := MeasurePeers(t.Context(), o)
	if err != nil || p.Failures != nil || len(p.Figures) != 3 {
		t.Fatal(err, p)
	}
	for i, line := range *live {
		if own := strings.HasPrefix(line, newtop+" {"); own != (i%8 >= 6) || i%8 == 0 && line != productsScript+" --dims 5,4,3 --rows 20 --reps 5" {
			t.Errorf("line %d of three pairs of 6 and 2: %s", i, line)
		}
	}
	f := p.Figures[0]
	if f.What != "small, 20 rows: gradient_ms" || len(f.Times) != 5 || len(f.Ratios) != 3 || p.Figures[2].What != "small, 20 rows: hv_fresh_ms" {
		t.Fatalf("measured %+v", f)
	}
	want := []PeerRow{{Name: "torch 9 float64", Pairs: []event.Float{3000, 3000, 3000}}, {Name: "torch 9 float32", Pairs: []event.Float{1e-6, 1e-6, 1e-6}},
		{Name: `\x1b[2J float32`, Pairs: []event.Float{1, 1, 1}}}
	for i, w := range want {
		own := f.Times[3+min(i, 1)] // in the peer's precision
		if got := f.Times[i]; got.Name != w.Name || !slices.Equal(got.Pairs, w.Pairs) || got.Median != w.Pairs[0] {
			t.Errorf("times %+v, expected %+v", got, w)
		}
		for pair, r := range f.Ratios[i].Pairs {
			if is := f.Times[i].Pairs[pair] / own.Pairs[pair]; r != is || !positive(float64(is)) {
				t.Errorf("pair %d beside %s: %g, expected %g", pair, w.Name, r, is)
			}
		}
	}
	for i, precision := range []string{" float64", " float32"} {
		own := f.Times[3+i]
		if !strings.HasPrefix(own.Name, "newtop ") || !strings.HasSuffix(own.Name, precision) || f.Ratios[i].Newtop != own.Name || f.Ratios[i].Name != "torch 9"+precision {
			t.Errorf("newtop's %+v", own)
		}
	}
	for i, l := range append(f.Load[0].Pairs, f.Load[1].Pairs...) { // the system counts in hundredths of a second, of which the script may take none
		if l < 0 || l > 1 || i >= 3 && runtime.GOOS == "linux" && l != l {
			t.Errorf("foreign load %g", l)
		}
	}
	roundTrip(t, p)
}

// roundTrip reads what JSON writes, and wants every key to be plain.
func roundTrip(t *testing.T, p *Peers) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var read Peers
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(&read); err != nil || !bytes.Equal(text, again) {
		t.Errorf("%v: wrote %s\nread %s", err, text, again)
	}
	for _, key := range regexp.MustCompile(`[{,]"([^"]*)":`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(key[1]) {
			t.Errorf("key %q", key[1])
		}
	}
}

func TestStepsInPairs(t *testing.T) {
	dir := scripts(t, map[string]string{batchScript: `for b in 1 8; do
	echo '{"peer": "torch 9 Adam", "dtype": "float32", "batch": '$b', "step_ms": '$b'00000, "epoch_60000_s": '$b'00}'
done`})
	o, _ := beside(dir, fakePython(t, "torch"), 2, nil)
	o.works = map[string][]work{batchScript: {o.steps("small", "step_ms", []int{5, 4, 3}, 24, 1, 8), o.steps("long", "epoch_60000_s", []int{5, 4, 3}, 24, 8)}}
	p, err := MeasurePeers(t.Context(), o)
	if err != nil || p.Failures != nil {
		t.Fatal(err, p)
	}
	var took []event.Float
	for _, f := range p.Figures {
		took = append(took, f.Times[0].Median)
		if len(f.Times) != 3 || len(f.Ratios) != 1 || !positive(float64(f.Times[1].Median)) || !positive(float64(f.Times[2].Median)) || f.Ratios[0].Newtop != f.Times[2].Name {
			t.Errorf("measured %+v", f)
		}
	}
	if !slices.Equal(took, []event.Float{100000, 800000, 800}) || p.Figures[1].What != "small, Adam, batches of 8: step_ms" ||
		p.Figures[2].What != "long, Adam, batches of 8: epoch_60000_s" {
		t.Errorf("measured %v", took)
	}
	if step, epoch := p.Figures[1].Times[1].Median, p.Figures[2].Times[1].Median; epoch/step < 1 || epoch/step > 60 {
		t.Errorf("7,500 steps of %g ms take %g s", step, epoch)
	}
	roundTrip(t, p)
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
	return put(t, filepath.Join(dir, "letter-recognition.data"), b.String())
}

func TestLetterInPairs(t *testing.T) {
	dir := scripts(t, map[string]string{letterScript: `
echo '{"peer": "torch adam lr=1e-2 batch=64", "target_percent": 5, "seconds_to_target": 1000, "best_test_error": 4.9, "train_error": 3, "seconds": 1000, "epochs": 7}'
echo "$@" >> "$(dirname "$0")/arguments"
echo '{"peer": "torch lbfgs", "target_percent": 5, "seconds_to_target": null, "best_test_error": 7.3, "train_error": 0, "seconds": 60, "epochs": 7}'`})
	file := letterData(t, filepath.Join(filepath.Dir(dir), "data"))
	o, live := beside(dir, fakePython(t, "torch sklearn"), 2, nil)
	o.DataDir, o.Budget = filepath.Dir(file), 20*time.Second
	quick := o
	quick.Budget = 100 * time.Millisecond
	runs := o.letter("adam rate=0.01 batch=64", "sgd rate=1e6 batch=1000")
	hopeless := quick.letter("sgd rate=1e-9 batch=1000")
	both := runs
	both.own = func(ctx context.Context, pair int, say func(map[string]any)) error {
		return errors.Join(hopeless.own(ctx, pair, say), runs.own(ctx, pair, say))
	}
	o.works = map[string][]work{letterScript: {both}}
	p, err := MeasurePeers(t.Context(), o)
	if err != nil || p.Failures != nil || len(p.Figures) != 1 {
		t.Fatal(err, p)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	const each = "--data %s --target 5 --budget 20 --seed %d\n"
	if want := fmt.Sprintf(each+each, file, 0, file, 1); err != nil || string(arguments) != want {
		t.Errorf("%v: ran with %s, expected %s", err, arguments, want)
	}
	names := []string{"torch adam lr=1e-2 batch=64", "torch lbfgs", "newtop sgd rate=1e-9 batch=1000", "newtop adam rate=0.01 batch=64", "newtop sgd rate=1e6 batch=1000"}
	f := p.Figures[0]
	for i, row := range f.Times {
		reached := i == 0 || i == 3
		if row.Name != names[i] || row.Median.Finite() != reached || row.Pairs[1].Finite() != reached {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	if best := f.Times[3]; best.Median <= 0 || best.Pairs[0] == best.Pairs[1] {
		t.Errorf("two seeds took %v", best.Pairs)
	}
	if r := f.Ratios; len(r) != 2 || r[0].Newtop != names[3] || r[0].Name != names[0] || r[0].Least != min(1000/f.Times[3].Pairs[0], 1000/f.Times[3].Pairs[1]) || !math.IsInf(float64(r[1].Median), 1) {
		t.Errorf("compared %+v, %+v", *r[0], *r[1])
	}
	for _, l := range *live {
		if !strings.Contains(l, "1e-9") {
			continue
		}
		var never struct {
			Epochs  int
			Seconds float64
			Reached *float64 `json:"seconds_to_target"`
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(l, newtop)), &never); err != nil || never.Reached != nil || never.Epochs < 1 || never.Seconds < 0.1 {
			t.Errorf("%v: the hopeless run ended as %s", err, l)
		}
	}
	roundTrip(t, p)
}

func TestOtherScriptsAndFailures(t *testing.T) {
	dir := scripts(t, map[string]string{
		"peer_a.py":    "echo one; echo; echo two; printf three",
		"peer_b.py":    "echo half; echo Traceback >&2; echo 'ValueError: no' >&2; exit 3",
		"peer_c.py":    "exit 4",
		productsScript: "echo nothing",
		batchScript:    counted + `[ $n = 2 ] && exit 1; echo '{"peer": "torch", "step_ms": 2}'`,
		letterScript:   `echo '{"peer": "torch", "seconds_to_target": 2}'`,
		"readme.txt":   "",
		"helper.py":    "echo wrong",
	})
	says := func(ms float64) work {
		return work{"it", nil, func(_ context.Context, pair int, say func(map[string]any)) error {
			say(map[string]any{"peer": "newtop", "step_ms": ms})
			return nil
		}}
	}
	refuses := work{"it", nil, func(context.Context, int, func(map[string]any)) error { return errors.New("no data") }}
	o, live := beside(dir, fakePython(t, "torch sklearn"), 3, map[string][]work{productsScript: {says(1)}, batchScript: {says(1), says(1)}, letterScript: {refuses}})
	p, err := MeasurePeers(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []PeerLine{{"peer_a.py", "one"}, {"peer_a.py", "two"}, {"peer_a.py", "three"}, {"peer_b.py", "half"}, // by name: batch, c, hvp
		{batchScript, `{"peer": "torch", "step_ms": 2}`}, {newtop, `{"peer":"newtop","step_ms":1}`}, {productsScript, "nothing"},
		{letterScript, `{"peer": "torch", "seconds_to_target": 2}`}}
	failures := []PeerLine{{"peer_b.py", "ValueError: no"}, {batchScript, "it failed without a word: exit status 1"},
		{"peer_c.py", "it failed without a word: exit status 4"}, {productsScript, "it printed no figures"}, {letterScript, "no data"}}
	if !slices.Equal(p.Lines, want) || !slices.Equal(p.Failures, failures) || len(p.Scripts) != 6 {
		t.Errorf("lines %q\nof %q failed %q", p.Lines, p.Scripts, p.Failures)
	}
	if told := strings.Join(*live, "\n"); strings.Count(told, "\n") != 12 || !strings.Contains(told, "peer_b.py half\npeer_b.py failed: ValueError: no\n") {
		t.Errorf("told %s", told)
	}
	if len(p.Figures) != 1 { // the pair before the failure
		t.Fatalf("measured %+v", p.Figures)
	}
	if r := p.Figures[0].Ratios[0]; r.Median != 2 || r.Pairs[0] != 2 || !r.Pairs[1].Absent() || !r.Pairs[2].Absent() {
		t.Errorf("compared %+v", r)
	}
	roundTrip(t, p)
}

func TestCancellingKillsTheScript(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_slow.py": "sleep 60 & echo $!; wait"})
	ctx, cancel := context.WithCancel(t.Context())
	pid := 0
	o, _ := beside(dir, fakePython(t, ""), 1, nil)
	o.Live = func(l PeerLine, _ bool) {
		pid, _ = strconv.Atoi(l.Text)
		cancel()
	}
	_, err := MeasurePeers(ctx, o)
	if !errors.Is(err, context.Canceled) || pid == 0 {
		t.Fatalf("process %d, %v", pid, err)
	}
	dies(t, pid)
}

// TestWhatAScriptLeavesBehind is no failure of the script's, and does not compute beside what is measured next.
func TestWhatAScriptLeavesBehind(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_fork.py": "echo warning >&2; sleep 60 & echo $!"})
	o, live := beside(dir, fakePython(t, ""), 1, nil)
	p, err := MeasurePeers(t.Context(), o)
	if err != nil || p.Failures != nil {
		t.Fatal(err, p.Failures)
	}
	pid, err := strconv.Atoi(strings.TrimPrefix((*live)[0], "peer_fork.py "))
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
		python  string
		scripts []string
		has     bool
	}{{none, both, false}, {some, both, false}, {all, both, true}, {some, both[1:], true}, {some, []string{batchScript}, true}, {none, []string{batchScript}, false},
		{none, []string{"peer_x.py"}, true}, {"/no/such/python", []string{"peer_x.py"}, false}} {
		if got, err := findPython(t.Context(), c.python, c.scripts); (err == nil) != c.has || c.has && got != c.python {
			t.Errorf("%s for %q: %q, %v", c.python, c.scripts, got, err)
		}
	}
	_, err := findPython(t.Context(), some, both)
	if err == nil || !strings.Contains(err.Error(), "imports sys, torch, sklearn (tried "+some+")") ||
		!strings.Contains(err.Error(), "python3 python3-torch python3-sklearn") {
		t.Errorf("said %v", err)
	}
	t.Setenv("PATH", filepath.Dir(all)+":"+os.Getenv("PATH"))
	if err := os.Rename(all, filepath.Join(filepath.Dir(all), "python3")); err != nil {
		t.Fatal(err)
	}
	if got, err := findPython(t.Context(), "", both); got != "python3" || err != nil {
		t.Errorf("in the path: %q, %v", got, err)
	}
}

func TestNoPeers(t *testing.T) {
	for _, dir := range []string{t.TempDir(), t.TempDir() + "/none"} {
		o, _ := beside(dir, "", 1, nil)
		if _, err := MeasurePeers(t.Context(), o); err == nil || err.Error() != dir+": expected scripts peer_*.py" {
			t.Errorf("said %v", err)
		}
	}
}

func TestLinesOfAScript(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_x.py": `printf '\033[2Jcle\ta\302\233r\a\377\n\000\n  \nb\r\n'; printf end`,
		"peer_long.py": "echo short; yes x | tr -d '\\n' | head -c 200000; echo; yes | head -c 100000; echo last >&2"})
	var got []string
	o, _ := beside(dir, fakePython(t, ""), 1, nil)
	if _, err := runProgram(t.Context(), o.Python, []string{filepath.Join(o.Dir, "peer_x.py")}, func(text string) { got = append(got, text) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{`\x1b[2Jcle\ta\u009br\a` + "\ufffd", `\x00`, "b", "end"}; !slices.Equal(got, want) {
		t.Errorf("read %q", got)
	}
	got = nil
	spent, err := runProgram(t.Context(), o.Python, []string{filepath.Join(o.Dir, "peer_long.py")}, func(text string) { got = append(got, text) })
	want := append([]string{"short", strings.Repeat("x", longestLine)}, slices.Repeat([]string{"y"}, 50000)...)
	if err != nil || spent < 0 || !slices.Equal(got, want) {
		t.Errorf("%v: read %d lines", err, len(got))
	}
}

// TestAScriptsTimeIsOfItsChildrenToo: it would be foreign load otherwise.
func TestAScriptsTimeIsOfItsChildrenToo(t *testing.T) {
	dir := scripts(t, map[string]string{"peer_x.py": `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'`})
	o, _ := beside(dir, fakePython(t, ""), 1, nil)
	if spent, err := runProgram(t.Context(), o.Python, []string{filepath.Join(o.Dir, "peer_x.py")}, nil); err != nil || spent < 10*time.Millisecond {
		t.Errorf("%v: spent %v", err, spent)
	}
}
