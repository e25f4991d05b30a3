package mlflow

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"newtop/trainer/logs"
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
	path string
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
	top := filepath.Join(r.run.dir, "metrics")
	if r.byKey == nil {
		r.byKey = map[string]*metricFile{}
	}
	r.size = 0
	return eachFile(top, func(key, path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		f := r.byKey[key]
		if f == nil {
			f = &metricFile{key: r.batch.id(key), path: path}
			r.files, r.byKey[key] = append(r.files, f), f
		}
		if f.size = info.Size(); f.size < f.read {
			return logs.ErrRestart
		}
		r.size += f.size
		return nil
	})
}

// readLines adds a file's next lines, and returns how much it has read. A line that is longer than the buffer is none.
func (r *fileReader) readLines(f *metricFile, buf []byte) (int, error) {
	file, err := os.Open(f.path)
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

// errEnough ends eachFile.
var errEnough = errors.New("enough")

// eachFile calls f with the files below a directory in the order of their keys: their paths in it.
func eachFile(top string, f func(key, path string, d fs.DirEntry) error) error {
	seen := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what is not there has nothing for us
		}
		if seen++; seen > maxKeys {
			return errEnough
		}
		key, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(key), path, d)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func readParams(dir string) map[string]string {
	params := map[string]string{}
	_ = eachFile(dir, func(key, path string, _ fs.DirEntry) error {
		params[key] = readText(path)
		return nil
	})
	return params
}

// readText returns what a small file holds, empty where it can't be read.
func readText(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, longest))
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

// readMeta reads a meta.yaml: one text for each key.
func readMeta(path string) (map[string]string, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return meta(readText(path)), nil
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
