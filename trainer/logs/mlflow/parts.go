package mlflow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

const (
	// chunk is how much of a metric's file is read at once.
	chunk = 256 << 10
	// longest is how long a small text, as that of a parameter, may be.
	longest = 64 << 10
)

// metricFile is a metric's file, of which only whole lines are read.
type metricFile struct {
	key  uint32
	path files.Path
	size int64
	read int64 // up to the end of a line
}

// collect reads the next lines of the metrics' files, and reports whether there are more.
func (r *fileReader) collect() (more bool, err error) {
	if err := r.findMetrics(); err != nil {
		return false, err
	}
	var buf []byte
	for _, f := range r.files {
		if f.read == f.size {
			continue
		}
		if buf == nil {
			buf = make([]byte, chunk)
		}
		n, err := r.readLines(f, buf)
		if err != nil {
			return false, err
		}
		r.read += int64(n)
		more = more || n > 0 && f.read < f.size
	}
	return more, nil
}

// findMetrics sees which files there are and how large they are. It returns ErrRestart for one that has become smaller.
func (r *fileReader) findMetrics() error {
	top := r.run.dir.Join("metrics")
	if r.byKey == nil {
		r.byKey = map[string]*metricFile{}
	}
	r.size = 0
	for key, d := range eachFile(top) {
		info, err := d.Info()
		if err != nil {
			continue // gone meanwhile
		}
		f := r.byKey[key]
		if f == nil {
			f = &metricFile{key: r.batch.id(key), path: top.Join(key)}
			r.files, r.byKey[key] = append(r.files, f), f
		}
		if f.size = info.Size(); f.size < f.read {
			return logs.ErrRestart
		}
		r.size += f.size
	}
	return nil
}

// readLines adds a file's next lines, and returns how much it has read. A line that is longer than the buffer is none.
func (r *fileReader) readLines(f *metricFile, buf []byte) (int, error) {
	file, err := f.path.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	n, err := file.ReadAt(buf, f.read)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	text := buf[:n]
	end := bytes.LastIndexByte(text, '\n') + 1
	if end == 0 && n == len(buf) {
		end, r.bad = n, r.bad+1
	}
	for line := range bytes.Lines(text[:end]) {
		wall, value, step, ok := readLine(line)
		if !ok {
			r.bad++
			continue
		}
		r.batch.add(f.key, value, wall, step)
	}
	f.read += int64(end)
	return end, nil
}

// readLine reads a line of a metric's file: the time in milliseconds since 1970, the value, and the step, which old
// versions do not write.
func readLine(line []byte) (wall int64, value float64, step int64, ok bool) {
	var fields [3][]byte
	n := 0
	for field := range bytes.FieldsSeq(line) {
		if n == len(fields) {
			return 0, 0, 0, false
		}
		fields[n] = field
		n++
	}
	if n < 2 {
		return 0, 0, 0, false
	}
	wall, bad := strconv.ParseInt(string(fields[0]), 10, 64)
	value, worse := strconv.ParseFloat(string(fields[1]), 64)
	if errors.Is(worse, strconv.ErrRange) { // it is infinite then
		worse = nil
	}
	var worst error
	if n == 3 {
		step, worst = strconv.ParseInt(string(fields[2]), 10, 64)
	}
	return wall, value, step, bad == nil && worse == nil && worst == nil
}

// eachFile yields the files below a directory in the order of their names.
func eachFile(top files.Path) iter.Seq2[string, fs.DirEntry] {
	return func(yield func(string, fs.DirEntry) bool) {
		seen := 0
		for key, d := range top.Below(nil) {
			if d.IsDir() {
				continue
			}
			if seen++; seen > maxKeys || !yield(key, d) {
				return
			}
		}
	}
}

func readParams(dir files.Path) map[string]string {
	params := map[string]string{}
	for key := range eachFile(dir) {
		params[key] = readText(dir.Join(key))
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
	return meta(readText(path))
}

// meta reads lines of a key and a value, which is all of YAML that MLflow uses here.
func meta(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || key == "" || key[0] == ' ' || key[0] == '#' {
			continue
		}
		value = strings.TrimSpace(value)
		switch n := len(value); {
		case n >= 2 && value[0] == '\'' && value[n-1] == '\'':
			value = strings.ReplaceAll(value[1:n-1], "''", "'")
		case n >= 2 && value[0] == '"':
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
		case value == "null" || value == "~":
			value = ""
		}
		values[key] = value
	}
	return values
}
