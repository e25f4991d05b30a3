package logs

import (
	"math"
	"strconv"
	"strings"
)

// Setting is what a word stands for as a hyperparameter: a finite number, a truth, or else a text.
func Setting(word string) any {
	switch word {
	case "true", "True":
		return true
	case "false", "False":
		return false
	}
	if v, ok := ParseNumber([]byte(word)); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return Clean(word)
}

// Settings returns the hyperparameters of a text in YAML.
func Settings(text string) map[string]any {
	config := map[string]any{}
	YAML(text, func(key, value string, quoted bool) {
		if config[key] = Setting(value); quoted {
			config[key] = Clean(value)
		}
	})
	return config
}

// YAML calls f with the names in a text in YAML and what they stand for, as it is written but without quotes. It reads
// what programs mostly write: numbers, words and texts by their names, and such lists of names within one another,
// joined by /. Lists, texts over several lines and null are left out.
func YAML(text string, f func(key, value string, quoted bool)) {
	type level struct {
		indent int
		prefix string
	}
	levels := []level{{0, ""}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		name := strings.TrimLeft(line, " ")
		indent := len(line) - len(name)
		key, value, found := strings.Cut(name, ":")
		if !found || Clean(key) == "" || strings.ContainsAny(key[:1], "\t#-[{\"'&*!|>%@`") ||
			value != "" && value[0] != ' ' {
			continue
		}
		for len(levels) > 1 && levels[len(levels)-1].indent > indent {
			levels = levels[:len(levels)-1]
		}
		at := levels[len(levels)-1]
		if at.indent != indent {
			continue
		}
		key, value = at.prefix+Clean(key), strings.TrimSpace(value)
		switch n := len(value); {
		case n == 0:
			levels = append(levels, level{indent + 2, key + "/"})
		case value == "null" || value == "~" || strings.ContainsAny(value[:1], "[{&*!|>#"):
		case value[0] == '\'':
			if n > 1 && value[n-1] == '\'' {
				f(key, strings.ReplaceAll(value[1:n-1], "''", "'"), true)
			}
		case value[0] == '"':
			if unquoted, err := strconv.Unquote(value); err == nil {
				f(key, unquoted, true)
			}
		default:
			f(key, value, false)
		}
	}
}
