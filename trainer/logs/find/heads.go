package find

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"newtop/trainer/logs"
)

// heads tell by how a file begins whether it is a log of a kind.
var heads = map[string]func(head []byte) bool{"csv": isCSV, "jsonl": isJSONL, "text": isText}

// loose are the kinds that a single file is, which may lie in another one's directory.
var loose = map[string]bool{"csv": true, "jsonl": true, "text": true}

// kindOf returns the kind of a file that is a log of lines, by its name and then by how it begins; empty where it is none.
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
		if name == "metrics.json" || name == "log.json" { // some programs call lines so
			kinds = []string{"jsonl"}
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

// telling are parts of the names of what training is measured by, and words of them.
var (
	telling = []string{"loss", "acc", "reward", "perplexity", "rmse", "grad_norm", "learning_rate"}
	words   = []string{"lr", "val", "train", "error", "ppl", "mae", "auc"}
)

// tells reports whether a name is one that a log of training has: a step, an epoch or a usual metric.
func tells(name string) bool {
	axis := logs.AxisOf(name)
	if axis == logs.Steps || axis == logs.Epochs {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(telling, func(part string) bool { return strings.Contains(name, part) }) ||
		slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }),
			func(word string) bool { return slices.Contains(words, word) })
}

// isCSV reports whether the first line has names, one of them telling, and the second numbers.
func isCSV(head []byte) bool {
	if !isText(head) {
		return false
	}
	first, rest, whole := strings.Cut(string(head), "\n")
	if !whole {
		return false
	}
	separator := ","
	for _, other := range []string{";", "\t"} {
		if strings.Count(first, other) > strings.Count(first, separator) {
			separator = other
		}
	}
	names := cells(first, separator)
	if len(names) < 2 || slices.ContainsFunc(names, isNumber) || !slices.ContainsFunc(names, tells) {
		return false
	}
	second, _, _ := strings.Cut(rest, "\n")
	if second == "" {
		return true
	}
	return slices.ContainsFunc(cells(second, separator), isNumber)
}

func cells(line, separator string) []string {
	cells := strings.Split(strings.TrimRight(line, "\r"), separator)
	for i, c := range cells {
		cells[i] = strings.Trim(strings.TrimSpace(c), `"`)
	}
	return cells
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// pair is a key with a number, in JSON as programs write it.
var pair = regexp.MustCompile(`"([^"\\]{1,200})"\s*:\s*"?(?:-?[0-9]|-?Infinity|NaN)`)

// isJSONL reports whether the first line is an object with numbers, one of a telling name. Of another object in one line the
// next line is one, too.
func isJSONL(head []byte) bool {
	first, rest, whole := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	first = bytes.TrimSpace(first)
	if !bytes.HasPrefix(first, []byte("{")) || whole && !bytes.HasSuffix(first, []byte("}")) {
		return false
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] != '{' {
		return false
	}
	for _, m := range pair.FindAllSubmatch(first, -1) {
		if tells(string(m[1])) {
			return true
		}
	}
	return false
}

// isText reports whether it is text, of which the last character may be cut.
func isText(head []byte) bool {
	for cut := range utf8.UTFMax {
		if n := len(head) - cut; n >= 0 && utf8.Valid(head[:n]) {
			return bytes.IndexByte(head, 0) < 0
		}
	}
	return false
}
