package flags

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"newtop/internal/format"
	"newtop/internal/routine"
)

// maxFile bounds the configuration file, in bytes: --config /dev/zero has no end.
const maxFile = 1 << 20

// read returns what is in a file, or a named pipe that nobody may ever write to, until the context ends.
func read(ctx context.Context, path string) ([]byte, error) {
	var text []byte // once done has told of it
	done := make(chan error, 1)
	routine.Go(func() {
		file, err := os.Open(path)
		if err == nil {
			defer file.Close()
			text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
		}
		done <- err
	})
	select {
	case err := <-done:
		return text, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readFile applies a TOML file of flags to those that the command line left alone.
func (f *Run) readFile(ctx context.Context, set *pflag.FlagSet) error {
	text, err := read(ctx, f.File)
	switch {
	case err != nil:
		return err
	case len(text) > maxFile:
		return Usagef("%s: more than %d bytes: expected a file of flags", f.File, maxFile)
	}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return Usagef("%s:%d:%d: %s", f.File, line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return Usagef("%s: %v", f.File, err)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key == "over" && f.Space != nil {
			if err := f.Space(f.File, text); err != nil {
				return err
			}
			continue
		}
		where := fmt.Sprintf("%s:%d", f.File, lineOf(text, key))
		if err := f.apply(set, where, key, values[key]); err != nil {
			return err
		}
	}
	return nil
}

// apply sets one flag from the configuration file, unless the command line did.
func (f *Run) apply(set *pflag.FlagSet, where, key string, value any) error {
	if key == "memory" { // as it was called while it was a flag
		key = "tape-memory"
	}
	flag := f.keys.Lookup(key)
	if flag != nil {
		set = f.keys
	} else if flag = set.Lookup(key); flag == nil || flag.Hidden || key == "config" || key == "help" {
		return Usagef("%s: unknown key %q: expected the name of a run flag or key, as in epochs = 40%s", where, key,
			format.DidYouMean(key, append(keys(set), keys(f.keys)...)))
	}
	if key == "set" {
		fromFile, ok := settings(value)
		if !ok {
			return Usagef("%s: expected a table as in [set] radius = 2, or a list of \"KEY=VALUE\"", where)
		}
		return f.settings(fromFile, where)
	}
	switch {
	case key == "table":
		return f.tableOf(where, value)
	case flag.Changed:
		return nil
	}
	text, ok := scalar(value)
	if !ok || set.Set(key, text) != nil {
		return Usagef("%s: %s = %v: expected %s", where, key, value, expected(flag.Value))
	}
	return nil
}

// tableOf takes the keys of the file's table, which those of the command line win over.
func (f *Run) tableOf(where string, value any) error {
	list, ok := settings(value)
	if text, is := value.(string); is {
		list, ok = splitKeys(text), true
	}
	if !ok {
		return Usagef("%s: expected a table as in [table] header = \"no\", or a text as \"header=no\"", where)
	}
	for _, text := range list {
		name, _, _ := strings.Cut(text, "=")
		if name = nameOf(asTable, name); !f.keys.Changed(name) || rowOf(name).repeats() {
			if err := f.setKey(where+": table", asTable, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// settings takes the hyperparameters and keys of the file's set, which those of the command line win over.
func (f *Run) settings(list []string, where string) error {
	var own []string
	for _, text := range list {
		name, _, _ := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		switch key := f.keys.Lookup(name); {
		case key == nil || rowOf(name).in != asKey:
			own = append(own, text)
		case key.Changed:
		default:
			if err := f.setKey(where+": set", asKey, text); err != nil {
				return err
			}
		}
	}
	f.Set = append(own, f.Set...) // what comes later wins
	return nil
}

// keys returns what a configuration file may say.
func keys(set *pflag.FlagSet) (list []string) {
	for _, name := range names(set) {
		list = append(list, strings.TrimPrefix(name, "--"))
	}
	return list
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
