package remote_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"newtop/tui/remote"
)

// FuzzClient sends the server what a client may say in a session. Whatever it is, the server answers the next client, and
// nothing panics.
func FuzzClient(f *testing.F) {
	keys := "?\x1b:adam\r/x\x1b\t\t\x1b[A\x1b[B\x1b[C\x1b[D\x1b[<0;10;5M\x1b[<0;10;5m\x1b[<64;3;3M\x1b[200~paste\x1b[201~tMzym"
	for _, seed := range []struct {
		width, height, width2, height2 uint32
		term, name, value, keys        string
		steer                          bool
	}{
		{80, 24, 120, 40, "xterm-256color", "COLORTERM", "truecolor", "q", false},
		{80, 24, 1, 1, "xterm-256color", "LANG", "C.UTF-8", keys, false},
		{120, 40, 0, 0, "screen.linux", "NO_COLOR", "1", keys, true},
		{0, 0, 80, 24, "vt100", "LC_ALL", "C", "zzzzzzzzz123456789oo\r\x1bee\r\x1bff\r\x1bu\r\x1bkw../../x.onnx\r\x1bpP", true},
		{1 << 31, 1 << 31, 0xffffffff, 1, "xterm-kitty", "TERM_PROGRAM", "\x1b]0;x\x07", "\x03", false},
		{60, 16, 59, 15, "dumb", "TERM", "xterm", "\x1a \x1a", true},
		{200, 60, 65536, 65536, "../../x", "LC_\x00", strings.Repeat("v", 5000), "\x1b[?1;2c\x1b]11;rgb:ffff/ffff/ffff\x07\x1bP>|x\x1b\\", false},
		{80, 24, 80, 24, "", "", "", "\x1b]11;rgb:\x1b\x1b\x1b[[[\x00\x01\xff\xfe\xc3\x28" + strings.Repeat("\x1b[", 500), true},
		{80, 24, 80, 24, "xterm", "LD_PRELOAD", "/x", strings.Repeat("é\u200d👩", 300), false},
		{80, 24, 81, 24, "tmux-256color", "SSH_TTY", "/dev/tty", "\x1b[<999999999999;999999999999;9999999M\x1b[99999999999~", true},
	} {
		f.Add(seed.width, seed.height, seed.width2, seed.height2, seed.term, seed.name, seed.value, seed.keys, seed.steer)
	}
	for i, odd := range []struct { // terminals that nobody has
		term          string
		width, height uint32
	}{
		{"xterm-256color", 0, 0}, {"xterm-256color", 1, 1}, {"xterm-256color", 1 << 31, 1 << 31}, {"xterm-256color", 0xffffffff, 1},
		{"", 80, 24}, {"dumb", 80, 24}, {"unknown", 80, 24}, {"../../etc/passwd", 80, 24}, {"xterm\x1b]0;x\x07", 80, 24},
		{strings.Repeat("t", 30_000), 80, 24}, {"\xff\xfe", 80, 24}, {"xterm\n", 80, 24},
	} {
		size := []uint32{0, 1, 1 << 31, 0xffffffff, 80}[i%5]
		f.Add(odd.width, odd.height, size, size, odd.term, "", "", "", false)
	}
	s := serve(f, remote.Options{})
	f.Fuzz(func(t *testing.T, width, height, width2, height2 uint32, term, name, value, keys string, steer bool) {
		// The run would end with "stop the run" and its confirmation, and with it what there is to see.
		key := s.look
		if steer {
			key = s.steer
		}
		client, err := ssh.Dial("tcp", s.server.Addr().String(), s.config(ssh.PublicKeys(key)))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		out, err := session.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := session.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		session.Setenv(name, value)
		ok, err := session.SendRequest("pty-req", true, ssh.Marshal(struct {
			Term       string
			W, H, X, Y uint32
			Modes      string
		}{term, width, height, 0, 0, ""}))
		if err == nil && ok && session.Shell() == nil {
			got := make(chan struct{})
			go func() {
				defer close(got)
				out.Read(make([]byte, 1))
			}()
			in.Write([]byte(keys))
			session.SendRequest("window-change", false, ssh.Marshal(struct{ W, H, X, Y uint32 }{width2, height2, 0, 0}))
			in.Write([]byte(keys))
			// Its answer comes after all that was taken in by the connection.
			client.SendRequest("keepalive@openssh.com", true, nil)
			select {
			case <-got:
			case <-time.After(patience):
				t.Fatal("nothing came")
			}
		}
		if log := s.log.String(); strings.Contains(log, "panic") || strings.ContainsAny(log, "\x1b\x00\x07\r") || strings.Contains(log, strings.Repeat("t", 1000)) {
			t.Fatalf("the log: %q", log)
		}
		s.log.empty()
	})
}
