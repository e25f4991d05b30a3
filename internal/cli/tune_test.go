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
		want string
	}{
		{"--over rates=1..2", print.ExitUsage, "--over rates=1..2 … rate"},
		{"--over rate=", print.ExitUsage, "--over rate= … expected"},
		{"--over rate", print.ExitUsage, "--over rate … KEY="},
		{"--over rate=2..1", print.ExitUsage, "--over rate=2..1 … lower one first"},
		{"--over rate=0..1:log", print.ExitUsage, "--over rate=0..1:log … > 0"},
		{"--over opt=adam,magic", print.ExitUsage, "magic"},
		{"--opt adam --over opt=adam,sgd", print.ExitUsage, "--opt adam … --over"},
		{"--opt adam --set rate=0.1 --over rate=0.1..0.2", print.ExitUsage, "--set rate=0.1 … --over"},
		{"--over opt=adam,scg --set beta1=0.8", print.ExitUsage, "--set beta1=0.8 … --opt … adam.beta1=0.8"},
		{"--set radius=2", print.ExitUsage, "--set radius=2 … --opt"},
		{"--batch 32 --over batch=16,32", print.ExitUsage, "--batch 32 … --over"},
		{"--over opt=adam --over opt=sgd", print.ExitUsage, "--over opt=sgd … each key once"},
		{"--budget soon", print.ExitUsage, "--budget soon: expected a duration"},
		{"--budget -5s", print.ExitUsage, "--budget -5s"},
		{"--trials -1", print.ExitUsage, "--trials -1"},
		{"--most NaN", print.ExitUsage, "--most NaN"},
		{"--seeds 0", print.ExitUsage, "--seeds 0"},
		{"--finals -1", print.ExitUsage, "--finals -1"},
		{"--parallel -1", print.ExitUsage, "--parallel -1"},
		{"--sampler magic", print.ExitUsage, "--sampler magic … sobol, random, tpe"},
		{"--top 0", print.ExitUsage, "--top 0"},
		{"--format xml", print.ExitUsage, "--format xml … jsonl"},
		{"--save x.onnx", print.ExitUsage, "--save x.onnx … newtop train"},
		{"--data sine --by auc", print.ExitUsage, "--by auc: expected rmse, mae or loss, as the targets are numbers"},
		{"--data spirals --by mae", print.ExitUsage, "--by mae … error, auc, f1, logloss or loss, as the targets are classes"},
		{"--data spirals --by acu", print.ExitUsage, "--by acu … did you mean auc?"},
		{"--data spirals --by auc --validation 0", print.ExitUsage, "--by auc … validation rows"},
		{"--data spirals --by auc --set weights=last", print.ExitUsage, "--by auc … without --set weights=last"},
		{"--data spirals --by auc --until error<=5%", print.ExitUsage, "--by auc … without an error in --until"},
		{"--data spirals --by logloss --act tanh --set out=tanh", print.ExitUsage, "--by logloss … softmax"},
		{"--record off", print.ExitUsage, "--record off"},
		{"--name -x", print.ExitUsage, "-x"},
		{"--data lettres", print.ExitUsage, `"lettres"`},
		{"--data letter --data-dir " + t.TempDir(), 1, "newtop data fetch letter"},
		{"--config " + bad, print.ExitUsage, "bad.toml:4:1 … high"},
		{"--config " + both, print.ExitUsage, "--opt adam … --over"},
		{"--resume nosuch --record " + empty, print.ExitUsage, "nosuch"},
		{"--resume nosuch --data sine", print.ExitUsage, "--data sine … --resume"},
		{"show nosuch", print.ExitUsage, "nosuch"},
		{"rm nosuch -y", print.ExitUsage, "nosuch"},
		{"rm", print.ExitUsage, "searches by name"},
		{"show", print.ExitUsage, "expected searches by name"},
		{"show a --top 0", print.ExitUsage, "--top 0"},
		{"list --format csv", print.ExitUsage, "--format csv"},
		{"shwo", print.ExitUsage, `"shwo" … show`},
	} {
		refuses(t, c.code, c.want, append([]string{"tune"}, strings.Fields(c.args)...)...)
	}
}
