package remote

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"charm.land/log/v2"
	gossh "golang.org/x/crypto/ssh"
)

// TestBrokenSession: what breaks while a client is served ends their connection and is logged.
func TestBrokenSession(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	var text bytes.Buffer
	s := &Server{log: log.New(&text), clients: map[*client]struct{}{}, gate: newGate(Limits{}.normal())}
	c := &client{Conn: near, server: s, stage: seated, login: time.NewTimer(time.Hour)}
	se := &session{server: s, client: c, done: make(chan struct{}), screen: true, key: &keyLine{}, ch: brokenChannel{}}
	go se.run()
	select {
	case <-se.done:
	case <-time.After(time.Minute):
		t.Fatal("the session does not end")
	}
	if c.endReason() != "the session broke" || !bytes.Contains(text.Bytes(), []byte("broken channel")) || !bytes.Contains(text.Bytes(), []byte("guard_test")) {
		t.Errorf("%q, logged %q", c.endReason(), &text)
	}
}

// brokenChannel breaks whatever is asked of it.
type brokenChannel struct{ gossh.Channel }

func (brokenChannel) Read([]byte) (int, error)                       { panic("broken channel") }
func (brokenChannel) Write([]byte) (int, error)                      { panic("broken channel") }
func (brokenChannel) SendRequest(string, bool, []byte) (bool, error) { panic("broken channel") }
func (brokenChannel) Close() error                                   { panic("broken channel") }
func (brokenChannel) Stderr() io.ReadWriter                          { panic("broken channel") }
