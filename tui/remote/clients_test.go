//go:build unix

package remote_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"

	"newtop/tui/screen"
)

// asClients is the environment variable that makes the test binary a process of clients; its value is a JSON party.
const asClients = "NEWTOP_TEST_CLIENTS"

// party is a number of clients in a process of their own, which look and read all that comes.
type party struct {
	Address string
	Seed    []byte // of their private key
	Size    screen.Size

	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
}

// party starts a process for clients with a key that may look. It has none yet.
func (s *stage) party(columns, rows int) *party {
	s.Helper()
	p := &party{Address: s.server.Addr().String(), Seed: s.lookSeed, Size: screen.Size{Width: columns, Height: rows}}
	spec, err := json.Marshal(p)
	if err != nil {
		s.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	p.command = exec.Command(self, "-test.run", "^TestBeClients$")
	p.command.Env = append(os.Environ(), asClients+"="+string(spec))
	p.command.Stderr = os.Stderr
	if p.orders, err = p.command.StdinPipe(); err != nil {
		s.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	p.answers = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		p.command.Process.Kill()
		p.command.Wait()
	})
	return p
}

// become makes it a party of so many, and returns how many bytes of screens its clients have read so far, and how many
// seconds they have computed.
func (p *party) become(t testing.TB, count int) (read int64, seconds float64) {
	t.Helper()
	fmt.Fprintln(p.orders, count)
	var now int
	if !p.answers.Scan() {
		t.Fatalf("the clients' process says nothing: %v", p.answers.Err())
	}
	if _, err := fmt.Sscan(p.answers.Text(), &now, &read, &seconds); err != nil || now != count {
		t.Fatalf("the clients' process says %q", p.answers.Text())
	}
	return read, seconds
}

// TestBeClients is the other side of a party.
func TestBeClients(t *testing.T) {
	spec := os.Getenv(asClients)
	if spec == "" {
		t.Skip("a process of its own, which other tests start")
	}
	var p party
	if err := json.Unmarshal([]byte(spec), &p); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(p.Seed))
	if err != nil {
		t.Fatal(err)
	}
	var (
		read  atomic.Int64
		there []*ssh.Client
		want  int
	)
	for {
		if _, err := fmt.Fscan(os.Stdin, &want); errors.Is(err, io.EOF) {
			os.Exit(0)
		} else if err != nil {
			t.Fatal(err)
		}
		for len(there) > want {
			there[len(there)-1].Close()
			there = there[:len(there)-1]
		}
		fresh := make([]*ssh.Client, want-len(there))
		var joining sync.WaitGroup
		slots := make(chan struct{}, 8)
		for i := range fresh {
			slots <- struct{}{}
			joining.Go(func() {
				defer func() { <-slots }()
				c, err := p.look(key, &read)
				if err != nil {
					fmt.Fprintln(os.Stderr, "client:", err)
					os.Exit(1)
				}
				fresh[i] = c
			})
		}
		joining.Wait()
		there = append(there, fresh...)
		fmt.Println(len(there), read.Load(), processorSeconds())
	}
}

// look opens a screen and reads it until it ends.
func (p *party) look(key ssh.Signer, read *atomic.Int64) (*ssh.Client, error) {
	tcp, err := net.Dial("tcp", p.Address)
	if err != nil {
		return nil, err
	}
	if err := tcp.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil { // or the system takes megabytes that nobody reads
		return nil, err
	}
	conn, channels, requests, err := ssh.NewClientConn(tcp, p.Address, &ssh.ClientConfig{
		User: "party", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		return nil, err
	}
	c := ssh.NewClient(conn, channels, requests)
	session, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	session.Setenv("LANG", "C.UTF-8")
	if err := session.RequestPty("xterm-256color", p.Size.Height, p.Size.Width, nil); err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	keys, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Shell(); err != nil {
		return nil, err
	}
	// An answer to the question for the background, which a terminal gives at once.
	if _, err := io.WriteString(keys, "\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\\x1b[?62;c"); err != nil {
		return nil, err
	}
	begun := make(chan struct{})
	go func() {
		buffer := make([]byte, 1<<15)
		for first := true; ; first = false {
			n, err := out.Read(buffer)
			read.Add(int64(n))
			if first {
				close(begun)
			}
			if err != nil {
				return
			}
		}
	}()
	<-begun
	return c, nil
}
