package cli

import (
	"path/filepath"
	"strings"
	"testing"
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
		{"--over rates=1..2", 2, []string{"--over rates=1..2", "rate"}},
		{"--over rate=", 2, []string{"--over rate=", "expected"}},
		{"--over rate", 2, []string{"--over rate", "KEY="}},
		{"--over rate=2..1", 2, []string{"--over rate=2..1", "lower one first"}},
		{"--over rate=0..1:log", 2, []string{"--over rate=0..1:log", "> 0"}},
		{"--over opt=adam,magic", 2, []string{"magic"}},
		{"--opt adam --over opt=adam,sgd", 2, []string{"--opt adam", "--over"}},
		{"--opt adam --set rate=0.1 --over rate=0.1..0.2", 2, []string{"--set rate=0.1", "--over"}},
		{"--over opt=adam,scg --set beta1=0.8", 2, []string{"--set beta1=0.8", "--opt", "adam.beta1=0.8"}},
		{"--set radius=2", 2, []string{"--set radius=2", "--opt"}},
		{"--batch 32 --over batch=16,32", 2, []string{"--batch 32", "--over"}},
		{"--over opt=adam --over opt=sgd", 2, []string{"--over opt=sgd", "each key once"}},
		{"--budget soon", 2, []string{"--budget soon: expected a duration"}},
		{"--budget -5s", 2, []string{"--budget -5s"}},
		{"--trials -1", 2, []string{"--trials -1"}},
		{"--most NaN", 2, []string{"--most NaN"}},
		{"--seeds 0", 2, []string{"--seeds 0"}},
		{"--finals -1", 2, []string{"--finals -1"}},
		{"--parallel -1", 2, []string{"--parallel -1"}},
		{"--sampler magic", 2, []string{"--sampler magic", "sobol, random or tpe"}},
		{"--top 0", 2, []string{"--top 0"}},
		{"--format xml", 2, []string{"--format xml", "jsonl"}},
		{"--save x.onnx", 2, []string{"--save x.onnx", "newtop train"}},
		{"--record off", 2, []string{"--record off"}},
		{"--name -x", 2, []string{"-x"}},
		{"--data lettres", 2, []string{`"lettres"`}},
		{"--data letter --data-dir " + t.TempDir(), 1, []string{"newtop data fetch letter"}},
		{"--config " + bad, 2, []string{"bad.toml:4:1", "high"}},
		{"--config " + both, 2, []string{"--opt adam", "--over"}},
		{"--resume nosuch --record " + empty, 2, []string{"nosuch"}},
		{"--resume nosuch --data sine", 2, []string{"--data sine", "--resume"}},
		{"show nosuch", 2, []string{"nosuch"}},
		{"rm nosuch -y", 2, []string{"nosuch"}},
		{"rm", 2, []string{"searches by name"}},
		{"show", 2, []string{"a search's name"}},
		{"show a --top 0", 2, []string{"--top 0"}},
		{"list --format csv", 2, []string{"--format csv"}},
		{"shwo", 2, []string{`"shwo"`, "show"}},
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
