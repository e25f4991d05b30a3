package print

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"newtop/internal/cli/flags"
	"newtop/internal/format"
	"newtop/trainer"
)

// Exit codes, a contract with scripts. Of several processes that train together one of which nothing is heard ends the
// others with mpi.ExitHung, which is 4. Go's runtime ends a program that crashes with 2, which newtop itself never
// uses: usage and bugs have the codes of sysexits.h.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitDiverged    = 3
	ExitUnrecorded  = 5  // the run is over, and the record lacks some of it
	ExitUsage       = 64 // EX_USAGE: it would fail again
	ExitBug         = 70 // EX_SOFTWARE: a panic that was caught
	ExitInterrupted = 130
)

// maxPrinted is how many of the last lines of a model's program are shown with its failure.
const maxPrinted = 20

// Report prints an error as one line that starts with the program's name, behind what the program of a model has
// printed that could not begin.
func Report(w io.Writer, err error) {
	text := OneLine(err)
	if start, ok := errors.AsType[*trainer.StartError](err); ok {
		for _, line := range start.Printed[max(0, len(start.Printed)-maxPrinted):] {
			fmt.Fprintln(w, Printable(line))
		}
	}
	output, unwritten := errors.AsType[*OutputError](err)
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Err == nil {
		return
	}
	if _, bug := errors.AsType[*trainer.PanicError](err); bug { // with its stack
		text = err.Error()
	} else if interrupted, ok := errors.AsType[*InterruptedError](err); ok {
		text = Printable(interrupted.Error())
	} else if errors.Is(err, context.Canceled) {
		text = "interrupted"
	} else if unwritten && output.Unread() {
		return
	} else if unwritten {
		text = output.Error()
	}
	fmt.Fprintln(w, "newtop:", text)
}

// ExitError is an end with a code of its own.
type ExitError struct {
	Code int
	Err  error // nil: there is nothing to say
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// ShortID returns the end of a run's ID, by which people name it.
func ShortID(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }

// InterruptedError is the end of a run by a signal, or because nobody reads its output any more.
type InterruptedError struct {
	Cause error
	Next  string // the command that continues with it
}

func (e *InterruptedError) Error() string {
	reason := "interrupted"
	if errors.Is(e.Cause, syscall.EPIPE) {
		reason = "nobody reads standard output any more"
	}
	return reason + "; to continue: " + e.Next
}

func (e *InterruptedError) Unwrap() error { return e.Cause }

// Warn prints a warning.
func Warn(w io.Writer, text string) { fmt.Fprintln(w, "newtop: warning:", Printable(text)) }

// OneLine returns an error's text on one line, in which what it repeats of an argument or a file is printable and not
// long.
func OneLine(err error) string {
	text := strings.Join(strings.Fields(trainer.ErrorText(err, flags.Of)), " ")
	return format.Shortened(Printable(text))
}
