package folders

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// sacred is what Sacred's FileStorageObserver writes: DIR/N/{run.json, config.json, metrics.json, cout.txt}, each but
// the last written again with every heartbeat.
var sacred = layout{
	program: "Sacred",
	find: func(path string) string {
		if isSacred(path) {
			return path
		}
		return latest(path, func(dir string) int64 {
			if n := numbered(dir); n > 0 && isSacred(dir) {
				return n
			}
			return 0
		})
	},
	parts: func(dir string) []part {
		run := filepath.Join(dir, "run.json")
		return []part{
			&facts{path: run, parse: func(text []byte) (fact, error) {
				m, err := jsontext.Flatten(text)
				name, _ := m["experiment/name"].(string)
				return fact{info: logs.Info{Name: name, Began: began(m["start_time"])}}, err
			}},
			&facts{path: filepath.Join(dir, "config.json"), parse: func(text []byte) (fact, error) {
				m, err := jsontext.Flatten(text)
				return fact{info: logs.Info{Config: m}}, err
			}},
			&document{path: filepath.Join(dir, "metrics.json")},
			&lines{path: filepath.Join(dir, "cout.txt"), parser: console{}},
			&facts{path: run, parse: sacredEnd},
		}
	},
}

func isSacred(dir string) bool {
	return has(dir, "run.json") && (has(dir, "config.json") || has(dir, "metrics.json") || has(dir, "cout.txt"))
}

func sacredEnd(text []byte) (f fact, err error) {
	m, err := jsontext.Flatten(text)
	switch status, _ := m["status"].(string); status {
	case "COMPLETED":
		f.state = logs.Finished
	case "FAILED":
		f.state = logs.Failed
		f.message = lastOf(m["fail_trace"])
	case "INTERRUPTED", "TIMEOUT":
		f.state, f.message = logs.Stopped, strings.ToLower(status)
	}
	return f, err
}

// lastOf returns the last line of a traceback, a list of strings as Flatten has it.
func lastOf(trace any) string {
	text, _ := trace.(string)
	var parts []string
	if json.Unmarshal([]byte(text), &parts) != nil || len(parts) == 0 {
		return ""
	}
	words := strings.Split(strings.TrimSpace(parts[len(parts)-1]), "\n")
	return logs.Clean(words[len(words)-1])
}
