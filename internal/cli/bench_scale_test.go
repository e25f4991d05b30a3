package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"newtop/internal/bench"
	"newtop/trainer/mpi"
)

// scaleExample is a report of figures that nobody measured: a product takes 2 ns an operation and half of that with two.
func scaleExample() *scaleReport {
	var exchanges []bench.Exchange
	for _, n := range []int{8, 48_000, 1_000_000, 80_000_000} {
		for i, what := range []string{bench.ToAll, bench.FastSum, bench.OrderedSum} {
			us := 4 + float64(n)*float64(i+1)*1e-3
			exchanges = append(exchanges, bench.Exchange{What: what, Bytes: n, MedianUS: us * 1.1, BestUS: us, Times: 100})
		}
	}
	var products []bench.TeamProduct
	for _, p := range []bench.TeamProduct{{Net: "70-50", Weights: 6066, Rows: 16000, PerRow: 62080}, {Net: "978-978", Weights: 999_542, Rows: 2000, PerRow: 1.2e7}} {
		ms := p.PerRow * float64(p.Rows) * 2e-8
		p.Setups = []bench.Setup{{Ranks: 1, Threads: 1, MedianMS: 1.1 * ms, BestMS: ms}, {Ranks: 1, Threads: 2, MedianMS: 0.6 * ms, BestMS: 0.5 * ms},
			{Ranks: 2, Threads: 1, MedianMS: 0.6 * ms, BestMS: 0.51 * ms}}
		products = append(products, p)
	}
	s := bench.NewScale(2, exchanges, products, bench.ScaleOptions{Threads: 1})
	s.Library, s.Hosts, s.Seconds = "Open MPI 4.1.4", []string{"a", "a"}, 61
	return &scaleReport{Scale: s, Version: "v1", Command: "newtop bench scale", Begun: time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)}
}

func TestBenchScaleText(t *testing.T) {
	text := scaleText(scaleExample())
	narrow(t, text)
	for _, want := range []string{
		"2 of 1 thread on 1 host (a ×2), Open MPI 4.1.4", "2026-11-22 05:00 UTC, in 61 s",
		"8 bytes out, 8 bytes back", "48 kB out", "8 bytes out, 80 MB back, in order",
		"70-50, 6,066 weights, 16,000 rows", "– 1 process of 2 threads", "– 2 processes of 1 thread",
		"measured: process 0", "measured: Hv", "fitted to", "10⁹", "10⁶ each",
		"1.00 TFLOP/s a machine, 25.0 µs a message, 10.0 Gbit/s", "10,000,000",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if n := strings.Count(text, "predicted, not measured"); n != 3 {
		t.Errorf("%d tables of predictions say so, expected 3", n)
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestBenchScaleMarkdown(t *testing.T) {
	text := scaleMarkdown(scaleExample())
	columns := 0
	for _, line := range strings.Split(text, "\n") {
		n := strings.Count(line, "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d bars, expected %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, want := range []string{"- command: `newtop bench scale`\n", "\n### Measured: ", "\n### Predicted, not measured: ", "|---|--:|"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestBenchScaleJSON(t *testing.T) {
	var out bytes.Buffer
	r := scaleExample()
	if err := writeScale(&out, "json", r); err != nil {
		t.Fatal(err)
	}
	var back scaleReport
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(*back.Scale), fmt.Sprint(*r.Scale); len(got) != len(want) || back.Fitted != r.Fitted || back.Command != r.Command {
		t.Errorf("read back %s, wrote %s", got, want)
	}
}

func TestBenchScaleErrors(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"--format xml", "--format xml: expected text, json or md"},
		{"--threads 2000", "--threads 2000"},
		{"--ranks 1", "--ranks 1: expected a whole number from 2 to 32"},
		{"--latency 0s", "--latency 0s: expected a duration > 0"},
		{"--bandwidth -1", "--bandwidth -1: expected a number > 0"},
		{"--gflops NaN", "--gflops NaN: expected a number > 0"},
		{"now", "expected no argument"},
	} {
		_, errs, code := newtop(append([]string{"bench", "scale"}, strings.Fields(c.args)...)...)
		if code != 2 || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("bench scale %s: exit %d: %s", c.args, code, errs)
		}
	}
	if mpi.Built() {
		return
	}
	_, errs, code := newtop("bench", "scale")
	if code != 2 || errs != "newtop: bench scale: this newtop is built without MPI: build it with CC=mpicc go build -tags mpi\n" {
		t.Errorf("without MPI: exit %d: %s", code, errs)
	}
}

func TestScaleFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{duration(2.5e-9), "2.50 ns"}, {duration(11e-6), "11.0 µs"}, {duration(0.9996e-3), "1.00 ms"}, {duration(1000), "1000 s"}, {duration(0), "–"},
		{si(1e12, "FLOP/s"), "1.00 TFLOP/s"}, {si(79.4e9, "FLOP/s"), "79.4 GFLOP/s"}, {si(999.9e3, "B"), "1.00 MB"},
		{grouped(6066), "6,066"}, {grouped(999), "999"}, {grouped(10_000_000), "10,000,000"},
		{power(1_000_000_000), "10⁹"}, {power(10_000), "10,000"}, {power(2_000_000), "2,000,000"},
		{grouped(int(twoDigits(2563))), "2,600"}, {grouped(int(twoDigits(192))), "200"}, {grouped(int(twoDigits(7))), "7"},
		{byteText(8), "8 bytes"}, {byteText(1_000_000), "1 MB"}, {byteText(125_000), "125 kB"}, {byteText(1_550_000), "1.55 MB"},
		{shareText(0.9994), "99.9 %"}, {shareText(0.9996), "100 %"}, {shareText(0.052), "5.2 %"},
		{processCount(1), "1 process"}, {processCount(2), "2 processes"}, {misfit(1.2, 1), "+20 %"}, {misfit(0.5, 1), "-50 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
