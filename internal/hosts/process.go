package hosts

import (
	"bytes"
	"cmp"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"newtop/internal/routine"
)

// options of ssh that give it nothing to do but to connect: what a user's configuration has for a login is left out.
var options = []string{"-T", "-x", "-a", "-oClearAllForwardings=yes", "-oPermitLocalCommand=no", "-oRemoteCommand=none",
	"-oConnectTimeout=10"}

// stall is for how long nothing may come of what was asked for before a line is taken for broken.
const stall = 20 * time.Second

// process is an ssh that has connected, or tries to.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	errors tail
	ended  chan struct{} // closed once it has ended

	mu      sync.Mutex
	over    bool      // it says nothing more
	pending int       // requests without an answer
	since   time.Time // when the last byte came, or the first of the pending was asked
}

// start runs ssh. what are its arguments from the host on; subsystem says that they name one.
func start(command []string, batch, subsystem bool, what ...string) (*process, error) {
	arguments := append(append([]string{}, command[1:]...), options...)
	if batch {
		arguments = append(arguments, "-oBatchMode=yes")
	}
	if subsystem {
		arguments = append(arguments, "-s")
	}
	p := &process{cmd: exec.Command(command[0], append(append(arguments, "--"), what...)...),
		ended: make(chan struct{})}
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = time.Second
	in, err := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if p.in, p.out = in, (counting{out, p}); err == nil && err2 == nil {
		err = p.cmd.Start()
	}
	if err = cmp.Or(err, err2); err != nil {
		return nil, err
	}
	routine.Go(p.watch)
	return p, nil
}

// watch kills a process from which nothing comes.
func (p *process) watch() {
	tick := time.NewTicker(stall / 8)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			p.mu.Lock()
			stalled := p.pending > 0 && now.Sub(p.since) > stall
			p.mu.Unlock()
			if stalled {
				p.kill()
			}
		case <-p.ended:
			return
		}
	}
}

// await notes that an answer is waited for, until done is called.
func (p *process) await() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending++; p.pending == 1 {
		p.since = time.Now()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pending--
	}
}

// close ends the process, and waits for it. One that says nothing more may end by itself, and say why.
func (p *process) close() {
	p.mu.Lock()
	closed, over := p.pending < 0, p.over
	if !closed {
		p.pending = -1 << 30
	}
	p.mu.Unlock()
	if closed {
		<-p.ended
		return
	}
	// Else it is asked to, for it ends its ProxyCommand then.
	if !over && p.cmd.Process.Signal(syscall.SIGTERM) != nil {
		p.kill()
	}
	defer time.AfterFunc(time.Second, routine.Guard(p.kill)).Stop()
	_ = p.cmd.Wait() // why it ended it has said itself
	close(p.ended)
}

// kill ends the process and nothing else.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// reason is what ssh said last, or else an error.
func (p *process) reason(err error) string {
	return cmp.Or(p.errors.last(), err.Error())
}

type counting struct {
	io.Reader
	p *process
}

func (r counting) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.p.since, r.p.over = time.Now(), err != nil
	return n, err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 4096
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(b), nil
}

// last is the last line that says something, without signs that a terminal would obey.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.FieldsFunc(t.text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, string(lines[i])))
		if line != "" {
			return line
		}
	}
	return ""
}

// has reports whether something was said.
func (t *tail) has(words string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Contains(t.text, []byte(words))
}
