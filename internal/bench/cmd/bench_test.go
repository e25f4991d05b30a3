package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/internal/bench"
	"newtop/internal/cli/clitest"
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
	of := bench.TableResult{Name: "iris", Rows: 150, Columns: 4, Classes: 3, Methods: []bench.TableMethod{{Name: "MLP", Mean: 0.05}, {Name: "newtop", Mean: 0.04}}}
	text := tablesDocument(&bench.Tables{Machine: bench.Here(0), Tables: []bench.TableResult{of}}).Text(80)
	for _, want := range []string{"\nahead of the MLP on 1 of 1 tables\n", "\nthe best, or within one standard error of it on 1 of 1\n", "\nmachine   "} {
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

func TestPeersText(t *testing.T) {
	inf := event.Float(math.Inf(1))
	load := []*bench.PeerRow{{Name: "foreign load, peer", Pairs: []event.Float{0.031, event.Absent}, Median: 0.031, Least: 0.031, Most: 0.031}}
	p := &bench.Peers{
		Machine: bench.Machine{Cores: 1, OS: "linux", Arch: "amd64", Go: "go1.26", Kernel: "avx2", Threads: 1},
		Figures: []*bench.PeerFigure{{What: "16-70-50-26, 16000 rows: gradient_ms", Load: load,
			Times: []*bench.PeerRow{
				{Name: "torch 1.13.0a0 float64", Pairs: []event.Float{33.2, 30.2}, Median: 31.7, Least: 30.2, Most: 33.2},
				{Name: "newtop avx2 float64", Pairs: []event.Float{4.54, 4}, Median: 4.27, Least: 4, Most: 4.54}},
			Ratios: []*bench.PeerRow{{Name: "torch 1.13.0a0 float64", Newtop: "newtop avx2 float64", Median: 7.43, Least: 7.31, Most: 7.55}},
		}, {What: "UCI letter to 5 %: seconds_to_target", Load: load,
			Times: []*bench.PeerRow{
				{Name: "torch \x1b[2Jadam", Pairs: []event.Float{inf, inf}, Median: inf, Least: inf, Most: inf},
				{Name: "newtop tr-gn blocks=6 block-xi=0.4 limit=12", Pairs: []event.Float{5, inf}, Median: inf, Least: 5, Most: inf}},
			Ratios: []*bench.PeerRow{{Name: "torch \x1b[2Jadam", Median: inf, Least: inf, Most: inf}},
		}},
	}
	const want = `
16-70-50-26, 16000 rows: gradient_ms
                              1     2  median
  torch 1.13.0a0 float64   33.2  30.2    31.7
  newtop avx2 float64      4.54  4.00    4.27
  foreign load, peer      0.031     –   0.031
  7.43 × as fast (7.31 to 7.55) as torch 1.13.0a0 float64

UCI letter to 5 %: seconds_to_target
                             1  2  median
  torch \x1b[2Jadam          ∞  ∞       ∞
  newtop tr-gn blocks=6   5.00  ∞       ∞
  block-xi=0.4 limit=12
  foreign load, peer     0.031  –   0.031
  ∞ × as fast (∞ to ∞) as torch \x1b[2Jadam
machine   1 core, linux/amd64, go1.26; kernel avx2, 1 thread
`
	if got := peersDocument(p).Text(80); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	clitest.Narrow(t, want)
	if got := peersDocument(p).Markdown(); !strings.Contains(got, "| newtop avx2 float64 | 4.54 | 4.00 | 4.27 |") {
		t.Errorf("in Markdown\n%s", got)
	}
}

func TestPeersFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"peers . --pairs 0", "--pairs 0: expected a whole number from 1 to 99"}, {"peers . --pairs 100", "--pairs 100"},
		{"peers . --budget 0", "--budget 0: expected a number of seconds above 0"}, {"peers . --budget NaN", "--budget NaN"},
		{"peers . --format xml", "--format"}, {"peers . --threads -1", "--threads"}, {"peers /no/such", "/no/such: expected scripts peer_*.py"},
	} {
		cmd := newRoot()
		cmd.SetArgs(strings.Fields(c.args))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(io.Discard)
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.args, err, c.want)
		}
	}
}
