package hosts

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/logs/files"
)

var _ files.System = (*Host)(nil)

// attr is what a host says of a file.
type attr struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time // in whole seconds
	inode string    // "" where the host does not say it
}

// replacedBy reports whether what stands at a file's name now is another file, as far as that shows.
func (a attr) replacedBy(now attr) bool {
	return a.inode != now.inode || now.size < a.size || now.mtime.Before(a.mtime.Truncate(time.Second))
}

// verdict is whether what stands at a name is a file that is open.
type verdict uint8

const (
	unsure verdict = iota
	same
	other
)

// handle is a file that is open at a host.
type handle interface {
	io.ReaderAt
	io.Closer
}

// identity is a file's, for as long as it is the same.
type identity struct{ _ byte }

// info is an attr as readers have it.
type info struct {
	attr
	id *identity
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return i.id }

// node is what is known of a name.
type node struct {
	name   string // at the host
	info   info
	err    error
	asked  time.Time // zero: never
	news   time.Time // when it was last another one than before
	looks  int       // of the same size and time
	open   *file     // the newest
	listed time.Time
	list   []fs.DirEntry
	most   int
}

// Path is a path of the host, by what Split returned.
func (h *Host) Path(at string) files.Path { return files.Path{In: h, Name: h.name + ":" + at} }

// Local implements files.System: nothing is on this machine.
func (h *Host) Local(string) string { return "" }

// Same implements files.System.
func (h *Host) Same(a, b fs.FileInfo) bool { return a.Sys() == b.Sys() }

// node returns what is known of a name; nil for one that is not the host's, as the directory above all of its names.
func (h *Host) node(name string) *node {
	at, ok := strings.CutPrefix(strings.TrimPrefix(filepath.ToSlash(name), "./"), h.name+":")
	home, isHome := strings.CutPrefix(at, "~")
	switch {
	case !ok:
		return nil
	case at == "":
		at = "/"
	case isHome:
		at = "." + home
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.nodes[at]
	if n == nil {
		n = &node{name: at}
		h.nodes[at] = n
	}
	return n
}

// patience is how old what is known may be: what has not changed for long is asked about more seldom.
func (h *Host) patience(news, now time.Time) time.Duration {
	const (
		share   = 30
		longest = 15 * time.Second
	)
	if h.net.o.Poll < 0 {
		return -1
	}
	return max(h.net.o.Poll, min(now.Sub(news)/share, longest))
}

// fresh reports whether what is known of a name need not be asked, while h.mu is held.
func (h *Host) fresh(n *node) bool {
	now := time.Now()
	return now.Sub(n.asked) < h.patience(n.news, now)
}

func fault(op, name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Stat implements files.System.
func (h *Host) Stat(name string) (fs.FileInfo, error) {
	n := h.node(name)
	if n == nil {
		return nil, fault("stat", name, fs.ErrNotExist)
	}
	err := h.look(n)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err = errors.Join(err, n.err); err != nil {
		return nil, fault("stat", name, err)
	}
	return n.info, nil
}

// look asks what stands at a name, unless that is known.
func (h *Host) look(n *node) error {
	h.mu.Lock()
	known, f := h.fresh(n), n.open
	if f != nil && f.id != n.info.id {
		f = nil
	}
	h.mu.Unlock()
	if known {
		return nil
	}
	return h.do(func(l line) error {
		var open handle
		if f != nil {
			open = f.on(l)
		}
		a, is, err := l.stat(n.name, open)
		if l.answered(err) {
			h.saw(n, a, is, err)
			return nil
		}
		return err
	})
}

// saw notes what stands at a name.
func (h *Host) saw(n *node, a attr, is verdict, err error) info {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	first := n.asked.IsZero()
	n.asked = now
	if n.info.id == h.headOf {
		h.head, h.headOf = nil, nil
	}
	if err != nil {
		if n.err == nil && !first {
			n.news = now
		}
		n.err = err
		if errors.Is(err, fs.ErrNotExist) {
			n.info = info{}
		}
		return n.info
	}
	was := n.info
	if n.err = nil; was.id == nil || is == other || is == unsure && was.replacedBy(a) {
		n.info.id = new(identity)
	}
	// Times are whole seconds, in which a file may change twice: for two seconds it is another one each time.
	const unsettled = 2 * time.Second
	if a.size != was.size || !a.mtime.Equal(was.mtime.Truncate(time.Second)) || n.info.id != was.id {
		n.news, n.looks = now, 0
	} else if now.Sub(n.news) <= unsettled {
		n.looks++
	}
	a.mtime = a.mtime.Add(time.Duration(min(n.looks, 999)) * time.Millisecond)
	n.info.attr = a
	return n.info
}

// List implements files.System.
func (h *Host) List(name string, most int) ([]fs.DirEntry, error) {
	n := h.node(name)
	if n == nil {
		return nil, fault("open", name, fs.ErrNotExist)
	}
	h.mu.Lock()
	now := time.Now()
	known, list := now.Sub(n.listed) < h.patience(n.listed, now) && n.most == most, n.list
	h.mu.Unlock()
	if known {
		return list, nil
	}
	list = nil
	err := h.do(func(l line) error {
		found, err := l.list(n.name, most)
		for _, a := range found {
			list = append(list, fs.FileInfoToDirEntry(info{attr: a}))
		}
		return err
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		n.listed, n.list, n.most = time.Now(), list, most
	}
	return list, fault("open", name, err)
}

// Open implements files.System.
func (h *Host) Open(name string) (files.File, error) {
	n := h.node(name)
	if n == nil {
		return nil, fault("open", name, fs.ErrNotExist)
	}
	f := &file{h: h, n: n, name: name}
	if h.known(f) {
		return f, nil
	}
	err := h.do(func(l line) error {
		o, a, err := l.open(n.name)
		if err == nil {
			f.line, f.handle = l, o
			f.known = h.saw(n, a, unsure, nil)
			f.id = f.known.id
		}
		return err
	})
	if err != nil {
		return nil, fault("open", name, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n.open = f
	return f, nil
}

// known reports whether nothing need be asked to open a file, since its beginning was read a moment ago. It is opened
// at the host once more is read.
func (h *Host) known(f *file) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.head == nil || h.headOf != f.n.info.id || !h.fresh(f.n) {
		return false
	}
	f.known, f.id, f.n.open = f.n.info, f.n.info.id, f
	return true
}

// file is a file of a host. After a line that broke it is opened again, unless another one stands there then: it is at
// its end in that case.
type file struct {
	h    *Host
	n    *node
	name string
	id   *identity

	mu     sync.Mutex
	line   line // on which handle is
	handle handle
	lost   bool      // it can't be opened any more
	known  info      // the newest of it
	ended  time.Time // when its end was last read
	at     int64

	next  int64  // where a reader that reads on is
	ahead []byte // what was read from there on
	step  int    // how much is read ahead

	coming []chan []byte // get what is behind that, while it is used
	asked  int64         // the end of the last of them
}

// on is the file's handle on a line, nil where it has none.
func (f *file) on(l line) handle {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, _ := f.opened(l)
	return o
}

// opened is the same while f.mu is held; nil without an error where another file has taken its place.
func (f *file) opened(l line) (handle, error) {
	if f.line == l || f.lost {
		return f.handle, nil
	}
	o, a, err := l.open(f.n.name)
	switch {
	case err == nil && f.h.saw(f.n, a, unsure, nil).id == f.id:
		f.line, f.handle = l, o
		return o, nil
	case err == nil:
		o.Close()
	case !l.answered(err):
		return nil, err
	}
	f.handle, f.lost = nil, true
	return nil, nil
}

// Stat implements files.File.
func (f *file) Stat() (fs.FileInfo, error) {
	err := f.h.look(f.n)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	if f.n.info.id == f.id {
		f.known = f.n.info
	}
	return f.known, err
}

// Read implements files.File.
func (f *file) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, f.at)
	if f.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

// How much is read ahead of a reader that reads on, so that a long way costs little: so many parts at once, larger ones
// as long as each is waited for less than soon.
const (
	parts    = 4
	minAhead = 64 << 10
	maxAhead = 2 << 20
	soon     = time.Second / 4
)

// ReadAt implements files.File.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, err = f.beginning(b, at); n > 0 && len(f.ahead)+len(f.coming) == 0 {
		f.next, f.step = at+int64(n), minAhead
	}
	for n < len(b) && err == nil {
		var got int
		if at+int64(n) == f.next {
			got, err = f.readOn(b[n:])
		} else {
			got, err = f.fetch(b[n:], at+int64(n))
		}
		n += got
	}
	if end := at + int64(n); end != f.next && len(f.ahead)+len(f.coming) == 0 {
		f.next, f.step = end, 0
	}
	return n, err
}

// beginning reads what is known of the file's beginning, which is kept for who opens it next.
func (f *file) beginning(b []byte, at int64) (n int, err error) {
	f.h.mu.Lock()
	head := f.h.head
	if f.h.headOf != f.id || f.n.info.id != f.id || !f.h.fresh(f.n) {
		head = nil
	}
	f.h.mu.Unlock()
	if head == nil && at == 0 {
		head = make([]byte, minAhead)
		n, err = f.fetch(head, 0)
		head = head[:n]
		f.h.mu.Lock()
		f.h.head, f.h.headOf = head, f.id
		f.h.mu.Unlock()
	}
	if n = copy(b, head[min(at, int64(len(head))):]); n == len(b) {
		err = nil
	}
	return n, err
}

// readOn reads at f.next.
func (f *file) readOn(b []byte) (n int, err error) {
	if len(f.ahead) == 0 && f.step > 0 {
		f.foresee()
		f.ahead = f.came()
	}
	if len(f.ahead) == 0 {
		room := b
		if f.step > len(b) {
			room = make([]byte, f.step)
		}
		n, err = f.fetch(room, f.next)
		if f.ahead = room[:n]; n > len(b) {
			err = nil // there is more than is wanted
		}
		f.step = max(f.step, minAhead)
	}
	n = copy(b, f.ahead)
	f.ahead, f.next = f.ahead[n:], f.next+int64(n)
	return n, err
}

// foresee asks for what is known to be at f.next and behind, so that the line is busy while a part is used.
func (f *file) foresee() {
	if len(f.coming) == 0 {
		f.asked = f.next
	}
	if l, err := f.h.reach(); err == nil {
		_, _ = f.opened(l)
	}
	for o := f.handle; o != nil && len(f.coming) < parts && f.asked < f.known.size; {
		at, b, coming := f.asked, make([]byte, min(f.known.size-f.asked, int64(f.step))), make(chan []byte, 1)
		f.asked, f.coming = f.asked+int64(len(b)), append(f.coming, coming)
		routine.Go(func() {
			n, err := o.ReadAt(b, at)
			if err != nil {
				n = 0 // fetch tells it
			}
			coming <- b[:n]
		})
	}
}

// came returns the next part that foresee has asked for.
func (f *file) came() (b []byte) {
	if len(f.coming) > 0 {
		began := time.Now()
		b, f.coming = <-f.coming[0], f.coming[1:]
		if waited := time.Since(began); waited < soon {
			f.step = min(2*f.step, maxAhead)
		} else if waited > 2*soon {
			f.step = max(f.step/2, minAhead)
		}
	}
	return b
}

// fetch reads from the host what is known to be there, or looks whether there is more.
func (f *file) fetch(b []byte, at int64) (n int, err error) {
	for len(f.coming) > 0 {
		f.came() // of another place
	}
	f.h.mu.Lock()
	fresh := f.n.info.id == f.id && f.h.fresh(f.n)
	if fresh {
		f.known = f.n.info
	}
	left := f.known.size - at
	fresh = fresh || time.Since(f.ended) < f.h.patience(f.n.news, time.Now())
	f.h.mu.Unlock()
	if fresh && left <= 0 {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), max(left, minAhead))]
	wrong := f.h.do(func(l line) error {
		o, broken := f.opened(l)
		if n, err = 0, io.EOF; o == nil {
			return broken
		}
		n, err = o.ReadAt(b, at)
		return err
	})
	if wrong != nil && !errors.Is(wrong, io.EOF) {
		return n, fault("read", f.name, wrong)
	}
	if n < len(b) {
		f.ended = time.Now()
	}
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	if f.known.size = max(f.known.size, at+int64(n)); f.n.info.id == f.id { // it has grown since it was asked about
		f.n.info.size = max(f.n.info.size, f.known.size)
	}
	return n, err
}

// Close implements files.File.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.h.mu.Lock()
	if f.n.open == f {
		f.n.open = nil
	}
	current := f.h.line == f.line
	f.h.mu.Unlock()
	f.lost = true
	if o := f.handle; o != nil && current {
		f.handle = nil
		routine.Go(func() { _ = o.Close() }) // nobody waits for the answer
	}
	return nil
}
