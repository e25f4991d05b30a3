// Package files is where logs lie: on this machine, in a test's memory, or on another host. Readers are given a Path
// and touch files through it alone.
//
// It has the types of io/fs but is not one: there a name begins at a root and is none that a user writes or reads in an
// error, nothing says whether a file is still the same one after a rotation, and SQLite needs a file that it can open.
package files

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"iter"
	"math"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// System is what readers need of a file system. Names are those of path/filepath on this machine; a system that writes
// them otherwise turns them. What changes is seen by asking again: a system that is far away may answer Stat, List and
// a File's Stat from what it knew a moment ago, and so bounds how often it is asked and a database copied. Several
// goroutines use one, which can be compared, as a pointer can; filestest.Contract checks one.
type System interface {
	// Stat returns what stands at a name, behind links. Its errors are those of io/fs: fs.ErrNotExist says that there
	// is nothing, all others that this is not known for now.
	Stat(name string) (fs.FileInfo, error)
	// Open opens a file, and remains at that file where another one takes its name: it may be at its end then, but
	// never has a byte of the other.
	Open(name string) (File, error)
	// List returns the entries of a directory in any order, so many at most, or all for a negative number.
	List(name string, most int) ([]fs.DirEntry, error)
	// Same reports whether two infos of Stat or a File are of one file, and not of one and of another in its place.
	Same(a, b fs.FileInfo) bool
	// Local is the absolute name by which the programs of this machine know a file, empty for one elsewhere. SQLite is
	// given that name, or a copy; what has none is not watched by the system but asked.
	Local(name string) string
}

// File is a file that is open. Read begins again behind an io.EOF when the file has grown.
type File interface {
	fs.File
	io.ReaderAt
}

// Path is a name in a file system. Paths are equal where both are.
type Path struct {
	In   System
	Name string
}

// Here is a path of this machine's file system.
func Here(name string) Path { return Path{local{}, name} }

// String is the name.
func (p Path) String() string { return p.Name }

// At is another name in the same file system.
func (p Path) At(name string) Path { return Path{p.In, name} }

// Join is what lies below, by names that may have slashes.
func (p Path) Join(names ...string) Path {
	return p.At(filepath.Join(append([]string{p.Name}, names...)...))
}

// Dir is the directory in which it lies.
func (p Path) Dir() Path { return p.At(filepath.Dir(p.Name)) }

// Base is the last part of the name.
func (p Path) Base() string { return filepath.Base(p.Name) }

// Full is the absolute name, where the system says it.
func (p Path) Full() string { return cmp.Or(p.In.Local(p.Name), p.Name) }

// Stat is System's.
func (p Path) Stat() (fs.FileInfo, error) { return p.In.Stat(p.Name) }

// Open is System's.
func (p Path) Open() (File, error) { return p.In.Open(p.Name) }

// List returns the entries of a directory by name, so many at most, or all for a negative number.
func (p Path) List(most int) ([]fs.DirEntry, error) {
	entries, err := p.In.List(p.Name, most)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Below yields what lies below a directory, by name and a directory before what is in it, with its path from there,
// slashes between. A directory in which it is not to look, and one that can't be read, is not gone into.
func (p Path) Below(enter func(key string) bool) iter.Seq2[string, fs.DirEntry] {
	return func(yield func(string, fs.DirEntry) bool) { p.below("", enter, yield) }
}

func (p Path) below(key string, enter func(string) bool, yield func(string, fs.DirEntry) bool) bool {
	entries, _ := p.List(-1)
	for _, e := range entries {
		inner := path.Join(key, e.Name())
		if e.IsDir() && enter != nil && !enter(inner) {
			continue
		}
		if !yield(inner, e) || e.IsDir() && !p.Join(e.Name()).below(inner, enter, yield) {
			return false
		}
	}
	return true
}

// Exists reports whether something is there.
func (p Path) Exists() bool {
	_, err := p.Stat()
	return err == nil
}

// IsDir reports whether it is a directory.
func (p Path) IsDir() bool {
	info, err := p.Stat()
	return err == nil && info.IsDir()
}

// IsFile reports whether it is a regular file.
func (p Path) IsFile() bool {
	info, err := p.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Written is when it was last written, zero where nothing is there.
func (p Path) Written() (at time.Time) {
	if info, err := p.Stat(); err == nil {
		at = info.ModTime()
	}
	return at
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// All is how much Read reads of a file of any size.
const All = math.MaxInt64

// Read returns what a file holds, so many bytes at most.
func (p Path) Read(most int64) ([]byte, error) {
	f, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	}
	_, err = b.ReadFrom(io.LimitReader(f, most))
	return b.Bytes(), err
}

// Stamp is a file's size and its time in nanoseconds, zero where there is none.
type Stamp struct{ Size, Time int64 }

// Stamp looks at a file.
func (p Path) Stamp() (s Stamp) {
	if info, err := p.Stat(); err == nil {
		s = Stamp{info.Size(), info.ModTime().UnixNano()}
	}
	return s
}

// Version tells versions of a file apart. The zero Version is of no file.
type Version struct {
	Info    fs.FileInfo
	settled bool // whether a later change would show in the file's time
}

// settles is how long after a change the next one may have the same time.
const settles = 100 * time.Millisecond

// Changed reports whether a file is or may be another one, or was written, since the last call.
func (v *Version) Changed(in System, info fs.FileInfo) bool {
	same := v.settled && in.Same(info, v.Info) && info.Size() == v.Info.Size() && info.ModTime().Equal(v.Info.ModTime())
	v.Info, v.settled = info, time.Since(info.ModTime()) > settles
	return !same
}
