package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"newtop/internal/bench"
	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
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
	return &scaleReport{Scale: s, Version: "v1", Command: "newtop-bench scale", Begun: time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)}
}

func TestBenchScaleText(t *testing.T) {
	text := scaleExample().document().Text(print.TextWidth)
	clitest.Narrow(t, text)
	for _, want := range []string{
		"2 of 1 thread on 1 host (a ×2), Open MPI 4.1.4", "2026-11-22 05:00 UTC, in 61 s",
		"  8 bytes ", "  48 kB ", "  80.0 MB ", "sum in order", "264 ms (240 ms)",
		"70-50, 16,000 rows", "6,066 weights", "1 × 2 threads", "2 × 1 thread", "1.96 ×",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestBenchScaleMarkdown(t *testing.T) {
	text := scaleExample().document().Markdown()
	columns := 0
	for _, line := range strings.Split(text, "\n") {
		n := strings.Count(line, "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d bars, expected %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, want := range []string{"- command: `newtop-bench scale`\n", "\n### Hv on kept passes", "|---|--:|"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestBenchScaleJSON(t *testing.T) {
	var out bytes.Buffer
	r := scaleExample()
	if err := writeJSON(&out, r); err != nil {
		t.Fatal(err)
	}
	var back scaleReport
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, r) {
		t.Errorf("read back %+v, wrote %+v", back, *r)
	}
}

func TestScaleFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{duration(2.5e-9), "2.50 ns"}, {duration(11e-6), "11.0 µs"}, {duration(0.9996e-3), "1.00 ms"}, {duration(1000), "1000 s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
