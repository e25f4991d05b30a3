package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/internal/bench"
	"newtop/internal/cli/internal/clitest"
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

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0.000", 0.5432: "0.543", 1: "1.00", 9.994: "9.99", 9.996: "10.0", 99.96: "100", 12.34: "12.3", 123.4: "123", 12345: "12345", math.Inf(1): "+Inf"} {
		if got := short(v); got != want {
			t.Errorf("%g is written %s", v, got)
		}
	}
}

func TestPeersText(t *testing.T) {
	p := &bench.Peers{
		Machine: bench.Machine{Cores: 1, OS: "linux", Arch: "amd64", Go: "go1.26", Kernel: "avx2", Threads: 1},
		Ratios: []bench.Ratio{
			{What: "gradient_ms", Peer: "torch 1.13.0a0, float64, 2 threads", PeerIs: 33.2, Newtop: "newtop avx2, float64, 2 threads", OwnIs: 4.54, Quicker: 7.31},
			{What: "seconds_to_target", Peer: "torch \x1b[2Jadam", PeerIs: 5, Newtop: "newtop tr-newton", OwnIs: event.Float(math.NaN()), Quicker: event.Float(math.NaN())},
		},
	}
	const want = `
gradient_ms
  torch 1.13.0a0, float64, 2 threads                             33.2
  newtop avx2, float64, 2 threads                                4.54  7.3 ×

seconds_to_target
  torch \x1b[2Jadam                                              5.00
  newtop tr-newton                                              never

1 core, linux/amd64, go1.26; kernel avx2, 1 thread
`
	if got := peersText(p); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	clitest.Narrow(t, want)
	if got := peersText(&bench.Peers{}); got != "" {
		t.Errorf("nothing is written as %q", got)
	}
}
