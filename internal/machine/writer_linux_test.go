package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestWriterOf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "train.log")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	// The shell's child has the file open, too.
	cmd := exec.Command("/bin/sh", "-c", "exec > "+path+"; sleep 60 & wait")
	if err := cmd.Start(); err != nil {
		t.Skip("no shell: ", err)
	}
	reader := exec.Command("/bin/sh", "-c", "exec < "+path+"; while [ -d "+dir+" ]; do sleep 0.05; done")
	defer func() {
		if child, ok := WriterOf(path); ok && child != cmd.Process.Pid {
			if p, err := os.FindProcess(child); err == nil {
				_ = p.Kill()
			}
		}
	}()
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, ok := WriterOf(path); ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody writes")
		}
	}
	if err := reader.Start(); err == nil {
		defer func() { _ = reader.Process.Kill(); _ = reader.Wait() }()
	}
	time.Sleep(50 * time.Millisecond)
	for _, name := range []string{path, link, dir} {
		if pid, ok := WriterOf(name); !ok || pid != cmd.Process.Pid {
			t.Errorf("%s is written by %d, expected %d", name, pid, cmd.Process.Pid)
		}
	}
	for _, name := range []string{filepath.Join(dir, "none"), dir + "x", t.TempDir()} {
		if pid, ok := WriterOf(name); ok {
			t.Errorf("%s is written by %d", name, pid)
		}
	}
	own := filepath.Join(dir, "own")
	f, err := os.Create(own)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if pid, ok := WriterOf(own); ok {
		t.Errorf("a file of this process is written by %d", pid)
	}
}
