package remote_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"charm.land/log/v2"
	"golang.org/x/crypto/ssh"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/tui/remote"
)

// patience is how long tests wait for what must come.
const patience = time.Minute

// stage is a small run that is served, and the keys of those who may look, steer, and neither.
type stage struct {
	testing.TB
	run                   *trainer.Session
	server                *remote.Server
	look, steer, stranger ssh.Signer
	lookSeed              []byte
	log                   *journal
	close                 func() // ends the server, then the run
}

// journal is a log that is read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) empty() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Reset()
}

// until waits until the log has a line with all the words, and returns it.
func (s *stage) until(words ...string) string {
	s.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
	lines:
		for line := range strings.Lines(s.log.String()) {
			for _, w := range words {
				if !strings.Contains(line, w) {
					continue lines
				}
			}
			return line
		}
	}
	s.Fatalf("the log has no line with %q:\n%s", words, s.log)
	return ""
}

// serve starts a run that waits after its first epochs, and serves it. What o leaves out fits tests.
func serve(t testing.TB, o remote.Options) *stage {
	t.Helper()
	s := train(t, trainer.Config{Data: "spirals", Hidden: []int{7}, Optimizer: "adam"}, o)
	feed := s.run.Feed()
	defer feed.Close()
	if err := feed.Do(t.Context(), event.Pause{On: true}); err != nil {
		t.Fatal(err)
	}
	return s
}

// train starts a run and serves it.
func train(t testing.TB, c trainer.Config, o remote.Options) *stage {
	t.Helper()
	s := &stage{TB: t, log: &journal{}, steer: newKey(t), stranger: newKey(t)}
	s.lookSeed, s.look = newSeed(t)
	dir := t.TempDir()
	o.Address = "127.0.0.1:0"
	o.HostKey = filepath.Join(dir, "host")
	o.AuthorizedKeys, o.Control = filepath.Join(dir, "look"), filepath.Join(dir, "steer")
	write(t, o.AuthorizedKeys, line(s.look, "lou"))
	write(t, o.Control, line(s.steer, "sam"))
	if o.Limits.Handshakes == 0 {
		o.Limits.Handshakes = 1e6
	}
	o.Log = log.NewWithOptions(s.log, log.Options{Level: log.DebugLevel, Formatter: log.LogfmtFormatter})
	var err error
	if s.run, err = trainer.New(c); err != nil {
		t.Fatal(err)
	}
	if s.server, err = remote.Listen(s.run, o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	serving, leave := context.WithCancelCause(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { s.run.Run(ctx) })
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.server.Serve(serving); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	s.close = sync.OnceFunc(func() {
		leave(errors.New("the show is over"))
		served.Wait()
		stop()
		parts.Wait()
		if strings.Contains(s.log.String(), "panic") {
			t.Errorf("something panicked:\n%s", s.log)
		}
	})
	t.Cleanup(s.close)
	return s
}

func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, key := newSeed(t)
	return key
}

// newSeed returns a seed and the key that it makes.
func newSeed(t testing.TB) ([]byte, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return private.Seed(), signer
}

// line is a key as a file of keys has it.
func line(s ssh.Signer, comment string) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey()))) + " " + comment + "\n"
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// config is that of a client who is called ann and tries these ways to log in.
func (s *stage) config(auth ...ssh.AuthMethod) *ssh.ClientConfig {
	return &ssh.ClientConfig{User: "ann", Auth: auth, Timeout: patience, HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
		if got := ssh.FingerprintSHA256(key); got != s.server.Fingerprint() {
			return fmt.Errorf("host key %s, expected %s", got, s.server.Fingerprint())
		}
		return nil
	}}
}

// dial logs in.
func (s *stage) dial(key ssh.Signer) *ssh.Client {
	s.Helper()
	c, err := ssh.Dial("tcp", s.server.Addr().String(), s.config(ssh.PublicKeys(key)))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	return c
}
