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
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDiverged    = 3
	ExitInterrupted = 130
)

// UsageError is a wrong flag or argument.
type UsageError struct{ message string }

func (e *UsageError) Error() string { return e.message }

func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

func exitCode(ctx context.Context, err error) int {
	var (
		usage    *UsageError
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
		finished *FinishedError
		drawn    *figure.OptionError
		space    *tune.SpaceError
		search   *store.SearchError
		other    *OtherFlagsError
		exit     *ExitError
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &diverged):
		return ExitDiverged
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return ExitInterrupted
	case errors.As(err, &graph): // what a file says is no matter of usage
		return ExitFailed
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &method), errors.As(err, &setting),
		errors.As(err, &data), errors.As(err, &option), errors.As(err, &network), errors.As(err, &run), errors.As(err, &name),
		errors.As(err, &finished), errors.As(err, &drawn), errors.As(err, &space), errors.As(err, &search), errors.As(err, &other):
		return ExitUsage
	}
	return ExitFailed
}

// Report prints an error as one line that starts with the program's name.
func Report(w io.Writer, err error) {
	var (
		bug         *trainer.PanicError
		interrupted *InterruptedError
		exit        *ExitError
	)
	switch {
	case errors.As(err, &exit) && exit.Err == nil:
	case errors.As(err, &bug):
		fmt.Fprintln(w, "newtop:", err)
	case errors.As(err, &interrupted):
		fmt.Fprintln(w, "newtop:", interrupted)
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(w, "newtop: interrupted")
	default:
		fmt.Fprintln(w, "newtop:", OneLine(err))
	}
}
