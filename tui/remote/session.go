package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/charmbracelet/ssh"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/tui/screen"
)

// Exit statuses of a session.
const (
	exitFailed = 1
	exitUsage  = 64
)

var (
	errLeft      = errors.New("left")
	errWithdrawn = errors.New("the key is no longer let in as before") // the log says why
)

// session is the one channel of a connection. Two goroutines have it: serve, which answers the client's requests until
// the channel closes, and run, which begins with a shell or exec request. What serve prepares it leaves alone once run
// has begun; resizes then go through sizes. serve ends last.
type session struct {
	server *Server
	client *client
	conn   *gossh.ServerConn
	ch     gossh.Channel
	pub    gossh.PublicKey
	key    *keyLine // what pub could do when the session began
	viewer event.Viewer

	terminal terminal
	pty      bool
	sizes    chan screen.Size // the latest, if it has not been taken
	screen   bool             // whether the screen is asked for, not a command
	command  string
	started  bool
	done     chan struct{} // closed when run has returned
	seat     seat

	ctx context.Context
	end context.CancelCauseFunc
}

// session serves a channel. It replaces the library's own handler, which says yes to agent forwarding and to every
// variable, and waits for whoever takes resizes.
func (s *Server) session(_ *ssh.Server, conn *gossh.ServerConn, channel gossh.NewChannel, ctx ssh.Context) {
	c := conn.RemoteAddr().(peer).client
	defer s.guard(c)
	if !c.claim() {
		s.refuseChannel(nil, conn, channel, ctx)
		return
	}
	if !s.enter() {
		channel.Reject(gossh.Prohibited, "newtop: the server is closing")
		return
	}
	defer s.leave()
	pub, _ := ctx.Value(ssh.ContextKeyPublicKey).(gossh.PublicKey)
	key, err := s.keys.find(pub, c.addr) // the key's line may have changed since the handshake
	if err != nil {
		channel.Reject(gossh.Prohibited, "newtop: "+errWithdrawn.Error())
		c.end(err.Error())
		return
	}
	ch, requests, err := channel.Accept()
	if err != nil {
		return
	}
	se := &session{
		server: s, client: c, conn: conn, ch: ch, pub: pub, key: key, sizes: make(chan screen.Size, 1),
		done:   make(chan struct{}),
		viewer: event.Viewer{Name: s.keys.name(key, conn.User()), Key: key.fingerprint, Control: key.control},
	}
	se.ctx, se.end = context.WithCancelCause(s.ctx)
	se.serve(requests)
}

// serve answers requests until the client closes the channel or the connection ends.
func (se *session) serve(requests <-chan *gossh.Request) {
	defer se.end(errLeft)
	alive := make(chan struct{})
	routine.Go(func() {
		defer close(alive)
		defer se.server.guard(se.client)
		se.client.keepAlive(se.ctx, se.conn, keepalive, se.recheck())
	})
	// Whoever asks too much waits, and with them all of their connection.
	allowed := rate.NewLimiter(requestRate, requestBurst)
	for r := range requests {
		if allowed.Wait(se.ctx) != nil {
			continue
		}
		ok := se.request(r)
		r.Reply(ok, nil)
		if ok && (r.Type == "shell" || r.Type == "exec") {
			se.started = true
			routine.Go(se.run)
		}
	}
	se.end(errLeft)
	if se.started {
		<-se.done
	}
	se.client.end("no session")
	<-alive
}

// recheck returns a function that ends the session if its key may no longer do what it could: it was taken out, or has
// expired. Of a file that is just being written lines may be missing for a moment, so that one look is not enough.
func (se *session) recheck() func() {
	missed := 0
	return func() {
		key, err := se.server.keys.find(se.pub, se.client.addr)
		if err == nil && (se.key.control && !key.control || key.noScreen && !se.key.noScreen ||
			key.command != se.key.command) {
			err = errors.New("it may do less now: " + key.position)
		}
		if err == nil {
			missed = 0
		} else if missed++; missed == 2 {
			se.server.log.Warn("key withdrawn", "why", err, "name", se.viewer.Name, "key", se.key.fingerprint, "remote",
				se.client.addr)
			se.end(errWithdrawn)
		}
	}
}

// request says whether a request is granted.
func (se *session) request(r *gossh.Request) bool {
	switch r.Type {
	case "pty-req":
		return se.allocate(r)
	case "window-change":
		var w windowChange
		if !se.pty || !payload(r, &w) {
			return false
		}
		se.resize(se.server.o.Limits.clamp(w.Columns, w.Rows))
		return true
	case "env":
		var e envRequest
		return !se.started && payload(r, &e) && se.terminal.set(e.Name, e.Value)
	case "shell":
		if se.started {
			return false
		}
		se.screen = true
		return se.client.reach(seated)
	case "exec":
		var e execRequest
		if se.started || !payload(r, &e) {
			return false
		}
		se.command = e.Command
		return se.client.reach(seated)
	case "signal", "break", "eow@openssh.com", "keepalive@openssh.com":
		return false
	}
	what := r.Type
	var name execRequest // of a subsystem it is the name
	if r.Type == "subsystem" && payload(r, &name) {
		what += " " + name.Command
	}
	se.server.refused(se.client.addr, "asked for "+clean(what, 80), "user", clean(se.conn.User(), longestName), "key",
		se.key.fingerprint)
	return false
}

func (se *session) allocate(r *gossh.Request) bool {
	var p ptyRequest
	if se.started || se.pty || !payload(r, &p) {
		return false
	}
	if se.key.noScreen {
		se.server.refused(se.client.addr, "asked for a terminal, which "+se.key.position+" forbids", "key",
			se.key.fingerprint)
		return false
	}
	se.pty = true
	se.terminal.term = termName(p.Term)
	se.terminal.size = se.server.o.Limits.clamp(p.Columns, p.Rows)
	return true
}

// resize leaves a size for the screen. A size that nobody has taken yet is replaced.
func (se *session) resize(size screen.Size) {
	if !se.started {
		se.terminal.size = size
		return
	}
	if !se.server.gate.resize(&se.seat, size) {
		se.server.refused(se.client.addr, fmt.Sprintf("no memory is left for %d × %d cells", size.Width, size.Height),
			"name", se.viewer.Name, "key", se.key.fingerprint)
		return
	}
	select {
	case <-se.sizes:
	default:
	}
	se.sizes <- size
}

// run does what was asked for and ends the session.
func (se *session) run() {
	defer close(se.done)
	defer se.server.guard(se.client)
	out := &output{ch: se.ch, stall: se.server.o.Limits.Stall, hangUp: se.client.end, mapped: se.pty}
	status := 0
	switch {
	case se.key.command != "":
		status = se.execute(se.key.command, out)
	case !se.screen:
		status = se.execute(se.command, out)
	case !se.pty:
		status = se.complain("newtop: the screen needs a terminal; expected ssh -t, or the command status", exitUsage)
	default:
		status = se.watch(out)
	}
	cut := time.AfterFunc(se.server.o.Limits.Stall, routine.Guard(func() { se.client.Close() }))
	se.ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{uint32(status)}))
	se.ch.Close()
	cut.Reset(parting)
}

// execute answers a command.
func (se *session) execute(command string, out io.Writer) int {
	s := se.server
	var line string
	switch strings.Join(strings.Fields(command), " ") {
	case statusCommand:
		line = s.news.line()
	case statusJSONCommand:
		line = s.news.json()
	default:
		s.refused(se.client.addr, "asked to run "+clean(command, 80), "user", clean(se.conn.User(), longestName), "key",
			se.key.fingerprint)
		return se.complain("newtop: unknown command; expected status or status --json, or no command for the screen",
			exitUsage)
	}
	if _, err := io.WriteString(out, line+"\n"); err != nil {
		return exitFailed
	}
	s.log.Debug("status", "name", se.viewer.Name, "key", se.key.fingerprint, "remote", se.client.addr)
	return 0
}

// watch shows the screen.
func (se *session) watch(out *output) int {
	s := se.server
	if reason := s.gate.occupy(&se.seat, se.key.fingerprint, se.terminal.size); reason != "" {
		s.refused(se.client.addr, reason, "name", se.viewer.Name, "key", se.key.fingerprint)
		return se.complain("newtop: "+reason, exitFailed)
	}
	defer func() {
		s.gate.rise(&se.seat)
		s.memory.give()
	}()
	se.viewer.Since = time.Now()
	// A screen that is not gone a while after its session ended is cut off.
	defer context.AfterFunc(se.ctx, routine.Guard(func() {
		time.AfterFunc(closingText, routine.Guard(func() { se.client.end(se.reason(nil)) }))
	}))()
	in := newInput(se.ctx, se.ch, s.o.Limits.Idle, se.end)
	defer in.stop()
	role := "viewer"
	if se.viewer.Control {
		role = "control"
	}
	who := []any{"name", se.viewer.Name, "key", se.key.fingerprint, "role", role, "remote", se.client.addr}
	size := se.terminal.size
	s.log.Info("join", append(who[:len(who):len(who)], "user", clean(se.conn.User(), longestName), "term",
		se.terminal.term,
		"size", fmt.Sprintf("%dx%d", size.Width, size.Height), "viewers", s.gate.sitting())...)
	err := s.show(se.ctx, &viewer{
		info: se.viewer, environ: se.terminal.environ(), size: size, resizes: se.sizes,
		in: in, out: out, hangUp: se.client.end,
	})
	s.log.Info("leave", append(who[:len(who):len(who)], "why", se.reason(err), "after",
		time.Since(se.viewer.Since).Round(time.Second),
		"written", se.client.written.Load(), "viewers", s.gate.sitting()-1)...)
	if err != nil && se.ctx.Err() == nil {
		return se.complain("newtop: "+strings.TrimPrefix(clean(err.Error(), longestLine), "newtop: "), exitFailed)
	}
	return 0
}

// reason says why a screen is gone.
func (se *session) reason(err error) string {
	cause := context.Cause(se.ctx)
	var network *net.OpError
	switch reason := se.client.endReason(); {
	case reason != "":
		return reason
	case cause != nil && !errors.Is(cause, errLeft):
		return clean(cause.Error(), longestLine)
	case cause != nil, errors.As(err, &network):
		return "the connection ended"
	case err != nil:
		return clean(err.Error(), longestLine)
	}
	return "quit"
}

// complain puts a line on the client's standard error and returns the status.
func (se *session) complain(line string, status int) int {
	e := &output{ch: se.ch.Stderr(), stall: se.server.o.Limits.Stall, hangUp: se.client.end, mapped: se.pty}
	io.WriteString(e, line+"\n")
	return status
}
