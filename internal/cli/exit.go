package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"newtop/datasets"
	"newtop/datasets/fault"
	"newtop/internal/figure"
	"newtop/models"
	"newtop/models/netfile"
	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/store"
	"newtop/trainer/tune"
)

// Exit codes, a contract with scripts. Of several processes that train together one of which nothing is heard ends the
// others with mpi.ExitHung, which is 4.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDiverged    = 3
	exitInterrupted = 130
)

// usageError is a wrong flag or argument.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

func exitCode(ctx context.Context, err error) int {
	var (
		usage    *usageError
		config   *trainer.ConfigError
		method   *methods.UnknownError
		setting  *optim.SettingError
		data     *datasets.UnknownError
		option   *fault.OptionError
		diverged *trainer.DivergedError
		network  *models.ArchitectureError
		graph    *netfile.Error
		run      *store.NotFoundError
		name     *store.NameError
		finished *finishedError
		drawn    *figure.OptionError
		space    *tune.SpaceError
		search   *store.SearchError
		other    *otherFlagsError
		exit     *exitError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &diverged):
		return exitDiverged
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &graph): // what a file says is no matter of usage
		return exitFailed
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &method), errors.As(err, &setting),
		errors.As(err, &data), errors.As(err, &option), errors.As(err, &network), errors.As(err, &run), errors.As(err, &name),
		errors.As(err, &finished), errors.As(err, &drawn), errors.As(err, &space), errors.As(err, &search), errors.As(err, &other):
		return exitUsage
	}
	return exitFailed
}

// report prints an error as one line that starts with the program's name.
func report(w io.Writer, err error) {
	var (
		bug         *trainer.PanicError
		interrupted *interruptedError
		exit        *exitError
	)
	switch {
	case errors.As(err, &exit) && exit.err == nil:
	case errors.As(err, &bug):
		fmt.Fprintln(w, "newtop:", err)
	case errors.As(err, &interrupted):
		fmt.Fprintln(w, "newtop:", interrupted)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "newtop: interrupted")
	default:
		fmt.Fprintln(w, "newtop:", oneLine(err))
	}
}
