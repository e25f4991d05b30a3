package cli

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"newtop/internal/cli/print"
	"newtop/models/blas"
)

// asNewtop makes the test binary behave as the program, so that tests can run it in a terminal or as a
// process of its own.
const asNewtop = "NEWTOP_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	blas.Use() // as main does
	if os.Getenv(asNewtop) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(apart(m))
}

// apart runs the tests with directories of their own in place of the user's.
func apart(m *testing.M) int {
	dir, err := os.MkdirTemp("", "newtop-cli-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) { // as in a script's background job, or under nohup; what it starts would ignore it too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	debug.SetGCPercent(200) // cobra keeps every command's completions for good, and there is one a call
	os.Setenv("NEWTOP_STATE_DIR", filepath.Join(dir, "state"))
	os.Setenv("NEWTOP_CONFIG_DIR", filepath.Join(dir, "config"))
	return m.Run()
}

// newtop runs a command in this process.
func newtop(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = Main(args, strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

// succeed runs a command that must exit with 0 and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := newtop(args...)
	if code != 0 {
		t.Fatalf("newtop %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

// refuses wants a command to end with a code, and to say why in one line that has some texts, with … between them; that of
// a run that diverged comes after those of where it is recorded, that of what is watched after its name.
func refuses(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	out, errs, got := newtop(args...)
	said := lines(errs)
	last := said[len(said)-1]
	well := got == code && strings.HasPrefix(last, "newtop: ") && strings.Count(errs, "newtop: ") == 1 &&
		(len(said) == 1 || code == print.ExitDiverged || args[0] == "watch")
	for _, text := range strings.Split(want, " … ") {
		well = well && strings.Contains(last, text)
	}
	if !well {
		t.Errorf("newtop %s: exit %d, expected %d and one line with %q:\n%s%s", strings.Join(args, " "), got, code, want, errs, out)
	}
}

// shared returns the path of a real data file, or skips the test.
func shared(t *testing.T, file string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for up := 0; up < 6; up++ {
		path := filepath.Join(dir, "shared", "data", file)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		dir = filepath.Dir(dir)
	}
	t.Skipf("no shared/data/%s above this directory", file)
	return ""
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
