package remote_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"newtop/tui/remote"
	"newtop/tui/screen"
)

// TestWhoIsLetIn tries every way to log in that the protocol has.
func TestWhoIsLetIn(t *testing.T) {
	s := serve(t, remote.Options{})
	asked := false
	ask := func(string, string, []string, []bool) ([]string, error) {
		asked = true
		return nil, nil
	}
	for _, c := range []struct {
		name string
		auth []ssh.AuthMethod
		in   bool
	}{
		{"a key that may look", []ssh.AuthMethod{ssh.PublicKeys(s.look)}, true},
		{"a key that may steer", []ssh.AuthMethod{ssh.PublicKeys(s.steer)}, true},
		{"the right key after others", []ssh.AuthMethod{ssh.PublicKeys(newKey(t), newKey(t), s.look)}, true},
		{"another key", []ssh.AuthMethod{ssh.PublicKeys(s.stranger)}, false},
		{"many other keys", []ssh.AuthMethod{ssh.PublicKeys(newKey(t), newKey(t), newKey(t), newKey(t), newKey(t), newKey(t), newKey(t))}, false},
		{"nothing", nil, false},
		{"a password", []ssh.AuthMethod{ssh.Password("secret")}, false},
		{"no password", []ssh.AuthMethod{ssh.Password("")}, false},
		{"keyboard-interactive", []ssh.AuthMethod{ssh.KeyboardInteractive(ask)}, false},
		{"another key, then a password", []ssh.AuthMethod{ssh.PublicKeys(s.stranger), ssh.Password("secret"), ssh.KeyboardInteractive(ask)}, false},
		{"the public half of the right key", []ssh.AuthMethod{ssh.PublicKeys(half{s.look.PublicKey(), s.stranger})}, false},
	} {
		client, err := ssh.Dial("tcp", s.server.Addr().String(), s.config(c.auth...))
		if (err == nil) != c.in {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			client.Close()
			continue
		}
		// The client says which methods it tried: those that the server does not offer are not among them.
		if text := err.Error(); strings.Contains(text, "password") || strings.Contains(text, "keyboard") {
			t.Errorf("%s: the server offers it: %v", c.name, err)
		}
	}
	if asked {
		t.Error("the server asked a question")
	}
	s.until(ssh.FingerprintSHA256(s.stranger.PublicKey()))
	if strings.Contains(s.log.String(), "secret") {
		t.Errorf("a password is in the log:\n%s", s.log)
	}
}

// half shows one key and signs with another.
type half struct {
	public ssh.PublicKey
	signer ssh.Signer
}

func (h half) PublicKey() ssh.PublicKey                              { return h.public }
func (h half) Sign(r io.Reader, data []byte) (*ssh.Signature, error) { return h.signer.Sign(r, data) }

// TestNoOtherCommand runs what is no command of the server's.
func TestNoOtherCommand(t *testing.T) {
	s := serve(t, remote.Options{})
	for _, command := range []string{
		"sh -c id", "id", "status; id", "status --json; id", "status $(id)", "scp -t .", "rsync --server . .", "git-upload-pack x",
		"/bin/sh", "STATUS", "status --xml", "status status", "\x1b[2J", strings.Repeat("x", 30_000), "statu\x00s", "",
	} {
		for _, key := range []ssh.Signer{s.look, s.steer} {
			session, err := s.dial(key).NewSession()
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			session.Stdout, session.Stderr = &out, &errs
			err = session.Run(command)
			var exit *ssh.ExitError
			if !errors.As(err, &exit) || exit.ExitStatus() != 64 {
				t.Errorf("%.30q: %v", command, err)
			}
			if out.Len() > 0 || strings.Contains(errs.String(), "uid=") || strings.Count(errs.String(), "\n") != 1 || errs.Len() > 300 || strings.Contains(errs.String(), "\x1b") {
				t.Errorf("%.30q: printed %q, and %q as an error", command, &out, &errs)
			}
		}
	}
	if strings.Contains(s.log.String(), "\x1b") || strings.Contains(s.log.String(), strings.Repeat("x", 1000)) {
		t.Errorf("a command's text is in the log as it came")
	}
}

// TestNoOtherChannel opens what is no session.
func TestNoOtherChannel(t *testing.T) {
	s := serve(t, remote.Options{})
	s.begun("spirals")
	sink, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	go func() {
		if c, err := sink.Accept(); err == nil {
			t.Error("the server connected to somewhere")
			c.Close()
		}
	}()
	for _, key := range []ssh.Signer{s.look, s.steer} {
		client := s.dial(key)
		if c, err := client.Dial("tcp", sink.Addr().String()); err == nil {
			t.Error("the server forwards to an address")
			c.Close()
		}
		if c, err := client.Dial("unix", "/var/run/docker.sock"); err == nil {
			t.Error("the server forwards to a socket")
			c.Close()
		}
		if l, err := client.Listen("tcp", "127.0.0.1:0"); err == nil {
			t.Error("the server listens for a client")
			l.Close()
		}
		if l, err := client.Listen("unix", "/tmp/newtop-test.sock"); err == nil {
			t.Error("the server listens on a socket for a client")
			l.Close()
		}
		for _, kind := range []string{"x11", "auth-agent@openssh.com", "tun@openssh.com", "shell", "", strings.Repeat("y", 20_000)} {
			if c, _, err := client.OpenChannel(kind, nil); err == nil {
				t.Errorf("the server opens a channel %.20q", kind)
				c.Close()
			}
		}
		for _, kind := range []string{"tcpip-forward", "cancel-tcpip-forward", "no-more-sessions@openssh.com", "hostkeys-prove-00@openssh.com", "shutdown", ""} {
			if ok, _, err := client.SendRequest(kind, true, []byte("\x00\x00\x00\x00")); ok || err != nil {
				t.Errorf("global request %q: %t, %v", kind, ok, err)
			}
		}
		session, err := client.NewSession()
		if err != nil {
			t.Errorf("after all that there is no session: %v", err)
			continue
		}
		if out, err := session.Output("status"); err != nil || !bytes.Contains(out, []byte("spirals")) {
			t.Errorf("after all that status is %q, %v", out, err)
		}
	}
}

// TestNoOtherRequest asks a session for what it does not do.
func TestNoOtherRequest(t *testing.T) {
	s := serve(t, remote.Options{})
	client := s.dial(s.steer)
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.RequestAgentForwarding(session); err == nil {
		t.Error("the server forwards an agent")
	}
	type x11 struct {
		Single           bool
		Protocol, Cookie string
		Screen           uint32
	}
	for _, c := range []struct {
		kind    string
		payload []byte
	}{
		{"x11-req", ssh.Marshal(x11{Protocol: "MIT-MAGIC-COOKIE-1", Cookie: "00"})},
		{"subsystem", ssh.Marshal(struct{ Name string }{"sftp"})},
		{"subsystem", ssh.Marshal(struct{ Name string }{"netconf"})},
		{"subsystem", []byte{0, 0}},
		{"env", ssh.Marshal(struct{ Name, Value string }{"LD_PRELOAD", "/tmp/x.so"})},
		{"env", ssh.Marshal(struct{ Name, Value string }{"NEWTOP_ROLE", "control"})},
		{"env", ssh.Marshal(struct{ Name, Value string }{"NEWTOP_CONFIG_DIR", "/tmp"})},
		{"env", ssh.Marshal(struct{ Name, Value string }{"PATH", "/tmp"})},
		{"env", []byte{0xff, 0xff, 0xff, 0xff}},
		{"exec", []byte{0xff, 0xff, 0xff, 0xff}},
		{"pty-req", []byte{1, 2, 3}},
		{"window-change", ssh.Marshal(struct{ W, H, X, Y uint32 }{10, 10, 0, 0})},
		{"break", ssh.Marshal(struct{ Length uint32 }{500})},
		{"unheard-of@example.com", nil},
	} {
		if ok, err := session.SendRequest(c.kind, true, c.payload); ok {
			t.Errorf("%s %q is taken", c.kind, c.payload)
		} else if err != nil {
			// A session may end over what can't be meant well; the next goes on with another.
			client = s.dial(s.steer)
			if session, err = client.NewSession(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c, err := client.NewSession(); err == nil {
		t.Error("a connection has a second session")
		c.Close()
	}
}

// TestWithoutATerminal asks for the screen where there is none to draw on.
func TestWithoutATerminal(t *testing.T) {
	s := serve(t, remote.Options{})
	session, err := s.dial(s.look).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	session.Stdout, session.Stderr = &out, &errs
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	var exit *ssh.ExitError
	if err := session.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 64 || !strings.Contains(errs.String(), "-t") || out.Len() > 0 {
		t.Errorf("%v, printed %q, and %q as an error", err, &out, &errs)
	}
}

// TestRoles has a viewer and one who steers look at the same run from screens of different size: what one does the other
// sees, and what the other tries is refused.
func TestRoles(t *testing.T) {
	s := serve(t, remote.Options{})
	sam := s.open(s.steer, 120, 40)
	lou := s.open(s.look, 80, 24)
	sam.sees("spirals", "paused")
	lou.sees("spirals", "paused")
	for range 3 {
		before := s.epoch()
		sam.press("s")
		for deadline := time.Now().Add(patience); s.epoch() == before && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
	epoch := `epoch +` + s.epochText() + `\b`
	sam.sees(epoch)
	lou.sees(epoch)
	before := s.epoch()
	lou.press("s")
	lou.sees("read-only")
	lou.press("7")
	lou.press(" ")
	if after := s.epoch(); after != before {
		t.Errorf("a viewer took the run from epoch %d to %d", before, after)
	}
	lou.sees("paused")
	lou.press("q")
	if _, err := lou.ends(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	sam.press("q")
	if _, err := sam.ends(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	s.until("sam", ssh.FingerprintSHA256(s.steer.PublicKey()))
	if phase := s.status().Phase.String(); phase != "paused" {
		t.Errorf("after all have left the run is %s", phase)
	}
}

// TestTooMany opens more sessions than there may be, and more connections than a key may have.
func TestTooMany(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Sessions: 3, SessionsPerKey: 2}})
	a, b := s.open(s.look, 80, 24), s.open(s.look, 80, 24)
	a.sees("spirals")
	b.sees("spirals")
	refused := func(key ssh.Signer) {
		t.Helper()
		client, err := ssh.Dial("tcp", s.server.Addr().String(), s.config(ssh.PublicKeys(key)))
		if err != nil {
			return
		}
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			return
		}
		session.RequestPty("xterm", 24, 80, nil)
		if session.Shell() == nil && session.Wait() == nil {
			t.Error("one too many is let in")
		}
	}
	refused(s.look)
	c := s.open(s.steer, 80, 24)
	c.sees("spirals")
	refused(s.steer)
	a.hangUp()
	s.until("leave")
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if s.viewers() == 2 {
			break
		}
	}
	s.open(s.steer, 80, 24).sees("spirals")
}

// TestStrangeConnections has clients that say nothing, or nothing that is SSH.
func TestStrangeConnections(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Login: 300 * time.Millisecond}})
	var strange sync.WaitGroup
	for _, hello := range []string{"", "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "SSH-1.5-x\r\n", "SSH-2.0-x\r\n\x7f\xff\xff\xff\xff", strings.Repeat("a", 100_000)} {
		c, err := net.Dial("tcp", s.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		strange.Go(func() {
			defer c.Close()
			io.WriteString(c, hello)
			c.SetReadDeadline(time.Now().Add(patience))
			var timeout net.Error
			if _, err := io.Copy(io.Discard, c); errors.As(err, &timeout) && timeout.Timeout() {
				t.Errorf("%.20q: the connection stays open", hello)
			}
		})
	}
	strange.Wait()
	// One who logs in and then opens no session is not waited for either.
	idle := s.dial(s.look)
	ended := make(chan struct{})
	go func() {
		idle.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("a connection without a session stays open")
	}
	s.alive()
}

// TestSizeIsBounded has a client ask for a terminal of a million cells.
func TestSizeIsBounded(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Size: screen.Size{Width: 90, Height: 30}}})
	c := s.open(s.look, 300, 100)
	text := c.sees("spirals")
	for y, line := range strings.Split(text, "\n") {
		cells := strings.TrimRight(line, " ")
		if y >= 30 && cells != "" || len([]rune(cells)) > 90 {
			t.Errorf("line %d of a bounded screen: %q", y, cells)
		}
	}
}
