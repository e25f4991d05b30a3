package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
)

func TestBenchPapersErrors(t *testing.T) {
	for args, want := range map[string]string{
		"letter --format xml":             "--format xml: expected text, json, md or brief",
		"letter --trials -1":              "--trials -1: expected a whole number from 1 to 1000000",
		"letter --trials few":             "--trials few: expected a whole number",
		"scg --threads 99999":             "--threads 99999: expected",
		"toys now":                        "expected no argument",
		"lettre":                          "did you mean letter",
		"recipes --only Z":                "--only Z: expected",
		"toys --only nonsense":            "--only nonsense: expected",
		"bpls --data nosuch":              `"nosuch"`,
		"letter --format md --threads -2": "--threads -2",
	} {
		_, errs, code := run(strings.Fields(args)...)
		if code != print.ExitUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("newtop-bench %s: exit %d, %q lacks %q", args, code, errs, want)
		}
	}
}

// TestBenchToys runs a real one, from the flags to the words.
func TestBenchToys(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "toys.jsonl")
	var reports []string
	for range 2 { // the second time from the journal
		out := succeed(t, "toys", "--quick", "--trials", "2", "--format", "json", "--resume", journal)
		if !json.Valid([]byte(out)) {
			t.Errorf("no JSON:\n%s", out)
		}
		reports = append(reports, out[strings.Index(out, `"tables"`):])
	}
	if reports[0] != reports[1] {
		t.Errorf("from the journal comes\n%s\nand not\n%s", reports[1], reports[0])
	}
	out := succeed(t, "toys", "--quick", "--trials", "2", "--resume", journal)
	clitest.Narrow(t, out)
	for _, want := range []string{"paper ", "2, seeds 1…2; quick", "machine ", "of "} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}
	if _, errs, code := run("scg", "--quick", "--resume", journal); code != print.ExitUsage || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, `"bench scg, data \"\", quick true"`) {
		t.Errorf("another bench's journal: exit %d, %s", code, errs)
	}
	out = succeed(t, "toys", "--quick", "--trials", "2", "--format", "brief", "--resume", journal)
	if !strings.HasPrefix(out, "### [T] figure 4a") || !strings.Contains(out, "| **open** | two lines") {
		t.Errorf("in brief:\n%s", out)
	}
}
