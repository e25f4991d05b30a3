package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

func TestTuneErrors(t *testing.T) {
	bad := write(t, "bad.toml", "data = \"spirals\"\n[over]\nopt = [\"adam\"]\nrate = {low = 1}\n")
	both := write(t, "both.toml", "opt = \"adam\"\n[over]\nopt = [\"adam\", \"sgd\"]\n")
	empty := filepath.Join(t.TempDir(), "runs.db")
	for _, c := range []struct {
		args string
		code int
		want []string
	}{
		{"--over rates=1..2", print.ExitUsage, []string{"--over rates=1..2", "rate"}},
		{"--over rate=", print.ExitUsage, []string{"--over rate=", "expected"}},
		{"--over rate", print.ExitUsage, []string{"--over rate", "KEY="}},
		{"--over rate=2..1", print.ExitUsage, []string{"--over rate=2..1", "lower one first"}},
		{"--over rate=0..1:log", print.ExitUsage, []string{"--over rate=0..1:log", "> 0"}},
		{"--over opt=adam,magic", print.ExitUsage, []string{"magic"}},
		{"--opt adam --over opt=adam,sgd", print.ExitUsage, []string{"--opt adam", "--over"}},
		{"--opt adam --set rate=0.1 --over rate=0.1..0.2", print.ExitUsage, []string{"--set rate=0.1", "--over"}},
		{"--over opt=adam,scg --set beta1=0.8", print.ExitUsage, []string{"--set beta1=0.8", "--opt", "adam.beta1=0.8"}},
		{"--set radius=2", print.ExitUsage, []string{"--set radius=2", "--opt"}},
		{"--batch 32 --over batch=16,32", print.ExitUsage, []string{"--batch 32", "--over"}},
		{"--over opt=adam --over opt=sgd", print.ExitUsage, []string{"--over opt=sgd", "each key once"}},
		{"--budget soon", print.ExitUsage, []string{"--budget soon: expected a duration"}},
		{"--budget -5s", print.ExitUsage, []string{"--budget -5s"}},
		{"--trials -1", print.ExitUsage, []string{"--trials -1"}},
		{"--most NaN", print.ExitUsage, []string{"--most NaN"}},
		{"--seeds 0", print.ExitUsage, []string{"--seeds 0"}},
		{"--finals -1", print.ExitUsage, []string{"--finals -1"}},
		{"--parallel -1", print.ExitUsage, []string{"--parallel -1"}},
		{"--sampler magic", print.ExitUsage, []string{"--sampler magic", "sobol, random or tpe"}},
		{"--top 0", print.ExitUsage, []string{"--top 0"}},
		{"--format xml", print.ExitUsage, []string{"--format xml", "jsonl"}},
		{"--save x.onnx", print.ExitUsage, []string{"--save x.onnx", "newtop train"}},
		{"--record off", print.ExitUsage, []string{"--record off"}},
		{"--name -x", print.ExitUsage, []string{"-x"}},
		{"--data lettres", print.ExitUsage, []string{`"lettres"`}},
		{"--data letter --data-dir " + t.TempDir(), 1, []string{"newtop data fetch letter"}},
		{"--config " + bad, print.ExitUsage, []string{"bad.toml:4:1", "high"}},
		{"--config " + both, print.ExitUsage, []string{"--opt adam", "--over"}},
		{"--resume nosuch --record " + empty, print.ExitUsage, []string{"nosuch"}},
		{"--resume nosuch --data sine", print.ExitUsage, []string{"--data sine", "--resume"}},
		{"show nosuch", print.ExitUsage, []string{"nosuch"}},
		{"rm nosuch -y", print.ExitUsage, []string{"nosuch"}},
		{"rm", print.ExitUsage, []string{"searches by name"}},
		{"show", print.ExitUsage, []string{"expected searches by name"}},
		{"show a --top 0", print.ExitUsage, []string{"--top 0"}},
		{"list --format csv", print.ExitUsage, []string{"--format csv"}},
		{"shwo", print.ExitUsage, []string{`"shwo"`, "show"}},
	} {
		_, errs, code := newtop(append([]string{"tune"}, strings.Fields(c.args)...)...)
		if code != c.code || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "newtop: ") {
			t.Errorf("newtop tune %s: exit %d, expected %d and one line\n%s", c.args, code, c.code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("newtop tune %s: %q lacks %q", c.args, errs, want)
			}
		}
	}
}
