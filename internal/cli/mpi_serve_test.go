//go:build mpi && linux

package cli

import (
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// says waits for what is written to standard error, and returns what pattern's group matched.
func (l *crewRun) says(pattern string) string {
	l.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(l.errs.String()); found != nil {
			return found[len(found)-1]
		}
	}
	l.t.Fatalf("never said %q:\n%s", pattern, l.errs.String())
	return ""
}

// TestRanksServe steers a run of several ranks over SSH with all that a screen can ask of it.
func TestRanksServe(t *testing.T) {
	db := database(t)
	key, keys := keyFile(t)
	l := startRanks(t, 2, "train", "--data", "digits", "--opt", "tr-newton", "--net", "12", "--epochs", "0", "--format", "jsonl", "--record", db, "--name", "seen",
		"--threads", "1", "--serve", "127.0.0.1:0", "--control", keys, "--hang-timeout", "5s")
	s := &served{t: t, key: key, address: l.says(`served on (\S+);`)}
	until(t, db, "epochs", func(r *store.Run) bool { return r.Last != nil && r.Last.Epoch >= 3 })
	if facts := s.status(); facts.Phase != "running" || facts.Epoch < 1 {
		t.Errorf("the status is %+v", facts)
	}
	press := keysOf(t, s)
	press(" ") // pause
	until(t, db, "a pause", func(*store.Run) bool { return s.status().Phase == "paused" })
	press("s", "i", "s", "k", " ") // steps, a spectrum, on
	press("7")                     // scg
	eventually(t, l, func(e event.Event) bool { sw, ok := e.(event.SwitchEvent); return ok && sw.To == "scg" })
	press(" ")
	until(t, db, "a pause", func(*store.Run) bool { return s.status().Phase == "paused" })
	press(" ", "1", "k")
	eventually(t, l, func(e event.Event) bool { sw, ok := e.(event.SwitchEvent); return ok && sw.To == "tr-newton" })
	eventually(t, l, func(e event.Event) bool { _, ok := e.(event.SpectrumEvent); return ok })
	before := s.status().Epoch
	for deadline := time.Now().Add(patience); s.status().Epoch <= before && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	l.cmd.Process.Signal(syscall.SIGUSR1)
	if code := l.ends(); code != print.ExitInterrupted || !strings.Contains(l.errs.String(), "newtop resume seen") {
		t.Fatalf("exit %d\n%s", code, l.errs.String())
	}
	if r := newest(t, db); r.Last.Epoch <= before {
		t.Errorf("it did not go on after epoch %d", before)
	}
	crewTrains(t, 3, "resume", "seen", "--record", db, "--format", "text", "--epochs", "1000000", "--until", "1s")
}

// keysOf opens the screen and returns a function that presses keys one after another.
func keysOf(t *testing.T, s *served) func(keys ...string) {
	t.Helper()
	client, session := s.session()
	t.Cleanup(func() { client.Close() })
	in, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	session.Stdout = io.Discard
	if err := session.RequestPty("xterm-256color", 30, 100, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	return func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			if _, err := io.WriteString(in, k); err != nil {
				t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	}
}

// eventually waits for a printed event.
func eventually(t *testing.T, l *crewRun, is func(event.Event) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		text := l.out.String()
		for _, e := range decode(t, text[:strings.LastIndexByte(text, '\n')+1]) {
			if is(e) {
				return
			}
		}
	}
	t.Fatalf("waited in vain for an event\n%s", l.errs.String())
}
