package cli

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"newtop/trainer/optim/methods"
)

// TestTableOfEveryMethod reads the table of a run with each method: its own figures are columns with their keys
// as headings, every number ends where its heading does, and what the method lacks has no column.
func TestTableOfEveryMethod(t *testing.T) {
	has := map[string]string{"tr-gn": "radius rho inner", "sgd": "rate", "scg": "rho lambda alpha", "lm": "rho mu", "lbfgs": "alpha pairs", "dogleg": "radius leg", "bpls": "misses"}
	lacks := map[string]string{"sgd": "radius rho inner", "scg": "radius rate inner", "lbfgs": "radius rate rho inner", "tr-gn": "rate", "dogleg": "inner"}
	for _, i := range methods.All() {
		out := succeed(t, "train", "--data", "spirals", "--net", "5", "--opt", i.Name, "--epochs", "3")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		head, rows := lines[0], lines[1:len(lines)-1]
		if len(rows) < 2 {
			t.Fatalf("%s printed\n%s", i.Name, out)
		}
		words := " " + strings.Join(strings.Fields(head), " ") + " "
		for _, w := range strings.Fields(has[i.Name]) {
			if !strings.Contains(words, " "+w+" ") {
				t.Errorf("%s lacks a column %s: %s", i.Name, w, head)
			}
		}
		for _, w := range strings.Fields(lacks[i.Name]) {
			if strings.Contains(words, " "+w+" ") {
				t.Errorf("%s has a column %s: %s", i.Name, w, head)
			}
		}
		end := strings.Index(head, "seconds") + len("seconds")
		for _, row := range rows {
			if len(row) < end || strings.HasSuffix(row[:end], " ") || len(row) > end && row[end] != ' ' {
				t.Errorf("%s is not aligned:\n%s\n%s", i.Name, head, row)
			}
		}
		if strings.Contains(has[i.Name], "inner") && end > 76 {
			t.Errorf("%s: %d columns leave no room for the solves in 80", i.Name, end)
		}
	}
}

// The starting weights are printed even where the run ends before its first step does.
func TestTableWithoutAStep(t *testing.T) {
	out, _, code := newtop("train", "--data", "recipes", "--net", "30", "--opt", "lm", "--time-limit", "1ns")
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.Contains(out, "\n    0 ") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// The help fits into 80 columns, commands that cobra describes aside.
func TestHelpFits(t *testing.T) {
	for _, command := range []string{"", "train", "resume", "watch", "runs", "runs list", "runs show", "runs compare", "runs plot", "runs export", "runs rm"} {
		args := append(strings.Fields(command), "--help")
		_, flags, ok := strings.Cut(succeed(t, args...), "FLAGS")
		if !ok || len(args) == 1 && strings.Count(flags, "--") < 30 {
			t.Fatalf("%v says\n%s", args, flags)
		}
		for _, line := range strings.Split(regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(flags, ""), "\n") {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " ")); n > 80 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
	}
}
