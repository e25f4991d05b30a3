// Package rundiff says how runs differ: in what was chosen for them, and in what they reached.
package rundiff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"newtop/trainer/event"
)

// Row is one choice and what each run has of it.
type Row struct {
	Name    string
	Values  []string // one a run; empty where it has none
	Differs bool
}

// Contested reports whether two runs have different values of the choice: where one method alone has it, that tells
// nothing beside the method.
func (r *Row) Contested() bool {
	some := ""
	for _, v := range r.Values {
		if v != "" && some != "" && v != some {
			return true
		}
		if v != "" {
			some = v
		}
	}
	return false
}

// choice is a Row's entry of one run.
type choice struct{ name, value string }

// Table returns what was chosen for runs, the choices that a method alone has after those that every run has. A run
// that did not begin is nil and has nothing.
func Table(runs []*event.RunEvent) []Row {
	var rows []Row
	at := map[string]int{}
	add := func(i int, choices []choice) {
		for _, c := range choices {
			k, ok := at[c.name]
			if !ok {
				k = len(rows)
				at[c.name] = k
				rows = append(rows, Row{Name: c.name, Values: make([]string, len(runs))})
			}
			rows[k].Values[i] = c.value
		}
	}
	for _, of := range []func(*event.RunEvent) []choice{common, settings} {
		for i, r := range runs {
			if r != nil {
				add(i, of(r))
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool {
		return !slices.ContainsFunc(r.Values, func(v string) bool { return v != "" })
	})
	for k := range rows {
		r := &rows[k]
		r.Differs = slices.ContainsFunc(r.Values, func(v string) bool { return v != r.Values[0] })
	}
	return rows
}

// common are the choices that every run has; one that was not made is empty.
func common(r *event.RunEvent) []choice {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return []choice{
		{"optimizer", r.Optimizer},
		{"data", r.Data.Name},
		{"training rows", number(r.Data.TrainRows)},
		{"test rows", number(r.Data.TestRows)},
		{"net", r.Model.Shape()},
		{"activations", strings.Join(r.Model.Activations, " ")},
		{"loss", r.Model.Loss},
		{"parameters", number(r.Model.Parameters)},
		{"seed", seeds(r)},
		{"epochs", number(r.Epochs)},
		{"threads", number(r.Threads)},
		{"precision", r.Precision},
		{"kernel", r.Kernel},
	}
}

// seeds are those of a run that newtop trained; of another program's none is known.
func seeds(r *event.RunEvent) string {
	if r.External() && r.Seed == 0 {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(r.Seeds(), "seeds "), "seed ")
}

// settings are the hyperparameters, by name.
func settings(r *event.RunEvent) []choice {
	var out []choice
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		out = append(out, choice{key, text(r.Settings[key])})
	}
	if _, ok := r.Settings["batch"]; !ok && r.Batch > 0 {
		out = append(out, choice{"batch", strconv.Itoa(r.Batch)})
	}
	return out
}

// text writes a setting: a number with as many digits as it needs, whatever type it was read as.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "e-0", "e-", 1)
	}
	return fmt.Sprint(v)
}

// ignoredChoices are choices that change how fast a run is, or when it ends, and not what it computes.
var ignoredChoices = []string{"epochs", "threads", "kernel", "parameters", "training rows", "test rows"}

// Labels returns a short name for each run, all different: the one given where it is not empty, else the optimizer
// with what tells the run apart from others of the same optimizer.
func Labels(runs []*event.RunEvent, names []string) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		switch {
		case i < len(names) && names[i] != "":
			out[i] = names[i]
		case r == nil || r.Optimizer == "":
			out[i] = "run " + strconv.Itoa(i+1)
		default:
			out[i] = strings.Join(append([]string{r.Optimizer}, distinctions(runs, i)...), ", ")
		}
	}
	used := map[string]bool{}
	for i, base := range out {
		for n := 2; used[out[i]]; n++ {
			out[i] = fmt.Sprintf("%s (%d)", base, n)
		}
		used[out[i]] = true
	}
	return out
}

// distinctions are the data of a run, if others of its optimizer have other ones, and the choices that it does not
// share with all others of its optimizer on its data.
func distinctions(runs []*event.RunEvent, i int) (out []string) {
	self := runs[i]
	same := slices.DeleteFunc(slices.Clone(runs), func(r *event.RunEvent) bool {
		return r == nil ||
			r.Optimizer != self.Optimizer
	})
	near := slices.DeleteFunc(slices.Clone(same), func(r *event.RunEvent) bool { return r.Data.Name != self.Data.Name })
	if len(near) < len(same) && self.Data.Name != "" {
		out = append(out, self.Data.Name)
	}
	at := slices.Index(near, self)
	for _, row := range Table(near) {
		value := row.Values[at]
		switch {
		case !row.Differs || slices.Contains(ignoredChoices, row.Name) || value == "":
		case row.Name == "net" || row.Name == "activations":
			out = append(out, value)
		default:
			out = append(out, row.Name+" "+value)
		}
	}
	return out
}
