package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

const (
	longestLine = 1 << 16 // of a script's output; the rest of a longer one is left out
	// killGrace is how long the children of a script that ended may hold on to its output.
	killGrace = time.Second
)

// runScript runs a script and hands over each line of its output as it comes. Its error is the last line that the
// script wrote to its standard error. Cancelling the context kills it, and what it leaves behind is killed too: it would
// compute beside what is measured next.
func runScript(ctx context.Context, o *PeerOptions, script string, args []string, line func(string)) error {
	cmd := exec.CommandContext(ctx, o.Python, append([]string{filepath.Join(o.Dir, script)}, args...)...)
	cmd.WaitDelay = killGrace
	apart(cmd)
	out, last := &lines{each: line}, ""
	errs := &lines{each: func(s string) { last = s }}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	out.end()
	errs.end()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // the script itself ended well
		_ = cmd.Cancel()
		return nil
	case last != "":
		return errors.New(last)
	}
	return fmt.Errorf("it failed without a word: %w", err)
}

// lines is a writer that cuts what is written into lines; empty ones are left out, and so is what a terminal would take
// for a command.
type lines struct {
	each func(string)
	part []byte
}

func (l *lines) Write(text []byte) (int, error) {
	n := len(text)
	for {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		l.part = append(l.part, line[:min(len(line), longestLine-len(l.part))]...)
		if !ended {
			return n, nil
		}
		l.end()
		text = rest
	}
}

// end hands over the line under way.
func (l *lines) end() {
	if line := strings.TrimRight(printable(string(l.part)), " "); line != "" {
		l.each(line)
	}
	l.part = l.part[:0]
}

// printable leaves out what is no text; a tab becomes a space.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, text)
}
