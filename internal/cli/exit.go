package cli

import (
	"context"
	"errors"

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
)

func exitCode(ctx context.Context, err error) int {
	var (
		usage    *flags.UsageError
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
		finished *job.FinishedError
		drawn    *figure.OptionError
		space    *tune.SpaceError
		search   *store.SearchError
		other    *job.OtherFlagsError
		exit     *print.ExitError
	)
	switch {
	case err == nil:
		return print.ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &diverged):
		return print.ExitDiverged
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return print.ExitInterrupted
	case errors.As(err, &graph): // what a file says is no matter of usage
		return print.ExitFailed
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &method), errors.As(err, &setting),
		errors.As(err, &data), errors.As(err, &option), errors.As(err, &network), errors.As(err, &run), errors.As(err, &name),
		errors.As(err, &finished), errors.As(err, &drawn), errors.As(err, &space), errors.As(err, &search), errors.As(err, &other):
		return print.ExitUsage
	}
	return print.ExitFailed
}
