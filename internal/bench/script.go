package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"newtop/internal/format"
)

// longestLine is of a script's output; the rest of a longer one is left out.
const longestLine = 1 << 16

// runProgram runs a program, hands over each line of its output as it comes, from a goroutine that is gone when it returns,
// and returns the time of processors that it and its children spent. Its error is the last line that the program wrote to
// its standard error. Cancelling the context kills it, and what it leaves behind is killed too: it would compute beside what
// is measured next.
func runProgram(ctx context.Context, program string, args []string, line func(string)) (spent time.Duration, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second // that children of a program that ended may hold on to its output
	apart(cmd)
	var errs bytes.Buffer
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, &errs
	var reader sync.WaitGroup
	reader.Go(func() {
		for r := bufio.NewReaderSize(out, longestLine); ; {
			part, more, err := r.ReadLine()
			if text := strings.TrimRight(string(part), " \t\r"); text != "" {
				line(format.Printable(text))
			}
			for more && err == nil {
				_, more, err = r.ReadLine()
			}
			if err != nil {
				return
			}
		}
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
	case errors.Is(err, exec.ErrWaitDelay): // the program itself ended well
		_ = cmd.Cancel()
		return spent, nil
	case last != "":
		return spent, errors.New(last)
	}
	return spent, fmt.Errorf("it failed without a word: %w", err)
}

// pythonWith returns the named Python, or without a name the first of two, that has these modules.
func pythonWith(ctx context.Context, named string, modules ...string) (string, error) {
	tried, imports, packages := []string{named}, "sys", "python3"
	if named == "" {
		tried = []string{"python3", "/usr/bin/python3"}
	}
	for _, module := range modules {
		imports, packages = imports+", "+module, packages+" python3-"+module // as Debian calls them
	}
	for _, python := range tried {
		if exec.CommandContext(ctx, python, "-c", "import "+imports).Run() == nil || ctx.Err() != nil {
			return python, ctx.Err()
		}
	}
	return "", fmt.Errorf("no Python that imports %s (tried %s): install it with "+
		"apt-get install --no-install-recommends %s, or name one with --python", imports, strings.Join(tried, ", "), packages)
}
