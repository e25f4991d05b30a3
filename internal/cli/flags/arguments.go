package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/rundiff"
	"newtop/trainer"
)

// argument is a run flag with a value.
type argument struct{ flag, value string }

// arguments returns the run flags that make c, in the order of the help, without those that have their default.
func arguments(c *trainer.Config) (list []argument) {
	usual := values(usualConfig())
	for i, a := range values(c) {
		if a.value != usual[i].value {
			list = append(list, a)
		}
	}
	for _, kv := range c.Set {
		list = append(list, argument{"--set", kv})
	}
	return list
}

// Command returns the command that trains c.
func Command(c *trainer.Config) string {
	words := []string{"newtop", "train"}
	for _, a := range arguments(c) {
		if words = append(words, a.flag); a.flag != "--density" {
			words = append(words, Quote(a.value))
		}
	}
	return strings.Join(words, " ")
}

// usualConfig is what the flags say where none is given.
func usualConfig() *trainer.Config {
	return &trainer.Config{
		Data: "letters", Init: "uniform:0.2", Committee: 1, Optimizer: trainer.DefaultOptimizer, Epochs: 100, Seed: 1,
		Spectrum: 3, SpectrumRows: 2048, Memory: 1 << 30,
	}
}

// values returns every run flag but --set, with what it says in c; the fields of each kind stand together.
func values(c *trainer.Config) []argument {
	whole := func(n int) string { return strconv.Itoa(n) }
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rows := whole(c.SpectrumRows)
	if c.SpectrumRows < 0 {
		rows = "all"
	}
	experts := ""
	if c.Experts > 0 {
		experts = fmt.Sprintf("%dx%s", c.Experts, dashed(c.ExpertHidden))
	}
	net := c.Graph
	switch {
	case net != "":
	case c.Hidden != nil && len(c.Hidden) == 0:
		net = "none"
	default:
		net = dashed(c.Hidden)
	}
	return []argument{
		{"--data", c.Data}, {"--data-dir", c.DataDir}, {"--target", c.Target}, {"--test", c.Test},
		{"--net", net}, {"--skip", c.Skip.String()}, {"--experts", experts}, {"--gate", c.Gate}, {"--gates", c.GateTraining},
		{"--committee", whole(max(c.Committee, 1))}, {"--act", c.Act}, {"--out", c.Out}, {"--loss", c.Loss}, {"--init", c.Init},
		{"--opt", c.Optimizer}, {"--batch", whole(c.Batch)}, {"--blocks", whole(c.Blocks)}, {"--epochs", whole(c.Epochs)},
		{"--target-loss", number(c.TargetLoss)}, {"--target-error", number(c.TargetError)}, {"--time-limit", c.TimeLimit.String()},
		{"--seed", strconv.FormatUint(c.Seed, 10)}, {"--threads", whole(c.Threads)},
		{"--spectrum", whole(c.Spectrum)}, {"--spectrum-every", whole(c.SpectrumEvery)}, {"--spectrum-method", c.SpectrumMethod},
		{"--spectrum-of", c.SpectrumOf}, {"--spectrum-rows", rows}, {"--density", strconv.FormatBool(c.Density)},
		{"--memory", size(c.Memory)}, {"--save", c.Save},
	}
}

// dashed writes layers as in 70-50.
func dashed(layers []int) string {
	parts := make([]string, len(layers))
	for i, n := range layers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "-")
}

// size writes a number of bytes as ParseSize reads it.
func size(n int64) string {
	for _, unit := range []struct {
		name string
		of   int64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if n >= unit.of && n%unit.of == 0 {
			return strconv.FormatInt(n/unit.of, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// told are the flags whose differences internal/rundiff tells from the runs' own words.
var told = []string{"--data", "--data-dir", "--net", "--skip", "--experts", "--committee", "--act", "--out", "--loss", "--opt", "--batch",
	"--blocks", "--epochs", "--seed", "--threads", "--memory", "--save", "--spectrum", "--spectrum-every", "--spectrum-method",
	"--spectrum-of", "--spectrum-rows", "--density"}

// Differences returns the run flags in which configurations differ, and which change what is trained or when it ends.
// All settings that were given are one row.
func Differences(configs []*trainer.Config) (rows []rundiff.Row) {
	said := make([][]argument, len(configs))
	for i, c := range configs {
		said[i] = values(c)
	}
	for k, a := range values(&trainer.Config{}) {
		if slices.Contains(told, a.flag) {
			continue
		}
		r := rundiff.Row{Name: a.flag, Differs: true}
		for i := range said {
			r.Values = append(r.Values, said[i][k].value)
		}
		if slices.ContainsFunc(r.Values, func(v string) bool { return v != r.Values[0] }) {
			rows = append(rows, r)
		}
	}
	given := rundiff.Row{Name: "--set", Differs: true}
	for _, c := range configs {
		given.Values = append(given.Values, strings.Join(c.Set, " "))
	}
	if slices.ContainsFunc(given.Values, func(v string) bool { return v != given.Values[0] }) {
		rows = append(rows, given)
	}
	return rows
}
