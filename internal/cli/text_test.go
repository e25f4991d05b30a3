package cli

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
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
		head, rows, scores := lines[0], lines[1:len(lines)-2], lines[len(lines)-1]
		if !strings.HasPrefix(scores, "test rows: error ") {
			t.Errorf("%s ends with %q", i.Name, scores)
		}
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
		if strings.Contains(has[i.Name], "inner") && end > 71 {
			t.Errorf("%s: %d columns leave no room for the solves in 80", i.Name, end)
		}
	}
}

// The table fits into 80 columns.
func TestTableFits(t *testing.T) {
	for _, args := range []string{
		"--data spirals --net 7 --opt tr-newton --epochs 12", "--data spirals --net 40 --opt tr-newton --set blocks=30 --epochs 3", "--data spirals --opt adam --epochs 3",
		"--data spirals --net 7 --committee 5 --epochs 3", "--data spirals --opt adam --committee 2 --epochs 2", "--data sine --epochs 12",
		"--data sine --committee 4 --epochs 3", "--data sine --opt momentum --epochs 3", "--data sine --set experts=3x4 --set gate=x --epochs 3",
	} {
		rows := strings.Split(succeed(t, strings.Fields("train --record off "+args)...), "\n")
		for _, row := range rows[:len(rows)-3] {
			if n := utf8.RuneCountInString(row); n > 80 {
				t.Errorf("%s: %d columns:\n%s\n%s", args, n, rows[0], row)
			}
		}
	}
}

// The starting weights are printed even where the run ends before its first step does.
func TestTableWithoutAStep(t *testing.T) {
	out, _, code := newtop("train", "--data", "recipes", "--net", "30", "--opt", "lm", "--until", "1ns")
	if code != 0 || strings.Count(out, "\n") != 4 || !strings.Contains(out, "\n    0 ") || !strings.Contains(out, "\ntest rows: RMSE ") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// helps returns the help of every command, by its name.
func helps(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		name := cmd.CommandPath()
		words := strings.Fields(name)[1:]
		all[name], all[name+" all"] = succeed(t, append(words, "--help")...), succeed(t, append(words, "--help", "all")...)
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot(launch.New(print.NewOutput(io.Discard, ""))))
	return all
}

// The help of every command fits into 80 columns, and no flag that a text names is broken at a line's end.
func TestHelpFits(t *testing.T) {
	all := helps(t)
	if len(all) < 30 {
		t.Fatalf("%d commands", len(all))
	}
	for name, help := range all {
		command := strings.TrimSuffix(name, " all")
		if name == "newtop" || name == "newtop train" {
			if n := strings.Count(help, "\n"); n > 40 || strings.Count(help, "\n    --") < 15 {
				t.Errorf("%s --help has %d lines:\n%s", name, n, help)
			}
		}
		if !strings.Contains(help, "\n  USAGE\n    "+command) {
			t.Errorf("%s --help says\n%s", name, help)
		}
		for line := range strings.Lines(help) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > 80 || strings.HasSuffix(line, " ") || strings.HasSuffix(line, "-") && !strings.HasSuffix(line, " -") {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
	}
}

// Run flags stand under headings in the help, with what they take.
func TestHelpGroupsFlags(t *testing.T) {
	out := succeed(t, "train", "--help", "all")
	if again := succeed(t, "help", "train", "all"); again != out {
		t.Errorf("help train all is\n%s", again)
	}
	at := 0
	for _, want := range []string{
		"\n  DATA\n    --data NAME|FILE|- ", "\n    --data-dir DIR ", "\n  NETWORK\n    --net LAYERS|FILE ", "\n    --loss mse|xent ", "\n  METHOD\n    --opt NAME ",
		"\n    --set KEY=VALUE ", "\n  LIMITS\n    --epochs N ", "\n    --until TERM or ... ", "\n  COMPUTATION\n",
		"\n  SPECTRUM\n", "\n    --density  ", "\n  RECORD\n    --record FILE|off ", "\n  OUTPUT\n    --format text|jsonl ", "\n    --theme NAME ",
		"\n  SERVED OVER SSH\n    --serve ADDRESS ", "\n  OTHERS\n    --config FILE ", "\n    -h, --help ",
		"\n  KEYS OF --TABLE\n    header=yes|no ", "\n  KEYS OF --SET\n    folds=", "\n    patience=N|never ", "\n    tape-memory=SIZE ",
	} {
		next := strings.Index(out[at:], want)
		if next < 0 {
			t.Fatalf("expected %q after %d bytes of\n%s", want, at, out)
		}
		at += next
	}
}

// A wider terminal has longer lines.
func TestHelpUsesTheWidth(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		var b strings.Builder
		h := helpWriter{out: &b, width: width}
		h.entries([]helpEntry{{"flags", "--flag N", strings.Repeat("word and ", 40), "3"}}, 10, nil)
		widest := 0
		for line := range strings.Lines(ansi.Strip(b.String())) {
			widest = max(widest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
		}
		if widest > width || widest < width-len("word") {
			t.Errorf("in %d columns the widest line has %d:\n%s", width, widest, b.String())
		}
	}
}
