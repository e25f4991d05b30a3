package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"newtop/internal/filelock"
	"newtop/internal/python"
	"newtop/internal/routine"
)

// SocketVariable is the environment variable with the path at which newtop listens for a peer. newtop itself takes tcp
// as its value to use ports on every system.
const SocketVariable = "NEWTOP_PEER"

// Listener waits for a peer in a private directory, which has newtop.py too.
type Listener struct {
	options  Options
	dir      string
	listener door
}

// Listen makes a socket for a peer that somebody else starts, with Environ.
func Listen(o Options) (*Listener, error) {
	o.setDefaults()
	dir, err := privateDir()
	if err != nil {
		return nil, fmt.Errorf("a directory for a peer's socket: %w", err)
	}
	l := &Listener{options: o, dir: dir}
	l.options.Dir = cmp.Or(o.Dir, dir)
	if err := os.WriteFile(filepath.Join(dir, "newtop.py"), []byte(python.Module()), 0o600); err != nil {
		filelock.RemoveDir(dir)
		return nil, err
	}
	if l.listener, err = listenAt(l.path(), ported()); err != nil {
		filelock.RemoveDir(dir)
		return nil, fmt.Errorf("a socket for a peer: %w", reason(err))
	}
	return l, nil
}

func (l *Listener) path() string { return socketIn(l.dir) }

// Environ returns an environment by which a peer finds the socket, and Python newtop.py where no directory before has
// one.
func (l *Listener) Environ(environ []string) []string {
	const modules = "PYTHONPATH"
	path := l.dir
	environ = slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		if name == modules && value != "" {
			path = value + string(filepath.ListSeparator) + l.dir
		}
		return name == modules || name == SocketVariable
	})
	return append(environ, modules+"="+path, SocketVariable+"="+l.path())
}

// Accept waits for a peer, for as long as the context lets it, and greets it. The end of the context is the client's
// too.
func (l *Listener) Accept(ctx context.Context) (*Client, error) {
	_ = l.listener.SetDeadline(time.Time{}) // that of an Accept before
	woken := make(chan struct{})
	wake := context.AfterFunc(ctx, routine.Guard(func() {
		_ = l.listener.SetDeadline(time.Unix(1, 0))
		close(woken)
	}))
	conn, err := l.listener.Accept()
	if !wake() {
		<-woken
		if conn != nil {
			conn.Close()
		}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("a socket for a peer: %w", reason(err))
	}
	return New(ctx, conn, l.options)
}

// accept waits for the peer of a program, which connects in time or ends.
func (l *Listener) accept(ctx context.Context, p *program) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Answer, errSlow)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	routine.Go(func() {
		select {
		case <-p.ended:
			end(errEnded)
		case <-ctx.Done():
		}
	})
	defer context.AfterFunc(ctx, routine.Guard(func() { _ = l.listener.SetDeadline(time.Unix(1, 0)) }))()
	conn, err := l.listener.Accept()
	l.listener.Close() // who else has the variable is not the peer
	if err == nil {
		return conn, nil
	}
	name := l.options.Name
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errEnded):
		how, _ := p.how()
		if p.status == nil {
			how += ": expected newtop.serve, or another peer"
		}
		if strings.Contains(how, "ModuleNotFoundError") && os.Getenv(pythonVariable) == "" {
			how += " (" + pythonVariable + "=PATH chooses another Python)"
		}
		return nil, &EndedError{fmt.Sprintf("%s ended before it connected to newtop: %s", name, how)}
	case errors.Is(cause, errSlow):
		return nil, configFields.Errorf(
			"%s did not connect to newtop within %v ({ModelTimeout}): expected newtop.serve, or another peer", name,
			l.options.Answer)
	case cause != nil:
		return nil, fmt.Errorf("%s: %w", name, cause)
	}
	return nil, fmt.Errorf("%s: %w", name, reason(err))
}

var errSlow = errors.New("too slow")

// Close stops listening and removes the directory. Clients that were accepted stay.
func (l *Listener) Close() error {
	l.listener.Close() // or a peer that was accepted has had it closed
	return filelock.RemoveDir(l.dir)
}
