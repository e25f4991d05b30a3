package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCompletionOfValues asks what a shell is offered for the last word of a command line, and whether it offers files besides.
func TestCompletionOfValues(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"letters.csv", "long.csv.gz", "notes.txt"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, "train", "--data", "spirals", "--net", "2", "--epochs", "1", "--record", "runs.db", "--name", "letter-run")
	succeed(t, "tune", "--data", "spirals", "--net", "2", "--over", "opt=adam,sgd", "--trials", "2", "--epochs", "1", "--finals", "0", "--format", "json", "--record", "runs.db", "--name", "search")
	const (
		none  = cobra.ShellCompDirectiveNoFileComp
		files = cobra.ShellCompDirectiveDefault
		with  = cobra.ShellCompDirectiveFilterFileExt
	)
	for line, c := range map[string]struct {
		directive cobra.ShellCompDirective
		offered   string // some of it
	}{
		"train --opt ":                       {none, "tr-newton adam rmsprop"},
		"tune --opt ":                        {none, "adam"},
		"train --data ":                      {files, "letters digits letters.csv long.csv.gz"},
		"train --data le":                    {files, "letters letter letters.csv"},
		"train --data notes":                 {files, ""},
		"serve --data le":                    {files, "letters"},
		"train --set ":                       {none | cobra.ShellCompDirectiveNoSpace, "radius= forcing= spectrum-every="},
		"train --opt adam --set ":            {none | cobra.ShellCompDirectiveNoSpace, "rate= beta1= batch="},
		"train --set forcing=":               {none, "forcing=fixed forcing=sqrt"},
		"train --opt adam --set beta1=":      {none, "beta1=0.9"},
		"train --theme ":                     {none, "auto dark light safe mono"},
		"watch --glyphs ":                    {none, "auto braille block ascii"},
		"train --act ":                       {none, "tanh relu"},
		"train --set out=":                   {none, "out=softmax out=linear"},
		"train --loss ":                      {none, "mse xent"},
		"train --set init=":                  {none, "init=xavier init=he"},
		"train --format ":                    {none, "text jsonl"},
		"train --epochs ":                    {none, ""},
		"train ":                             {none, ""},
		"train --config ":                    {with, "toml"},
		"resume --record ":                   {with, "db"},
		"train --data-dir ":                  {cobra.ShellCompDirectiveFilterDirs, ""},
		"watch --record runs.db ":            {files, "letter-run"},
		"resume --record runs.db ":           {none, "letter-run"},
		"runs show --record runs.db ":        {none, "letter-run"},
		"runs show --record runs.db search":  {none, "search.1 search.2"},
		"runs compare --record runs.db a ":   {none, "letter-run"},
		"runs rm --record runs.db ":          {none, "letter-run"},
		"runs rename --record runs.db ":      {none, "letter-run"},
		"runs export --record runs.db ":      {none, "letter-run"},
		"runs export letter-run --format ":   {none, "csv tensorboard onnx"},
		"runs plot --record runs.db ":        {none, "letter-run"},
		"runs --state ":                      {none, "running diverged"},
		"tune show --record runs.db ":        {none, "search"},
		"tune rm --record runs.db ":          {none, "search"},
		"tune --record runs.db --resume ":    {none, "search"},
		"optimizers ":                        {none, "tr-gn"},
		"data show ":                         {files, "letters"},
		"data fetch ":                        {none, "mnist"},
		"predict ":                           {with, "safetensors onnx"},
		"predict letter.onnx ":               {files, "letter letters.csv"},
		"predict letter.onnx letter --rows ": {none, "test validation train all"},
		"explain ":                           {with, "safetensors onnx"},
		"explain letter.onnx ":               {files, "letter letters.csv"},
		"explain last --format ":             {none, "text csv json"},
		"help runs ":                         {none, "show export"},
	} {
		out := succeed(t, append([]string{cobra.ShellCompRequestCmd}, strings.Split(line, " ")...)...)
		rows := strings.Split(strings.TrimSpace(out), "\n")
		if last := rows[len(rows)-1]; last != ":"+strconv.Itoa(int(c.directive)) {
			t.Errorf("newtop %s: directive %s, expected %d", line, last, c.directive)
		}
		for i, row := range rows {
			rows[i], _, _ = strings.Cut(row, "\t")
		}
		for want := range strings.FieldsSeq(c.offered) {
			if !slices.Contains(rows, want) {
				t.Errorf("newtop %s: %q lacks %s", line, rows, want)
			}
		}
		if c.offered == "" && len(rows) > 1 {
			t.Errorf("newtop %s: %q is offered", line, rows)
		}
	}
}
