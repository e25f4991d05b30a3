package cli

import (
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

func TestBenchListsItsCommands(t *testing.T) {
	out := succeed(t, "bench")
	for _, want := range []string{"core", "peers DIR", "letter", "toys"} {
		if !strings.Contains(out, want) {
			t.Errorf("newtop bench lacks %q:\n%s", want, out)
		}
	}
	if out := succeed(t, "--help"); !strings.Contains(out, "bench") {
		t.Errorf("the help lacks bench:\n%s", out)
	}
}

func TestBenchErrors(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"bench cores", print.ExitUsage, []string{`"cores"`, "bpls, core, letter, peers, race, recipes, scale, scg, tables, toys"}},
		{"bench core now", print.ExitUsage, []string{"expected no argument"}},
		{"bench core --format xml", print.ExitUsage, []string{"--format xml", "text or json"}},
		{"bench core --threads -1", print.ExitUsage, []string{"--threads -1", "from 1 to 1024"}},
		{"bench core --threads 1025", print.ExitUsage, []string{"--threads 1025"}},
		{"bench race --table x.csv", print.ExitUsage, []string{"both --table and --target"}},
		{"bench race --only darts", 1, []string{`"darts"`, "letter-best"}},
		{"bench race --methods magic", print.ExitUsage, []string{`"magic"`, "tr-newton"}},
		{"bench race --seeds 0", print.ExitUsage, []string{"--seeds 0", "from 1 to 999"}},
		{"bench peers", print.ExitUsage, []string{"expected one argument", "peer_*.py"}},
		{"bench peers x --budget -1", print.ExitUsage, []string{"--budget -1: expected a number of seconds"}},
		{"bench peers x --budget soon", print.ExitUsage, []string{"--budget soon: expected a number"}},
		{"bench peers /no/such", 1, []string{"/no/such"}},
		{"bench peers " + t.TempDir(), 1, []string{"expected scripts peer_*.py"}},
	} {
		_, errs, code := newtop(strings.Fields(c.args)...)
		if code != c.code || strings.Count(errs, "\n") != 1 {
			t.Errorf("newtop %s: exit %d, expected %d and one line\n%s", c.args, code, c.code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("newtop %s: %q lacks %q", c.args, errs, want)
			}
		}
	}
}
