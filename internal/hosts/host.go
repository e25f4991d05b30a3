// Package hosts reads the files of other machines, and runs shell lines there, through the system's ssh: nothing has to
// be installed there, and what ~/.ssh/config, agents and jumps do for ssh they do here. A host has one connection: to
// its sftp subsystem, or where that is off to a POSIX shell.
package hosts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"newtop/internal/routine"
)

// Command names the variable that has the program to run in place of ssh, with options of its own: words between
// blanks.
const Command = "NEWTOP_SSH"

// Options say how hosts are reached. The zero value is for users.
type Options struct {
	Command []string      // in place of ssh; nil: what NEWTOP_SSH says, or ssh
	Poll    time.Duration // how often a file is asked about at most; 0: a second; negative: always
	Retry   time.Duration // the pause after the first try that failed, which doubles up to a minute; 0: a second
	Once    bool          // a host that is away is an error, and not waited for
}

// Network is the hosts that a program knows. Several goroutines use it.
type Network struct {
	o      Options
	mu     sync.Mutex
	hosts  map[string]*Host
	closed chan struct{} // closed by Close
}

// New returns a network that must be closed. It connects to no host yet.
func New(o Options) *Network {
	if o.Command == nil {
		o.Command = strings.Fields(os.Getenv(Command))
	}
	if len(o.Command) == 0 {
		o.Command = []string{"ssh"}
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	if o.Retry == 0 {
		o.Retry = time.Second
	}
	return &Network{o: o, hosts: map[string]*Host{}, closed: make(chan struct{})}
}

// Files is the host of a name that Split was content with, for its files.
func (n *Network) Files(name string) *Host { return n.host(name, false) }

// Shell is the same for shell lines, over a connection to a shell.
func (n *Network) Shell(name string) *Host { return n.host(name, true) }

func (n *Network) host(name string, shell bool) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[name]
	if h == nil {
		h = &Host{net: n, name: name, nodes: map[string]*node{}, changed: make(chan struct{}), shell: shell}
		n.hosts[name] = h
	}
	return h
}

// Close ends all connections. What waits for a host returns fs.ErrClosed.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
		return
	default:
	}
	close(n.closed)
	for _, h := range n.hosts {
		h.mu.Lock()
		l := h.line
		h.mu.Unlock()
		if l != nil {
			l.close()
		}
	}
	for _, h := range n.hosts {
		h.dialing.Wait()
	}
}

// Host is a host. Its methods that ask it wait while it is away.
type Host struct {
	net     *Network
	name    string
	dialing sync.WaitGroup

	mu      sync.Mutex
	line    line // nil: there is none
	shell   bool // sftp is off there, or not needed
	trying  bool // a goroutine tries to connect
	away    string
	next    time.Time     // of the try after the one that failed
	changed chan struct{} // closed, and made anew, when line or away change
	nodes   map[string]*node
	head    []byte // the beginning of the file that was opened last
	headOf  *identity
}

// line is a connection to a host. Its methods' errors are the host's, or those of a line that broke: answered tells.
type line interface {
	stat(name string, of handle) (attr, verdict, error)
	open(name string) (handle, attr, error)
	list(name string, most int) ([]attr, error)
	answered(err error) bool
	reason(err error) string
	close()
}

// String is the host's name.
func (h *Host) String() string { return h.name }

// Connect tries once to connect, for as long as the context allows. In a terminal ssh may ask its user for a password,
// which it never does later.
func (h *Host) Connect(ctx context.Context) error {
	made := make(chan error, 1)
	h.dialing.Go(routine.Guard(func() {
		l, err := h.dial(false)
		if err == nil {
			h.connected(l)
		}
		made <- err
	}))
	select {
	case err := <-made:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dial connects. Its error is what ssh says.
func (h *Host) dial(batch bool) (line, error) {
	h.mu.Lock()
	shell := h.shell
	h.mu.Unlock()
	try := func(open func(*process) (line, error), subsystem bool, what string) (line, *process, error) {
		p, err := start(h.net.o.Command, batch, subsystem, destination(h.name), what)
		if err != nil {
			return nil, nil, err
		}
		l, err := open(p)
		if err != nil {
			p.close()
			return nil, p, errors.New(p.reason(err))
		}
		return l, p, nil
	}
	if !shell {
		l, p, err := try(openSFTP, true, "sftp")
		if err == nil {
			return l, nil
		}
		if p == nil || p.cmd.ProcessState.ExitCode() == 255 && !p.errors.has("subsystem") {
			return nil, err
		}
	}
	l, _, err := try(openShell, false, "exec sh")
	if err == nil {
		h.mu.Lock()
		h.shell = true
		h.mu.Unlock()
	}
	return l, err
}

func (h *Host) connected(l line) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isClosed() || h.line != nil {
		l.close()
		return
	}
	h.line, h.away, h.trying = l, "", false
	h.notify()
}

func (h *Host) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *Host) isClosed() bool {
	select {
	case <-h.net.closed:
		return true
	default:
		return false
	}
}

// Changed returns a channel that is closed when what Away says may be something else.
func (h *Host) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// Away says in a line why the host can't be asked, and when that is tried again; empty: it can be, or nothing is known
// yet.
func (h *Host) Away() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.away == "" {
		return ""
	}
	return fmt.Sprintf("%s is away: %s; next try at %s", h.name, h.away, h.next.Format("15:04:05"))
}

// reach returns the line to the host, and waits for one.
func (h *Host) reach() (line, error) {
	for {
		h.mu.Lock()
		if h.isClosed() {
			h.mu.Unlock()
			return nil, fs.ErrClosed
		}
		l, changed, away := h.line, h.changed, h.away
		if l == nil && !h.trying {
			h.trying = true
			h.dialing.Go(routine.Guard(h.redial))
		}
		h.mu.Unlock()
		if l != nil {
			return l, nil
		}
		if h.net.o.Once && away != "" {
			return nil, errors.New(h.name + ": " + away)
		}
		select {
		case <-changed:
		case <-h.net.closed:
		}
	}
}

// redial tries to connect until that succeeds.
func (h *Host) redial() {
	const longest = time.Minute
	for pause := h.net.o.Retry; ; pause = min(2*pause, longest) {
		l, err := h.dial(true)
		if err == nil {
			h.connected(l)
			return
		}
		h.mu.Lock()
		h.away, h.next = err.Error(), time.Now().Add(pause)
		h.notify()
		h.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-h.net.closed:
			return
		}
	}
}

// drop gives up a line that broke.
func (h *Host) drop(l line, err error) {
	h.mu.Lock()
	mine := h.line == l
	if mine {
		h.line = nil
	}
	h.mu.Unlock()
	if !mine {
		return
	}
	l.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.away, h.next = l.reason(err), time.Now()
	h.notify()
}

// do asks the host something, and again where the line broke.
func (h *Host) do(ask func(l line) error) error {
	for {
		l, err := h.reach()
		if err != nil {
			return err
		}
		if err = ask(l); l.answered(err) {
			return err
		}
		h.drop(l, err)
	}
}

// Run has the shell of the host run a script, and returns what that prints, and an error where its status is not 0. It
// waits while the host is away, as far as the context allows.
func (h *Host) Run(ctx context.Context, script string) (out []byte, err error) {
	done := make(chan struct{})
	routine.Go(func() {
		defer close(done)
		err = h.do(func(l line) error {
			shell, ok := l.(*overShell)
			if !ok {
				return errors.New(h.name + ": connected to sftp: expected a shell")
			}
			status := 0
			var err error
			if out, status, err = shell.run(script, nil); err == nil && status != 0 {
				err = fmt.Errorf("%s: the shell ended with %d", h.name, status)
			}
			return err
		})
	})
	select {
	case <-done:
		return out, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
