package trainer

import (
	"io"

	"newtop/datasets"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// What users of sessions need of the packages below this one, by the names that it has here.
type (
	// Config is everything that decides a run.
	Config = config.Config
	// ConfigError says which field of a Config was given what, and what it takes.
	ConfigError = config.ConfigError
	// Team is several processes that train one run together.
	Team = workplace.Team
	// ModelError says that the program that has the model has failed a run.
	ModelError = workplace.ModelError
	// StartError says why the program that has the model could not start.
	StartError = workplace.StartError
	// DivergedError says that a run met a loss or weights that are no numbers, or a loss far above its first.
	DivergedError = trajectory.DivergedError
	// Checkpoint is a run between two outer iterations.
	Checkpoint = checkpoint.Checkpoint
	// CheckpointError says why a run can't resume from a checkpoint.
	CheckpointError = checkpoint.CheckpointError
	// Recorder is a reader of events that loses nothing.
	Recorder = checkpoint.Recorder
	// Keeper is a Recorder that keeps checkpoints too.
	Keeper = checkpoint.Keeper
	// Reporter is a Recorder that says how it is doing.
	Reporter = checkpoint.Reporter
	// JSONLines records events as one JSON object a line.
	JSONLines = checkpoint.JSONLines
	// PanicError is a panic that was caught on a goroutine of a session.
	PanicError = checkpoint.PanicError
)

const (
	// DefaultOptimizer is used when a Config names none.
	DefaultOptimizer = config.DefaultOptimizer
	// DefaultValidation is the share of the validation rows of a table.
	DefaultValidation = config.DefaultValidation
)

// NewJSONLines returns a Recorder that writes each event at once.
func NewJSONLines(w io.Writer) *JSONLines { return checkpoint.NewJSONLines(w) }

// Prepare loads the data of a Config and builds its network; the caller closes the problem.
func Prepare(c *Config) (*objective.Problem, error) { return workplace.Prepare(c) }

// PrepareShared is Prepare for each of several processes.
func PrepareShared(c *Config, processes int) (*objective.Problem, error) {
	return workplace.PrepareShared(c, processes)
}

// LoadData returns the data as a run of its own has them.
func LoadData(c *Config) (*datasets.Dataset, error) { return workplace.LoadData(c) }

// ErrorText returns what an error says, with fields of a Config called by other names.
func ErrorText(err error, name func(field string) string) string { return config.ErrorText(err, name) }
