package find

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/shape"
)

// loose are the kinds that a single file is, which may lie in another one's directory.
var loose = map[string]bool{"csv": true, "jsonl": true, "json": true, "text": true}

// foreign are the endings of names of files that may look like logs and are none: source texts and documents.
var foreign = setOf(".py .pyi .ipynb .md .rst .tex .html .htm .css .js .ts .c .h .cc .cpp .hpp .cu .go .rs .java .r " +
	".m .jl .sh .proto .sql .yaml .yml .toml .ini .cfg .svg .xml .lock .diff .patch .po")

// usual are the endings of names of logs, which may be larger than others.
var usual = setOf(".log .out .err .csv .tsv .jsonl .ndjson .txt .gz .zst .xz")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// maxProse is how much text that is no log is looked into for one.
const maxProse = 4 << 20

// maxUnusual is how large a file is at most that is looked into though nothing in its name says that it is a log.
const maxUnusual = 64 << 20

// kindOf returns the kind of a file that is a log of lines, by how it begins; empty where it is none. begun says that
// by its name it is a log, and has text with numbers, but not yet enough of them to tell.
func (s *search) kindOf(path files.Path, name string) (kind string, begun bool) {
	ext := filepath.Ext(name)
	if foreign[ext] {
		return "", false
	}
	head := s.head(path, !usual[ext])
	if len(head) == 0 || RefusedHead(head) != "" {
		return "", false
	}
	named := isLogName(name, ext)
	if !named && !structured(head) && (s.prose > maxProse || !alike(head)) {
		return "", false
	}
	switch shape.Look(head) {
	case shape.Objects:
		if isJSONLog(head) && (ext != ".json" || bytes.Count(head, []byte("\n")) > 1 || isJSONName(name)) ||
			named && s.isTextLog(head, named) { // by what a logger's or a container's lines say
			return "jsonl", false
		}
	case shape.Document:
		if isDocument(head) {
			return "json", false
		}
	case shape.Table:
		if isCSVLog(head) {
			return "csv", false
		}
	case shape.Text:
		if s.isTextLog(head, named) {
			return "text", false
		}
		if named {
			return "text", true
		}
	}
	return "", false
}

// structured reports whether a file may be JSON, or a table with a separator.
func structured(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return head[0] == '{' || head[0] == '[' || bytes.ContainsAny(line, ",;\t")
}

// isJSONName reports whether lines of JSON are called so, which look like a document while there is one.
func isJSONName(name string) bool { return name == "metrics.json" || name == "log.json" }

// isLogName reports whether a file is a log of training by its name.
func isLogName(name, ext string) bool {
	switch ext {
	case ".log":
		return true
	case ".txt":
		return strings.HasPrefix(name, "train") || name == "log.txt"
	case ".out":
		return strings.HasPrefix(name, "slurm-") || name == "nohup.out"
	}
	return false
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
	for m := pair.FindSubmatchIndex(head); m != nil; m = pair.FindSubmatchIndex(head) {
		if namesLog(string(head[m[2]:m[3]])) {
			return true
		}
		head = head[m[1]:]
	}
	return false
}

// atLeast is how many lines, or objects of a list, show a log.
const atLeast = 3

// isDocument reports whether a telling name has a list of numbers, or a number in each of several objects.
func isDocument(head []byte) bool {
	times := map[string]int{}
	for _, m := range pair.FindAllSubmatchIndex(head, -1) {
		name := string(head[m[2]:m[3]])
		times[name]++
		list, _, _ := bytes.Cut(head[m[3]:], []byte("]"))
		isList := bytes.IndexByte(head[m[3]:m[1]], '[') >= 0 && bytes.IndexByte(list, ',') >= 0
		if (isList || times[name] >= atLeast) && namesLog(name) {
			return true
		}
	}
	return false
}

// alike reports whether some lines with numbers differ by these alone.
func alike(head []byte) bool {
	const lineBreak = '\n'
	times := map[uint32]int{}
	hash, digits := uint32(0), false
	for _, c := range head {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			hash = (hash ^ uint32(c)) * 16777619 // FNV-1a
		case c >= '0' && c <= '9':
			digits = true
		case c == lineBreak || c == '\r':
			if digits {
				if times[hash]++; times[hash] >= atLeast {
					return true
				}
			}
			hash, digits = 0, false
		}
	}
	return false
}

// isTextLog reports whether text has lines with numbers of training, or with a step: one is enough for what is called
// as a log.
func (s *search) isTextLog(head []byte, named bool) bool {
	for _, size := range []int{512, 8 << 10, len(head)} { // little is enough of most logs
		if size > len(head) {
			continue
		}
		var c rows
		p := shape.New()
		end := bytes.LastIndexByte(head[:size], '\n') + 1
		for line := range bytes.Lines(head[:end]) {
			_ = p.Line(bytes.TrimSuffix(line, []byte("\n")), &c)
		}
		p.Flush(&c)
		s.prose += size
		if c.placed >= atLeast || c.named >= atLeast || named && min(c.placed, c.named) > 0 {
			s.prose -= size
			return true
		}
	}
	return false
}

// rows counts what a parser gives: rows that have a step or an epoch, and rows with a usual metric.
type rows struct {
	logs.Nobody
	placed, named int
}

func (c *rows) Row(r *logs.Row) {
	if len(r.Values) == 0 {
		return
	}
	if r.Step == r.Step || r.Epoch == r.Epoch {
		c.placed++
	}
	if slices.ContainsFunc(r.Values, func(v logs.Value) bool { return namesLog(v.Key) }) {
		c.named++
	}
}
