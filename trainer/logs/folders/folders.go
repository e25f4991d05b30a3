// Package folders reads logs that are directories with a few files in each: those of Sacred, DVCLive and ClearML.
package folders

import (
	"context"
	"errors"
	"slices"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

var _ logs.Reader = (*folder)(nil)

// Kind is how a program lays out a folder.
type Kind struct {
	Name    string
	program string
	// all are names that are in it, of any at least one; is says what else holds where there is none of any.
	all, any []string
	is       func(dir files.Path) bool
	// written are names whose times say when something of it was written.
	written []string
	// parts are what there is to read, in the order in which it is reported; what says how a run ended comes last.
	parts func(dir files.Path) []part
}

var kinds = []*Kind{&sacred, &dvclive, &clearml}

// Of returns the kind of a directory, nil if it is none that is known. has says by names what is in it.
func Of(dir files.Path, has func(name string) bool) *Kind {
	for _, k := range kinds {
		lacks := func(name string) bool { return !has(name) }
		if !slices.ContainsFunc(k.all, lacks) && (slices.ContainsFunc(k.any, has) || k.is != nil && k.is(dir)) {
			return k
		}
	}
	return nil
}

// Written is when something of a folder of the kind was written.
func (k *Kind) Written(dir files.Path) (last time.Time) {
	for _, name := range k.written {
		last = files.Later(last, dir.Join(name).Written())
	}
	return last
}

// part reads one file of a folder, or files that belong together, as a logs.Reader does. A file that is not there yet
// is waited for.
type part interface {
	Read(ctx context.Context, to logs.Sink) (more bool, err error)
	Warning() string
}

// Open returns a reader of a folder, and false if it is none of the kinds that are known.
func Open(dir files.Path) (logs.Reader, bool) {
	kind := Of(dir, func(name string) bool { return dir.Join(name).Exists() })
	if kind == nil {
		return nil, false
	}
	return kind.open(dir), true
}

func (k *Kind) open(dir files.Path) *folder { return &folder{Kind: k, dir: dir, parts: k.parts(dir)} }

type folder struct {
	*Kind
	dir   files.Path
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
		more, err := p.Read(ctx, to)
		if errors.Is(err, logs.ErrRestart) {
			f.parts, f.named = f.Kind.parts(f.dir), false
		}
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// Watch lists the folder and the directories in it that matter.
func (f *folder) Watch() []files.Path {
	dirs := []files.Path{f.dir}
	for _, p := range f.parts {
		if w, ok := p.(interface{ Watch() []files.Path }); ok {
			dirs = append(dirs, w.Watch()...)
		}
	}
	return dirs
}

// Progress is not known.
func (f *folder) Progress() float64 { return 0 }

// Warning says what could not be read.
func (f *folder) Warning() string {
	for _, p := range f.parts {
		if w := p.Warning(); w != "" {
			return w
		}
	}
	return ""
}

// Close does nothing: no file is kept open.
func (f *folder) Close() error { return nil }

// began reads a date without a zone as UTC.
func began(v any) (t time.Time) {
	text, _ := v.(string)
	if s, ok := logs.ParseTime([]byte(text), time.UTC); ok {
		t = time.UnixMilli(int64(s * 1000)).UTC()
	}
	return t
}
