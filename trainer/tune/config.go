package tune

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/trainer"
)

// Config is a search. The zero value searches the usual methods and their primary hyperparameters on the default data.
type Config struct {
	Name     string         // of the search and, with a number, of its runs; empty: tune-…, as runs' IDs
	Base     trainer.Config // what all trials have in common
	Over     []Dimension    // empty: Usual
	Sampler  string         // sobol, random or tpe; empty: sobol, then tpe
	Trials   int            // at most; 0: as many as the budget allows, 30 without one
	Seeds    int            // that the best settings are tried with; 0: 1
	Budget   time.Duration  // of the whole search; 0: no limit
	Most     float64        // gradient equivalents of all trials together; 0: no limit
	Trial    float64        // gradient equivalents that one trial may take; 0: no limit with a budget, else 27 times the first rung's
	Parallel int            // trials at once; 0: from the cores
	Threads  int            // in all; 0: all cores
	Finals   int            // settings that are measured again alone on the whole machine; 0: 3, -1: none
	Seed     uint64         // of the sampler
	Memory   int64          // bytes for kept linearizations of all trials at once; 0: 1 GiB
	Shard    Shard          `json:",omitzero"` // zero: the search is whole
	// Command writes the command line that trains a configuration, for Board.Command; nil: none is shown.
	Command func(*trainer.Config) string `json:"-"`
	Version string                       `json:"-"` // of the program, for the runs' records
}

// Defaults.
const (
	usualTrials = 30
	firstRung   = 9                    // gradient equivalents
	rungs       = 3                    // above the first, of a trial with a limit
	firstShare  = 1. / 200             // of a budget of seconds that a first rung takes at least,
	leastFirst  = 0.1                  // which is no less than this, in seconds,
	mostFirst   = 1. / 20              // and no more than this share of it
	memory      = 1 << 30              // bytes
	mostAtOnce  = 256                  // trials
	mostSeeds   = 1000                 //
	farthest    = 365 * 24 * time.Hour // budget
)

// check returns a *trainer.ConfigError for what is wrong whatever is searched.
func (c *Config) check() error {
	if err := c.Shard.check(); err != nil {
		return err
	}
	whole := "a whole number ≥ "
	for _, l := range []struct {
		flag string
		bad  bool
		is   string
		want string
	}{
		{"--sampler", c.Sampler != "" && !slices.Contains(samplers, c.Sampler), c.Sampler, strings.Join(samplers, ", ")},
		{"--trials", c.Trials < 0, strconv.Itoa(c.Trials), whole + "1, or 0 for as many as the budget allows"},
		{"--seeds", c.Seeds < 0 || c.Seeds > mostSeeds, strconv.Itoa(c.Seeds), whole + "1 and ≤ " + strconv.Itoa(mostSeeds)},
		{"--budget", c.Budget < 0 || c.Budget > farthest, c.Budget.String(), "a duration as in 60s, or 0 for no limit"},
		{"--most", !(c.Most >= 0), number(c.Most), "a number of gradient equivalents ≥ 0"},
		{"--trial", !(c.Trial >= 0), number(c.Trial), "a number of gradient equivalents ≥ 0"},
		{"--parallel", c.Parallel < 0 || c.Parallel > mostAtOnce, strconv.Itoa(c.Parallel), whole + "1 and ≤ " + strconv.Itoa(mostAtOnce) + ", or 0 for as many as cores"},
		{"--threads", c.Threads < 0, strconv.Itoa(c.Threads), whole + "1, or 0 for all cores"},
		{"--finals", c.Finals < -1, strconv.Itoa(c.Finals), whole + "1, 0 for " + strconv.Itoa(usualFinals) + ", or -1 for none"},
		{"--memory", c.Memory < 0, strconv.FormatInt(c.Memory, 10), "a size ≥ 0"},
	} {
		if l.bad {
			return &trainer.ConfigError{Field: l.flag, Value: l.is, Expected: l.want}
		}
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// allot divides cores, memory and budgets.
func (s *Search) allot() {
	c := &s.config
	cores := c.Threads
	if cores == 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	if c.Trials == 0 && c.Budget == 0 && c.Most == 0 {
		c.Trials = usualTrials
	}
	s.parallel = c.Parallel
	if s.parallel == 0 {
		s.parallel = cores // a small net gains little from a second thread
		if n := s.space.size(); n > 0 {
			s.parallel = min(s.parallel, n)
		}
		if c.Trials > 0 {
			s.parallel = min(s.parallel, c.Trials)
		}
	}
	s.threads = max(1, cores/s.parallel)
	s.memory = c.Memory
	if s.memory == 0 {
		s.memory = memory
	}
	s.memory = max(s.memory/int64(s.parallel), 1)
	budget := c.Budget.Seconds()
	s.first = step{equivalents: firstRung, seconds: min(max(budget*firstShare, leastFirst), budget*mostFirst)}
	s.limit = c.Trial
	if s.limit == 0 && c.Budget == 0 && c.Most == 0 {
		s.limit = s.first.up(rungs).equivalents
	}
	if c.Trial > 0 {
		s.first.equivalents = max(1, min(s.first.equivalents, c.Trial/step{equivalents: 1}.up(rungs).equivalents))
	}
}
