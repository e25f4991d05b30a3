package flags

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/format"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/optim/methods"
)

// parsed returns what run flags say.
func parsed(t *testing.T, args []string) trainer.Config {
	t.Helper()
	var f Run
	cmd := &cobra.Command{Use: "test"}
	cmd.SetContext(t.Context())
	f.Add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(args, err)
	}
	if cmd.Flags().NArg() > 0 {
		t.Fatalf("%q has arguments that are no flags: %q", args, cmd.Flags().Args())
	}
	c, err := f.Parse(cmd)
	if err != nil {
		t.Fatal(args, err)
	}
	return c
}

// flagsOf returns the arguments of a configuration as a program gets them.
func flagsOf(c *trainer.Config) (args []string) {
	for _, a := range arguments(c) {
		args = append(args, a.text()...)
	}
	return args
}

// Every field of a configuration but the screen's own has a flag: the flags of one make it again.
func TestArgumentsMakeTheConfiguration(t *testing.T) {
	full := trainer.Config{
		Data: "recipes", DataDir: "/data sets", Target: "a", Test: "0.25", Experts: 3, ExpertHidden: []int{20, 10}, Gate: "hue",
		GateTraining: "joint", Committee: 2, Act: "sigmoid", Out: "linear", Loss: "mse", Init: "normal:0.3", Optimizer: "adam",
		Set: []string{"rate=2", "weight-decay=0.1"}, Batch: 7, Until: "loss < 0.1 and error < 0.3", Epochs: 0, TimeLimit: 90 * time.Second, TargetLoss: 1e-9,
		TargetError: 0.1, Seed: 1 << 63, Threads: 3, Spectrum: 2, SpectrumEvery: 5, SpectrumMethod: "power", SpectrumEnds: "both",
		SpectrumOf: "gauss-newton", SpectrumRows: -1, Density: true, Save: "out.onnx", Memory: 3 << 20, Precision: "float32",
		Drop: []string{"a", "b c"}, Keep: []string{"d"}, Patience: -1, Folds: 5, Fold: 2, Weights: "best", ClassWeights: "balanced",
	}
	elsewhere := trainer.Config{
		Model: "unix:/tmp/peer", ModelTimeout: time.Minute, Optimizer: "tr-newton",
		Epochs: 100, Seed: 1, Spectrum: 3, SpectrumRows: 2048, Memory: 1 << 30,
	}
	for i := range table { // flags that are not tried above are tried with any value
		field := table[i].of(&full)
		if !field.IsValid() || table[i].in == asSetting || !field.IsZero() || table[i].field == "Epochs" || slices.Contains([]string{"Model", "ModelTimeout", "Validation"}, table[i].field) {
			continue
		}
		switch field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Int:
			field.SetInt(7)
		case reflect.Float64:
			field.SetFloat(0.5)
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			if list, ok := field.Addr().Interface().(*[]string); ok {
				*list = []string{"x"}
			}
		}
	}
	chain := *usualConfig()
	chain.Hidden, chain.Skip, chain.Validation = []int{70, 50}, models.SkipAll, "0.1" // which folds leave no room for
	none := *usualConfig()
	none.Hidden = []int{}
	graph := *usualConfig()
	graph.Graph = "net.toml"
	odd := *usualConfig()
	odd.Memory = 1<<30 + 1
	held := *usualConfig()
	held.Validation, held.Weights = "0.1", "last"
	filled := map[string]bool{}
	for _, c := range []trainer.Config{*usualConfig(), full, chain, none, graph, odd, held, elsewhere} {
		if got := parsed(t, flagsOf(&c)); !reflect.DeepEqual(got, c) {
			t.Errorf("%q make\n%+v, expected\n%+v", flagsOf(&c), got, c)
		}
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				filled[v.Type().Field(i).Name] = true
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[trainer.Config]()) {
		if !filled[f.Name] && !slices.Contains([]string{"SpectrumShare", "FoldCoding", "Blocks", "Schedule"}, f.Name) {
			t.Errorf("no flag was tried for %s", f.Name)
		}
	}
}

// What errors call the fields of a configuration are flags.
func TestFlagsOfFields(t *testing.T) {
	var f Run
	cmd := &cobra.Command{Use: "test"}
	f.Add(cmd)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[trainer.Config]()) {
		flag, key, keyed := strings.Cut(Of(field.Name), " ")
		name, ok := strings.CutPrefix(flag, "--")
		if field.Name != "SpectrumShare" && field.Name != "FoldCoding" && (!ok || cmd.Flags().Lookup(name) == nil || keyed && rowOf(key) == nil) {
			t.Errorf("%s is called %q", field.Name, Of(field.Name))
		}
	}
	for field, want := range map[string]string{"Graph": "--net", "Epochs": "--epochs", "Processes": "-n", "--top": "--top", "JOB_COMPLETION_INDEX": "JOB_COMPLETION_INDEX"} {
		if got := Of(field); got != want {
			t.Errorf("%s is called %q, expected %q", field, got, want)
		}
	}
}

// A shell takes a quoted command apart into the arguments that it was made of.
func TestQuotedArguments(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to ask")
	}
	args := []string{"plain", "", "two words", "it's", `a"b\c`, "$HOME", "*", "--set=rate=1e-3", "tab\there", "ü;rm", "~x", "#c"}
	out, err := exec.Command(shell, "-c", `for a in `+format.QuoteAll(args)+`; do printf '%s\0' "$a"; done`).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !reflect.DeepEqual(got, args) {
		t.Errorf("%s is %q, %v: expected %q", format.QuoteAll(args), got, err, args)
	}
}

// What a run is stored with can be read from any directory.
func TestAbsolutePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here := func(name string) string { return AbsolutePath(name) }
	if err := os.WriteFile("table.csv", []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Absolute(trainer.Config{Data: "table.csv", DataDir: "data", Graph: "net.toml", Save: "m.onnx"})
	if c.Data != here("table.csv") || c.DataDir != here("data") || c.Graph != here("net.toml") || c.Save != here("m.onnx") || c.Data[0] != '/' {
		t.Errorf("made %+v", c)
	}
	for data, want := range map[string]string{
		"t*.csv": here("t*.csv"), "table.csv,t*.csv": here("table.csv") + "," + here("t*.csv"), "no*.csv": "no*.csv", "a.csv,table.csv": "a.csv," + here("table.csv"),
	} {
		if c := Absolute(trainer.Config{Data: data}); c.Data != want {
			t.Errorf("%s became %s, expected %s", data, c.Data, want)
		}
	}
	if c := Absolute(trainer.Config{Data: "letters"}); c.Data != "letters" || c.DataDir != "" || c.Graph != "" || c.Save != "" {
		t.Errorf("made %+v of the letters", c)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "17": 17, "1K": 1024, "1.5M": 3 << 19, "2g": 2 << 30, "512MB": 512 << 20} {
		if got, ok := parseSize(text); !ok || got != want {
			t.Errorf("%s is %d (%v): expected %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "1T", "NaN", "1e30G", "inf"} {
		if got, ok := parseSize(text); ok {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

// Every choice that a shell is offered can be chosen.
func TestChoicesAreAccepted(t *testing.T) {
	for i := range table {
		for _, choice := range table[i].choices {
			var f Run
			cmd := &cobra.Command{}
			f.Add(cmd)
			args := strings.Fields(strings.ReplaceAll(table[i].onCommandLine(choice), "'", ""))
			if table[i].name == "gates" { // which says nothing of a single net
				args = append(args, "--set", "experts=2x2", "--set", "gate=1")
			}
			if table[i].in == asSetting {
				args = append(args, "--opt", "adam")
			}
			if err := cmd.ParseFlags(args); err != nil {
				t.Error(err)
			}
			if _, err := f.Parse(cmd); err != nil {
				t.Error(err)
			}
		}
	}
}

// What was a flag is a key, or a term of --until: the old flag says what to type, and what it says is taken.
func TestFormerFlags(t *testing.T) {
	values := map[string]string{
		"fold": "0", "fresh-probes": "true", "experts": "", "gate": "", "gates": "", "schedule": "linear", "target-error": "0.05", "class-weights": "balanced",
		"decimal": ",", "drop": "a, b", "missing": "median", "tape-memory": "3M", "time-limit": "1m30s", "init": "he", "header": "no",
	}
	keys := 0
	for i := range table {
		r := &table[i]
		if r.in == asFlag {
			continue
		}
		keys++
		value, ok := values[r.name]
		if !ok {
			value = r.text(usualConfig())
		}
		var f Run
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
		f.Add(cmd)
		name := r.name
		if r.old != "" {
			name = r.old
		}
		err := Error(cmd, cmd.ParseFlags([]string{"--" + name, value}))
		now := r.onCommandLine(value)
		if want := "--" + name + " " + format.Quote(value) + " is now " + now; err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
		flag, text, _ := strings.Cut(now, " ")
		args := []string{flag, strings.Trim(text, "'"), "--opt", "adam"}
		if r.name == "blocks" {
			args[3] = "tr-gn"
		}
		if parsed := func() (err error) {
			var f Run
			cmd := &cobra.Command{}
			f.Add(cmd)
			if err = cmd.ParseFlags(args); err == nil {
				_, err = f.Parse(cmd)
			}
			return err
		}(); parsed != nil && value != "" && value != "0" {
			t.Errorf("%s: %v", now, parsed)
		}
	}
	if len(table)-keys != 26 {
		t.Errorf("%d run flags", len(table)-keys)
	}
}

// A number of epochs is said once: by --epochs, or as a term of --until.
func TestEpochsAreSaidOnce(t *testing.T) {
	for _, c := range []struct {
		until string
		wrong bool
	}{{"90s or 200 epochs", true}, {"error<5%", false}, {"90s", false}} {
		var f Run
		cmd := &cobra.Command{}
		f.Add(cmd)
		if err := cmd.ParseFlags([]string{"--epochs", "7", "--until", c.until}); err != nil {
			t.Fatal(err)
		}
		config, err := f.Parse(cmd)
		if c.wrong != (err != nil) || err == nil && config.Epochs != 7 {
			t.Errorf("--until %s: %d epochs, %v", c.until, config.Epochs, err)
		}
	}
}

// No key of --set but those that stand for a hyperparameter is the key of one.
func TestKeysAreNoHyperparameters(t *testing.T) {
	own := map[string]bool{}
	for _, m := range methods.All() {
		for _, h := range m.Parameters {
			own[h.Key] = true
		}
	}
	for i := range table {
		if r := &table[i]; r.in != asFlag && own[r.name] != (r.in == asSetting) {
			t.Errorf("%s is a hyperparameter: %v", r.name, own[r.name])
		}
	}
}

// Where --set, --table and a file say the same thing, the command line wins; what a file said before keys were keys it
// says still.
func TestKeysOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.toml")
	text := "memory = \"3M\"\nheader = \"no\"\nblocks = 3\ntime-limit = \"2s\"\ntarget-error = 0.1\nspectrum-every = 5\n" +
		"[set]\nskip = \"all\"\nradius = 2\npatience = 3\n[table]\nmissing = \"drop\"\ndecimal = \",\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := parsed(t, []string{"--config", file, "--set", "patience=4", "--table", "decimal=.,thousands=,", "--table", "drop=a, b,drop=c", "--set", "rule=textbook", "--until", "3s"})
	want := *usualConfig()
	want.Memory, want.Header, want.Blocks, want.TimeLimit, want.SpectrumEvery = 3<<20, "no", 3, 3*time.Second, 5
	want.Skip, want.Set, want.Patience, want.Missing, want.Decimal, want.Thousands = models.SkipAll, []string{"radius=2", "rule=textbook"}, 4, "drop", ".", ","
	want.Drop = []string{"a, b", "c"}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("made\n%+v, expected\n%+v", c, want)
	}
}
