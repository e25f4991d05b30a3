package remote_test

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"newtop/tui/remote"
)

// rekeying is a client that wants new session keys after so many bytes.
func (s *stage) rekeying(bytes uint64, auth ...ssh.AuthMethod) (*ssh.Client, error) {
	c := s.config(auth...)
	c.RekeyThreshold = bytes
	return ssh.Dial("tcp", s.server.Addr().String(), c)
}

// TestOneKeyExchangeBeforeLogin has clients without a key, and one with a key, ask for a second exchange before they are in.
func TestOneKeyExchangeBeforeLogin(t *testing.T) {
	s := serve(t, remote.Options{})
	strangers := make([]ssh.Signer, 20)
	for i := range strangers {
		strangers[i] = newKey(t)
	}
	if _, err := s.rekeying(256, ssh.PublicKeys(strangers...)); err == nil {
		t.Fatal("a stranger is let in")
	}
	s.until("second key exchange before it logged in")
}

// TestKeyExchangesAfterLogin: new keys now and then are served, and no more.
func TestKeyExchangesAfterLogin(t *testing.T) {
	s := serve(t, remote.Options{})
	client, err := s.rekeying(4096, ssh.PublicKeys(s.look))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	asked := 0
	for ; asked < 1000; asked++ {
		if _, _, err := client.SendRequest("keepalive@openssh.com", true, make([]byte, 1500)); err != nil {
			break
		}
	}
	if asked < 10 {
		t.Errorf("the connection ended after %d requests", asked)
	}
	s.until("too many key exchanges")
}

// TestSlowCurves: exchanges that take the server milliseconds are not offered.
func TestSlowCurves(t *testing.T) {
	s := serve(t, remote.Options{})
	for _, c := range []struct {
		exchange string
		served   bool
	}{
		{ssh.KeyExchangeMLKEM768X25519, true}, {ssh.KeyExchangeCurve25519, true}, {ssh.KeyExchangeECDHP256, true},
		{ssh.KeyExchangeECDHP384, false}, {ssh.KeyExchangeECDHP521, false},
	} {
		config := s.config(ssh.PublicKeys(s.look))
		config.KeyExchanges = []string{c.exchange}
		client, err := ssh.Dial("tcp", s.server.Addr().String(), config)
		if (err == nil) != c.served {
			t.Errorf("%s: %v", c.exchange, err)
		}
		if err == nil {
			client.Close()
		}
	}
}

// TestMuchBeforeLogin sends a packet after another that the protocol has the server ignore.
func TestMuchBeforeLogin(t *testing.T) {
	s := serve(t, remote.Options{})
	conn, err := net.Dial("tcp", s.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	go io.Copy(io.Discard, conn)
	packet := append([]byte{0, 0, 4, 12, 10, 2}, make([]byte, 1034)...) // SSH_MSG_IGNORE of a kilobyte
	if _, err := io.WriteString(conn, "SSH-2.0-many\r\n"); err != nil {
		t.Fatal(err)
	}
	for range 1 << 12 {
		if _, err = conn.Write(packet); err != nil {
			break
		}
	}
	s.until("why=")
	if err == nil {
		t.Error("4 MB are taken from who has not logged in")
	}
}

// TestHalfOpenConnectionsGiveWay: one address that opens connections and says nothing keeps nobody out who comes from it
// too, as all do who come through a tunnel.
func TestHalfOpenConnectionsGiveWay(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Sessions: 16}})
	for range 6 {
		conn, err := net.Dial("tcp", s.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	s.until("gave way to newer connections")
	s.dial(s.look).Close()
}
