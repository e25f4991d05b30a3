package hosts

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pkg/sftp"
)

// fakeHome has the directory that is the home of all hosts where this program runs in place of ssh.
const fakeHome = "NEWTOP_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(fakeHome); home != "" && slices.Contains(os.Args, "-oRemoteCommand=none") {
		os.Exit(fakeSSH(home, os.Args))
	}
	os.Exit(m.Run())
}

// fakeSSH does what ssh and the host would. Files beside the home say what is broken.
func fakeSSH(home string, args []string) int {
	is := func(name string) bool {
		_, err := os.Stat(home + "." + name)
		return err == nil
	}
	asked, _ := os.OpenFile(home+".asked", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	in := io.TeeReader(os.Stdin, asked)
	rest := args[slices.Index(args, "--")+1:]
	switch {
	case is("down"):
		fmt.Fprintf(os.Stderr, "ssh: connect to host %s port 22: \x1b[31mConnection refused\r\n", rest[0])
		return 255
	case slices.Contains(args, "-s") && is("nosftp"):
		fmt.Fprintln(os.Stderr, "subsystem request failed on channel 0")
		return 255
	case slices.Contains(args, "-s"):
		server, err := sftp.NewServer(struct {
			io.Reader
			io.WriteCloser
		}{in, os.Stdout}, sftp.WithServerWorkingDirectory(home))
		if err == nil {
			_ = server.Serve()
		}
		return 0
	}
	cmd := exec.Command("sh", "-c", rest[1])
	// By pipes of its own, which break with this program.
	cmd.Dir, cmd.Stdin, cmd.Stdout = home, in, io.MultiWriter(os.Stdout)
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// disk is the home of a fake host.
type disk struct {
	t    *testing.T
	home string
}

// fake returns a host over which nothing is remembered, with a home that is empty.
func fake(t *testing.T, o Options, broken ...string) (*Host, disk) {
	t.Helper()
	d := disk{t, filepath.Join(t.TempDir(), "home")}
	if err := os.Mkdir(d.home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		d.breaks(b)
	}
	t.Setenv(fakeHome, d.home)
	o.Command, o.Retry = []string{os.Args[0]}, time.Millisecond
	n := New(o)
	t.Cleanup(n.Close)
	return n.Files("me@gpu1"), d
}

// up is the process of a host's line.
func up(h *Host) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.line.(*overSFTP); ok {
		return l.process
	}
	return h.line.(*overShell).process
}

func (d disk) breaks(what string) { d.put("../home."+what, "", os.O_TRUNC) }
func (d disk) mends(what string)  { d.Remove("../home." + what) }

// asked is how many bytes have come to the host.
func (d disk) asked() int64 { info, _ := os.Stat(d.home + ".asked"); return info.Size() }

func (d disk) Write(name, text string)  { d.put(name, text, os.O_TRUNC) }
func (d disk) Append(name, text string) { d.put(name, text, os.O_APPEND) }

func (d disk) put(name, text string, how int) {
	d.t.Helper()
	path := filepath.Join(d.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|how, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		d.t.Fatal(err)
	}
}

func (d disk) Remove(name string) {
	d.t.Helper()
	if err := os.RemoveAll(filepath.Join(d.home, name)); err != nil {
		d.t.Fatal(err)
	}
}
