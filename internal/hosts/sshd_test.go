package hosts

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// sshd is OpenSSH's server on a loopback address: one process a connection, as inetd would start them.
type sshd struct {
	t        *testing.T
	program  string
	config   string
	address  string // chosen by the first start
	listener *net.TCPListener
	sessions chan session
}

type session struct {
	conn *net.TCPConn
	cmd  *exec.Cmd
}

// realHost returns a host that the system's ssh reaches, and its server.
func realHost(t *testing.T, subsystem string) (*Host, *sshd) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("sockets can't be handed to sshd here")
	}
	s := &sshd{t: t, program: "/usr/sbin/sshd", sessions: make(chan session, 100)}
	for _, name := range []string{"ssh", "ssh-keygen", s.program} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("OpenSSH is not installed: ", err)
		}
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	key := at("key") // the host's and the user's
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.config = at("sshd_config")
	write("sshd_config", fmt.Sprintf("HostKey %q\nAuthorizedKeysFile %q\nStrictModes no\nUsePAM no\n"+
		"PermitRootLogin yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n%s\n",
		key, key+".pub", subsystem))
	out, err := exec.Command(s.program, "-t", "-f", s.config).CombinedOutput()
	if strings.Contains(string(out), "privilege separation") { // root's needs /run/sshd
		t.Skipf("sshd can't be started: %s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.address = "127.0.0.1:0"
	s.start()
	t.Cleanup(s.stop)
	_, port, _ := net.SplitHostPort(s.address)
	write("ssh_config", fmt.Sprintf("Host gpu1\nHostName 127.0.0.1\nPort %s\n"+
		"StrictHostKeyChecking accept-new\nUserKnownHostsFile %q\n"+
		"IdentityFile %q\nIdentitiesOnly yes\nIdentityAgent none\n", port, at("known"), key))
	n := New(Options{Command: []string{"ssh", "-F", at("ssh_config")}, Poll: -1, Retry: 10 * time.Millisecond})
	t.Cleanup(n.Close)
	return n.Files("gpu1"), s
}

func (s *sshd) start() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address, s.listener = listener.Addr().String(), listener.(*net.TCPListener)
	go func() {
		for {
			conn, err := listener.(*net.TCPListener).AcceptTCP()
			if err != nil {
				return
			}
			file, err := conn.File()
			if err != nil {
				continue
			}
			cmd := exec.Command(s.program, "-i", "-f", s.config)
			cmd.Stdin, cmd.Stdout = file, file
			if cmd.Start() == nil {
				s.sessions <- session{conn, cmd}
			}
			file.Close()
		}
	}()
}

// stop kills the server with all of its sessions.
func (s *sshd) stop() {
	s.listener.Close()
	for {
		select {
		case is := <-s.sessions:
			// The socket, for the children of sshd have it too.
			_ = is.conn.CloseRead()
			_ = is.conn.CloseWrite()
			is.conn.Close()
			_ = is.cmd.Process.Kill()
			_ = is.cmd.Wait()
		default:
			return
		}
	}
}

// TestOpenSSH: the bytes of a log that grows are the same over OpenSSH, whose server is killed in the midst of a
// transfer, and while the log is followed.
func TestOpenSSH(t *testing.T) {
	for name, subsystem := range map[string]string{"sftp": "Subsystem sftp internal-sftp", "shell": ""} {
		t.Run(name, func(t *testing.T) {
			h, server := realHost(t, subsystem)
			d := disk{t, t.TempDir()}
			want, row := "", 0
			grow := func(rows int) {
				var b strings.Builder
				for range rows {
					row++
					fmt.Fprintf(&b, "{\"step\": %d, \"loss\": %.6f}\n", row, 1/float64(row))
				}
				d.Append("a log.jsonl", b.String())
				want += b.String()
			}
			grow(50_000)
			if err := h.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, sftp := h.line.(*overSFTP); sftp != (subsystem != "") {
				t.Fatalf("connected by %T", h.line)
			}
			f, err := h.Path(filepath.Join(d.home, "a log.jsonl")).Open()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := make([]byte, len(want)/2)
			if _, err := io.ReadFull(f, got); err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				came := make(chan []byte)
				if round%2 == 0 {
					server.stop()
				}
				grow(1000)
				go func() {
					text, err := io.ReadAll(f)
					if err != nil {
						t.Error(err)
					}
					came <- text
				}()
				if round%2 == 0 {
					for !strings.Contains(h.Away(), "refused") {
						<-h.Changed()
					}
					server.start()
				}
				if got = append(got, <-came...); string(got) != want {
					t.Fatalf("round %d: %d bytes of %d, or others", round, len(got), len(want))
				}
			}
		})
	}
}
