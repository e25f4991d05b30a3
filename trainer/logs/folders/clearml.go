package folders

import (
	"os"
	"path/filepath"
	"strings"

	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/shape"
)

// clearml is what ClearML writes where it is offline: offline/TASK/{task.json, metrics.jsonl, log.jsonl}. It writes 0
// for what is not finite.
var clearml = layout{
	program: "ClearML",
	find: func(path string) string {
		if IsClearML(path) {
			return path
		}
		return latest(path, func(dir string) int64 {
			if !IsClearML(dir) {
				return 0
			}
			return max(written(filepath.Join(dir, "metrics.jsonl")), written(filepath.Join(dir, "log.jsonl")))
		})
	},
	parts: func(dir string) []part {
		return []part{
			&facts{path: filepath.Join(dir, "task.json"), parse: clearmlTask},
			&lines{path: filepath.Join(dir, "metrics.jsonl"), parser: shape.New()},
			&lines{path: filepath.Join(dir, "log.jsonl"), parser: shape.New()},
		}
	},
}

// IsClearML reports whether a directory is a task's: it has two of its files, or metrics whose lines are lists.
func IsClearML(dir string) bool {
	metrics, log := has(dir, "metrics.jsonl"), has(dir, "log.jsonl")
	if metrics && log || (metrics || log) && has(dir, "task.json") {
		return true
	}
	return metrics && startsWith(filepath.Join(dir, "metrics.jsonl"), '[')
}

// startsWith reports whether a character is the first of a file.
func startsWith(path string, c byte) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var first [1]byte
	n, _ := f.Read(first[:])
	return n == 1 && first[0] == c
}

// clearmlTask reads a task's name and its hyperparams/SECTION/NAME/value, which are strings.
func clearmlTask(text []byte) (f fact, err error) {
	m, err := jsontext.Flatten(text)
	f.info.Name, _ = m["name"].(string)
	config := make(map[string]any)
	for key, v := range m {
		name, ok := strings.CutPrefix(key, "hyperparams/")
		name, isValue := strings.CutSuffix(name, "/value")
		if word, isWord := v.(string); ok && isValue && isWord {
			config[name] = scalar(word)
		}
	}
	f.info.Config = config
	return f, err
}
