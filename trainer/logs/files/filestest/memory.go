// Package filestest has a file system in memory for tests, and what every file system must do.
package filestest

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"newtop/trainer/logs/files"
)

// Memory is a file system in memory, whose directories are what its files' names say. The zero Memory is empty.
type Memory struct {
	// Time is when the next file is written, a second later each time; zero: now.
	Time time.Time

	mu    sync.Mutex
	nodes map[string]*node // by name
}

// node is a file, under whatever name.
type node struct {
	text    []byte
	written time.Time
}

var _ files.System = (*Memory)(nil)

// Path is a path in it.
func (m *Memory) Path(name string) files.Path { return files.Path{In: m, Name: filepath.Clean(name)} }

// Fill copies what a file system holds.
func (m *Memory) Fill(from fs.FS) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		m.Write(name, string(text))
		return err
	})
}

// Write writes a file anew: over the one that is there.
func (m *Memory) Write(name, text string) { m.write(name, text, false) }

// Append appends to a file.
func (m *Memory) Append(name, text string) { m.write(name, text, true) }

func (m *Memory) write(name, text string, behind bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.nodes == nil {
		m.nodes = map[string]*node{}
	}
	name = filepath.Clean(name)
	n := m.nodes[name]
	if n == nil {
		n = &node{}
		m.nodes[name] = n
	}
	if !behind {
		n.text = nil
	}
	n.text = append(n.text, text...)
	if n.written = time.Now(); !m.Time.IsZero() {
		n.written, m.Time = m.Time, m.Time.Add(time.Second)
	}
}

// Remove removes a file, or a directory with all that is in it.
func (m *Memory) Remove(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = filepath.Clean(name)
	for other := range m.nodes {
		if other == name || strings.HasPrefix(other, name+string(filepath.Separator)) {
			delete(m.nodes, other)
		}
	}
}

// Stat implements files.System.
func (m *Memory) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stat(name)
}

func (m *Memory) stat(name string) (fs.FileInfo, error) {
	name = filepath.Clean(name)
	if n := m.nodes[name]; n != nil {
		return info{filepath.Base(name), n, int64(len(n.text)), n.written}, nil
	}
	dir := info{name: filepath.Base(name)}
	for other, n := range m.nodes {
		if name == "." || strings.HasPrefix(other, name+string(filepath.Separator)) {
			dir.written = files.Later(dir.written, n.written)
		}
	}
	if dir.written.IsZero() {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return dir, nil
}

// Open implements files.System.
func (m *Memory) Open(name string) (files.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[filepath.Clean(name)]
	if n == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &file{m: m, n: n, name: name}, nil
}

// List implements files.System.
func (m *Memory) List(name string, most int) (entries []fs.DirEntry, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.stat(name)
	if err != nil || !at.IsDir() {
		return nil, &fs.PathError{Op: "list", Path: name, Err: errors.Join(err, fs.ErrInvalid)}
	}
	seen := map[string]bool{}
	for other := range m.nodes {
		inner, err := filepath.Rel(name, other)
		first, _, _ := strings.Cut(inner, string(filepath.Separator))
		if err == nil && first != ".." && !seen[first] && len(entries) != most {
			seen[first] = true
			at, _ := m.stat(filepath.Join(name, first))
			entries = append(entries, fs.FileInfoToDirEntry(at))
		}
	}
	return entries, nil
}

// Same implements files.System.
func (m *Memory) Same(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

// Local implements files.System: nothing is on a disk.
func (m *Memory) Local(string) string { return "" }

type file struct {
	m    *Memory
	n    *node
	name string
	at   int64
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return info{filepath.Base(f.name), f.n, int64(len(f.n.text)), f.n.written}, nil
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	if f.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if at < int64(len(f.n.text)) {
		n = copy(b, f.n.text[at:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

func (f *file) Close() error { return nil }

// info is of a directory where it has no node.
type info struct {
	name    string
	n       *node
	size    int64
	written time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.written }
func (i info) IsDir() bool        { return i.n == nil }
func (i info) Sys() any           { return i.n }

func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir
	}
	return 0
}
