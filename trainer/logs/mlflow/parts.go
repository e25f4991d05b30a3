package mlflow

import (
	"strconv"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// longest is how long a small text, as that of a parameter, may be.
const longest = 64 << 10

func readParams(dir files.Path) map[string]string {
	params := map[string]string{}
	for key, d := range dir.Below(nil) {
		if !d.IsDir() && len(params) < maxKeys {
			params[key] = readText(dir.Join(key))
		}
	}
	return params
}

// readText returns what a small file holds, empty where it can't be read.
func readText(path files.Path) string {
	text, _ := path.Read(longest)
	return strings.TrimRight(string(text), "\r\n")
}

// statuses are the states of a run as meta.yaml has them (mlflow.protos.service_pb2.RunStatus).
var statuses = map[string]string{"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}

// statusOf returns the name of a status.
func statusOf(text string) string {
	if name, ok := statuses[text]; ok {
		return name
	}
	return text
}

func whole(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readMeta reads the meta.yaml of a directory: one text for each key; nil where there is none.
func readMeta(dir files.Path) map[string]string {
	path := dir.Join("meta.yaml")
	if !path.Exists() {
		return nil
	}
	values := map[string]string{}
	logs.YAML(readText(path), func(key, value string, _ bool) { values[key] = value })
	return values
}
