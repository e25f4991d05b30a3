package remote_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"newtop/tui/remote"
)

// TestNoMemoryLeft: one who would take more than is left for viewers is refused in a line.
func TestNoMemoryLeft(t *testing.T) {
	s := serve(t, remote.Options{Limits: remote.Limits{Memory: 1 << 20}})
	s.open(s.look, 80, 24).sees("spirals")
	session, err := s.dial(s.steer).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	session.Stderr = &errs
	session.RequestPty("xterm", 24, 80, nil)
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	var exit *ssh.ExitError
	if err := session.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("ended with %v", err)
	}
	if line := errs.String(); !strings.HasPrefix(line, "newtop: the memory for viewers, 1 MB, is taken") || strings.Count(line, "\n") != 1 {
		t.Errorf("told %q", line)
	}
	s.until("refused", "memory for viewers")
}
