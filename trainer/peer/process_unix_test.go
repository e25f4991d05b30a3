//go:build unix

package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// behaviour is the environment variable that makes this test's program a peer.
const behaviour = "NEWTOP_TEST_PEER"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		os.Exit(behave(how))
	}
	os.Exit(m.Run())
}

func behave(how string) int {
	fmt.Println("seed", os.Getenv("NEWTOP_SEED"))
	fmt.Fprint(os.Stderr, "10%\r20%\r\nloaded\x1b[2J\n")
	switch how {
	case "early":
		fmt.Fprint(os.Stderr, "ModuleNotFoundError: no torch")
		return 3
	case "silent":
		hang()
	case "stubborn", "deaf":
		signal.Ignore(os.Interrupt)
		if how == "deaf" {
			signal.Ignore(syscall.SIGTERM)
		}
	}
	conn, err := net.Dial("unix", os.Getenv(SocketVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	f := &fake{conn: conn, n: 3, maps: how == "mapped"}
	f.spoil = func(op string, b []byte) []byte {
		switch {
		case how == "raise" && op == "hv":
			fmt.Fprint(os.Stderr, "Traceback\nRuntimeError: \x07bad\n\n")
			os.Exit(1)
		case how == "killed" && op == "hv":
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			hang()
		case how == "child" && op == "hv": // which keeps the socket
			file, _ := conn.(*net.UnixConn).File()
			child := exec.Command("sleep", "60")
			child.ExtraFiles = []*os.File{file}
			if child.Start() == nil {
				fmt.Println("child", child.Process.Pid)
			}
			os.Exit(1)
		}
		return b
	}
	f.serve()
	if how == "stubborn" || how == "deaf" || how == "lingering" {
		hang()
	}
	return 0
}

// peerCommand starts this test's program as a peer.
func peerCommand(t *testing.T, how string, lines *lockedLines) Command {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seed := int64(7)
	return Command{Args: []string{program}, Env: []string{behaviour + "=" + how}, Seed: &seed, Console: lines.add}
}

type lockedLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lockedLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *lockedLines) has(line string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.lines, line)
}

func TestPrograms(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	t.Run("", programs)
}

func programs(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"good", ""},
		{"lingering", ""},
		{"mapped", ""},
		{"early", `ended before it connected to newtop: exit status 3: ModuleNotFoundError: no torch (NEWTOP_PYTHON=PATH chooses another Python)`},
		{"silent", "did not connect to newtop within 1s (ModelTimeout)"},
		{"raise", `ended at hv: exit status 1: RuntimeError: \abad`},
		{"killed", `ended at hv: killed: loaded\x1b[2J`},
		{"child", "ended at hv: exit status 1"},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			lines := new(lockedLines)
			command, options := peerCommand(t, c.how, lines), Options{Map: 1}
			command.Patience = 500 * time.Millisecond
			if c.how == "silent" {
				options.Answer = time.Second
			}
			client, err := Start(t.Context(), command, options)
			if err == nil {
				x := make([]float64, 3)
				x[2] = 5
				if err = client.HessianTo(x, x); err == nil && x[2] != 15 {
					t.Error("the product is", x)
				}
				if (client.wire.mapped != nil) != (c.how == "mapped") {
					t.Error("mapped:", (client.wire.mapped != nil))
				}
				if again := client.At(x, nil); c.want != "" && (again == nil || again.Error() != err.Error()) {
					t.Errorf("%v, then %v", err, again)
				}
				dir := client.wire.program.files.dir
				client.Close()
				if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Error("the directory stays:", err)
				}
				checkGone(t, client.wire.program.cmd.Process.Pid, lines)
			}
			if text := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("%v, want %s", err, c.want)
			}
			if !lines.has("seed 7") || !lines.has("20%") || !lines.has("loaded\x1b[2J") {
				t.Errorf("%q", lines.lines)
			}
		})
	}
}

// checkGone checks that nobody of a group runs. A child that was killed may wait for who takes its status.
func checkGone(t *testing.T, group int, lines *lockedLines) {
	child := ""
	for _, line := range lines.lines {
		if pid, ok := strings.CutPrefix(line, "child "); ok {
			child = pid
		}
	}
	for range 6000 {
		stat, _ := os.ReadFile("/proc/" + child + "/stat")
		if syscall.Kill(-group, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the program or a child of it still runs")
}

// A program that ignores what it is told is killed in the end.
func TestDeafProgram(t *testing.T) {
	const patience = 200 * time.Millisecond
	for how, least := range map[string]time.Duration{"stubborn": 2, "deaf": 3} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			lines := new(lockedLines)
			command := peerCommand(t, how, lines)
			command.Patience = patience
			client, err := Start(t.Context(), command, Options{})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			client.Close()
			if took := time.Since(began); took < least*patience {
				t.Errorf("took %v", took)
			}
			<-client.wire.program.ended
			exit, ok := errors.AsType[*exec.ExitError](client.wire.program.status)
			if want := map[string]syscall.Signal{"stubborn": syscall.SIGTERM, "deaf": syscall.SIGKILL}[how]; !ok || exit.Sys().(syscall.WaitStatus).Signal() != want || !lines.has("newtop: it still runs: killed in 0.2 s") {
				t.Errorf("it ended with %v, not by %v", client.wire.program.status, want)
			}
		})
	}
}

func TestStartIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, peerCommand(t, "silent", new(lockedLines)), Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := Start(t.Context(), Command{Args: []string{"./nowhere"}}, Options{}); err == nil || err.Error() != "./nowhere: no such file or directory" {
		t.Error(err)
	}
}

// A program that somebody else starts finds the socket, and Python newtop.py behind its own directories.
func TestListen(t *testing.T) {
	for _, way := range []string{"", "tcp"} {
		t.Run(way, func(t *testing.T) { testListen(t, way) })
	}
}

func testListen(t *testing.T, way string) {
	t.Setenv(SocketVariable, way)
	l, err := Listen(Options{})
	if err != nil {
		t.Skip("no Unix sockets here: ", err)
	}
	defer l.Close()
	environ := l.Environ([]string{"A=1", "PYTHONPATH=/x", "NEWTOP_PEER=old"})
	want := []string{"A=1", "PYTHONPATH=/x" + string(filepath.ListSeparator) + l.dir, "NEWTOP_PEER=" + l.path()}
	if !slices.Equal(environ, want) {
		t.Errorf("%q, want %q", environ, want)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "newtop.py")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	served := make(chan error)
	go func() {
		conn, err := dial(t.Context(), l.path(), time.Minute)
		if err == nil {
			(&fake{conn: conn, n: 3}).serve()
			conn.Close()
		}
		served <- err
	}()
	c, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Who does not know the token of a port is not let in, and keeps nobody else out.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peer")
	l, err := listenAt(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token is in %v, %v", info, err)
	}
	guess, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer guess.Close()
	fmt.Fprintf(guess, "%026d\n", 0)
	known, err := dial(t.Context(), path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	conn, err := l.Accept()
	if err != nil || conn.RemoteAddr().String() != known.LocalAddr().String() {
		t.Errorf("%v is let in: %v", conn, err)
	}
	if n, err := guess.Read(make([]byte, 1)); err == nil {
		t.Errorf("who guesses gets %d bytes", n)
	}
}

func TestDialNobody(t *testing.T) {
	_, err := Open(t.Context(), "unix:"+filepath.Join(t.TempDir(), "s"), Command{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "expected the socket of a peer") || strings.Contains(err.Error(), "dial") {
		t.Error(err)
	}
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"bin/python3": 0o755, "m.py": 0o644, "sh.py": 0o755, "bare.py": 0o755, "m.jl": 0o644, "solver": 0o755, "notes": 0o644, "my model.py": 0o644} {
		text := "x"
		if name == "sh.py" || name == "bin/python3" {
			text = "#!/bin/sh\n"
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	t.Setenv("NEWTOP_PYTHON", "")
	for _, c := range []struct{ model, want string }{
		{"m.py", "[python3 m.py]"},
		{"my model.py", "[python3 my model.py]"},
		{"bare.py", "[python3 bare.py]"},
		{"sh.py", "[./sh.py]"},
		{"solver", "[./solver]"},
		{"m.py --rows 3", "[python3 m.py --rows 3]"},
		{"python3 -m net", "[python3 -m net]"},
		{"m.jl", "there is no julia to run it"},
		{"notes", "can't be run: expected an executable file"},
		{"nothing.py", "there is no such file: expected FILE.py"},
		{"", "there is no such file"},
		{".", "is no file"},
		{"python9 m.py", "there is no program python9"},
	} {
		args, err := Resolve(c.model)
		if got := fmt.Sprint(args); got != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %s, %v, want %s", c.model, got, err, c.want)
		}
	}
	t.Setenv("NEWTOP_PYTHON", filepath.Join(bin, "python3"))
	if args, err := Resolve("sh.py"); err != nil || args[0] != filepath.Join(bin, "python3") {
		t.Error(args, err)
	}
}

// What a program prints comes line by line, however it is cut.
func TestLinesOfStreams(t *testing.T) {
	for size := 1; size < 30; size++ {
		lines := new(lockedLines)
		s := stream{to: &console{show: lines.add}}
		text := "one\r\n10%\r20%\rdone\n\n\rbar\r\n" + strings.Repeat("x", longLine+50) + "\nlast"
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, _ = io.Copy(&s, strings.NewReader(string(rest[:min(size, len(rest))])))
		}
		s.end()
		want := []string{"one", "done", "", "bar", strings.Repeat("x", longLine), "last"}
		if !slices.Equal(lines.lines, want) {
			t.Fatalf("%d: %q", size, lines.lines)
		}
	}
}

// hang waits for the end of the process. A select without cases would be a deadlock, by which a program without cgo ends.
func hang() { time.Sleep(time.Hour) }
