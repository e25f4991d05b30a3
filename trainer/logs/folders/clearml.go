package folders

import (
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/shape"
)

// clearml is what ClearML writes where it is offline: offline/TASK/{task.json, metrics.jsonl, log.jsonl}. It writes 0
// for what is not finite. The lines of its metrics are lists.
var clearml = Kind{
	Name: "clearml", program: "ClearML",
	all:     []string{"metrics.jsonl"},
	any:     []string{"log.jsonl", "task.json"},
	written: []string{"metrics.jsonl"},
	is: func(dir files.Path) bool {
		first, _ := dir.Join("metrics.jsonl").Read(1)
		return string(first) == "["
	},
	parts: func(dir files.Path) []part {
		return []part{
			&facts{path: dir.Join("task.json"), parse: clearmlTask},
			linesOf(dir.Join("metrics.jsonl"), shape.New()),
			linesOf(dir.Join("log.jsonl"), shape.New()),
		}
	},
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
			config[name] = logs.Setting(word)
		}
	}
	f.info.Config = config
	return f, err
}
