package peer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"newtop/internal/format"
	"newtop/internal/routine"
)

// drainPatience is how long what a program printed or sent last may take to come.
const drainPatience = 300 * time.Millisecond

var errEnded = errors.New("ended")

// Command says how newtop starts a peer.
type Command struct {
	Args     []string          // the program and its arguments, as Resolve returns them
	Dir      string            // where it runs; "": where newtop does
	Env      []string          // NAME=value, beside newtop's own environment
	Seed     *int64            // which the program finds in NEWTOP_SEED; nil: none
	Patience time.Duration     // for its end after stop, and after each signal; 0: 2 s
	Console  func(line string) // gets each line that the program prints, as it is, one call at a time; nil: nobody does
}

// name is how the program is called in errors: by its script, where an interpreter runs it.
func (c *Command) name() string {
	for _, a := range c.Args[1:] {
		if scripts[filepath.Ext(a)] != nil {
			return format.Printable(filepath.Base(a))
		}
	}
	return format.Printable(filepath.Base(c.Args[0]))
}

// Start starts a peer's program and greets it. It may take Options.Answer to connect, since it loads its data before.
// The client's Close ends the program.
func Start(ctx context.Context, command Command, o Options) (*Client, error) {
	if len(command.Args) == 0 {
		panic("peer: Start without a program")
	}
	o.Name = cmp.Or(o.Name, command.name())
	l, err := Listen(o)
	if err != nil {
		return nil, err
	}
	p, err := run(&command, l)
	if err != nil {
		l.Close()
		return nil, err
	}
	conn, err := l.accept(ctx, p)
	if err != nil {
		p.stop(false)
		return nil, err
	}
	return newClient(ctx, conn, l.options, p)
}

// program is a peer's program that newtop has started.
type program struct {
	cmd      *exec.Cmd
	files    *Listener // whose directory goes with the program
	output   console
	patience time.Duration
	ended    chan struct{} // closed when the program has ended and what it printed has come
	status   error         // once it is closed
	stopped  sync.Once
}

func run(command *Command, l *Listener) (*program, error) {
	cmd := exec.Command(command.Args[0], command.Args[1:]...)
	cmd.Dir = command.Dir
	cmd.Env = l.Environ(append(append(os.Environ(), command.Env...), "PYTHONUNBUFFERED=1"))
	if command.Seed != nil {
		cmd.Env = append(cmd.Env, "NEWTOP_SEED="+strconv.FormatInt(*command.Seed, 10))
	}
	cmd.WaitDelay = drainPatience // a child of it may hold what it printed to
	group(cmd)
	p := &program{cmd: cmd, files: l, patience: cmp.Or(command.Patience, stopPatience), ended: make(chan struct{})}
	p.output.show = command.Console
	out, errs := &stream{to: &p.output}, &stream{to: &p.output, errors: true}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", format.Printable(command.Args[0]), reason(err))
	}
	routine.Go(func() {
		p.status = cmd.Wait()
		if errors.Is(p.status, exec.ErrWaitDelay) {
			p.status = nil
		}
		signalGroup(cmd, kill) // its children
		out.end()
		errs.end()
		close(p.ended)
	})
	return p, nil
}

// reason is an error of the system without the names that a caller tells better.
func reason(err error) error {
	for {
		switch inner := errors.Unwrap(err); inner {
		case nil:
			return err
		default:
			err = inner
		}
	}
}

// how reports how the program has ended, if it does so soon.
func (p *program) how() (how string, ended bool) {
	select {
	case <-p.ended:
	case <-time.After(stopPatience):
		return "", false
	}
	how = "exit status 0"
	if exit, ok := errors.AsType[*exec.ExitError](p.status); ok {
		how = strings.TrimPrefix(exit.Error(), "signal: ")
	} else if p.status != nil {
		how = p.status.Error()
	}
	if last := p.output.lastError(); last != "" {
		how += ": " + last
	}
	return how, true
}

// stop waits for the program's end, which comes by itself where it was sent a stop, and else is asked for as ctrl+c
// does, then as kill does, and then made. One that the system does not end even then is not waited for.
func (p *program) stop(refusal bool) {
	p.stopped.Do(func() {
		for _, s := range []os.Signal{nil, os.Interrupt, terminate, kill} {
			switch {
			case s == terminate:
				p.output.line(fmt.Appendf(nil, "newtop: it still runs: killed in %.3g s", p.patience.Seconds()), false)
				fallthrough
			case s != nil:
				signalGroup(p.cmd, s)
			case !refusal:
				continue
			}
			select {
			case <-p.ended:
				return
			case <-time.After(p.patience):
			}
		}
	})
	p.files.Close()
}

// longLine is how many bytes of a line are shown and kept.
const longLine = 4096

// console gets the lines of a program's two streams.
type console struct {
	mu   sync.Mutex
	show func(string)
	last string // that was not empty, of the errors
}

func (c *console) line(text []byte, errors bool) {
	text = bytes.TrimRight(text, "\r")
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors && len(bytes.TrimSpace(text)) > 0 {
		c.last = string(text)
	}
	if c.show != nil {
		c.show(string(text))
	}
}

func (c *console) lastError() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return line(strings.TrimSpace(c.last))
}

// stream makes lines of what is written to it.
type stream struct {
	to     *console
	errors bool
	rest   []byte // of a line whose end has not come
}

func (s *stream) Write(text []byte) (int, error) {
	written := len(text)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			s.retain(text)
			break
		}
		s.retain(text[:end])
		s.to.line(s.rest, s.errors)
		s.rest, text = s.rest[:0], text[end+1:]
	}
	return written, nil
}

// retain keeps as much of a line as is shown. A progress bar draws over what it drew.
func (s *stream) retain(text []byte) {
	if redrawn := bytes.LastIndexByte(bytes.TrimRight(text, "\r"), '\r'); redrawn >= 0 {
		s.rest, text = s.rest[:0], text[redrawn+1:]
	}
	if len(text) > 0 && text[0] != '\r' && bytes.HasSuffix(s.rest, []byte("\r")) {
		s.rest = s.rest[:0]
	}
	s.rest = append(s.rest, text[:min(len(text), longLine-len(s.rest))]...)
}

// end shows a line that has no end.
func (s *stream) end() {
	if len(s.rest) > 0 {
		s.to.line(s.rest, s.errors)
	}
}

// pythonVariable names the Python that runs FILE.py.
const pythonVariable = "NEWTOP_PYTHON"

// scripts are the programs that run a file, by the end of its name: the first that is there does.
var scripts = map[string]func() []string{
	".py": func() []string {
		if python := os.Getenv(pythonVariable); python != "" {
			return []string{python}
		}
		return []string{"python3", "python"}
	},
	".jl": func() []string { return []string{"julia"} },
	".R":  func() []string { return []string{"Rscript"} },
}

// SocketPrefix is what --model begins with for a peer that listens.
const SocketPrefix = "unix:"

// Open starts the peer that a --model text names, or connects to it with unix:PATH. Of the command all but Args is
// used.
func Open(ctx context.Context, model string, command Command, o Options) (*Client, error) {
	if path, ok := strings.CutPrefix(model, SocketPrefix); ok {
		return Dial(ctx, path, o)
	}
	args, err := Resolve(model)
	if err != nil {
		return nil, err
	}
	command.Args = args
	return Start(ctx, command, o)
}

// Resolve returns the program and arguments that a --model text stands for: a file, or a command in words.
func Resolve(model string) ([]string, error) {
	const expected = "expected FILE.py, FILE.jl, FILE.R, a program, a command in words, or unix:PATH"
	args, err := resolveFile(model)
	if args != nil || err != nil {
		return args, err
	}
	if words := strings.Fields(model); len(words) > 1 {
		args, err := resolveFile(words[0])
		if err != nil {
			return nil, err
		}
		if args != nil {
			return append(args, words[1:]...), nil
		}
		if _, err := exec.LookPath(words[0]); err == nil {
			return words, nil
		}
		return nil, fmt.Errorf("%q: there is no program %s: %s", model, format.Printable(words[0]), expected)
	}
	return nil, fmt.Errorf("%q: there is no such file: %s", model, expected)
}

// resolveFile is Resolve for a file; nil: it is none.
func resolveFile(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no file", path)
	}
	by := scripts[filepath.Ext(path)]
	chosen := filepath.Ext(path) == ".py" && os.Getenv(pythonVariable) != ""
	if executable(path, info, by != nil) && !chosen {
		if !strings.ContainsRune(filepath.ToSlash(path), '/') {
			path = "." + string(filepath.Separator) + path // and not one of that name in PATH
		}
		return []string{path}, nil
	}
	if by == nil {
		return nil, fmt.Errorf("%q can't be run: expected an executable file, or one that ends in .py, .jl or .R", path)
	}
	programs := by()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			return []string{p, path}, nil
		}
	}
	return nil, fmt.Errorf("%q: there is no %s to run it", path, format.Printable(strings.Join(programs, " or ")))
}

// executable reports whether a file runs by itself. On some file systems each file has leave to, so that a script has
// to say by what.
func executable(path string, info os.FileInfo, script bool) bool {
	if !runnable(path, info) {
		return false
	}
	if !script {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 2)
	_, err = f.Read(begin)
	return err == nil && slices.Equal(begin, []byte("#!"))
}
