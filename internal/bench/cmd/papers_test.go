package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"newtop/internal/bench"
	"newtop/internal/bench/papers"
	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
)

// sampleReproduction has every kind of cell, a table that is too wide for one part, and each verdict.
func sampleReproduction() *reproduction {
	cell := func(value, spread, paper float64) papers.Cell {
		return papers.Cell{Value: value, Spread: spread, Paper: paper}
	}
	nan := math.NaN()
	late := papers.Cell{Value: 5400, Bound: papers.AtLeast, Paper: 63.2 * 60, Note: "8 of 10 reached it"}
	return &reproduction{
		Short:   "[MD] table 2: UCI letter",
		Machine: bench.Machine{CPU: "A Chip", Cores: 2, OS: "linux", Arch: "amd64", Go: "go1.26", Kernel: "avx512", Threads: 2},
		Version: "devel-0123456789ab", Command: "newtop-bench letter --trials 10", Begun: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC), Seconds: 754.2,
		Report: &papers.Report{
			Name: "letter", Paper: "E. Mizutani and J. W. Demmel, On structure-exploiting trust-region regularized nonlinear least squares algorithms for neural-network learning, Neural Networks 16, 2003",
			Data: "letter, 16,000 + 4,000 rows from letter-recognition.data", Trials: 10, Seeds: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			Tables: []papers.Table{{
				Title: "[MD] table 2: UCI letter, 16-70-50-26, tanh outputs, targets ±1", Command: "newtop-bench letter --only 'A online'",
				Columns: []string{"A online BP", "C four blocks", "C two blocks", "C batch", "D batch"},
				Rows: []papers.Row{
					{Name: "stopped epoch", Unit: papers.Count, Cells: []papers.Cell{cell(612, 0, 597.8), cell(19.04, 1.2, 36.6), cell(21.8, 2, 22.1), cell(20, 3.14, 27.1), cell(1234.5, 60, nan)}},
					{Name: "time in all", Unit: papers.Seconds, Cells: []papers.Cell{late, cell(4.31, 0.25, 22.4*60), cell(0.0512, 0.001, 41*60), cell(0.00021, 0, 61.1*60), papers.None()}},
					{Name: "inner iterations", Cells: []papers.Cell{papers.None(), cell(4.62, 0.004, 4.5), cell(26.25, 0, 26.3), cell(31.04, 2.5, 31), cell(0.01532, 0.00031, nan)}},
					{Name: "error on the test rows in the best test epoch", Unit: papers.Percent, Cells: []papers.Cell{cell(0.0622, 0.002, 0.064), cell(0.0428, 0.0043, 0.051), cell(0.044, 0, 0.046), cell(0.04966, 0.0043, 0.049), {Value: 0.001, Bound: papers.AtMost, Paper: nan, Note: "of 3 trials"}}},
					{Name: "products against C", Unit: papers.Ratio, Cells: []papers.Cell{cell(3.912, 0, 3.9), {Value: math.Inf(1), Paper: nan, Note: "8 of 10 reached it"}, papers.None()}},
				},
				Notes: []string{"The paper's minutes are of a SPARC station, so that times say nothing but how the columns stand to each other."},
			}, {
				Title: "a table of ours", Columns: []string{"x"}, Rows: []papers.Row{{Name: "figure", Cells: []papers.Cell{cell(2, 0, nan)}}},
			}},
			Statements: []papers.Statement{
				{Claim: "C in four blocks reaches its best test epoch in at most 36.6 epochs", Found: "19.0 epochs over 10 trials", Holds: papers.Holds},
				{Claim: "C in batch mode has at most 4.9 % test error", Found: "4.97 ± 0.14 %", Holds: papers.Open, Why: "would fail; a quick look decides nothing"},
				{Claim: "A gets there first", Found: "it does not | it is *last*", Holds: papers.Fails},
			},
		},
	}
}

func TestReproductionGoldens(t *testing.T) {
	r := sampleReproduction()
	for _, c := range []struct{ format, file string }{{"text", "letter.txt"}, {"md", "letter.md"}, {"json", "letter.json"}} {
		var out bytes.Buffer
		if err := writeReport(&out, c.format, r.json(), r.document()); err != nil {
			t.Fatal(err)
		}
		clitest.Golden(t, c.file, out.String())
	}
	clitest.Narrow(t, r.document().Text(print.TextWidth))
	clitest.Golden(t, "wide.txt", r.document().Text(160))
}

// TestReproductionJSON reads what is printed as a script would.
func TestReproductionJSON(t *testing.T) {
	var out bytes.Buffer
	if err := writeJSON(&out, sampleReproduction().json()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Seeds  []int
		Tables []struct {
			Columns []string
			Rows    []struct {
				Unit  string
				Cells []map[string]any
			}
		}
		Statements []struct{ Verdict string }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	errors, late := got.Tables[0].Rows[3], got.Tables[0].Rows[1].Cells[0]
	if errors.Unit != "fraction" || errors.Cells[0]["value"] != 0.0622 || errors.Cells[2]["spread"] != nil || errors.Cells[4]["paper"] != nil {
		t.Errorf("errors are %+v", errors)
	}
	if late["bound"] != "at-least" || late["note"] != "8 of 10 reached it" || late["paper"] != 3792.0 {
		t.Errorf("a bound is %+v", late)
	}
	if len(got.Seeds) != 10 || len(got.Statements) != 3 || got.Statements[1].Verdict != "open" {
		t.Errorf("got %+v", got)
	}
	out.Reset()
	if err := writeJSON(&out, (&reproduction{Report: &papers.Report{}}).json()); err != nil || strings.Contains(strings.ReplaceAll(out.String(), "null,", ""), `": null`) {
		t.Errorf("an empty report is %s, %v", out.String(), err)
	}
}

func TestOurs(t *testing.T) {
	for _, c := range []struct {
		cell papers.Cell
		unit papers.Unit
		want string
	}{
		{papers.Cell{Value: 597.84}, papers.Number, "598"},
		{papers.Cell{Value: 2916495.25}, papers.Count, "2916495"},
		{papers.Cell{Value: 36.64}, papers.Count, "36.6"},
		{papers.Cell{Value: 36}, papers.Count, "36"},
		{papers.Cell{Value: 36, Spread: 0.5}, papers.Count, "36.0 ± 0.5"},
		{papers.Cell{Value: 0.0497, Spread: 0.0043}, papers.Percent, "4.97 ± 0.43"},
		{papers.Cell{Value: 0.5, Spread: 0.00004}, papers.Number, "0.50000 ± 0.00004"},
		{papers.Cell{Value: 0}, papers.Number, "0.00"},
		{papers.Cell{Value: 1.234e-15, Spread: 2e-16}, papers.Number, "1.23e-15 ± 2.00e-16"},
		{papers.Cell{Value: 0.0001234}, papers.Number, "0.000123"},
		{papers.Cell{Value: 123456789}, papers.Number, "123456789"},
		{papers.Cell{Value: -1.5}, papers.Number, "-1.50"},
		{papers.Cell{Value: 119.9}, papers.Seconds, "120 s"},
		{papers.Cell{Value: 120}, papers.Seconds, "2.00 min"},
		{papers.Cell{Value: 7200, Spread: 360}, papers.Seconds, "2.00 ± 0.10 h"},
		{papers.Cell{Value: 0}, papers.Seconds, "0.00 s"},
		{papers.Cell{Value: 4.1, Bound: papers.AtMost}, papers.Ratio, "≤ 4.10 ×"},
		{papers.Cell{Value: math.NaN(), Spread: 1}, papers.Ratio, "–"},
		{papers.Cell{Value: math.Inf(1)}, papers.Number, "∞"},
		{papers.Cell{Value: 1, Spread: math.NaN()}, papers.Number, "1.00"},
		{papers.Cell{Value: 1, Spread: math.Inf(1)}, papers.Number, "1.00 ± ∞"},
	} {
		if got := ours(&c.cell, c.unit); got != c.want {
			t.Errorf("%+v is written %q, expected %q", c.cell, got, c.want)
		}
	}
}

func TestPapersOwn(t *testing.T) {
	for _, c := range []struct {
		paper float64
		unit  papers.Unit
		want  string
	}{
		{0.064, papers.Percent, "6.4"}, {0.29, papers.Percent, "29"}, {0.5783, papers.Percent, "57.83"}, {2916495, papers.Count, "2916495"},
		{0.015, papers.Number, "0.015"}, {8748.4 * 60, papers.Seconds, "145.8 h"}, {63.2 * 60, papers.Seconds, "63.2 min"},
		{0.2, papers.Seconds, "0.2 s"}, {2.87, papers.Seconds, "2.87 s"}, {3.9, papers.Ratio, "3.9 ×"}, {math.NaN(), papers.Ratio, ""},
	} {
		if got := papersOwn(&papers.Cell{Paper: c.paper}, c.unit); got != c.want {
			t.Errorf("%g is written %q, expected %q", c.paper, got, c.want)
		}
	}
}

func TestSeedsText(t *testing.T) {
	for want, seeds := range map[string][]uint64{"": nil, "seed 7": {7}, "seeds 3…5": {3, 4, 5}, "seeds 1 3": {1, 3}} {
		if got := seedsText(seeds); got != want {
			t.Errorf("%v are %q, expected %q", seeds, got, want)
		}
	}
}
