// Package flags has the flags that several commands share, the run flags above all, and what is wrong with a command
// line.
package flags

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/trainer"
	"newtop/trainer/alert"
)

// Run has what the flags say of every command that trains.
type Run struct {
	trainer.Config                    // but for the fields of flags that have a form, which Parse sets
	texts          map[string]*string // of those flags, by name
	Store          string             // what keeps the run
	Name           string             // of the run there
	File           string             // with flags
	Tables         []string           // of --table
	keys           *pflag.FlagSet     // what is no flag of its own
	gathered       bool
	resuming       bool // a run that is resumed is changed
	// Space reads the table over of that file; nil: it may have none.
	Space func(file string, text []byte) error
}

// Add declares the run flags.
func (f *Run) Add(cmd *cobra.Command) {
	f.start(cmd)
	for i := range table {
		table[i].add(cmd, f, table[i].usual, table[i].usage)
	}
	f.haveKeys(cmd, allKeys)
}

// start prepares for the rows that are added.
func (f *Run) start(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	f.texts = map[string]*string{}
	f.keys = pflag.NewFlagSet("keys", pflag.ContinueOnError)
}

// haveKeys has the help tell of the keys of --set and --table.
func (f *Run) haveKeys(cmd *cobra.Command, which string) {
	for _, name := range []string{"table", "set"} {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			annotate(flag, keysKey, which)
		}
	}
}

// AddData declares the flags that say which rows of which columns are for what, of data that are an argument.
func (f *Run) AddData(cmd *cobra.Command) {
	f.start(cmd)
	for i := range table {
		r := &table[i]
		if (r.group == "data" || r.group == "table") && !slices.Contains(
			[]string{"data", "data-dir", "folds", "fold"}, r.name) {
			r.add(cmd, f, r.usual, r.usage)
		}
	}
	f.haveKeys(cmd, allKeys)
}

// DataConfig returns what the flags of AddData say.
func (f *Run) DataConfig(cmd *cobra.Command) (trainer.Config, error) {
	err := f.resolveKeys(cmd)
	return f.Config, err
}

// AddAgain declares the flags that change a run that is resumed, some of them before the others.
func (f *Run) AddAgain(cmd *cobra.Command, before ...string) {
	f.start(cmd)
	f.resuming = true
	for _, name := range before {
		r := rowOf(name)
		r.add(cmd, f, nil, r.again)
	}
	for i := range table {
		if r := &table[i]; r.again != "" && !slices.Contains(before, r.name) {
			r.add(cmd, f, nil, r.again)
		}
	}
	f.haveKeys(cmd, againKeys)
}

// Change puts what the command line says in place of what a run that is resumed was begun with.
func (f *Run) Change(cmd *cobra.Command, c *trainer.Config) error {
	if f.keys == nil { // there are no flags
		return c.Check()
	}
	if err := cmp.Or(f.resolveKeys(cmd), f.oneEnd(cmd)); err != nil {
		return err
	}
	for i := range table {
		r := &table[i]
		switch {
		case r.again == "" || r.name == "set" || !f.Given(cmd, r.name):
		case !r.parsed():
			r.of(c).Set(r.of(f))
		case *f.texts[r.name] != "":
			if err := r.parse(c, *f.texts[r.name]); err != nil {
				return err
			}
		}
	}
	return c.Check()
}

// oneEnd returns an error if the command line says twice how many epochs there are.
func (f *Run) oneEnd(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("epochs") || !cmd.Flags().Changed("until") {
		return nil
	}
	until, err := alert.ParseUntil(*f.texts["until"])
	if err != nil || until.Limits().Epochs == 0 {
		return nil // the flag's own error is told where it is read
	}
	return Invalid("--epochs", f.Epochs, fmt.Sprintf("one number of epochs: --until has %d", until.Limits().Epochs))
}

// SameProblem reports whether two runs differ in nothing but what may change when one is resumed.
func SameProblem(a, b trainer.Config) bool {
	for _, c := range []*trainer.Config{&a, &b} {
		for i := range table {
			if r := &table[i]; r.again != "" && r.name != "set" {
				r.of(c).SetZero()
			}
		}
		// of which the command line has the settings alone
		if c.Blocks > 0 {
			c.Set = append(slices.Clone(c.Set), fmt.Sprintf("blocks=%d", c.Blocks))
		}
		if c.Schedule != "" {
			c.Set = append(slices.Clone(c.Set), "schedule="+c.Schedule)
		}
		c.Blocks, c.Schedule = 0, ""
		if len(c.Set) == 0 {
			c.Set = nil
		}
	}
	return reflect.DeepEqual(a, b)
}

// leaveOut takes back the defaults of flags that are about data and networks of newtop's own, for a model that another
// program has, but of those that were given.
func leaveOut(c *trainer.Config, given func(flag string) bool) {
	for i := range table {
		r := &table[i]
		if r.usual != nil && !given(r.name) && (r.group == "data" || r.group == "network") {
			r.of(c).SetZero()
		}
	}
}

// Parse returns what the flags and the configuration file say, checked.
func (f *Run) Parse(cmd *cobra.Command) (trainer.Config, error) {
	if err := cmp.Or(f.resolveKeys(cmd), f.oneEnd(cmd)); err != nil {
		return f.Config, err
	}
	c := f.Config
	for i := range table {
		if r := &table[i]; r.parsed() {
			if err := r.parse(&c, *f.texts[r.name]); err != nil {
				return c, err
			}
		}
	}
	if c.Model != "" {
		leaveOut(&c, cmd.Flags().Changed)
	}
	if c.Spectrum < 1 {
		return c, Invalid("--spectrum", c.Spectrum, "a whole number ≥ 1")
	}
	requested := c
	for _, text := range c.Set { // a schedule that is asked for needs an end
		if key, value, _ := strings.Cut(text, "="); strings.TrimSpace(key) == "schedule" {
			requested.Schedule = strings.TrimSpace(value)
		}
	}
	return c, f.suggestKey(requested.Check())
}
