package tune

import (
	"cmp"
	"runtime"
	"strconv"
	"time"

	"newtop/trainer"
)

// Config is a search. The zero value searches the default methods and their primary hyperparameters on the default
// data.
type Config struct {
	Name    string         // of the search and, with a number, of its runs; empty: tune-…, as runs' IDs
	Base    trainer.Config // what all trials have in common
	Over    []Dimension    // empty: DefaultSpace
	Sampler string         // sobol, random or tpe; empty: sobol, then tpe
	Trials  int            // at most; 0: as many as the budget allows, 30 without one
	Seeds   int            // that the best settings are tried with; 0: 1
	Budget  time.Duration  // of the whole search; 0: no limit
	MaxWork float64        `json:"Most"` // gradient equivalents of all trials together; 0: no limit
	// gradient equivalents that one trial may take; 0: no limit with a budget, else 27 times the first rung's
	Trial    float64
	Parallel int    // trials at once; 0: from the cores
	Threads  int    // in all; 0: all cores
	Finals   int    // settings that are measured again alone on the whole machine; 0: 3, -1: none
	Nets     int    // of each final, a committee of that many seeds; 0: what trials have
	Seed     uint64 // of the sampler
	Memory   int64  // bytes for kept linearizations of all trials at once; 0: 1 GiB
	Shard    Shard  `json:",omitzero"` // zero: the search is whole
	Usual    bool   `json:",omitzero"` // the first trials are the methods at their defaults
	// Program is what trials run; nil: they train nets as Base says.
	Program *Program `json:",omitempty"`
	// Command writes the command line that trains a configuration, for Leaderboard.Command; nil: none is shown.
	Command func(*trainer.Config) string `json:"-"`
	Version string                       `json:"-"` // of the program, for the runs' records
}

// Program is what trials run in place of newtop's training: any program that prints or logs its values. In its texts
// {NAME} stands for a trial's value of an axis, for its number (trial), its own directory (dir) or its seed (seed); {{
// is a brace, and }} the one that closes it.
type Program struct {
	Args    []string
	Dir     string        // where it runs; the trials' directories are in a directory there with the search's name
	Log     string        // file or directory with its values; empty: what it prints and writes to $NEWTOP_LOG
	By      string        // the metric that trials are judged by; empty: the first of usualMetrics that it has
	Max     bool          // the greatest is the best
	Timeout time.Duration // of a trial; 0: none
	Env     []string      // NAME=VALUE
	GPUs    []string      // devices, of which a trial sees one; empty: it sees what this process does
}

// Defaults.
const (
	defaultTrials = 30
	firstRung     = 9                    // gradient equivalents
	rungs         = 3                    // above the first, of a trial with a limit
	firstShare    = 1. / 200             // of a budget of seconds that a first rung takes at least,
	minFirst      = 0.1                  // which is no less than this, in seconds,
	maxFirst      = 1. / 20              // and no more than this share of it
	memory        = 1 << 30              // bytes
	maxParallel   = 256                  // trials
	maxSeeds      = 1000                 //
	farthest      = 365 * 24 * time.Hour // budget
)

// chooseSpace searches what is usual. On a table, where nobody says what decides, each trial is a committee of which
// every net has a fold of its own, so that all rows decide and all are trained on; of many rows 15 % are enough to
// decide, and the best settings become committees in the end.
func (c *Config) chooseSpace() {
	var rows int
	c.Over, rows = DefaultSpace(c.Base)
	c.Usual = c.Sampler == "" && c.Shard.Index <= 1
	switch b := &c.Base; {
	case rows == 0 || b.Committee > 0:
	case rows < manyRows && b.Validation == "" && b.Folds == 0:
		b.Folds, b.Committee = tableFolds, tableFolds
	default:
		c.Nets = tableNets
	}
}

// ResolveDefaults writes into Base what a new search leaves to it: validation rows to judge trials by, of any data, and
// what a run's configuration leaves to the data. New does it.
func (c *Config) ResolveDefaults() {
	if c.Base.Validation == "" && c.Base.Folds == 0 && c.Base.Model == "" {
		c.Base.Validation = trainer.DefaultValidation
	}
	c.Base.ResolveDefaults()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// command returns the command line that trains a configuration.
func (c *Config) command(of *trainer.Config) string {
	if c.Command == nil {
		return ""
	}
	return c.Command(of)
}

// allotment is how the machine is divided among trials.
type allotment struct {
	parallel, threads int   // trials at once, and of each
	memory            int64 // bytes of each
}

// allot divides cores and memory for a space of that many settings, 0: too many to count. It settles Trials where
// nothing else limits the search.
func (c *Config) allot(settings int) allotment {
	cores := cmp.Or(c.Threads, runtime.GOMAXPROCS(0))
	if c.Trials == 0 && c.Budget == 0 && c.MaxWork == 0 {
		c.Trials = defaultTrials
	}
	parallel := c.Parallel
	switch {
	case parallel > 0:
	case c.Program != nil:
		parallel = max(1, len(c.Program.GPUs))
	case c.Base.OneAtATime():
		parallel = 1
	default:
		parallel = cores // a small net gains little from a second thread
		if settings > 0 {
			parallel = min(parallel, settings)
		}
		if c.Trials > 0 {
			parallel = min(parallel, c.Trials)
		}
	}
	return allotment{parallel, max(1, cores/parallel), max(cmp.Or(c.Memory, memory)/int64(parallel), 1)}
}

const defaultFinals = 3

// sign is −1 where the greatest value is the best.
func (c *Config) sign() float64 {
	switch by := c.Base.Score(); {
	case by != nil:
		return by.Sign()
	case c.Program != nil && c.Program.Max:
		return -1
	}
	return 1
}
