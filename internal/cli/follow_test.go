package cli

import (
	"strings"
	"testing"
)

// TestWatchAnEventFile watches the directory that one of TensorBoard's files is in.
func TestWatchAnEventFile(t *testing.T) {
	file := write(t, "events.out.tfevents.1700000000.host", "")
	refuses(t, 1, "nothing to print yet", "watch", "--once", file)
}

// TestWatchAHostileName keeps control characters of a program's figures from the terminal.
func TestWatchAHostileName(t *testing.T) {
	file := write(t, "x.jsonl", `{"type":"epoch","epoch":1,"figures":[{"key":"\u001b[31m\n","value":1}]}`+"\n"+`{"type":"done","epochs":1}`)
	if out := succeed(t, "watch", file); strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 2 {
		t.Errorf("printed %q", out)
	}
}
