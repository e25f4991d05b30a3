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
)

const (
	longestLine = 1 << 16 // of a script's output; the rest of a longer one is left out
	// killGrace is how long the children of a killed script may hold on to its output.
	killGrace = time.Second
)

// runScript runs a script and hands over each line of its output as it comes. Its error is the last line that the
// script wrote to its standard error. Cancelling the context kills it.
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
	case last != "":
		return errors.New(last)
	}
	return fmt.Errorf("it failed without a word: %w", err)
}

// lines is a writer that cuts what is written into lines; empty ones are left out.
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
	if line := strings.TrimRight(string(l.part), " \t\r"); line != "" {
		l.each(line)
	}
	l.part = l.part[:0]
}
