package hosts

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// overShell is a line to a POSIX shell of a host, which answers one script after another.
type overShell struct {
	*process
	out *bufio.Reader
	end string // stands behind each answer, before a number; nobody else knows it

	mu   sync.Mutex
	off  bool          // the line is broken
	last chan struct{} // closed once the script that was sent last was answered
}

// begin sets what the scripts use: how stat says type, size, time, file and name, with GNU's and BusyBox's option or
// with BSD's.
const begin = `LC_ALL=C; export LC_ALL; unset CDPATH; if stat -c %s / >/dev/null; then f=-c p='%f %s %Y %d:%i' n=%n; ` +
	`else f=-f p='%Xp %z %m %d:%i' n=%N; fi; q="$p $n"`

func openShell(p *process) (line, error) {
	l := &overShell{process: p, out: bufio.NewReaderSize(p.out, 64<<10), end: rand.Text(), last: make(chan struct{})}
	close(l.last)
	_, _, err := l.run(begin, nil)
	return l, err
}

// run has the shell do something, and returns what that prints, and the status with which it ended. What it is to do
// next may be sent before that has come. If use is not nil it is called with both before the next answer is used.
func (l *overShell) run(script string, use func([]byte, int)) (out []byte, status int, err error) {
	defer l.await()()
	done := make(chan struct{})
	l.mu.Lock()
	before := l.last
	l.last = done
	// The end is written in two parts, so that a terminal's or a log's echo of the script does not have it.
	_, err = fmt.Fprintf(l.in, "{ %s\n} </dev/null 2>/dev/null; printf '\\n%%s%%s %%d\\n' %s %s $?\n", script,
		l.end[:8], l.end[8:])
	l.mu.Unlock()
	<-before
	defer close(done)
	if err == nil {
		out, status, err = l.answer()
	}
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.off = true
		return nil, 0, err
	}
	if use != nil {
		use(out, status)
	}
	return out, status, nil
}

// answer reads what a script prints, and its status.
func (l *overShell) answer() (out []byte, status int, err error) {
	mark := []byte("\n" + l.end + " ")
	for {
		part, err := l.out.ReadSlice('\n')
		out = append(out, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		at := bytes.LastIndex(out[max(0, len(out)-len(mark)-8):], mark)
		if at < 0 {
			continue
		}
		at += max(0, len(out)-len(mark)-8)
		status, err = strconv.Atoi(strings.TrimSpace(string(out[at+len(mark):])))
		return out[:at], status, err
	}
}

func (l *overShell) stat(name string, _ handle) (attr, verdict, error) {
	a, _, err := l.look(name, "", nil)
	return a, unsure, err
}

// look says what stands at a name, and what a script prints of it. If use is not nil it is called with that before
// the shell's next answer is used.
func (l *overShell) look(name, then string, use func(attr)) (a attr, text []byte, err error) {
	_, _, broken := l.run(fmt.Sprintf(`n=%s; if stat -L $f "$p" "$n"; then :; %s
elif [ -e "$n" ]; then (exit 5); elif [ -d "${n%%/*}/" ] && ! [ -x "${n%%/*}/" ]; then (exit 6); else (exit 4); fi`,
		quote(name), then), func(out []byte, status int) {
		if a, text, err = looked(name, out, status); err == nil && use != nil {
			use(a)
		}
	})
	return a, text, cmp.Or(broken, err)
}

// looked reads the answer of look's script.
func looked(name string, out []byte, status int) (a attr, text []byte, err error) {
	switch status {
	case 4:
		return a, nil, fs.ErrNotExist
	case 5:
		return a, nil, errors.New("the host has no stat")
	case 6:
		return a, nil, fs.ErrPermission
	}
	head, text, _ := bytes.Cut(out, []byte("\n"))
	a, ok := parse(string(head))
	if !ok {
		return a, nil, fmt.Errorf("stat said %q: expected type, size and time", head)
	}
	a.name = path.Base(name)
	return a, text, nil
}

var types = map[uint64]fs.FileMode{0o01: fs.ModeNamedPipe, 0o02: fs.ModeDevice, 0o04: fs.ModeDir, 0o06: fs.ModeDevice,
	0o12: fs.ModeSymlink, 0o14: fs.ModeSocket}

// parse reads a line of stat.
func parse(text string) (a attr, ok bool) {
	fields := append(strings.SplitN(text, " ", 5), "")
	if len(fields) < 5 {
		return a, false
	}
	mode, err := strconv.ParseUint(fields[0], 16, 32)
	size, err2 := strconv.ParseInt(fields[1], 10, 64)
	seconds, err3 := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || err2 != nil || err3 != nil || size < 0 {
		return a, false
	}
	a = attr{name: path.Base(fields[4]), size: size, mtime: time.Unix(seconds, 0), inode: fields[3],
		mode: fs.FileMode(mode&0o777) | types[mode>>12]}
	return a, true
}

func (l *overShell) list(name string, most int) (list []attr, err error) {
	out, status, err := l.run(
		fmt.Sprintf(`(cd %s && find . ! -name . -prune -exec stat $f "$q" {} +)`, quote(name)), nil)
	if err == nil && status != 0 && len(out) == 0 {
		if _, _, err = l.look(name, "", nil); err == nil {
			err = fs.ErrInvalid
		}
	}
	for text := range strings.Lines(string(out)) {
		if a, ok := parse(strings.TrimSuffix(text, "\n")); ok && len(list) != most {
			list = append(list, a)
		}
	}
	return list, err
}

func (l *overShell) open(name string) (handle, attr, error) {
	a, text, err := l.look(name, `[ -r "$n" ] || echo -`, nil)
	if err == nil && len(text) > 0 {
		err = fs.ErrPermission
	}
	return &shellHandle{l: l, name: name, seen: a}, a, err
}

func (l *overShell) answered(error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.off
}

// shellHandle is a file that is opened anew for each read, and is at its end when another one has taken its place.
type shellHandle struct {
	l    *overShell
	name string
	seen attr // belongs to who has the shell's answer
}

func (h *shellHandle) ReadAt(b []byte, at int64) (n int, err error) {
	replaced := false
	_, text, err := h.l.look(h.name, fmt.Sprintf(`tail -c +%d "$n" | head -c %d`, at+1, len(b)), func(a attr) {
		if replaced = h.seen.replacedBy(a); !replaced {
			h.seen = a
		}
	})
	switch n = copy(b, text); {
	case err != nil:
		return 0, err
	case replaced:
		return 0, io.EOF
	case n < len(b):
		err = io.EOF
	}
	return n, err
}

func (h *shellHandle) Close() error { return nil }
