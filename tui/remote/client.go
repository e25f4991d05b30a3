package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/log/v2"
	"github.com/charmbracelet/ssh"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"

	"newtop/internal/routine"
	"newtop/tui/dashboard/desk"
)

// Server is a listening server. Its methods may be called from any goroutine.
type Server struct {
	run      Run
	o        Options // without zeros
	log      *log.Logger
	keys     *keyring
	gate     *gate
	signer   gossh.Signer
	ssh      *ssh.Server
	listener *net.TCPListener
	serving  atomic.Bool
	ctx      context.Context // Serve's
	news     *news
	room     *room
	common   *desk.Common // to all screens
	memory   *memory

	mu       sync.Mutex
	clients  map[*client]struct{}
	sessions int
	closing  bool
	quiet    chan struct{} // closed when no session is left of a server that is closing
}

// client is a connection, from accept to close. ssh.Server reads and writes it, and closes it whatever happens.
type client struct {
	net.Conn
	server *Server
	addr   netip.Addr
	knock  *knock
	login  *time.Timer // ends a connection that has no session in time

	read, written atomic.Int64  // bytes
	channels      atomic.Int64  // that were refused
	requests      *rate.Limiter // about the connection as a whole
	bytes         *rate.Limiter // that are read
	exchanges     *rate.Limiter // of keys, after login

	mu        sync.Mutex
	stage     stage
	exchanged bool     // whether there was a key exchange
	claimed   bool     // whether the one session is taken
	user      string   // what the client calls itself
	tried     []string // fingerprints of keys that were refused, and why
	reason    string   // the reason why the connection was ended by us; the first one stays
}

// stage is how far a connection has come.
type stage uint8

const (
	knocking stage = iota // not authenticated
	admitted              // authenticated
	seated                // with a session
	closed
)

// peer is a client's address, and leads back to the client: of a failed handshake ssh.Server tells no more than the
// address.
type peer struct {
	net.Addr
	client *client
}

// RemoteAddr returns a peer.
func (c *client) RemoteAddr() net.Addr { return peer{c.Conn.RemoteAddr(), c} }

// Read counts, and reads no faster than clientRate. What a client sends costs time before it is looked at, logged in or
// not: it is decrypted, and some of it asks for new session keys.
func (c *client) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), clientChunk)])
	if c.read.Add(int64(n)) > loginBytes && c.before(admitted) {
		c.end(fmt.Sprintf("sent more than %d kB before it logged in", loginBytes>>10))
		return 0, net.ErrClosed
	}
	time.Sleep(c.bytes.ReserveN(time.Now(), n).Delay())
	return n, err
}

// Write fails if the network takes nothing for Limits.Stall.
func (c *client) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.server.o.Limits.Stall)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		c.end("stalled: took no output for " + c.server.o.Limits.Stall.String())
	}
	return n, err
}

// The deadlines are the client's own: ssh.Server would clear them at every read.

func (c *client) SetDeadline(time.Time) error      { return nil }
func (c *client) SetReadDeadline(time.Time) error  { return nil }
func (c *client) SetWriteDeadline(time.Time) error { return nil }

// end cuts the connection. Of several reasons the first is the one that is reported.
func (c *client) end(reason string) {
	c.mu.Lock()
	if c.reason == "" && c.stage != closed {
		c.reason = reason
	}
	c.mu.Unlock()
	c.Close()
}

// Close may be called more than once, from any goroutine.
func (c *client) Close() error {
	c.mu.Lock()
	was := c.stage
	c.stage = closed
	c.mu.Unlock()
	if was == closed {
		return nil
	}
	c.login.Stop()
	if was < seated {
		c.server.gate.greeted(c.knock)
	}
	err := c.Conn.Close()
	c.server.left(c)
	if was == admitted {
		switch reason := c.endReason(); reason {
		case serverClosed:
		case "":
			c.server.log.Debug("left without a session", "remote", c.addr)
		default:
			c.server.refused(c.addr, reason)
		}
	}
	return err
}

// reach moves the client on, and says whether it is still there.
func (c *client) reach(to stage) bool {
	c.mu.Lock()
	was := c.stage
	if was < to {
		c.stage = to
	}
	c.mu.Unlock()
	if was < admitted && to == admitted {
		c.server.gate.loggedIn(c.knock)
	}
	if was < seated && to == seated {
		c.server.gate.greeted(c.knock)
		c.login.Stop()
	}
	return was != closed
}

// before says whether the client has not come as far as a stage.
func (c *client) before(s stage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage < s
}

// claim takes the one session of the connection.
func (c *client) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed {
		return false
	}
	c.claimed = true
	return true
}

// refuse keeps why a key was not let in.
func (c *client) refuse(user, fingerprint, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = user
	if line := fingerprint + " " + reason; len(c.tried) < authTries && !slices.Contains(c.tried, line) {
		c.tried = append(c.tried, line)
	}
}

// endReason is why the connection ended, as far as that was our doing.
func (c *client) endReason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// keepAlive calls a function and asks the client from time to time whether it is there. It returns when the connection
// has ended.
func (c *client) keepAlive(ctx context.Context, conn gossh.Conn, every time.Duration, also func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		also()
		late := time.AfterFunc(keepalivesLost*every, routine.Guard(func() {
			c.end("no answer for " + (keepalivesLost * every).String())
		}))
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil) // no is an answer too
		late.Stop()
		if err != nil {
			return
		}
	}
}
