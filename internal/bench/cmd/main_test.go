package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/models/blas"
)

// asProgram makes the test binary behave as the program.
const asProgram = "NEWTOP_BENCH_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	blas.Use()
	os.Exit(m.Run())
}

// bench runs a command in this process.
func run(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = execute(args, &o, &e)
	return o.String(), e.String(), code
}

// succeed runs a command that must exit with 0 and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := run(args...)
	if code != 0 {
		t.Fatalf("newtop-bench %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

func TestListsItsCommands(t *testing.T) {
	out := succeed(t)
	for _, want := range []string{"core", "side", "letter", "toys"} {
		if !strings.Contains(out, want) {
			t.Errorf("newtop-bench lacks %q:\n%s", want, out)
		}
	}
}

func TestBenchErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"cores", print.ExitUsage, []string{`"cores"`, "bpls, core, fair, letter, race, recipes, scale, scg, side, tables, toys"}},
		{"core now", print.ExitUsage, []string{"expected no argument"}},
		{"core --format xml", print.ExitUsage, []string{"--format xml", "text or json"}},
		{"core --threads -1", print.ExitUsage, []string{"--threads -1", "from 1 to 1024"}},
		{"core --threads 1025", print.ExitUsage, []string{"--threads 1025"}},
		{"race --table x.csv", print.ExitUsage, []string{"both --table and --target"}},
		{"race --only darts", 1, []string{`"darts"`, "letter-best"}},
		{"race --methods magic", print.ExitUsage, []string{`"magic"`, "tr-newton"}},
		{"race --seeds 0", print.ExitUsage, []string{"--seeds 0", "from 1 to 999"}},
		{"tables --work 5", print.ExitUsage, []string{"--work 5: expected a number from 1e5"}},
		{"tables --newtop /no/such", print.ExitUsage, []string{"--newtop /no/such: expected a program"}},
		{"side", print.ExitUsage, []string{"expected one argument"}},
		{"side /no/such --precision half", print.ExitUsage, []string{"--precision half: expected float64 or float32"}},
		{"side /no/such", 1, []string{"/no/such/case.json"}},
	} {
		_, errs, code := run(strings.Fields(c.args)...)
		if code != c.code || strings.Count(errs, "\n") != 1 {
			t.Errorf("newtop-bench %s: exit %d, expected %d and one line\n%s", c.args, code, c.code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("newtop-bench %s: %q lacks %q", c.args, errs, want)
			}
		}
	}
}
