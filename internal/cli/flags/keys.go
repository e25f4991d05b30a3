package flags

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/format"
	"newtop/trainer"
)

// flag returns what the command line calls the setting.
func (r *row) flag() string {
	switch r.in {
	case asTable:
		return "--table " + r.key()
	case asLimit:
		return "--until"
	case asKey, asSetting:
		return "--set " + r.name
	}
	return "--" + r.name
}

// ofTable begins the names of keys of --table that --set has too.
const ofTable = "table-"

// key returns what the flag that has the setting calls it.
func (r *row) key() string { return strings.TrimPrefix(r.name, ofTable) }

// nameOf returns the name of the setting that a flag has under a key.
func nameOf(in kind, key string) string {
	if r := rowOf(ofTable + key); in == asTable && r != nil {
		return r.name
	}
	return key
}

// onCommandLine returns what a command line says to give the setting a value.
func (r *row) onCommandLine(value string) string {
	switch r.in {
	case asTable:
		return "--table " + format.Quote(r.key()+"="+value)
	case asLimit:
		return "--until " + format.Quote(map[string]string{"time-limit": "", "target-loss": "train_loss<=",
			"target-error": "error<="}[r.name]+value)
	case asKey, asSetting:
		return "--set " + format.Quote(r.name+"="+value)
	}
	return "--" + r.name + " " + format.Quote(value)
}

// formerFlag is a flag that is a key now: it says what to type instead.
type formerFlag struct {
	*row
	name string
}

func (f formerFlag) String() string { return "" }
func (f formerFlag) Type() string   { return "string" }

func (f formerFlag) Set(value string) error {
	return Usagef("--%s %s is now %s", f.name, format.Quote(value), f.onCommandLine(value))
}

// refuse declares the flag that the setting once was.
func (r *row) refuse(cmd *cobra.Command) {
	name := r.name
	if r.old != "" {
		name = r.old
	}
	flag := cmd.Flags().VarPF(formerFlag{r, name}, name, "", "")
	flag.Hidden = true
	if name == "fresh-probes" {
		flag.NoOptDefVal = "true"
	}
}

// Given reports whether the command line or the configuration file says something of a setting. It is asked after Parse
// or Change.
func (f *Run) Given(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Changed(name) || f.keys != nil && f.keys.Changed(name)
}

// Visit goes through what the command line or the configuration file says: the flags, and the keys in place of the
// flags that take them.
func (f *Run) Visit(cmd *cobra.Command, do func(flag string, f *pflag.Flag)) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "table" && (flag.Name != "set" || len(f.Set) > 0) {
			do("--"+flag.Name, flag)
		}
	})
	f.keys.Visit(func(key *pflag.Flag) { do(rowOf(key.Name).flag(), key) })
}

// betweenKeys parts the keys of --table. A comma that no key follows is a part of the value before it, as in decimal=,
// or of a column's name.
var betweenKeys = regexp.MustCompile(`,[a-z-]+(\.[^,=]+)?=`)

func splitKeys(text string) (list []string) {
	for {
		at := betweenKeys.FindStringIndex(text)
		if at == nil {
			return append(list, text)
		}
		list, text = append(list, text[:at[0]]), text[at[0]+1:]
	}
}

// resolveKeys puts what --table, --set and the configuration file say where it belongs, once.
func (f *Run) resolveKeys(cmd *cobra.Command) error {
	if f.gathered {
		return nil
	}
	f.gathered = true
	for _, text := range f.Tables {
		for _, text := range splitKeys(text) {
			if err := f.setKey("--table", asTable, text); err != nil {
				return err
			}
		}
	}
	var own []string
	for _, text := range f.Set {
		name, _, _ := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		switch r := rowOf(name); {
		case f.keys.Lookup(name) != nil && r.in == asKey:
			if err := f.setKey("--set", asKey, text); err != nil {
				return err
			}
		case r != nil && (r.in == asTable || r.in == asLimit):
			_, value, _ := strings.Cut(text, "=")
			return Usagef("--set %s: expected %s", format.Quote(text), r.onCommandLine(value))
		default:
			own = append(own, text)
		}
	}
	f.Set = own
	if f.resuming {
		if len(own) > 0 {
			name, value, _ := strings.Cut(own[0], "=")
			return f.unknown("--set", asKey, name, value)
		}
		return nil
	}
	if f.File != "" {
		return f.readFile(cmd.Context(), cmd.Flags())
	}
	return nil
}

// setKey gives a key of a flag its value.
func (f *Run) setKey(flag string, in kind, text string) error {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if column, of := strings.CutPrefix(name, "na."); of && in == asTable {
		name, value = "na", column+"="+value
	}
	name = nameOf(in, name)
	key := f.keys.Lookup(name)
	switch {
	case !ok:
		return Invalid(flag, text, "KEY=VALUE")
	case key == nil || rowOf(name).in != in:
		return f.unknown(flag, in, name, value)
	case f.keys.Set(name, value) != nil:
		return Invalid(flag+" "+name, value, expected(key.Value))
	}
	return nil
}

// unknown refuses a key that a flag does not have.
func (f *Run) unknown(flag string, in kind, name, value string) error {
	names := f.names(in)
	return Invalid(flag, name+"="+value, "one of "+strings.Join(names, ", ")+format.DidYouMean(name, names))
}

// names returns the keys of a kind.
func (f *Run) names(in kind) (names []string) {
	f.keys.VisitAll(func(key *pflag.Flag) {
		if rowOf(key.Name).in == in {
			names = append(names, rowOf(key.Name).key())
		}
	})
	return names
}

// suggestKey adds to the error of a --set that the method does not know the key of the run that was probably meant.
func (f *Run) suggestKey(err error) error {
	wrong, ok := errors.AsType[*trainer.ConfigError](err)
	if !ok || wrong.Field != "Set" || !strings.HasPrefix(wrong.Expected, "one of ") ||
		strings.Contains(wrong.Expected, "did you mean") {
		return err
	}
	name, _, _ := strings.Cut(wrong.Value, "=")
	return &trainer.ConfigError{Field: wrong.Field, Value: wrong.Value,
		Expected: wrong.Expected + format.DidYouMean(name, f.names(asKey))}
}

// rowOf returns the row of a name; nil if there is none.
func rowOf(name string) *row {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// Key is a key of --set or --table for the help.
type Key struct{ Flag, Name, Value, Usage, Usual string }

// HasKeys reports whether a command has flags that take keys, and a help too long to be read at once.
func HasKeys(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("set")
	return f != nil && annotation(f, keysKey) == allKeys
}

// Keys returns the keys that the flags of a command take.
func Keys(cmd *cobra.Command) (list []Key) {
	for _, flag := range []struct {
		name string
		in   kind
	}{{"table", asTable}, {"set", asKey}} {
		f := cmd.Flags().Lookup(flag.name)
		if f == nil || annotation(f, keysKey) == "" {
			continue
		}
		for i := range table {
			r := &table[i]
			usage := r.usage
			if annotation(f, keysKey) == againKeys {
				usage = r.again
			}
			if r.in == flag.in && usage != "" {
				key := Key{Flag: flag.name, Name: r.key(), Value: r.value, Usage: usage}
				if key.Value == "" {
					key.Value = strings.Join(r.choices, "|")
				}
				if key.Value == "" {
					key.Value = "VALUE"
				}
				if annotation(f, keysKey) == allKeys && r.usual != nil && r.usual != "" {
					key.Usual = fmt.Sprint(r.usual)
				}
				list = append(list, key)
			}
		}
	}
	return list
}
