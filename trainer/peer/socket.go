package peer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"newtop/internal/filelock"
)

// longPath is how many bytes a socket's path may have on every system.
const longPath = 103

// tokenPatience is how long who connects to a port may take to send the token.
const tokenPatience = time.Second

// door is where peers connect: a Unix socket, or a port of 127.0.0.1 of which a file at the socket's path has the
// address and the token that who connects sends first.
type door interface {
	net.Listener
	SetDeadline(time.Time) error
}

// portDoor is a door with a port.
type portDoor struct {
	*net.TCPListener
	token string
}

// ported reports whether peers connect by a port: Python has no Unix sockets on Windows.
func ported() bool { return runtime.GOOS == "windows" || os.Getenv(SocketVariable) == "tcp" }

// listenAt opens a door at a path.
func listenAt(path string, port bool) (door, error) {
	if !port {
		return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	p := portDoor{l, rand.Text()}
	if err := os.WriteFile(path, fmt.Appendln(nil, l.Addr(), p.token), 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return p, nil
}

// Accept waits for who knows the token; others are not let in.
func (p portDoor) Accept() (net.Conn, error) {
	for {
		conn, err := p.TCPListener.Accept()
		if err != nil {
			return nil, err
		}
		got := make([]byte, len(p.token)+1)
		_ = conn.SetReadDeadline(time.Now().Add(tokenPatience))
		_, err = io.ReadFull(conn, got)
		if err == nil && subtle.ConstantTimeCompare(got, []byte(p.token+"\n")) == 1 {
			_ = conn.SetReadDeadline(time.Time{})
			return conn, nil
		}
		conn.Close()
	}
}

// dial connects to a door at a path.
func dial(ctx context.Context, path string, patience time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: patience}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 100 {
		return d.DialContext(ctx, "unix", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	address, token, ok := strings.Cut(strings.TrimSpace(string(text)), " ")
	if host, _, err := net.SplitHostPort(address); !ok || err != nil || host != "127.0.0.1" {
		return nil, errors.New("is a file without a port of 127.0.0.1 and a token")
	}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte(token + "\n")); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// privateDir makes a directory in which a socket's path is not too long.
func privateDir() (string, error) {
	dir, err := filelock.TempDir("")
	if err == nil && len(socketIn(dir)) > longPath {
		filelock.RemoveDir(dir)
		dir, err = filelock.TempDir("/tmp")
	}
	return dir, err
}

func socketIn(dir string) string { return filepath.Join(dir, "peer") }
