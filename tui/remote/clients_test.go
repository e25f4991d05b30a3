//go:build unix

package remote_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
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
	Clients int
}

// party starts a process for so many clients with a key that may look, and waits until their screens are open.
func (s *stage) party(clients, columns, rows int) *os.Process {
	s.Helper()
	spec, err := json.Marshal(party{s.server.Addr().String(), s.lookSeed, screen.Size{Width: columns, Height: rows}, clients})
	if err != nil {
		s.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	command := exec.Command(self, "-test.run", "^TestBeClients$")
	command.Env = append(os.Environ(), asClients+"="+string(spec))
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	if text, err := bufio.NewReader(out).ReadString('\n'); text != "there\n" {
		s.Fatalf("the clients' process says %q: %v", text, err)
	}
	return command.Process
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
	for range p.Clients {
		if err := p.look(key); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("there")
	select {} // until it is killed
}

// look opens a screen, and reads it until it ends once something of it came.
func (p *party) look(key ssh.Signer) error {
	tcp, err := net.Dial("tcp", p.Address)
	if err != nil {
		return err
	}
	if err := tcp.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil { // or the system takes megabytes that nobody reads
		return err
	}
	conn, channels, requests, err := ssh.NewClientConn(tcp, p.Address, &ssh.ClientConfig{
		User: "party", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		return err
	}
	c := ssh.NewClient(conn, channels, requests)
	session, err := c.NewSession()
	if err != nil {
		return err
	}
	session.Setenv("LANG", "C.UTF-8")
	if err := session.RequestPty("xterm-256color", p.Size.Height, p.Size.Width, nil); err != nil {
		return err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return err
	}
	keys, err := session.StdinPipe()
	if err != nil {
		return err
	}
	if err := session.Shell(); err != nil {
		return err
	}
	// An answer to the question for the background, which a terminal gives at once.
	if _, err := io.WriteString(keys, "\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\\x1b[?62;c"); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1<<15)); err != nil {
		return err
	}
	go io.Copy(io.Discard, out)
	return nil
}
