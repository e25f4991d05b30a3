//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"newtop/internal/bench"
	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// TestBenchCore measures the real thing, as briefly as can be, on a tenth of the rows.
func TestBenchCore(t *testing.T) {
	var out bytes.Buffer
	o := bench.Options{Quick: true, Budget: time.Millisecond, Rows: 1600}
	if err := benchCore(t.Context(), &out, "json", o); err != nil {
		t.Fatal(err)
	}
	var c bench.Core
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	text := coreText(&c)
	clitest.Narrow(t, text)
	for _, want := range []string{"kernel " + c.Machine.Kernel, "FMA peak", "matrix products", "vector functions", "6066 weights, 1600 rows",
		"Gauss–Newton product", "gradient alone", "passes kept", "passes anew", "Hv with weights", "≤ 1.05", "batches of 256"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestCoreText(t *testing.T) {
	c := &bench.Core{
		Machine: bench.Machine{CPU: "A Chip", Cores: 2, OS: "linux", Arch: "amd64", Go: "go1.26", Kernel: "avx512", Threads: 2,
			PeakGFLOPS: 83.14, PeakAllGFLOPS: 160.2},
		Products: []bench.Product{
			{Name: "forward", Rows: 70, Columns: 96, Inner: 16, GFLOPS: 61.23, BestGFLOPS: 63, PeakShare: 0.736},
			{Name: bench.AllLetter, GFLOPS: 59.96, BestGFLOPS: 64, PeakShare: 0.72, Goal: &bench.Goal{AtLeast: 60}},
		},
		Functions: []bench.Function{{Name: "tanh", Elements: 6720, MedianNS: 0.5432, BestNS: 0.5}},
		Letter: []bench.Letter{{Threads: 1, Kept: true, Rows: 16000, Weights: 6066, Passes: []bench.Pass{
			{Name: "gradient", MedianMS: 5.123, BestMS: 5, GFLOPS: 101.4, Gradients: 1},
			{Name: "hessian", MedianMS: 1234.5, BestMS: 8, GFLOPS: 99.5, Gradients: 1.694, AllocatedBytes: 48, Goal: &bench.Goal{AtMost: 1.7, Holds: true}},
		}}},
		Scaling: []bench.Scaling{{Pass: "hessian", With: "rows", Points: []bench.Point{{Size: 2000, BestMS: 1.5}, {Size: 64000, BestMS: 60}},
			Fit: bench.Fit{Exponent: 1.0642, StandardError: 0.012}, Goal: &bench.Goal{AtMost: 1.05}}},
		Epochs:  []bench.Epoch{{Batch: 64, Rows: 16000, MedianMS: 33.3, BestMS: 33, RowsPerSecond: 480480.5, GFLOPS: 40}},
		Seconds: 25.4,
	}
	const want = `A Chip
2 cores, linux/amd64, go1.26; kernel avx512, 2 threads
FMA peak 83.1 GFLOP/s of one core, 160 of all threads at once

matrix products, one core              GFLOP/s      best   of peak
  forward   70×16 · 16×96                 61.2      63.0      74 %
  all these, of a letter gradient         60.0      64.0      72 %  ≥ 60 missed

vector functions, one core             ns each      best   numbers
  tanh                                   0.543     0.500      6720

letter net, 6066 weights, 16000 rows, tanh, squared error

1 thread, passes kept        ms    best  GFLOP/s gradients bytes
  gradient                 5.12    5.00      101      1.00     0
  Hv                       1234    8.00     99.5      1.69    48  ≤ 1.7 holds

scaling, 2 threads            sizes      best ms      exponent
  Hv with rows           2000…64000    1.50…60.0 1.064 ± 0.012  ≤ 1.05 missed

epochs of 16000 rows, one core              ms      best    rows/s   GFLOP/s
  batches of 64                           33.3      33.0    480480      40.0

measured in 25 s
`
	if got := coreText(c); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	clitest.Narrow(t, want)
}

func TestTablesText(t *testing.T) {
	t.Parallel()
	list := []bench.TableResult{
		{Name: "iris", Rows: 150, Columns: 4, Classes: 3, Methods: []bench.TableMethod{
			{Name: "MLP", Scores: []float64{0.05}, Mean: 0.05, Less: -0.01, Spread: 0.00123, Differs: true},
			{Name: "forest", Mean: 0.06, Less: -0.02, Spread: 0.031}, {Name: "newtop", Mean: 0.04}}},
		{Name: "diabetes", Rows: 442, Columns: 10, Methods: []bench.TableMethod{
			{Name: "forest", Mean: 59, Less: -4, Spread: event.Float(math.NaN())},
			{Name: "ridge", Scores: []float64{54}, Mean: 54, Less: 1, Spread: 12.3, Differs: true}, {Name: "newtop", Mean: 55}}},
	}
	text := tablesDocument(&bench.Tables{Machine: bench.Here(0), Peers: "both", Tables: list}).Text(80)
	for _, want := range []string{"\nTest error, %\n", "  −1.00 ± 0.12¹", "  −2.0 ± 3.1\n", "  1 ± 12¹   −4.00  1 ± 12¹\n", "Test RMSE", "better on 1 of 2 tables, worse on 1,",
		"\nsplits    1\npeers     both\nmachine   "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, " 0 threads") {
		t.Errorf("a machine without threads:\n%s", text)
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0.000", 0.5432: "0.543", 1: "1.00", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 12.34: "12.3", 123.4: "123", 12345: "12345", math.Inf(1): "+Inf"} {
		if got := short(v); got != want {
			t.Errorf("%g is written %s", v, got)
		}
	}
}

// TestSide: the side computes what it is asked for, of weights 0 the mean of −t for the output's bias.
func TestSide(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, numbers := range map[string][]float64{"x": {1, 2, 3, 4, 5, 6}, "t": {1, 0, 1}, "w": make([]float64, 13), "v": make([]float64, 13)} {
		raw, _ := binary.Append(nil, binary.LittleEndian, numbers)
		put(name+".bin", raw)
	}
	put("case.json", []byte(`{"nodes": [2, 3, 1], "rows": 3, "loss": "linear", "batches": [1], "steps": 2}`))
	var out bytes.Buffer
	ask := func(lines string) error {
		cmd := newRoot()
		cmd.SetArgs([]string{"side", dir, "--precision", "float32", "--threads", "1"})
		cmd.SetIn(strings.NewReader(lines))
		cmd.SetOut(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		return cmd.Execute()
	}
	if err := ask("list\nout gradient " + dir + "/g\nrun adam-1 0\n"); err != nil || !strings.Contains(out.String(), `"adam-1","eigenvalues"`) ||
		!strings.Contains(out.String(), `"median":`) {
		t.Errorf("%v: said %s", err, out.String())
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "g"))
	g := make([]float64, 13)
	if _, err := binary.Decode(raw, binary.LittleEndian, g); err != nil || math.Abs(g[12]+2./3) > 1e-6 || g[0] != 0 {
		t.Errorf("%v: gradient %v", err, g)
	}
	if err := ask("run nothing 1\n"); err == nil || !strings.Contains(err.Error(), "expected one of the works") {
		t.Errorf("a work that is none: %v", err)
	}
	put("v.bin", nil)
	if err := ask("list\n"); err == nil || !strings.Contains(err.Error(), "v of "+dir) {
		t.Errorf("without a direction: %v", err)
	}
}

// TestBenchIsInterrupted: on a terminal the progress is there, and Ctrl-C ends a measurement.
func TestBenchIsInterrupted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "core")
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var out strings.Builder
	interrupted := false
	for buffer := make([]byte, 4096); ; {
		n, err := terminal.Read(buffer)
		out.Write(buffer[:n])
		if err != nil {
			break
		}
		if !interrupted && strings.Contains(out.String(), "measuring") {
			interrupted = true
			if _, err := terminal.WriteString("\x03"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != print.ExitInterrupted || !strings.Contains(out.String(), "newtop: interrupted") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
