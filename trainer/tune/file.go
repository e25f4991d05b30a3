package tune

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"newtop/trainer"
	"newtop/trainer/optim/methods"
)

// SpaceError says what is wrong with the space in a file, and where.
type SpaceError struct {
	File         string
	Line, Column int // from 1; 0: unknown
	Message      string
}

func (e *SpaceError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// ReadSpace returns the dimensions in the table over of a TOML file, in their order there; nil where it has none. What
// else is in the file is passed over. An entry is a list of choices, a range, or a text as --over takes it; a table
// with a method's name holds what is for that method alone:
//
//	[over]
//	opt = ["adam", "tr-gn"]
//	rate = {low = 1e-4, high = 1e-1, log = true}
//	net = "70-50,100"
//	[over.tr-gn]
//	blocks = {low = 1, high = 8, int = true}
//
// Errors are *SpaceError.
func ReadSpace(file string, text []byte) ([]Dimension, error) {
	var document map[string]any
	if err := toml.Unmarshal(text, &document); err != nil {
		e := &SpaceError{File: file, Message: strings.TrimPrefix(err.Error(), "toml: ")}
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			e.Line, e.Column = at.Position()
		}
		return nil, e
	}
	s := spaceReader{file: file, text: text, positions: keyPositions(text)}
	switch over := document["over"].(type) {
	case nil:
		return nil, nil
	case map[string]any:
		if err := s.table("over", "", over); err != nil {
			return nil, err
		}
	default:
		return nil, s.fault("over", "over: expected a table, as in [over] opt = [\"adam\", \"tr-gn\"]")
	}
	// Places are of keys as they are written, and so in their order.
	sort.SliceStable(s.found, func(i, j int) bool { return s.found[i].at < s.found[j].at })
	var dims []Dimension
	for _, p := range s.found {
		dims = append(dims, p.Dimension)
	}
	return dims, nil
}

// placed is a dimension with the byte of the file at which its key stands.
type placed struct {
	Dimension
	at int
}

type spaceReader struct {
	file      string
	text      []byte
	positions map[string]int
	found     []placed
}

// fault returns an error at the key of a path.
func (s *spaceReader) fault(path, format string, args ...any) error {
	at := s.positions[path]
	before := s.text[:at]
	return &SpaceError{File: s.file, Line: bytes.Count(before, []byte{'\n'}) + 1,
		Column:  at - bytes.LastIndexByte(before, '\n'),
		Message: fmt.Sprintf(format, args...)}
}

// table reads the entries of a table at a path; their keys begin with prefix.
func (s *spaceReader) table(path, prefix string, entries map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		at, name, value := path+"."+key, prefix+key, entries[key]
		if inner, ok := value.(map[string]any); ok && prefix == "" && isMethod(key) {
			if err := s.table(at, key+".", inner); err != nil {
				return err
			}
			continue
		}
		values, err := s.values(at, name, value)
		if err != nil {
			return err
		}
		d, err := ParseDimension(name + "=" + values)
		if err != nil {
			return s.fault(at, "%s", entryFault(name, err))
		}
		s.found = append(s.found, placed{d, s.positions[at]})
	}
	return nil
}

// entryFault says what is wrong with an entry in the words of ParseDimension.
func entryFault(name string, err error) string {
	if config, ok := errors.AsType[*trainer.ConfigError](err); ok {
		return fmt.Sprintf("%s: expected %s", config.Value, config.Expected)
	}
	return name + ": " + err.Error()
}

func isMethod(name string) bool {
	_, err := methods.Lookup(name)
	return err == nil
}

// values writes an entry as it stands behind the sign of equality in --over.
func (s *spaceReader) values(path, name string, value any) (string, error) {
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, e := range v {
			text, ok := scalar(e)
			if !ok || strings.Contains(text, ",") {
				return "", s.fault(path, "%s: element %d is %v: expected a number or a text without commas", name, i+1,
					e)
			}
			texts[i] = text
		}
		return strings.Join(texts, ","), nil
	case map[string]any:
		return s.span(path, name, v)
	}
	text, ok := scalar(value)
	if !ok {
		return "", s.fault(
			path, "%s = %v: expected a list, a range as {low = 1e-4, high = 1e-1, log = true}, or a text as "+
				"\"1e-4..1e-1:log\"", name, value)
	}
	return text, nil
}

// span writes a range that is given as a table.
func (s *spaceReader) span(path, name string, table map[string]any) (string, error) {
	var ends [2]string
	for i, key := range []string{"low", "high"} {
		text, ok := scalar(table[key])
		if _, isText := table[key].(string); !ok || isText {
			return "", s.fault(path, "%s: no number for %s: expected a range as {low = 1e-4, high = 1e-1, log = true}",
				name, key)
		}
		ends[i] = text
	}
	text, condition := ends[0]+".."+ends[1], ""
	for _, key := range slices.Sorted(maps.Keys(table)) {
		switch on, isBool := table[key].(bool); {
		case key == "low" || key == "high":
		case key == "if":
			condition = fmt.Sprint(" if ", table[key])
		case key != "log" && key != "int":
			return "", s.fault(path+"."+key, "%s: unknown key %q: expected low, high, log, int or if", name, key)
		case !isBool:
			return "", s.fault(path+"."+key, "%s: %s = %v: expected true or false", name, key, table[key])
		case on:
			text += ":" + key
		}
	}
	return text + condition, nil
}

// scalar writes a number or a text.
func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// keyPositions returns the bytes at which the keys of a valid document stand, by their dotted paths.
func keyPositions(text []byte) map[string]int {
	positions := map[string]int{}
	var parser unstable.Parser
	parser.Reset(text)
	table := ""
	for parser.NextExpression() {
		switch e := parser.Expression(); e.Kind {
		case unstable.KeyValue:
			addPositions(positions, table, e)
		case unstable.Table, unstable.ArrayTable:
			table = addKey(positions, "", e)
		}
	}
	return positions
}

// addPositions adds a key with its value, behind a prefix.
func addPositions(positions map[string]int, prefix string, e *unstable.Node) {
	prefix = addKey(positions, prefix, e)
	if e.Value().Kind != unstable.InlineTable {
		return
	}
	for it := e.Value().Children(); it.Next(); {
		addPositions(positions, prefix, it.Node())
	}
}

// addKey adds a dotted key, and each beginning of it where it is new, and returns the prefix of what is below it.
func addKey(positions map[string]int, prefix string, e *unstable.Node) string {
	at := -1
	for it := e.Key(); it.Next(); {
		if at < 0 {
			at = int(it.Node().Raw.Offset)
		}
		prefix += string(it.Node().Data)
		if _, known := positions[prefix]; !known {
			positions[prefix] = at
		}
		prefix += "."
	}
	return prefix
}
