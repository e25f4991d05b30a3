package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"newtop/internal/format"
)

// killGrace is how long the children of a script that ended may hold on to its output.
const killGrace = time.Second

// runScript runs a script, hands over each line of its output as it comes, from a goroutine that is gone when it returns,
// and returns the time of processors that it and its children spent. Its error is the last line that the script wrote to
// its standard error. Cancelling the context kills it, and what it leaves behind is killed too: it would compute beside what
// is measured next.
func runScript(ctx context.Context, o *PeerOptions, script string, args []string, line func(string)) (spent time.Duration, err error) {
	cmd := exec.CommandContext(ctx, o.Python, append([]string{filepath.Join(o.Dir, script)}, args...)...)
	cmd.WaitDelay = killGrace
	apart(cmd)
	var errs bytes.Buffer
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, &errs
	var reader sync.WaitGroup
	reader.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			if text := strings.TrimSpace(s.Text()); text != "" {
				line(format.Printable(text))
			}
		}
		_, _ = io.Copy(io.Discard, out) // behind a line too long to be one
	})
	err = cmd.Run()
	in.Close()
	reader.Wait()
	if s := cmd.ProcessState; s != nil {
		spent = s.UserTime() + s.SystemTime()
	}
	last := strings.TrimSpace(errs.String())
	last = format.Printable(last[strings.LastIndexByte(last, '\n')+1:])
	switch {
	case err == nil || ctx.Err() != nil:
		return spent, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // the script itself ended well
		_ = cmd.Cancel()
		return spent, nil
	case last != "":
		return spent, errors.New(last)
	}
	return spent, fmt.Errorf("it failed without a word: %w", err)
}
