package storetest

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLockHolder names the process that stands still with the file locked.
func TestLockHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	p := child{Path: path, Lock: true}.start(t)
	defer p.wait()
	defer p.command.Process.Kill()
	<-p.lines
	p.command.Process.Signal(syscall.SIGSTOP)
	name := filepath.Base(p.command.Path)
	want := fmt.Sprintf("process %d (%s, which is stopped) has locked the file", p.command.Process.Pid, name[:min(len(name), 15)]) // as the kernel cuts it
	for begin := time.Now(); ; {
		err := s.Rename(t.Context(), "a", "b")
		if err != nil && strings.HasSuffix(err.Error(), want) {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%v: expected %s", err, want)
		}
	}
}
