package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"newtop/models"
	"newtop/trainer"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runFlags are the flags of every command that trains.
type runFlags struct {
	c      trainer.Config
	net    string
	skip   string
	memory string
	file   string
}

func (f *runFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.c.Data, "data", "letters", "data set by name (see newtop data), or a CSV file")
	set.StringVar(&f.c.DataDir, "data-dir", "", "where real data sets are; empty: the cache that newtop data fetch fills")
	set.StringVar(&f.c.Target, "target", "", "target column of a CSV file, by name or number; empty: the last")
	set.StringVar(&f.c.Test, "test", "", "test rows, a number or a fraction; empty: what the data set says")
	set.StringVar(&f.net, "net", "", "hidden layers as in 70-50, none, or a TOML file with any graph; empty: by size of the data")
	set.StringVar(&f.skip, "skip", "none", "connections beside the chain: none, direct (inputs to outputs), all (to every later layer)")
	set.StringVar(&f.c.Act, "act", "", "activation of hidden layers: tanh, sigmoid, softplus, relu, softmax, identity; empty: tanh")
	set.StringVar(&f.c.Out, "out", "", "outputs: softmax, tanh, sigmoid, linear; empty: softmax for classes, else linear")
	set.StringVar(&f.c.Loss, "loss", "", "mse or xent; empty: xent behind softmax, else mse")
	set.StringVar(&f.c.Init, "init", "uniform:0.2", "how weights are drawn")
	set.StringVar(&f.c.Optimizer, "opt", trainer.DefaultOptimizer, "optimizer (see newtop optimizers)")
	set.StringArrayVar(&f.c.Set, "set", nil, "hyperparameter of the optimizer as KEY=VALUE; may be repeated")
	set.IntVar(&f.c.Batch, "batch", 0, "rows a step of first-order methods; 0: the method's default")
	set.IntVar(&f.c.Epochs, "epochs", 100, "outer iterations; 0: no limit")
	set.Float64Var(&f.c.TargetLoss, "target-loss", 0, "stop at this training loss; 0: never")
	set.Float64Var(&f.c.TargetError, "target-error", 0, "stop at this test error as a fraction, or test RMSE; 0: never")
	set.DurationVar(&f.c.TimeLimit, "time-limit", 0, "stop after this much work, as in 90s; 0: never")
	set.Uint64Var(&f.c.Seed, "seed", 1, "of the starting weights and the order of rows")
	set.IntVar(&f.c.Threads, "threads", 0, "workers; 0: all cores; results do not depend on it")
	set.IntVar(&f.c.Spectrum, "spectrum", 3, "eigenvalues to estimate at each end of the Hessian's spectrum")
	set.IntVar(&f.c.SpectrumEvery, "spectrum-every", 0, "epochs between spectra; 0: never by itself (on the screen: 5)")
	set.StringVar(&f.memory, "memory", "1G", "for kept linearizations, as in 512M; beyond it passes are recomputed")
	set.StringVar(&f.file, "config", "", "TOML file with any of these flags; the command line wins")
}

// config returns what the flags and the configuration file say, checked.
func (f *runFlags) config(cmd *cobra.Command) (trainer.Config, error) {
	if f.file != "" {
		if err := f.readFile(cmd.Flags()); err != nil {
			return f.c, err
		}
	}
	c := f.c
	if err := f.layers(&c); err != nil {
		return c, err
	}
	skip, err := models.ParseSkip(f.skip)
	if err != nil {
		return c, &trainer.ConfigError{Flag: "--skip", Value: f.skip, Expected: "none, direct or all"}
	}
	c.Skip = skip
	if c.Memory, err = parseSize(f.memory); err != nil {
		return c, &trainer.ConfigError{Flag: "--memory", Value: f.memory, Expected: err.Error()}
	}
	return c, c.Check()
}

// layers reads --net.
func (f *runFlags) layers(c *trainer.Config) error {
	switch {
	case f.net == "":
		return nil
	case f.net == "none":
		c.Hidden = []int{}
		return nil
	case strings.HasSuffix(f.net, ".toml"):
		c.Graph = f.net
		return nil
	}
	for _, part := range strings.Split(f.net, "-") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return &trainer.ConfigError{Flag: "--net", Value: f.net, Expected: "sizes of hidden layers as in 70-50, none, or a .toml file"}
		}
		c.Hidden = append(c.Hidden, n)
	}
	return nil
}

// readFile applies a TOML file of flags to those that the command line left alone.
func (f *runFlags) readFile(set *pflag.FlagSet) error {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return fmt.Errorf("%s:%d:%d: %s", f.file, line, column, at.Error())
		}
		return fmt.Errorf("%s: %w", f.file, err)
	}
	for key, value := range values {
		flag := set.Lookup(key)
		if flag == nil || key == "config" || key == "help" {
			return usagef("%s: unknown key %q: expected the name of a run flag, as in epochs = 40", f.file, key)
		}
		if flag.Changed {
			continue
		}
		for _, text := range texts(value) {
			if err := set.Set(key, text); err != nil {
				return usagef("%s: %s = %s: %v", f.file, key, text, err)
			}
		}
	}
	return nil
}

// texts turns a TOML value into what the flag takes on the command line: a list into one text each, a
// table into KEY=VALUE.
func texts(value any) []string {
	switch v := value.(type) {
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, texts(e)...)
		}
		return out
	case map[string]any:
		var out []string
		for key, e := range v {
			for _, text := range texts(e) {
				out = append(out, key+"="+text)
			}
		}
		return out
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	}
	return []string{fmt.Sprint(value)}
}

// parseSize reads a number of bytes with an optional unit K, M or G of 1024.
func parseSize(text string) (int64, error) {
	wrong := errors.New("a size as in 512M or 2G")
	number, shift := strings.TrimSuffix(strings.ToUpper(text), "B"), 0
	for unit, bits := range map[string]int{"K": 10, "M": 20, "G": 30} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = rest, bits
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v*math.Exp2(float64(shift)) > math.MaxInt64/2 {
		return 0, wrong
	}
	return int64(v * math.Exp2(float64(shift))), nil
}

// seconds formats a duration for people.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
