package cli

import (
	"strings"
	"testing"

	"newtop/internal/cli/print"
)

// Wherever a name is looked up, a name that is spelled alike is proposed.
func TestDidYouMean(t *testing.T) {
	record := t.TempDir() + "/runs.db"
	succeed(t, "train", "--data", "spirals", "--net", "2", "--epochs", "1", "--record", record, "--name", "letter")
	table := write(t, "table.csv", "height,width,price\n1,2,3\n2,3,4\n3,4,5\n")
	config := write(t, "run.toml", "epohs = 3\n")
	for args, want := range map[string]string{
		"trian":                                        "train",
		"help trian":                                   "train",
		"help runs shw":                                "show",
		"train --set skip=dirct":                       "direct",
		"runs shw":                                     "show",
		"train --epohs 3":                              "--epochs",
		"runs list --sinc 3d":                          "--since",
		"train --config " + config:                     "epochs",
		"train --opt tr-newtn":                         "tr-newton",
		"optimizers admm":                              "adam",
		"train --data lettrs":                          "letters or letter",
		"data show digts":                              "digits",
		"train --opt adam --set rat=1":                 "rate",
		"train --set clas-weights=balanced":            "class-weights",
		"train --opt adam --set patiance=3":            "patience",
		"train --set forcing=sqr":                      "sqrt",
		"train --set out=softmx":                       "softmax",
		"train --act tnh":                              "tanh",
		"train --loss mes":                             "mse",
		"train --set init=xavir":                       "xavier",
		"train --set spectrum-method=lancos":           "lanczos",
		"train --format jsnl":                          "jsonl",
		"train --data " + table + " --target x":        "",
		"train --data " + table + " --target pric":     "price",
		"watch letter --theme drak --record " + record: "dark",
		"watch letter --glyphs brail":                  "braille",
		"runs show lettr --record " + record:           "letter",
		"resume lettr --record " + record:              "letter",
		"runs --state runing --record " + record:       "running",
		"tune --opt adam --over rat=1,2":               "rate",
		"tune --sampler soboll":                        "sobol",
	} {
		_, errs, code := newtop(strings.Fields(args)...)
		want := "; did you mean " + want + "?\n"
		if code != print.ExitUsage || strings.HasSuffix(errs, want) == (want == "; did you mean ?\n") || strings.Count(errs, "\n") != 1 {
			t.Errorf("newtop %s: exit %d, expected the end %q: %s", args, code, want, errs)
		}
	}
}
