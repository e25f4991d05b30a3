package stream

import (
	"strconv"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// maxSettingsFile is the longest hparams.yaml that is read.
const maxSettingsFile = 64 << 10

// settingsBeside returns the settings that Lightning's loggers write beside a log, in hparams.yaml. Of YAML it reads
// what they are mostly of: numbers, words and texts by their names, and such lists of names within one another, joined
// by /. Lists and texts over several lines are left out.
func settingsBeside(dir files.Path) logs.Info {
	path := dir.Join("hparams.yaml")
	if info, err := path.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettingsFile {
		return logs.Info{}
	}
	text, err := path.Read(maxSettingsFile)
	if err != nil {
		return logs.Info{}
	}
	config := map[string]any{}
	type level struct {
		indent int
		prefix string
	}
	levels := []level{{0, ""}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \r\n")
		name := strings.TrimLeft(line, " ")
		indent := len(line) - len(name)
		key, value, found := strings.Cut(name, ":")
		if !found || key == "" || strings.ContainsAny(key[:1], "#-[{\"'&*!|>%@`") || value != "" && value[0] != ' ' {
			continue
		}
		for len(levels) > 1 && levels[len(levels)-1].indent > indent {
			levels = levels[:len(levels)-1]
		}
		at := levels[len(levels)-1]
		if at.indent != indent {
			continue
		}
		key = at.prefix + logs.Clean(key)
		switch value = strings.TrimSpace(value); {
		case value == "":
			levels = append(levels, level{indent + 2, key + "/"})
		case value != "null" && value != "~" && !strings.ContainsAny(value[:1], "[{&*!|>"):
			if v, whole := scalar(value); whole {
				config[key] = v
			}
		}
	}
	return logs.Info{Config: config}
}

// scalar is a value of YAML, whole if it ends on its line.
func scalar(text string) (v any, whole bool) {
	if v, ok := logs.ParseNumber([]byte(text)); ok {
		return v, true
	}
	switch n := len(text); {
	case text == "true", text == "false":
		return text == "true", true
	case text[0] == '\'':
		return logs.Clean(strings.ReplaceAll(strings.Trim(text, "'"), "''", "'")), n > 1 && text[n-1] == '\''
	case text[0] == '"':
		unquoted, err := strconv.Unquote(text)
		return logs.Clean(unquoted), err == nil
	}
	return logs.Clean(text), true
}
