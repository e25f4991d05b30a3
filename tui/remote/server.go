package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"charm.land/log/v2"
	"github.com/charmbracelet/ssh"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/time/rate"

	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
)

const (
	defaultAddress = "127.0.0.1:2222"
	serverClosed   = "the server closed"
)

// Listen checks the options, reads or makes the host key and listens. It returns a *trainer.ConfigError for a flag that
// can't be, and for an address that is not loopback's without a file of keys. An address that is in use is another
// error.
func Listen(run Run, o Options) (*Server, error) {
	or(&o.Address, defaultAddress)
	o.Limits = o.Limits.normal()
	if o.Log == nil {
		o.Log = log.New(io.Discard)
	}
	address, err := net.ResolveTCPAddr("tcp", o.Address)
	if err != nil {
		return nil, &trainer.ConfigError{Field: "--listen", Value: o.Address,
			Expected: "HOST:PORT, as " + defaultAddress + ": " + clean(err.Error(), longestLine)}
	}
	keys, err := o.keyring(address)
	if err != nil {
		return nil, err
	}
	signer, err := hostKey(o.HostKey)
	if err != nil {
		return nil, err
	}
	s := &Server{
		run: run, o: o, log: o.Log, keys: keys, gate: newGate(o.Limits), signer: signer,
		clients: map[*client]struct{}{}, quiet: make(chan struct{}),
	}
	s.ssh = s.newSSH()
	if s.listener, err = net.ListenTCP("tcp", address); err != nil {
		var call *os.SyscallError
		if errors.As(err, &call) {
			err = call.Err
		}
		return nil, fmt.Errorf("listen %s: %w", o.Address, err)
	}
	return s, nil
}

// keyring reads the files of keys.
func (o *Options) keyring(address *net.TCPAddr) (*keyring, error) {
	r := &keyring{log: o.Log, now: time.Now}
	look := o.AuthorizedKeys
	if look == "" && address.IP.IsLoopback() {
		if home, err := os.UserHomeDir(); err == nil {
			look = filepath.Join(home, ".ssh", "authorized_keys")
			if _, err := os.Stat(look); err != nil && o.Control != "" {
				look = ""
			}
		}
	}
	if o.Control != "" {
		r.files = append(r.files, &keyFile{path: o.Control, flag: "--control", control: true})
	}
	if look != "" {
		r.files = append(r.files, &keyFile{path: look, flag: "--authorized-keys"})
	}
	if len(r.files) == 0 {
		return nil, &trainer.ConfigError{Field: "--listen", Value: o.Address,
			Expected: "--authorized-keys FILE with it, since others can reach this address; or a loopback address, " +
				"as " + defaultAddress}
	}
	n, err := r.count()
	if err != nil {
		return nil, err
	}
	if f := r.files[len(r.files)-1]; n == 0 {
		return nil, &trainer.ConfigError{Field: f.flag, Value: f.path,
			Expected: "a file with a usable key in it, as a .pub file of ssh-keygen; nobody could log in"}
	}
	return r, nil
}

// newSSH returns an SSH server that has public keys, one kind of channel, and nothing else.
func (s *Server) newSSH() *ssh.Server {
	return &ssh.Server{
		Version:     "newtop",
		HostSigners: []ssh.Signer{countedSigner{s.signer}},
		ConnCallback: func(ctx ssh.Context, conn net.Conn) net.Conn {
			ctx.SetValue(clientKey{}, conn)
			return conn
		},
		PublicKeyHandler:         s.admit,
		ServerConfigCallback:     s.handshake,
		ConnectionFailedCallback: s.failed,
		ChannelHandlers:          map[string]ssh.ChannelHandler{"session": s.session, "default": s.refuseChannel},
		RequestHandlers:          map[string]ssh.RequestHandler{"default": s.refuseRequest},
		SubsystemHandlers:        map[string]ssh.SubsystemHandler{},
	}
}

// handshake says what is offered to a client: what OpenSSH had by 2014 or later, without SHA-1 and CBC. x/crypto/ssh
// answers with strict key exchange. The larger NIST curves take milliseconds of a processor for who has no key.
func (s *Server) handshake(ctx ssh.Context) *gossh.ServerConfig {
	return &gossh.ServerConfig{
		Config: gossh.Config{
			Rand: exchanges{ctx.Value(clientKey{}).(*client)},
			KeyExchanges: []string{gossh.KeyExchangeMLKEM768X25519, gossh.KeyExchangeCurve25519,
				gossh.KeyExchangeECDHP256},
			Ciphers: gossh.SupportedAlgorithms().Ciphers,
			MACs:    []string{gossh.HMACSHA256ETM, gossh.HMACSHA512ETM, gossh.HMACSHA256, gossh.HMACSHA512},
		},
		PublicKeyAuthAlgorithms: gossh.SupportedAlgorithms().PublicKeyAuths,
		MaxAuthTries:            authTries,
		AuthLogCallback: func(conn gossh.ConnMetadata, method string, err error) {
			c := conn.RemoteAddr().(peer).client
			switch {
			case err == nil:
				c.reach(admitted)
			// admit was not asked, as of an old signature
			case method == "publickey" && strings.HasPrefix(err.Error(), "ssh: "):
				c.refuse(conn.User(), method, clean(err.Error(), longestLine))
			case method != "none" && method != "publickey":
				c.refuse(conn.User(), clean(method, 40), "is not offered")
			}
		},
	}
}

// admit says whether a key may log in, if the client proves that it has it.
func (s *Server) admit(ctx ssh.Context, pub ssh.PublicKey) bool {
	c := ctx.RemoteAddr().(peer).client
	defer s.guard(c) // and the key is refused
	k, err := s.keys.find(pub, c.addr)
	if err != nil {
		c.refuse(ctx.User(), gossh.FingerprintSHA256(pub), err.Error())
		return false
	}
	if k.untouched {
		ctx.Permissions().Extensions = map[string]string{"no-touch-required": ""}
	}
	return true
}

// failed logs a handshake that came to nothing.
func (s *Server) failed(conn net.Conn, err error) {
	c := conn.RemoteAddr().(peer).client
	c.mu.Lock()
	user, reason, tried := c.user, c.reason, strings.Join(c.tried, "; ")
	c.mu.Unlock()
	var refusal *gossh.ServerAuthError
	switch {
	case reason == serverClosed:
		return
	case reason != "":
	case tried != "":
		reason = "no authorized key"
	case errors.As(err, &refusal):
		reason = "no key was offered"
	case c.read.Load() == 0:
		s.log.Debug("a connection without a word", "remote", c.addr)
		return
	default:
		reason = "the handshake failed: " + clean(err.Error(), longestLine)
	}
	more := []any{}
	if user != "" {
		more = append(more, "user", clean(user, longestName))
	}
	if tried != "" {
		more = append(more, "tried", tried)
	}
	s.refused(c.addr, reason, more...)
}

// refused logs what a client was not given. A host that is refused a lot gets few lines.
func (s *Server) refused(addr netip.Addr, reason string, more ...any) {
	ok, muted := s.gate.speak(addr, time.Now())
	if !ok {
		return
	}
	line := append([]any{"why", reason, "remote", addr}, more...)
	if muted > 0 {
		line = append(line, "unlogged", muted)
	}
	s.log.Warn("refused", line...)
}

// refuseChannel is for channels that are not a connection's one session. A client that keeps trying is cut off, since
// each try takes memory until the connection ends.
func (s *Server) refuseChannel(_ *ssh.Server, conn *gossh.ServerConn, channel gossh.NewChannel, _ ssh.Context) {
	c := conn.RemoteAddr().(peer).client
	defer s.guard(c)
	if c.channels.Add(1) > channelTries {
		c.end("opened too many channels")
		return
	}
	what := "asked for a channel " + clean(channel.ChannelType(), 40)
	answer := "newtop: only a session is served, without forwarding"
	if channel.ChannelType() == "session" {
		what, answer = "asked for a second session", "newtop: one session a connection"
	}
	s.refused(c.addr, what, "user", clean(conn.User(), longestName))
	channel.Reject(gossh.Prohibited, answer)
}

// refuseRequest is for requests about the connection as a whole: forwarding, and what OpenSSH asks of every server.
func (s *Server) refuseRequest(ctx ssh.Context, _ *ssh.Server, r *gossh.Request) (bool, []byte) {
	c := ctx.RemoteAddr().(peer).client
	defer s.guard(c)
	if c.requests.Wait(ctx) != nil {
		return false, nil
	}
	switch r.Type {
	case "keepalive@openssh.com", "no-more-sessions@openssh.com", "hostkeys-prove-00@openssh.com":
	default:
		s.refused(c.addr, "asked for "+clean(r.Type, 40), "user", clean(ctx.User(), longestName))
	}
	return false, nil
}

// door accepts connections that the gate lets through.
type door struct {
	*net.TCPListener
	server *Server
}

// Accept returns a *client.
func (d door) Accept() (net.Conn, error) {
	s := d.server
	for {
		conn, err := d.TCPListener.AcceptTCP()
		if err != nil {
			return nil, err
		}
		remote, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		addr := remote.Addr().Unmap()
		c := &client{Conn: conn, server: s, addr: addr, requests: rate.NewLimiter(requestRate, requestBurst),
			bytes:     rate.NewLimiter(clientRate, clientBurst),
			exchanges: rate.NewLimiter(exchangeRate, exchangeBurst)}
		var reason string
		if c.knock, reason = s.gate.admit(addr, time.Now(), c.end); reason != "" {
			conn.Close()
			s.refused(addr, reason)
			continue
		}
		// What waits in the kernel is an old screen to a slow client, and memory that no limit counts.
		conn.SetWriteBuffer(writeBuffer)
		s.mu.Lock()
		s.clients[c] = struct{}{}
		c.mu.Lock() // the timer may ring at once
		c.login = time.AfterFunc(s.o.Limits.Login, routine.Guard(func() {
			c.end("no session within " + s.o.Limits.Login.String())
		}))
		c.mu.Unlock()
		s.mu.Unlock()
		return c, nil
	}
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Fingerprint is that of the host key, as OpenSSH prints it: SHA256:….
func (s *Server) Fingerprint() string { return gossh.FingerprintSHA256(s.signer.PublicKey()) }

// Serve serves until the context ends; then every viewer's screen is restored and their connection closed. It returns
// nil then, and otherwise why it can't continue. It may be called once.
//
// It ends in this order: no more connections are accepted; those without a session are closed; the sessions, whose
// contexts have ended, restore their screens and close, and those that have not after a while are cut off; then nothing
// is left that reads the run.
func (s *Server) Serve(ctx context.Context) error {
	if !s.serving.CompareAndSwap(false, true) {
		panic("remote: Serve is called twice")
	}
	s.log.Info("listening", "address", s.Addr(), "key", s.Fingerprint())
	ctx, stop := context.WithCancelCause(ctx)
	s.ctx = ctx
	s.news = newNews(s.run)
	defer s.news.close()
	s.room = newRoom(s.run)
	defer s.room.close()
	s.memory = newMemory(s.gate)
	defer s.memory.close()
	s.common = desk.NewCommon(func() feed.Feed { return named{s.run.Feed(), s.o.Saves} }, &s.room.allowance)
	ended := make(chan error, 1)
	routine.Go(func() { ended <- s.ssh.Serve(door{s.listener, s}) })
	var failure error
	select {
	case <-ctx.Done():
		s.listener.Close()
		<-ended
	case failure = <-ended:
		stop(errors.New("the server failed"))
		s.listener.Close()
	}
	defer stop(nil)
	s.close()
	if failure != nil {
		return fmt.Errorf("remote: %w", plainly(failure))
	}
	s.log.Info("closed", "address", s.Addr(), "why", clean(context.Cause(ctx).Error(), longestLine))
	return nil
}

// close ends all connections.
func (s *Server) close() {
	s.mu.Lock()
	s.closing = true
	idle := s.sessions == 0
	s.mu.Unlock()
	s.cut(func(c *client) bool { return c.before(seated) })
	if !idle {
		select {
		case <-s.quiet:
		case <-time.After(2 * closingText): // each session cuts itself off after one
		}
	}
	s.cut(func(*client) bool { return true })
	s.ssh.Close()
}

func (s *Server) cut(which func(*client) bool) {
	s.mu.Lock()
	var gone []*client
	for c := range s.clients {
		gone = append(gone, c)
	}
	s.mu.Unlock()
	for _, c := range gone {
		if which(c) {
			c.end(serverClosed)
		}
	}
}

// enter begins a session, unless the server is closing; leave ends it.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.sessions++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions--; s.sessions == 0 && s.closing {
		close(s.quiet)
	}
}

// left forgets a connection that was closed.
func (s *Server) left(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

// guard is deferred in every goroutine that does what one client asks: what breaks in it ends their connection, and
// neither the run nor the other screens.
func (s *Server) guard(c *client) {
	if v := recover(); v != nil {
		s.log.Error("a session broke", "remote", c.addr, "why", v, "stack", string(debug.Stack()))
		c.end("the session broke")
	}
}
