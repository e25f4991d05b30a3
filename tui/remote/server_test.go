package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"charm.land/log/v2"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/screen"
)

// still is a run that nothing happens in.
type still struct{ delta feed.Delta }

func (r *still) SetAudience(*event.Audience) {}
func (r *still) Feed() feed.Feed             { return &stillFeed{delta: &r.delta} }

type stillFeed struct{ delta *feed.Delta }

func (f *stillFeed) Do(context.Context, event.Command) error { return feed.ErrEnded }
func (f *stillFeed) Close()                                  {}
func (f *stillFeed) Wait(ctx context.Context) (feed.Delta, error) {
	if d := f.delta; d != nil {
		f.delta = nil
		return *d, nil
	}
	<-ctx.Done()
	return feed.Delta{}, ctx.Err()
}

// TestListenRefuses holds that what can't be served is told in one line, as wrong usage where it is that.
func TestListenRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	keys := write(t, filepath.Join(dir, "keys"), line(newSigner(t), "ann"))
	none := write(t, filepath.Join(dir, "none"), "# nobody\nrubbish\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		o     Options
		usage bool
		want  string
	}{
		{Options{Address: "0.0.0.0:0"}, true, "--authorized-keys FILE"},
		{Options{Address: ":0"}, true, "--authorized-keys FILE"},
		{Options{Address: "[::]:0"}, true, "--authorized-keys FILE"},
		{Options{}, true, "authorized_keys"},
		{Options{Address: "localhost"}, true, "HOST:PORT"},
		{Options{Address: "127.0.0.1:99999", AuthorizedKeys: keys}, true, "HOST:PORT"},
		{Options{AuthorizedKeys: none}, true, "usable key"},
		{Options{AuthorizedKeys: filepath.Join(dir, "missing")}, true, "no such file"},
		{Options{AuthorizedKeys: keys, Control: filepath.Join(dir, "missing")}, true, "--control"},
		{Options{AuthorizedKeys: keys, HostKey: none}, true, "--host-key"},
		{Options{Address: taken.Addr().String(), AuthorizedKeys: keys}, false, "address already in use"},
	} {
		or(&c.o.Address, "127.0.0.1:0")
		or(&c.o.HostKey, filepath.Join(dir, "host"))
		_, err := Listen(&still{}, c.o)
		var usage *trainer.ConfigError
		if err == nil || errors.As(err, &usage) != c.usage || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v; expected %q", c.o, err, c.want)
		}
	}
	// With a file of those who steer, an address that others reach is fine.
	s, err := Listen(&still{}, Options{Address: "0.0.0.0:0", Control: keys, HostKey: filepath.Join(dir, "host")})
	if err != nil {
		t.Fatal(err)
	}
	s.listener.Close()
}

// A client logs in, asks for the status and leaves; the server ends, and nothing is left of either.
func TestStatusOverSSH(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	ann, robot := newSigner(t), newSigner(t)
	var journal bytes.Buffer
	s, err := Listen(&still{feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "letters"}}}}, Options{
		Address: "127.0.0.1:0", HostKey: filepath.Join(dir, "host"), Log: log.New(&journal),
		AuthorizedKeys: write(t, filepath.Join(dir, "keys"), line(ann, "ann")+`restrict,command="status" `+line(robot, "robot")),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	ask := func(key gossh.Signer, command string) (out, problem string, err error) {
		c, err := gossh.Dial("tcp", s.Addr().String(), &gossh.ClientConfig{
			User: "ann\n\x1b[31m", Auth: []gossh.AuthMethod{gossh.PublicKeys(key)}, HostKeyCallback: gossh.FixedHostKey(s.signer.PublicKey()),
		})
		if err != nil {
			return "", "", err
		}
		defer c.Close()
		if v := string(c.ServerVersion()); v != "SSH-2.0-newtop" {
			t.Errorf("the server is %q", v)
		}
		se, err := c.NewSession()
		if err != nil {
			return "", "", err
		}
		var a, b bytes.Buffer
		se.Stdout, se.Stderr = &a, &b
		err = se.Run(command)
		return a.String(), b.String(), err
	}
	if out, _, err := ask(ann, "status"); !strings.HasPrefix(out, "letters: ") || strings.Count(out, "\n") != 1 || err != nil {
		t.Errorf("status: %q, %v", out, err)
	}
	if out, _, err := ask(robot, "status --json"); !strings.HasPrefix(out, "letters: ") || err != nil {
		t.Errorf("a key that is only for the status: %q, %v", out, err)
	}
	var exit *gossh.ExitError
	if _, problem, err := ask(ann, "sh\n-c\x1b[2J id"); !errors.As(err, &exit) || exit.ExitStatus() != exitUsage || !strings.Contains(problem, "expected status") {
		t.Errorf("a shell: %q, %v", problem, err)
	}
	stop(errors.New("the run was interrupted"))
	if err := <-served; err != nil {
		t.Error(err)
	}
	if text := journal.String(); strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 3 || !strings.Contains(text, "the run was interrupted") {
		t.Errorf("the log:\n%s", text)
	}
	if s.Addr() == nil || !strings.HasPrefix(s.Fingerprint(), "SHA256:") {
		t.Error("no address or fingerprint after the end")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second Serve is no panic")
		}
	}()
	s.Serve(t.Context())
}

// Of sizes that come faster than they are taken the newest stays.
func TestResizesKeepNewest(t *testing.T) {
	s := &Server{o: Options{Limits: Limits{}.normal()}, gate: newGate(Limits{}.normal())}
	se := &session{server: s, sizes: make(chan screen.Size, 1), pty: true, started: true}
	for w := range uint32(1000) {
		if !se.request(&gossh.Request{Type: "window-change", Payload: gossh.Marshal(windowChange{Columns: w + 1, Rows: 24})}) {
			t.Fatal("a new size is refused")
		}
	}
	if got, want := <-se.sizes, (screen.Size{Width: 500, Height: 24}); got != want {
		t.Errorf("%v, expected %v", got, want)
	}
	for _, r := range []gossh.Request{
		{Type: "window-change", Payload: []byte{1}},
		{Type: "pty-req", Payload: gossh.Marshal(ptyRequest{Term: "xterm"})},
		{Type: "env", Payload: gossh.Marshal(envRequest{"LANG", "C"})},
		{Type: "shell"},
		{Type: "exec", Payload: gossh.Marshal(execRequest{"status"})},
	} {
		if se.request(&r) {
			t.Errorf("%s is granted in a session that has begun", r.Type)
		}
	}
}

// mute is a connection that answers nothing until it is closed.
type mute struct {
	gossh.Conn
	closed chan struct{}
}

func (m mute) SendRequest(string, bool, []byte) (bool, []byte, error) {
	<-m.closed
	return false, nil, io.EOF
}

func TestKeepAlive(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s := &Server{gate: newGate(Limits{}.normal()), log: log.New(io.Discard)}
	c := &client{Conn: near, server: s, addr: netip.MustParseAddr("10.0.0.1"), stage: seated, login: time.NewTimer(time.Hour)}
	m := mute{closed: make(chan struct{})}
	go func() {
		io.Copy(io.Discard, far)
		close(m.closed)
	}()
	c.keepAlive(t.Context(), m, 20*time.Millisecond, func() {})
	if reason := c.endReason(); reason != "no answer for 60ms" {
		t.Errorf("ended as %q", reason)
	}
}
