package remote_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"newtop/tui/remote"
)

// asking is where a client of x/crypto/ssh waits for ever when its connection ends just after it asked for a channel. The server
// opens none, so whoever waits there is the test's own.
const asking = "golang.org/x/crypto/ssh.(*mux).openChannel"

var connects = flag.Int("connects", 40, "how many clients come and go in TestNothingIsLeft")

// TestNothingIsLeft lets clients come and go in every way and counts goroutines and bytes before and after.
func TestNothingIsLeft(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction(asking))
	s := serve(t, remote.Options{})
	defer s.close()
	manners := []func(s *stage){
		func(s *stage) { s.dial(s.look) },
		func(s *stage) { s.alive() },
		func(s *stage) {
			c := s.open(s.look, 80, 24)
			c.sees("spirals")
			c.press("q")
			c.ends()
		},
		func(s *stage) { // hangs up while the screen is being drawn
			s.open(s.look, 60, 16)
		},
		func(s *stage) { // a stranger
			if c, err := ssh.Dial("tcp", s.server.Addr().String(), s.config(ssh.PublicKeys(s.stranger))); err == nil {
				t.Error("a stranger is let in")
				c.Close()
			}
		},
		func(s *stage) { // hangs up before anything is said
			if c, err := net.Dial("tcp", s.server.Addr().String()); err == nil {
				c.Close()
			}
		},
		func(s *stage) { // asks for too much and breaks off
			client := s.dial(s.look)
			for range 20 {
				go client.OpenChannel("session", nil)
			}
			client.Close()
		},
	}
	comeAndGo := func(times int) {
		var next sync.Mutex
		n := 0
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				for {
					next.Lock()
					i := n
					n++
					next.Unlock()
					if i >= times {
						return
					}
					visit := passing{TB: t}
					guest := *s
					guest.TB = &visit
					manners[i%len(manners)](&guest)
					visit.over()
				}
			})
		}
		clients.Wait()
		s.empties()
	}
	comeAndGo(2 * len(manners)) // what is made once is made
	goroutines, least := s.settled()
	comeAndGo(*connects)
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		now, heap := s.settled()
		if now <= goroutines && heap < least+2<<20 {
			t.Logf("%d clients: %d goroutines before, %d after; heap %d kB before, %d after", *connects, goroutines, now, least/1024, heap/1024)
			break
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d clients leave %d goroutines where there were %d, and %d kB where there were %d\n%s", *connects, now, goroutines, heap/1024, least/1024,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// passing is a test that is over before the one that it is part of.
type passing struct {
	testing.TB
	last []func()
}

func (p *passing) Cleanup(f func()) { p.last = append(p.last, f) }

func (p *passing) over() {
	for _, f := range slices.Backward(p.last) {
		f()
	}
}

// settled counts goroutines, but those that ask, and the bytes of the heap that are in use. What clients left in the log does not count.
func (s *stage) settled() (goroutines int, heap int64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return runtime.NumGoroutine() - bytes.Count(stacks, []byte(asking+"(")), int64(m.HeapAlloc) - int64(s.log.text.Cap())
}

// seen waits until so many look.
func (s *stage) seen(viewers int) {
	s.Helper()
	for deadline := time.Now().Add(patience); s.viewers() != viewers; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("%d viewers, expected %d:\n%s", s.viewers(), viewers, s.log)
		}
	}
}

// TestSlowReader has a client that takes nothing from its connection and makes the server draw all the same.
func TestSlowReader(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Stall: 300 * time.Millisecond}})
	other := s.open(s.steer, 80, 24)
	other.sees("spirals")

	tcp, err := net.Dial("tcp", s.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tcp.(*net.TCPConn).SetReadBuffer(4096)
	gate := &gated{Conn: tcp, open: make(chan struct{})}
	conn, channels, requests, err := ssh.NewClientConn(gate, s.server.Addr().String(), s.config(ssh.PublicKeys(s.look)))
	if err != nil {
		t.Fatal(err)
	}
	client := ssh.NewClient(conn, channels, requests)
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.RequestPty("xterm-256color", 200, 500, nil); err != nil {
		t.Fatal(err)
	}
	keys, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	s.seen(2)
	gate.shut()
	defer close(gate.open)
	deadline := time.Now().Add(patience)
	for i := 0; s.viewers() > 1; i++ {
		io.WriteString(keys, "T") // another theme is another screen
		time.Sleep(40 * time.Millisecond)
		if i%5 == 0 { // meanwhile the other's keys take effect
			before := s.epoch()
			other.press("s")
			for s.epoch() == before && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the slow reader is still there:\n%s", s.log)
		}
	}
	other.sees(fmt.Sprintf(`epoch +%d\b`, s.epoch()))
}

// gated is a connection from which nothing is read once it is shut.
type gated struct {
	net.Conn
	mu     sync.Mutex
	closed bool
	open   chan struct{}
}

func (g *gated) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gated) Read(p []byte) (int, error) {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed {
		<-g.open
		return 0, net.ErrClosed
	}
	return g.Conn.Read(p)
}

// TestEndOfTheServer ends a server while many look: their terminals are put back and they read why.
func TestEndOfTheServer(t *testing.T) {
	s := serve(t, remote.Options{})
	a, b := s.open(s.look, 80, 24), s.open(s.steer, 120, 40)
	a.sees("spirals")
	b.sees("spirals")
	s.close()
	for _, c := range []*terminal{a, b} {
		raw, _ := c.ends()
		if at := strings.LastIndex(raw, "\x1b[?1049l"); !strings.HasSuffix(raw, "newtop: the show is over\r\n") || at > strings.LastIndex(raw, "newtop: ") {
			t.Errorf("the terminal does not say why: …%q", raw[max(0, len(raw)-300):])
		}
		if !strings.Contains(raw, "\x1b[?1049l") || !strings.Contains(raw, "\x1b[?25h") {
			t.Errorf("the terminal is not put back: …%q", raw[max(0, len(raw)-300):])
		}
	}
	if c, err := net.DialTimeout("tcp", s.server.Addr().String(), time.Second); err == nil {
		t.Error("the server still listens")
		c.Close()
	}
}
