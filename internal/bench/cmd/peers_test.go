//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/creack/pty"

	"newtop/internal/bench"
	"newtop/internal/cli/print"
)

// python writes an interpreter that has every module, and for which scripts are written in sh.
func python(t *testing.T) string {
	t.Helper()
	path := write(t, "python", "#!/bin/sh\n[ \"$1\" = -c ] && exit\nexec /bin/sh \"$@\"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBenchPeers(t *testing.T) {
	script := write(t, "peer_own.py", "echo one; echo two\n")
	dir, python := filepath.Dir(script), python(t)
	out, errs, code := run("peers", dir, "--python", python)
	if out != "peer_own.py: one\npeer_own.py: two\n" || errs != "" || code != 0 {
		t.Errorf("exit %d: %q, %q", code, out, errs)
	}
	out, errs, code = run("peers", dir, "--python", python, "--format", "json")
	var p bench.Peers
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 0 || errs != "peer_own.py: one\npeer_own.py: two\n" {
		t.Errorf("exit %d, %v: %q", code, err, errs)
	}
	if want := []bench.PeerLine{{Source: "peer_own.py", Text: "one"}, {Source: "peer_own.py", Text: "two"}}; !reflect.DeepEqual(p.Lines, want) {
		t.Errorf("read %+v", p)
	}
}

func TestBenchPeersThatFail(t *testing.T) {
	script := write(t, "peer_bad.py", "echo some; echo 'OSError: gone' >&2; exit 1\n")
	out, errs, code := run("peers", filepath.Dir(script), "--python", python(t))
	if out != "peer_bad.py: some\n" || errs != "peer_bad.py failed: OSError: gone\nnewtop: 1 of 1 script failed\n" || code != print.ExitFailed {
		t.Errorf("exit %d: %q, %q", code, out, errs)
	}
	_, errs, code = run("peers", filepath.Dir(script), "--python", "/no/such/python")
	if !strings.Contains(errs, "/no/such/python") || !strings.Contains(errs, "apt-get install") || strings.Count(errs, "\n") != 1 || code != print.ExitFailed {
		t.Errorf("exit %d: %q", code, errs)
	}
}

func TestBenchIsInterrupted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := write(t, "peer_slow.py", "echo begun; exec sleep 60\n")
	for want, args := range map[string][]string{
		"begun":     {"peers", filepath.Dir(script), "--python", python(t)},
		"measuring": {"core"},
	} {
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color")
		terminal, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer terminal.Close()
		var out strings.Builder
		interrupted := false
		for buffer := make([]byte, 4096); ; {
			n, err := terminal.Read(buffer)
			out.Write(buffer[:n])
			if err != nil {
				break
			}
			if !interrupted && strings.Contains(out.String(), want) {
				interrupted = true
				if _, err := terminal.WriteString("\x03"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != print.ExitInterrupted || !strings.Contains(out.String(), "newtop: interrupted") {
			t.Errorf("%s: %v\n%s", args, err, out.String())
		}
	}
}
