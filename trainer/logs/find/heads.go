package find

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/shape"
)

// heads tell by how a file begins whether it is a log of a kind: of its format, and of training.
var heads = map[string]func(head []byte) bool{
	"csv":   func(head []byte) bool { return shape.Look(head) == shape.Table && isCSVLog(head) },
	"jsonl": func(head []byte) bool { return shape.Look(head) == shape.Objects && isJSONLog(head) },
	"json":  func(head []byte) bool { return shape.Look(head) == shape.Document && isJSONLog(head) },
	"text":  shape.Sniff,
}

// loose are the kinds that a single file is, which may lie in another one's directory.
var loose = map[string]bool{"csv": true, "jsonl": true, "json": true, "text": true}

// kindOf returns the kind of a file that is a log of lines, by its name and then by how it begins; empty where it is
// none.
func (s *search) kindOf(path, name string) string {
	var kinds []string
	switch filepath.Ext(name) {
	case ".csv", ".tsv":
		kinds = []string{"csv"}
	case ".jsonl", ".ndjson":
		kinds = []string{"jsonl"}
	case ".log":
		kinds = []string{"csv", "jsonl", "text"}
	case ".json":
		switch {
		case name == "metrics.json" || name == "log.json": // some programs call lines so
			kinds = []string{"jsonl"}
		case strings.Contains(name, "history"): // as programs with Keras call what fit returns
			kinds = []string{"json"}
		}
	case ".txt":
		if strings.HasPrefix(name, "train") || name == "log.txt" {
			kinds = []string{"jsonl", "text"}
		}
	case ".out":
		if strings.HasPrefix(name, "slurm-") || name == "nohup.out" {
			kinds = []string{"jsonl", "text"}
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	head := s.head(path)
	for _, kind := range kinds {
		if len(head) > 0 && heads[kind](head) {
			return kind
		}
	}
	return ""
}

// trainingParts are parts of the names of what training is measured by, and trainingWords of them.
var (
	trainingParts = []string{"loss", "acc", "reward", "perplexity", "rmse", "grad_norm", "learning_rate"}
	trainingWords = []string{"lr", "val", "train", "error", "ppl", "mae", "auc"}
)

// namesLog reports whether a name is one that a log of training has: a step, an epoch or a usual metric.
func namesLog(name string) bool {
	axis := logs.AxisOf(name)
	if axis == logs.Steps || axis == logs.Epochs {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(trainingParts, func(part string) bool { return strings.Contains(name, part) }) ||
		slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }),
			func(word string) bool { return slices.Contains(trainingWords, word) })
}

// isCSVLog reports whether the first line of a table has a telling name.
func isCSVLog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return slices.ContainsFunc(strings.FieldsFunc(string(line), isSeparator), namesLog)
		}
	}
	return false
}

func isSeparator(r rune) bool { return strings.ContainsRune(",;\t\r\n\"", r) }

// pair is a key with a number, or a list of them, in JSON as programs write it.
var pair = regexp.MustCompile(`"([^"\\]{1,200})"\s*:\s*[\["]?(?:-?[0-9]|-?Infinity|NaN)`)

// isJSONLog reports whether a telling name has a number.
func isJSONLog(head []byte) bool {
	return slices.ContainsFunc(pair.FindAllSubmatch(head, -1), func(m [][]byte) bool { return namesLog(string(m[1])) })
}
