// Package folders reads logs that are directories with a few files in each: those of Sacred, DVCLive and ClearML.
package folders

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"newtop/trainer/logs"
)

var _ logs.Reader = (*folder)(nil)

// layout is how a program lays out a folder.
type layout struct {
	program string
	// find returns the folder that lies at a path or a known way below it, empty if none does.
	find func(path string) string
	// parts are what there is to read, in the order in which it is reported; what says how a run ended comes last.
	parts func(dir string) []part
}

var layouts = []layout{sacred, dvclive, clearml}

// part reads one file of a folder, or files that belong together.
type part interface {
	// read gives the sink what is new, and reports whether there is more already. It returns logs.ErrRestart if what it
	// gave is void. A file that is not there yet is waited for.
	read(ctx context.Context, to logs.Sink) (more bool, err error)
	// warning says in a line what could not be read; empty if all is well.
	warning() string
}

// Open returns a reader of the folder that lies at the path, and false if there is none of the kinds that are known. Of
// several runs below the path it is the newest.
func Open(path string) (logs.Reader, bool) {
	for _, l := range layouts {
		if dir := l.find(path); dir != "" {
			return &folder{layout: l, dir: dir, parts: l.parts(dir)}, true
		}
	}
	return nil, false
}

type folder struct {
	layout
	dir   string
	parts []part
	named bool
}

// Read gives what is new in the folder's files, one after the other.
func (f *folder) Read(ctx context.Context, to logs.Sink) (more bool, err error) {
	if !f.named {
		f.named = true
		to.Info(logs.Info{Program: f.program})
	}
	for _, p := range f.parts {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		more, err := p.read(ctx, to)
		if errors.Is(err, logs.ErrRestart) {
			f.parts, f.named = f.layout.parts(f.dir), false
		}
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// Watch lists the folder and the directories in it that matter.
func (f *folder) Watch() []string {
	dirs := []string{f.dir}
	for _, p := range f.parts {
		if w, ok := p.(interface{ watch() []string }); ok {
			dirs = append(dirs, w.watch()...)
		}
	}
	return dirs
}

// Progress is not known.
func (f *folder) Progress() float64 { return 0 }

// Warning says what could not be read.
func (f *folder) Warning() string {
	for _, p := range f.parts {
		if w := p.warning(); w != "" {
			return w
		}
	}
	return ""
}

// Close does nothing: no file is kept open.
func (f *folder) Close() error { return nil }

// has reports whether a directory has a file or a directory of the name.
func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// latest returns the directory in a path that is valued most, empty if none is above 0.
func latest(path string, value func(dir string) int64) (best string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return ""
	}
	highest := int64(0)
	for _, e := range entries {
		dir := filepath.Join(path, e.Name())
		if v := value(dir); v > highest {
			best, highest = dir, v
		}
	}
	return best
}

// numbered values a directory by the number that is its name.
func numbered(dir string) int64 {
	n, err := strconv.ParseInt(filepath.Base(dir), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// written returns when a file was written last, in nanoseconds since 1970, 0 if it is not there.
func written(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// began reads a date without a zone as UTC.
func began(v any) (t time.Time) {
	text, _ := v.(string)
	if s, ok := logs.ParseTime([]byte(text), time.UTC); ok {
		t = time.UnixMilli(int64(s * 1000)).UTC()
	}
	return t
}

// scalar makes a value of a word: a number, a boolean or a string without its quotes.
func scalar(word string) any {
	switch word {
	case "true", "True":
		return true
	case "false", "False":
		return false
	}
	if v, ok := logs.ParseNumber([]byte(word)); ok {
		return v
	}
	if n := len(word); n > 1 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		word = word[1 : n-1]
	}
	return logs.Clean(word)
}
