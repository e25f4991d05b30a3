package flags

import (
	"reflect"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/internal/rundiff"
	"newtop/trainer"
)

// argument is a run flag, or a flag and a key of it, with a value.
type argument struct {
	flag, value string
	isSwitch    bool // a flag without a word behind it is true
	given       bool // its row's
}

// text returns the argument as a program gets it.
func (a *argument) text() []string {
	flag, key, keyed := strings.Cut(a.flag, " ")
	switch {
	case keyed:
		return []string{flag, key + "=" + a.value}
	case !a.isSwitch:
		return []string{a.flag, a.value}
	case a.value == "true":
		return []string{a.flag}
	}
	return []string{a.flag + "=" + a.value}
}

// arguments returns the run flags that make c, in the order of the help, without those that have their default.
func arguments(c *trainer.Config) (list []argument) {
	usual := usualConfig()
	if c.Model != "" {
		leaveOut(usual, func(string) bool { return false })
	}
	usually := values(usual)
	for i, a := range values(c) {
		if a.value != usually[i].value {
			list = append(list, a)
		}
	}
	for i := range table {
		for _, value := range table[i].list(c) {
			list = append(list, argument{flag: table[i].flag(), value: value})
		}
	}
	return list
}

// list returns the values of a flag that may be repeated, nil for others.
func (r *row) list(c *trainer.Config) []string {
	if !r.configures() || r.parsed() {
		return nil
	}
	list, _ := r.of(c).Interface().([]string)
	return list
}

// Command returns the command that trains c.
func Command(c *trainer.Config) string {
	text := []string{"newtop", "train"}
	for _, a := range arguments(c) {
		for _, word := range a.text() {
			text = append(text, format.Quote(word))
		}
	}
	return strings.Join(text, " ")
}

// usualConfig is what the flags say where none is given.
func usualConfig() *trainer.Config {
	c := new(trainer.Config)
	for i := range table {
		switch r := &table[i]; {
		case r.usual == nil:
		case !r.parsed():
			r.of(c).Set(reflect.ValueOf(r.usual))
		default:
			if err := r.parse(c, r.usual.(string)); err != nil {
				panic("flags: " + err.Error())
			}
		}
	}
	return c
}

// values returns every run flag that can't be repeated, with what it says in c.
func values(c *trainer.Config) (list []argument) {
	for i := range table {
		if r := &table[i]; r.configures() && r.in != asLimit &&
			(r.parsed() || r.of(c).Type() != reflect.TypeFor[[]string]()) {
			list = append(list, argument{r.flag(), r.text(c), r.of(c).Kind() == reflect.Bool, r.told})
		}
	}
	return list
}

// Differences returns the run flags in which configurations differ, and which change what is trained or when it ends.
// What was given to a flag that may be repeated is one row.
func Differences(configs []*trainer.Config) (rows []rundiff.Row) {
	said := make([][]argument, len(configs))
	for i, c := range configs {
		said[i] = values(c)
	}
	for k, a := range values(&trainer.Config{}) {
		if a.given {
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
	for i := range table {
		given := rundiff.Row{Name: table[i].flag(), Differs: true}
		for _, c := range configs {
			given.Values = append(given.Values, strings.Join(table[i].list(c), " "))
		}
		if slices.ContainsFunc(given.Values, func(v string) bool { return v != given.Values[0] }) {
			rows = append(rows, given)
		}
	}
	return rows
}
