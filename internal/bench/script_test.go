//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell runs a script of sh.
func shell(ctx context.Context, script string, line func(string)) error {
	_, err := runProgram(ctx, "/bin/sh", []string{"-c", script}, line)
	return err
}

// TestNothingOfAScriptComputesOn: what it leaves behind would compute beside what is measured next.
func TestNothingOfAScriptComputesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		script string
		end    func()
		want   error
	}{{"echo warning >&2; sleep 60 & echo $!", func() {}, nil}, {"sleep 60 & echo $!; wait", cancel, context.Canceled}} {
		pid := 0
		err := shell(ctx, c.script, func(text string) {
			pid, _ = strconv.Atoi(text)
			c.end()
		})
		if !errors.Is(err, c.want) || pid == 0 {
			t.Fatalf("%s: process %d, %v", c.script, pid, err)
		}
		for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) != syscall.ESRCH && !buried(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d, a child of the script, lives on", pid)
			}
		}
	}
}

// buried reports whether Linux lists a process as dead: whoever inherits a child's child may take a while to bury it.
func buried(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestLinesOfAScript(t *testing.T) {
	long := append([]string{"short", strings.Repeat("x", longestLine)}, slices.Repeat([]string{"y"}, 50000)...)
	for script, want := range map[string][]string{
		`printf '\033[2Jcle\ta\302\233r\a\377\n\000\n  \nb\r\n'; printf end`:                          {`\x1b[2Jcle\ta\u009br\a` + "\ufffd", `\x00`, "b", "end"},
		"echo short; yes x | tr -d '\\n' | head -c 200000; echo; yes | head -c 100000; echo last >&2": long,
	} {
		var got []string
		if err := shell(t.Context(), script, func(text string) { got = append(got, text) }); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: read %d lines, expected %d", err, len(got), len(want))
		}
	}
	if err := shell(t.Context(), "echo some; echo 'OSError: gone' >&2; exit 1", func(string) {}); err == nil || err.Error() != "OSError: gone" {
		t.Errorf("failed with %v", err)
	}
}

func TestPython(t *testing.T) {
	some := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(some, []byte("#!/bin/sh\n[ \"$2\" = 'import sys, torch' ]\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(some)+":"+os.Getenv("PATH"))
	for _, named := range []string{some, ""} {
		if got, err := pythonWith(t.Context(), named, "torch"); err != nil || !strings.HasSuffix(some, got) {
			t.Errorf("%q: %q, %v", named, got, err)
		}
	}
	_, err := pythonWith(t.Context(), some, "torch", "sklearn")
	if err == nil || !strings.Contains(err.Error(), "imports sys, torch, sklearn (tried "+some+")") ||
		!strings.Contains(err.Error(), "python3 python3-torch python3-sklearn") {
		t.Errorf("said %v", err)
	}
}
