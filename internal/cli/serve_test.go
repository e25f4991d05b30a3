//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/trainer/store"
)

// served is newtop serve as a process of its own, and a key that it lets in.
type served struct {
	t       *testing.T
	cmd     *exec.Cmd
	key     ssh.Signer
	keys    string // the file
	out     bytes.Buffer
	mu      sync.Mutex // guards errs
	errs    strings.Builder
	readers sync.WaitGroup
	address string
}

// keyFile makes a key and a file of keys with it.
func keyFile(t *testing.T) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return key, write(t, "keys", string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}

// startServing starts a command that serves, and waits until it does.
func startServing(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{t: t}
	s.key, s.keys = keyFile(t)
	s.cmd = process(t, append(args, "--listen", "127.0.0.1:0", "--authorized-keys", s.keys)...)
	s.cmd.Stdout = &s.out
	errs, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.readers.Wait()
	})
	s.readers.Go(func() {
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.errs, lines.Text())
			s.mu.Unlock()
		}
	})
	s.address = regexp.MustCompile(`(?m)^served on (\S+); host key SHA256:\S+$`).FindStringSubmatch(s.says(`(?m)^to look: ssh -p \d+ 127\.0\.0\.1$`))[1]
	return s
}

func (s *served) messages() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errs.String()
}

// says waits for a message, and returns all so far.
func (s *served) says(pattern string) string {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text := s.messages(); regexp.MustCompile(pattern).MatchString(text) {
			return text
		}
	}
	s.t.Fatalf("never said %q:\n%s", pattern, s.messages())
	return ""
}

// session begins one over SSH, on a connection of its own.
func (s *served) session() (*ssh.Client, *ssh.Session) {
	s.t.Helper()
	client, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{User: "ann", Auth: []ssh.AuthMethod{ssh.PublicKeys(s.key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err != nil {
		s.t.Fatal(err)
	}
	session, err := client.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	return client, session
}

// status asks over SSH.
func (s *served) status() (facts struct {
	Name, Phase string
	Epoch       int
}) {
	s.t.Helper()
	client, session := s.session()
	defer client.Close()
	out, err := session.Output("status --json")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(out, &facts); err != nil {
		s.t.Fatalf("%s: %v", out, err)
	}
	return facts
}

// ends waits for the process and returns its exit code and all that it said.
func (s *served) ends() (code int, errs string) {
	s.t.Helper()
	s.readers.Wait()
	s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode(), s.messages()
}

// TestServeRefuses has one line and the right code for what is wrong, before anything is trained or recorded.
func TestServeRefuses(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	db := database(t)
	_, keys := keyFile(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := " --listen 127.0.0.1:0 --authorized-keys " + keys
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"serve --listen nowhere --authorized-keys " + keys, print.ExitUsage, "--listen nowhere: expected"},
		{"serve --listen 127.0.0.1:99999 --authorized-keys " + keys, print.ExitUsage, "--listen 127.0.0.1:99999: expected"},
		{"serve --listen 0.0.0.0:0", print.ExitUsage, "--authorized-keys FILE"},
		{"serve --listen 127.0.0.1:0", print.ExitUsage, "authorized_keys"},
		{"serve --authorized-keys /no/such/file", print.ExitUsage, "/no/such/file"},
		{"serve --authorized-keys " + write(t, "none", "# nobody\n"), print.ExitUsage, "--authorized-keys"},
		{"serve --listen " + taken.Addr().String() + " --authorized-keys " + keys, 1, "in use"},
		{"serve --host-key " + t.TempDir() + good, print.ExitUsage, "host"},
		{"serve --log-format xml" + good, print.ExitUsage, "--log-format xml: expected text, logfmt or json"},
		{"serve --log /no/such/dir/file" + good, 1, "/no/such/dir/file"},
		{"serve --max-viewers -1" + good, print.ExitUsage, "--max-viewers -1: expected"},
		{"serve --viewer-memory -1" + good, print.ExitUsage, "--viewer-memory -1: expected"},
		{"serve --idle -1s" + good, print.ExitUsage, "--idle -1s: expected"},
		{"serve --linger -1s" + good, print.ExitUsage, "--linger -1s: expected"},
		{"serve --linger soon" + good, print.ExitUsage, "--linger soon: expected a duration"},
		{"serve --saves /no/such/dir" + good, print.ExitUsage, "--saves /no/such/dir: expected a directory"},
		{"serve --saves " + keys + good, print.ExitUsage, "expected a directory"},
		{"serve --theme pink" + good, print.ExitUsage, "--theme pink: expected"},
		{"serve --format xml" + good, print.ExitUsage, "--format xml: expected"},
		{"serve --opt magic" + good, print.ExitUsage, `"magic"`},
		{"serve --continue" + good, print.ExitUsage, "--name NAME"},
		{"serve now", print.ExitUsage, "expected no argument"},
		{"resume last --linger 5m", print.ExitUsage, "--linger: expected --listen"},
		{"resume last --listen 127.0.0.1:0 --log-format xml --authorized-keys " + keys, print.ExitUsage, "--log-format xml"},
	} {
		refuses(t, c.code, c.want, append(strings.Fields(c.args), "--record", db)...)
	}
	if r := newest(t, db); r != nil {
		t.Errorf("a run was recorded: %+v", r)
	}
}

// What is served is trained as newtop train trains it, spectra apart, and printed the same. After its end it is served
// until a signal comes, whose code is the run's.
func TestServeTrains(t *testing.T) {
	args := []string{"--data", "spirals", "--opt", "tr-newton", "--net", "9", "--epochs", "4"}
	want := unstopped(t, args...)
	db := database(t)
	s := startServing(t, append([]string{"serve", "--format", "jsonl", "--record", db, "--log-format", "json"}, args...)...)
	s.says("the run is over; it is served until ctrl\\+c")
	if facts := s.status(); facts.Epoch != 4 || facts.Phase != "ended" || facts.Name != "spirals" {
		t.Errorf("after the end the status is %+v", facts)
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	code, errs := s.ends()
	if code != print.ExitDone {
		t.Errorf("exit %d\n%s", code, errs)
	}
	same(t, "printed", figures(decode(t, s.out.String())), want)
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, newest(t, db).ID))), want)
	logged := 0
	for _, line := range lines(errs) {
		var entry map[string]any
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &entry) == nil && entry["msg"] != nil && entry["time"] != nil {
			logged++
		}
	}
	if logged < 2 {
		t.Errorf("the log has %d lines of JSON:\n%s", logged, errs)
	}
}

// Where nothing is to stay, nothing does.
func TestServeWithoutLingering(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := startServing(t, "serve", "--data", "sine", "--epochs", "2", "--linger", "0", "--log", log)
	code, errs := s.ends()
	if code != print.ExitDone || !strings.Contains(s.out.String(), "sine: tr-newton, 2 epochs") || !strings.Contains(errs, "recorded as ") {
		t.Errorf("exit %d\n%s%s", code, errs, s.out.String())
	}
	text, err := os.ReadFile(log)
	if err != nil || !bytes.Contains(text, []byte("listening")) || strings.Contains(errs, "listening") {
		t.Errorf("the log is %q, %v, beside messages\n%s", text, err, errs)
	}
	if s := startServing(t, "serve", "--data", "sine", "--epochs", "1", "--linger", "50ms"); true {
		if code, errs := s.ends(); code != print.ExitDone || !strings.Contains(errs, "it is served for 50ms") {
			t.Errorf("exit %d\n%s", code, errs)
		}
	}
}

// A diverged run can be looked at, and the code is that of a diverged run. One that can't begin is not served.
func TestServeFailedRuns(t *testing.T) {
	s := startServing(t, "serve", "--data", "sine", "--act", "identity", "--opt", "sgd", "--set", "rate=1e9", "--epochs", "30")
	s.says(`diverged in epoch .*; it is served until ctrl\+c`)
	if facts := s.status(); facts.Phase != "ended" {
		t.Errorf("the status is %+v", facts)
	}
	s.cmd.Process.Signal(syscall.SIGINT)
	if code, errs := s.ends(); code != print.ExitDiverged {
		t.Errorf("exit %d\n%s", code, errs)
	}
	s = startServing(t, "serve", "--data", "letter", "--data-dir", t.TempDir())
	if code, errs := s.ends(); code != print.ExitFailed || !strings.HasSuffix(errs, "newtop data fetch letter\n") && !strings.Contains(errs, "newtop: ") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}

// A unit's one line begins a run, goes on with it after a signal and after a kill, and ends with the digits of a run that was
// never stopped.
func TestServeContinues(t *testing.T) {
	db := database(t)
	run := []string{"--data", "spirals", "--opt", "adam", "--net", "9"}
	unit := append([]string{"serve", "--name", "nightly", "--continue", "--epochs", "0", "--record", db}, run...)
	epochs := func(more int) {
		t.Helper()
		from := lastEpoch(t, db)
		until(t, db, "epochs", func(r *store.Run) bool { return r.State == store.Running && r.Last != nil && r.Last.Epoch >= from+more })
	}
	s := startServing(t, unit...)
	epochs(3)
	s.cmd.Process.Signal(syscall.SIGTERM)
	if code, errs := s.ends(); code != print.ExitInterrupted || !strings.HasSuffix(errs, "newtop resume nightly --record "+format.Quote(db)+"\n") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	first := newest(t, db)
	s = startServing(t, unit...)
	s.says(`resumed after epoch \d+`)
	epochs(3)
	s.cmd.Process.Kill()
	s.ends()
	_, keys := keyFile(t)
	other := append([]string{"serve", "--name", "nightly", "--continue", "--record", db, "--listen", "127.0.0.1:0", "--authorized-keys", keys}, run...)
	refuses(t, print.ExitUsage, "started with other flags", append(other, "--seed", "2")...)
	limit := fmt.Sprint(newest(t, db).Last.Epoch + 2)
	s = startServing(t, "resume", "nightly", "--epochs", limit, "--record", db, "--linger", "0", "--format", "text")
	if code, errs := s.ends(); code != print.ExitDone {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if last := newest(t, db); last.ID != first.ID {
		t.Errorf("went on as %s, expected %s", last.ID, first.ID)
	}
	same(t, "recorded", figures(decode(t, recordedEvents(t, db, first.ID))), unstopped(t, append(run, "--epochs", limit)...))
	refuses(t, print.ExitUsage, "expected --epochs above "+limit, append(other, "--epochs", limit)...)
}

// A name that is the end of another run's ID begins a run of its own.
func TestContinueFindsNamesAlone(t *testing.T) {
	db := database(t)
	id := recordedRun(t, db, "--data", "sine", "--epochs", "1")
	s := startServing(t, "serve", "--data", "sine", "--epochs", "1", "--name", print.ShortID(id), "--continue", "--record", db, "--linger", "0")
	if code, errs := s.ends(); code != print.ExitDone || strings.Contains(errs, "resumed") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if r := newest(t, db); r.ID == id {
		t.Error("another run was gone on with")
	}
}

// The screen is the same over SSH, and leaving it is not the end of the run.
func TestServedScreen(t *testing.T) {
	s := startServing(t, "serve", "--data", "spirals", "--opt", "adam", "--net", "9", "--epochs", "0", "--record", "off")
	client, session := s.session()
	defer client.Close()
	var screen bytes.Buffer
	keys, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	session.Stdout = &screen
	if err := session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	s.says("msg=join|join ")
	time.Sleep(300 * time.Millisecond)
	if _, err := io.WriteString(keys, "q"); err != nil {
		t.Fatal(err)
	}
	if err := session.Wait(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if text := screen.String(); !strings.Contains(text, "spirals") || !strings.Contains(text, "\x1b[?1049l") {
		t.Errorf("the screen was %q", text)
	}
	before := s.status().Epoch
	for deadline := time.Now().Add(patience); s.status().Epoch == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the run stands still")
		}
	}
	s.cmd.Process.Signal(os.Interrupt)
	if code, errs := s.ends(); code != print.ExitInterrupted {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
