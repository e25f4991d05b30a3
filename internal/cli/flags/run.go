// Package flags has the flags that several commands share, the run flags above all, and what is wrong with a command line.
package flags

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/models"
	"newtop/trainer"
)

// Run are the flags of every command that trains.
type Run struct {
	Config  trainer.Config
	net     string
	experts string
	rows    string
	skip    string
	Memory  string
	Store   string
	Name    string
	file    string
	// Space reads the table over of the configuration file; nil: it may have none.
	Space func(file string, text []byte) error
}

func (f *Run) Add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.Config.Data, "data", "letters", "data set by name (see newtop data), or a CSV file")
	set.StringVar(&f.Config.DataDir, "data-dir", "", "where real data sets are; empty: the cache that newtop data fetch fills")
	set.StringVar(&f.Config.Target, "target", "", "target column of a CSV file, by name or number; empty: the last")
	set.StringVar(&f.Config.Test, "test", "", "test rows, a number or a fraction; empty: what the data set says")
	set.StringVar(&f.net, "net", "", "hidden layers as in 70-50, none, or a TOML file with any graph; empty: by size of the data")
	set.StringVar(&f.skip, "skip", "none", "connections beside the chain: none, direct (inputs to outputs), all (to every later layer)")
	set.StringVar(&f.experts, "experts", "", "mixture of experts as in 5x16: five nets with 16 hidden nodes each, instead of --net")
	set.StringVar(&f.Config.Gate, "gate", "", "what the experts' bell-shaped gates look at: an input or a feature of the data, as hue")
	set.StringVar(&f.Config.GateTraining, "gates", "", "how gates learn: descent (after each epoch), joint (as weights), fixed; empty: descent")
	set.IntVar(&f.Config.Committee, "committee", 1, "nets trained from as many seeds, whose mean output counts")
	set.StringVar(&f.Config.Act, "act", "", "activation of hidden layers: tanh, sigmoid, softplus, relu, softmax, identity; empty: tanh")
	set.StringVar(&f.Config.Out, "out", "", "activation of the outputs: softmax, tanh, sigmoid, linear; empty: softmax for classes, else linear")
	set.StringVar(&f.Config.Loss, "loss", "", "what is minimized: mse or xent; empty: xent behind softmax, else mse")
	set.StringVar(&f.Config.Init, "init", "uniform:0.2", "how weights are drawn: uniform:A, normal:S, xavier, he or lecun")
	set.StringVar(&f.Config.Optimizer, "opt", trainer.DefaultOptimizer, "optimizer (see newtop optimizers)")
	set.StringArrayVar(&f.Config.Set, "set", nil, "hyperparameter of the optimizer as KEY=VALUE; may be repeated")
	set.IntVar(&f.Config.Batch, "batch", 0, "rows a step of first-order methods; 0: the method's default")
	set.IntVar(&f.Config.Blocks, "blocks", 0, "parts of the rows that trust-region methods go through in turn; 0: the method's default, 1")
	set.IntVar(&f.Config.Epochs, "epochs", 100, "outer iterations; 0: no limit")
	set.Float64Var(&f.Config.TargetLoss, "target-loss", 0, "stop at this training loss; 0: never")
	set.Float64Var(&f.Config.TargetError, "target-error", 0, "stop at this test error as a fraction, or test RMSE; 0: never")
	set.DurationVar(&f.Config.TimeLimit, "time-limit", 0, "stop after this much work, as in 90s; 0: never")
	set.Uint64Var(&f.Config.Seed, "seed", 1, "what the starting weights and the order of rows follow from")
	set.IntVar(&f.Config.Threads, "threads", 0, "workers; 0: all cores; results do not depend on them")
	set.IntVar(&f.Config.Spectrum, "spectrum", 3, "eigenvalues to estimate, at each end of the spectrum")
	set.IntVar(&f.Config.SpectrumEvery, "spectrum-every", 0, "epochs between spectra; 0: never by itself (on the screen: 5, while there is time)")
	set.StringVar(&f.Config.SpectrumMethod, "spectrum-method", "", "how: lanczos (both ends) or power (the largest in size); empty: lanczos")
	set.StringVar(&f.Config.SpectrumOf, "spectrum-of", "", "of which matrix: hessian or gauss-newton; empty: hessian")
	set.StringVar(&f.rows, "spectrum-rows", "2048", "training rows a spectrum averages over, evenly spaced, or all")
	set.BoolVar(&f.Config.Density, "density", false, "estimate the spectral density and the trace with each spectrum")
	set.StringVar(&f.Memory, "memory", "1G", "room for kept linearizations, as in 512M; beyond it passes are recomputed")
	set.StringVar(&f.Store, "record", "", "database that keeps the run, or off; empty: runs.db in the state directory")
	set.StringVar(&f.Name, "name", "", "what the record calls the run, beside its ID")
	set.StringVar(&f.Config.Save, "save", "", "file for the weights at the end: .safetensors or .onnx")
	set.StringVar(&f.file, "config", "", "file with any of these flags, in TOML; the command line wins")
	set.VisitAll(Wrap)
}

// Wrap breaks a flag's description so that the help, which puts the default behind it and does not wrap by
// itself, fits into 80 columns.
func Wrap(f *pflag.Flag) {
	const room = 80 - 36 // beside the longest name or command
	if f.DefValue == "0s" {
		f.DefValue = "" // zero like the numbers', which the help leaves out
	}
	text := f.Usage
	for w := room; w > room/2; w-- {
		f.Usage = ansi.Wordwrap(text, w, "")
		if last := f.Usage[strings.LastIndexByte(f.Usage, '\n')+1:]; len(last)+len(" ()")+len(f.DefValue) <= room {
			return
		}
	}
}

// otherFlags are those of fields of a trainer.Config that are not called by them.
var otherFlags = map[string]string{
	"Hidden": "--net", "Graph": "--net", "ExpertHidden": "--experts", "GateTraining": "--gates", "Optimizer": "--opt", "Processes": "-n",
}

// Of returns the flag of a field of a trainer.Config. Errors of other options carry their flags already.
func Of(field string) string {
	if flag, ok := otherFlags[field]; ok {
		return flag
	}
	if field == "" || field[0] < 'A' || field[0] > 'Z' {
		return field
	}
	flag := "-"
	for _, c := range field {
		if unicode.IsUpper(c) {
			flag += "-"
		}
		flag += string(unicode.ToLower(c))
	}
	return flag
}

// Parse returns what the flags and the configuration file say, checked.
func (f *Run) Parse(cmd *cobra.Command) (trainer.Config, error) {
	if f.file != "" {
		if err := f.readFile(cmd.Flags()); err != nil {
			return f.Config, err
		}
	}
	c := f.Config
	if err := f.layers(&c); err != nil {
		return c, err
	}
	skip, err := models.ParseSkip(f.skip)
	if err != nil {
		return c, &trainer.ConfigError{Field: "--skip", Value: f.skip, Expected: "none, direct or all"}
	}
	c.Skip = skip
	if c.Memory, err = ParseSize(f.Memory); err != nil {
		return c, &trainer.ConfigError{Field: "--memory", Value: f.Memory, Expected: err.Error()}
	}
	if err := f.parts(&c); err != nil {
		return c, err
	}
	if c.Spectrum < 1 {
		return c, &trainer.ConfigError{Field: "--spectrum", Value: strconv.Itoa(c.Spectrum), Expected: "a whole number ≥ 1"}
	}
	return c, c.Check()
}

// layers reads --net.
func (f *Run) layers(c *trainer.Config) error {
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
	hidden, err := sizes(f.net)
	if err != nil {
		return &trainer.ConfigError{Field: "--net", Value: f.net, Expected: "sizes of hidden layers as in 70-50, none, or a .toml file"}
	}
	c.Hidden = hidden
	return nil
}

// parts reads --experts and --spectrum-rows.
func (f *Run) parts(c *trainer.Config) error {
	if f.rows == "all" {
		c.SpectrumRows = -1
	} else if n, err := strconv.Atoi(f.rows); err == nil && n > 0 {
		c.SpectrumRows = n
	} else {
		return &trainer.ConfigError{Field: "--spectrum-rows", Value: f.rows, Expected: "a whole number ≥ 1, or all"}
	}
	if f.experts == "" {
		return nil
	}
	wrong := &trainer.ConfigError{Field: "--experts", Value: f.experts, Expected: "a number and hidden layers, as in 5x16 or 3x20-10"}
	count, hidden, ok := strings.Cut(f.experts, "x")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 {
		return wrong
	}
	c.Experts = n
	if c.ExpertHidden, err = sizes(hidden); err != nil {
		return wrong
	}
	return nil
}

// sizes reads layers as in 70-50.
func sizes(text string) (out []int, err error) {
	for _, part := range strings.Split(text, "-") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		if n < 1 {
			return nil, strconv.ErrRange
		}
		out = append(out, n)
	}
	return out, nil
}

// readFile applies a TOML file of flags to those that the command line left alone.
func (f *Run) readFile(set *pflag.FlagSet) error {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return err
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return Usagef("%s:%d:%d: %s", f.file, line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return Usagef("%s: %v", f.file, err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key == "over" && f.Space != nil {
			if err := f.Space(f.file, text); err != nil {
				return err
			}
			continue
		}
		where := fmt.Sprintf("%s:%d", f.file, lineOf(text, key))
		if err := f.apply(set, where, key, values[key]); err != nil {
			return err
		}
	}
	return nil
}

// apply sets one flag from the configuration file, unless the command line did.
func (f *Run) apply(set *pflag.FlagSet, where, key string, value any) error {
	flag := set.Lookup(key)
	if flag == nil || key == "config" || key == "help" {
		return Usagef("%s: unknown key %q: expected the name of a run flag, as in epochs = 40", where, key)
	}
	if key == "set" {
		fromFile, ok := settings(value)
		if !ok {
			return Usagef("%s: expected a table as in [set] radius = 2, or a list of \"KEY=VALUE\"", where)
		}
		f.Config.Set = append(fromFile, f.Config.Set...) // what comes later wins
		return nil
	}
	if flag.Changed {
		return nil
	}
	text, ok := scalar(value)
	if !ok || set.Set(key, text) != nil {
		return Usagef("%s: %s = %v: expected %s", where, key, value, expected(flag.Value))
	}
	return nil
}

// lineOf returns the line on which a TOML file gives a key a value, or opens its table.
func lineOf(text []byte, key string) int {
	pattern := regexp.MustCompile(`(?m)^[ \t]*\[?["']?` + regexp.QuoteMeta(key) + `["']?[ \t]*[]=.]`)
	at := pattern.FindIndex(text)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(text[:at[0]], []byte("\n"))
}

// settings turns a TOML table, or a list of texts, into KEY=VALUE.
func settings(value any) (out []string, ok bool) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			text, ok := e.(string)
			if !ok {
				return nil, false
			}
			out = append(out, text)
		}
		return out, true
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, ok := scalar(v[key])
			if !ok {
				return nil, false
			}
			out = append(out, key+"="+text)
		}
		return out, true
	}
	return nil, false
}

// scalar turns a TOML value into what a flag takes on the command line.
func scalar(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool, int64:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// ParseSize reads a number of bytes with an optional unit K, M or G of 1024.
func ParseSize(text string) (int64, error) {
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
