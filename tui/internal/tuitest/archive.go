package tuitest

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

// Archive returns what adds a picture to the one golden file of a test. The file has the pictures in the order in which
// they came, each under a line with its name (the format of txtar), and is compared when the test ends; -update writes
// it.
func Archive(t *testing.T) (add func(name, text string)) {
	t.Helper()
	var b strings.Builder
	t.Cleanup(func() {
		if !t.Failed() {
			golden.RequireEqual(t, []byte(b.String()))
		}
	})
	return func(name, text string) {
		b.WriteString("-- " + name + " --\n" + strings.TrimRight(text, "\n") + "\n")
	}
}
