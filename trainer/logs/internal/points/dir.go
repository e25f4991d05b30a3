package points

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// maxKeys is how many metrics of a directory are read.
const maxKeys = 10_000

// Dir follows a directory with a file for each metric, whose lines are its points. The metric is called as the file is,
// by its path from the directory.
type Dir struct {
	Top    files.Path
	Suffix string // of the files' names, which is not the metrics'
	Header bool   // the first line of each has names
	// Columns are what a line may be of: t the time in milliseconds since 1970, v the value, s the step.
	Columns []string
	Bad     int // lines that are none

	files []*file
	known map[string]bool
	dirs  []files.Path
}

type file struct {
	logs.Tail
	key   uint32
	begun bool // the first line was read
}

// Collect adds the next points of each file to a batch, and reports whether there are more. It returns logs.ErrRestart
// where a file was cut short or written over.
func (d *Dir) Collect(to *Batch) (more bool, err error) {
	d.look(to)
	for _, f := range d.files {
		some, err := f.Lines(func(line []byte) {
			if !d.add(to, f.key, line) && (f.begun || !d.Header) {
				d.Bad++
			}
			f.begun = true
		})
		if err != nil {
			return false, err
		}
		more = more || some
	}
	return more, nil
}

// add adds the point of a line, and reports whether it is one.
func (d *Dir) add(to *Batch, key uint32, line []byte) bool {
	var fields [3][]byte
	n := 0
	for field := range bytes.FieldsSeq(line) {
		if n == len(fields) {
			return false
		}
		fields[n] = field
		n++
	}
	i := slices.IndexFunc(d.Columns, func(columns string) bool { return len(columns) == n })
	if i < 0 {
		return false
	}
	p := point{key: key}
	for k, column := range d.Columns[i] {
		var err error
		switch text := string(fields[k]); column {
		case 't':
			p.wall, err = strconv.ParseInt(text, 10, 64)
		case 's':
			p.step, err = strconv.ParseInt(text, 10, 64)
		default:
			if p.value, err = strconv.ParseFloat(text, 64); errors.Is(err, strconv.ErrRange) { // it is infinite then
				err = nil
			}
		}
		if err != nil {
			return false
		}
	}
	to.Add(key, p.value, p.wall, p.step)
	return true
}

// look sees which files there are.
func (d *Dir) look(to *Batch) {
	if d.known == nil {
		d.known = map[string]bool{}
	}
	d.dirs = append(d.dirs[:0], d.Top)
	for name, e := range d.Top.Below(nil) {
		if e.IsDir() {
			d.dirs = append(d.dirs, d.Top.Join(name))
			continue
		}
		if key, ok := strings.CutSuffix(name, d.Suffix); ok && !d.known[key] && len(d.files) < maxKeys {
			d.known[key] = true
			d.files = append(d.files, &file{Tail: logs.Tail{Path: d.Top.Join(name)}, key: to.ID(logs.Clean(key))})
		}
	}
}

// Watch lists the directory and those in it.
func (d *Dir) Watch() []files.Path { return slices.Clone(d.dirs) }

// Progress is the share of the files that was read.
func (d *Dir) Progress() float64 {
	var used, size int64
	for _, f := range d.files {
		used += f.Used
		size += f.Size()
	}
	return float64(used) / float64(max(1, size))
}
