// Package flags has the flags that several commands share, the run flags above all, and what is wrong with a command
// line.
package flags

import (
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"newtop/trainer"
)

// Run has what the flags say of every command that trains.
type Run struct {
	trainer.Config                    // but for the fields of flags that have a form, which Parse sets
	texts          map[string]*string // of those flags, by name
	Store          string             // what keeps the run
	Name           string             // of the run there
	File           string             // with flags
	// Space reads the table over of that file; nil: it may have none.
	Space func(file string, text []byte) error
}

// Add declares the run flags.
func (f *Run) Add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.SortFlags = false
	f.texts = map[string]*string{}
	for i := range table {
		table[i].add(cmd, f, table[i].usual, table[i].usage)
	}
}

// AddData declares the flags that say which rows of which columns are for what, of data that are an argument.
func (f *Run) AddData(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	for i := range table {
		r := &table[i]
		if (r.group == "data" || r.group == "table") && !slices.Contains(
			[]string{"data", "data-dir", "folds", "fold"}, r.name) {
			r.add(cmd, f, r.usual, r.usage)
		}
	}
}

// AddAgain declares the flags that change a run that is gone on with, some of them before the others.
func (f *Run) AddAgain(cmd *cobra.Command, before ...string) {
	set := cmd.Flags()
	set.SortFlags = false
	f.texts = map[string]*string{}
	for _, name := range before {
		r := &table[slices.IndexFunc(table, func(r row) bool { return r.name == name })]
		r.add(cmd, f, nil, r.again)
	}
	for i := range table {
		if r := &table[i]; r.again != "" && !slices.Contains(before, r.name) {
			r.add(cmd, f, nil, r.again)
		}
	}
}

// Change puts what the command line says in place of what a run that is gone on with was begun with.
func (f *Run) Change(cmd *cobra.Command, c *trainer.Config) error {
	for i := range table {
		r := &table[i]
		switch {
		case r.again == "" || !cmd.Flags().Changed(r.name):
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

// SameProblem reports whether two runs differ in nothing but what may change when one is gone on with.
func SameProblem(a, b trainer.Config) bool {
	for _, c := range []*trainer.Config{&a, &b} {
		for i := range table {
			if r := &table[i]; r.again != "" {
				r.of(c).SetZero()
			}
		}
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
	if f.File != "" {
		if err := f.readFile(cmd.Flags()); err != nil {
			return f.Config, err
		}
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
		return c, Wrong("--spectrum", c.Spectrum, "a whole number ≥ 1")
	}
	return c, c.Check()
}
