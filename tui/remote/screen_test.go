package remote_test

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"
)

// terminal is a client with a terminal, whose screen is read back through an emulator.
type terminal struct {
	*stage
	client  *ssh.Client
	session *ssh.Session
	keys    io.WriteCloser
	mu      sync.Mutex // guards screen, whose cells are not copies, and raw
	screen  *vt.Emulator
	raw     strings.Builder
	readers sync.WaitGroup
}

// open opens a terminal of a size. The environment is that of a modern one, and what env says.
func (s *stage) open(key ssh.Signer, columns, rows int, env ...string) *terminal {
	s.Helper()
	c := &terminal{stage: s, client: s.dial(key), screen: vt.NewEmulator(columns, rows)}
	var err error
	if c.session, err = c.client.NewSession(); err != nil {
		s.Fatal(err)
	}
	for _, e := range append([]string{"LANG=C.UTF-8", "COLORTERM=truecolor"}, env...) {
		name, value, _ := strings.Cut(e, "=")
		c.session.Setenv(name, value) // what the server does not want it refuses
	}
	if err := c.session.RequestPty("xterm-256color", rows, columns, ssh.TerminalModes{}); err != nil {
		s.Fatal(err)
	}
	if c.keys, err = c.session.StdinPipe(); err != nil {
		s.Fatal(err)
	}
	out, err := c.session.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := c.session.Shell(); err != nil {
		s.Fatal(err)
	}
	c.readers.Go(func() {
		buffer := make([]byte, 1<<15)
		for {
			n, err := out.Read(buffer)
			c.mu.Lock()
			c.raw.Write(buffer[:n])
			c.screen.Write(buffer[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	// What the emulator answers to the program's questions has to be carried back, or it blocks.
	go io.Copy(c.keys, c.screen)
	s.Cleanup(c.hangUp)
	return c
}

// hangUp ends the connection as a client does that is closed, and lets go of the screen.
func (c *terminal) hangUp() {
	c.client.Close()
	c.readers.Wait()
	if c.screen != nil {
		c.screen.InputPipe().(io.Closer).Close()
	}
	c.screen = nil
	c.raw.Reset()
}

func (c *terminal) press(keys string) {
	c.Helper()
	if _, err := io.WriteString(c.keys, keys); err != nil {
		c.Fatal(err)
	}
}

func (c *terminal) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for y := range c.screen.Height() {
		for x := range c.screen.Width() {
			if cell := c.screen.CellAt(x, y); cell != nil && cell.Width > 0 {
				b.WriteString(cell.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sees waits for a screen on which every pattern is found.
func (c *terminal) sees(patterns ...string) string {
	c.Helper()
	missing := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text := c.text()
		missing = ""
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(text) {
				missing = p
				break
			}
		}
		if missing == "" {
			return text
		}
	}
	c.Fatalf("never saw %q on the screen:\n%s\nlog:\n%s", missing, c.text(), c.log)
	return ""
}

// ends waits for the end of the session and returns all that came.
func (c *terminal) ends() (raw string, err error) {
	c.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.session.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(patience):
		c.Fatalf("the session does not end:\n%s", c.text())
	}
	c.client.Close()
	c.readers.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw.String(), err
}
