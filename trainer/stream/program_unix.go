//go:build unix

package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/creack/pty"

	"newtop/internal/filelock"
	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/logs"
)

// LogVariable is the environment variable that tells a program, as newtop.py, where to write its numbers.
const LogVariable = "NEWTOP_LOG"

// The terminal of a program that is run here: wide enough for a progress bar with its numbers behind it.
const (
	programColumns = 160
	programRows    = 40
)

// How long a program has to end after each of the signals that Stop sends it, and how long what it printed last may
// take to come.
const (
	stopPatience  = 5 * time.Second
	drainPatience = 300 * time.Millisecond
)

// Program is a program that runs in a terminal of its own, as the source of what it prints. What it writes to the file
// that LogVariable names is read too. Its end is the run's.
type Program struct {
	*pipe
	cmd      *exec.Cmd
	dir      string // of the named pipe
	side     *numbers
	ended    chan struct{}
	status   error // of the program, once ended is closed
	reported bool
	once     sync.Once
}

// Start starts a program. It runs in the working directory and the environment of this one.
func Start(args []string, beside Beside) (*Program, error) {
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Err != nil {
		return nil, fmt.Errorf("%s: %w: expected a program", args[0], cmd.Err)
	}
	p := &Program{cmd: cmd, ended: make(chan struct{})}
	side, err := p.besides()
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = beside.Dir, append(os.Environ(), "PYTHONUNBUFFERED=1")
	if beside.Env != nil {
		cmd.Env = beside.Env(cmd.Env)
	}
	if side != nil {
		cmd.Env = append(cmd.Env, LogVariable+"="+filepath.Join(p.dir, "log"))
	}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: programRows, Cols: programColumns})
	if err != nil {
		if side != nil {
			side.Close()
		}
		filelock.RemoveDir(p.dir)
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	// Resizing made it blocking, so that Close would wait as long as a child of the program has the other end.
	_ = syscall.SetNonblock(int(terminal.Fd()), true)
	printed := &console{f: terminal, copy: beside.Console}
	source := Lines(printed, args[0]).(*pipe)
	source.lenient, source.live = true, true
	besides := func(r io.ReadCloser) {
		_, ends := r.(*numbers)
		source.sides = append(source.sides, &sideways{r: r, ends: ends, lines: lines{name: LogVariable,
			decoder: source.decoder, came: time.Now(), lenient: true, logged: true}})
	}
	if side != nil {
		p.side = &numbers{File: side}
		besides(p.side)
	}
	if beside.Lines != nil {
		besides(beside.Lines)
	}
	source.decoder.rows.info.Name = ProgramName(args)
	p.pipe = source
	routine.Go(func() { p.attend(printed) })
	return p, nil
}

// besides makes the named pipe for numbers; nil where the system has none.
func (p *Program) besides() (*os.File, error) {
	dir, err := filelock.TempDir("")
	if err != nil {
		return nil, err
	}
	p.dir = dir
	path := filepath.Join(dir, "log")
	if syscall.Mkfifo(path, 0o600) != nil {
		return nil, nil
	}
	return os.OpenFile(path, os.O_RDWR, 0) // both, so that no writer's end is an end
}

// attend waits for the program, and ends its terminal when what it printed has come.
func (p *Program) attend(terminal *console) {
	p.status = p.cmd.Wait()
	close(p.ended)
	if p.side != nil {
		p.side.end()
	}
	time.AfterFunc(drainPatience, routine.Guard(terminal.end)) // a child of it may hold the other end
}

// numbers is the near end of the named pipe, which never ends by itself, as this process has its other end open too.
type numbers struct {
	*os.File
	over atomic.Bool
}

// endOfNumbers stands behind all that the program wrote.
const endOfNumbers = 4

// end has the reader come to an end when it has read all that the program wrote.
func (n *numbers) end() {
	n.over.Store(true)
	_, _ = n.Write([]byte{endOfNumbers}) // a pipe that is closed has no reader
}

func (n *numbers) Read(b []byte) (int, error) {
	k, err := n.File.Read(b)
	if n.over.Load() {
		if i := bytes.IndexByte(b[:k], endOfNumbers); i >= 0 { // behind it, a child of the program writes
			return i, io.EOF
		}
	}
	return k, err
}

// console is the near end of a terminal. That its other end is closed is an end.
type console struct {
	f    *os.File
	copy io.Writer    // of what is read; nil: nobody wants it
	rest atomic.Int64 // how much may be read yet; 0: there is no bound
}

// maxRest is more than a terminal holds of what nobody has read.
const maxRest = 1 << 20

// end has the reader come to an end when it has read all that is there, however late a busy machine lets it read.
func (c *console) end() {
	c.rest.Store(maxRest)
	if c.f.SetReadDeadline(time.Now()) != nil {
		c.f.Close()
	}
}

func (c *console) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n, err = c.there(b)
	}
	if c.copy != nil {
		_, _ = c.copy.Write(b[:n]) // which keeps its own error
	}
	if errors.Is(err, syscall.EIO) || errors.Is(err, fs.ErrClosed) {
		err = io.EOF
	}
	return n, err
}

// there reads what is there, and waits for nothing.
func (c *console) there(b []byte) (n int, err error) {
	err = io.EOF
	if raw, broken := c.f.SyscallConn(); broken == nil {
		_ = raw.Control(func(fd uintptr) {
			if k, failed := syscall.Read(int(fd), b); failed == nil && k > 0 && c.rest.Add(-int64(k)) > 0 {
				n, err = k, nil
			}
		})
	}
	return n, err
}

func (c *console) Close() error { return c.f.Close() }

// Next ends the run when the program has ended.
func (p *Program) Next(ctx context.Context) (event.Event, error) {
	e, err := p.pipe.Next(ctx)
	if !errors.Is(err, io.EOF) || p.reported {
		return e, err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.reported = true
	state, message := logs.Finished, ""
	if p.status != nil {
		state, message = logs.Failed, p.status.Error()
	}
	p.decoder.End(state, message)
	return p.pipe.Next(ctx)
}

// Running reports whether more may come.
func (p *Program) Running() bool { return !p.reported }

// PID is the program's number.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Stop asks the program to end, as ctrl+c does, then as kill does, then ends it, and returns when it has ended. A
// signal to this process meanwhile ends the program at once.
func (p *Program) Stop() { p.stop(syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL) }

// End asks the program to end as kill does, then ends it, with all that it has started in its group.
func (p *Program) End() {
	p.stop(syscall.SIGTERM, syscall.SIGKILL)
	p.signal(syscall.SIGKILL) // what is left of the group; mostly nothing is
}

func (p *Program) stop(signals ...syscall.Signal) {
	p.once.Do(func() {
		hurry := make(chan os.Signal, 1)
		signal.Notify(hurry, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
		defer signal.Stop(hurry)
		for _, s := range signals {
			select {
			case <-p.ended:
				return
			default:
			}
			p.signal(s)
			select {
			case <-p.ended:
				return
			case <-hurry:
				p.signal(syscall.SIGKILL)
				return
			case <-time.After(stopPatience):
			}
		}
	})
	<-p.ended
}

// signal sends a signal to the program's group, which it leads with its session. One that is gone is as good.
func (p *Program) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// Status is how the program ended: nil for well, else an *exec.ExitError or what kept it from being waited for. It
// waits for the end.
func (p *Program) Status() error {
	<-p.ended
	return p.status
}

// Close stops the program and gives back what it used.
func (p *Program) Close() error {
	p.Stop()
	err := p.pipe.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	return errors.Join(err, filelock.RemoveDir(p.dir))
}
