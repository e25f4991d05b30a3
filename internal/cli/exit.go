package cli

import (
	"context"
	"errors"
	"syscall"

	"newtop/datasets"
	"newtop/datasets/fault"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/figure"
	"newtop/models"
	"newtop/models/netfile"
	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui/render"
)

func exitCode(ctx context.Context, err error) int {
	if exit, ok := errors.AsType[*print.ExitError](err); ok {
		return exit.Code
	}
	switch {
	case err == nil:
		return print.ExitDone
	case is[*trainer.DivergedError](err):
		return print.ExitDiverged
	case errors.Is(err, context.Canceled) && ctx.Err() != nil, errors.Is(err, syscall.EPIPE):
		return print.ExitInterrupted
	case is[*trainer.PanicError](err), is[*render.PanicError](err):
		return print.ExitBug
	case is[*netfile.Error](err): // what a file says is no matter of usage
		return print.ExitFailed
	case is[*flags.UsageError](err), is[*trainer.ConfigError](err), is[*methods.UnknownError](err),
		is[*optim.SettingError](err),
		is[*datasets.UnknownError](err), is[*fault.OptionError](err), is[*models.ArchitectureError](err),
		is[*store.NotFoundError](err),
		is[*store.NameError](err), is[*store.SearchError](err), is[*job.FinishedError](err),
		is[*job.OtherFlagsError](err),
		is[*figure.OptionError](err), is[*tune.SpaceError](err):
		return print.ExitUsage
	}
	return print.ExitFailed
}

// is reports whether an error is or wraps one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
