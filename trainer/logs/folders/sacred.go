package folders

import (
	"encoding/json"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/jsonlog"
	"newtop/trainer/logs/jsontext"
)

// sacred is what Sacred's FileStorageObserver writes: DIR/N/{run.json, config.json, metrics.json, cout.txt}, each but
// the last written again with every heartbeat.
var sacred = Kind{
	Name: "sacred", program: "Sacred",
	all:     []string{"run.json"},
	any:     []string{"config.json", "metrics.json", "cout.txt"},
	written: []string{"run.json", "metrics.json"},
	parts: func(dir files.Path) []part {
		run := dir.Join("run.json")
		return []part{
			&facts{path: run, parse: func(text []byte) (fact, error) {
				m, err := jsontext.Flatten(text)
				name, _ := m["experiment/name"].(string)
				return fact{info: logs.Info{Name: name, Began: began(m["start_time"])}}, err
			}},
			&facts{path: dir.Join("config.json"), parse: func(text []byte) (fact, error) {
				m, err := jsontext.Flatten(text)
				return fact{info: logs.Info{Config: m}}, err
			}},
			jsonlog.Follow(dir.Join("metrics.json")),
			linesOf(dir.Join("cout.txt"), console{}),
			&facts{path: run, parse: sacredEnd},
		}
	},
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
