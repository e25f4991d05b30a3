package tune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
)

const shardHelp = `
--shard I/N searches the I-th of N shards of the settings, each in a process and a
database of its own, on as many machines as there are; no setting is tried twice.
newtop runs merge joins them. I counts from 1. In a Slurm array both numbers come
from the task, in a Kubernetes indexed job I does (--shard /N or NEWTOP_SHARDS=N
says how many). A shard that is begun again goes on where it was.`

// The variables that say which shard a process is.
const (
	slurmTask  = "SLURM_ARRAY_TASK_ID"
	slurmFirst = "SLURM_ARRAY_TASK_MIN"
	slurmLast  = "SLURM_ARRAY_TASK_MAX"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
	jobIndex   = "JOB_COMPLETION_INDEX" // of Kubernetes, from 0
	shardCount = "NEWTOP_SHARDS"
)

// mostTasks bounds the numbers of tasks, which no scheduler comes near.
const mostTasks = 1 << 30

// environment is those of the variables that have a value.
type environment map[string]int

// readEnvironment reads the variables, of which empty ones are as good as none.
func readEnvironment(get func(name string) string) (environment, error) {
	e := environment{}
	for _, name := range []string{slurmTask, jobIndex, slurmFirst, slurmStep, slurmCount, shardCount, slurmLast} {
		text := get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostTasks {
			return nil, flags.Wrong(name, text, "a whole number ≥ 0")
		}
		e[name] = n
	}
	return e, nil
}

// wrong is an error about a variable's value.
func (e environment) wrong(name, expected string, args ...any) error {
	return flags.Wrong(name, e[name], fmt.Sprintf(expected, args...))
}

// lacks is an error about what is missing beside a variable.
func (e environment) lacks(have, lack string) error {
	return e.wrong(have, "%s beside it, or --shard I/N, or --shard off", lack)
}

// shardOf returns the shard that --shard and the environment name, and where its index is from; the zero Shard for a
// whole search. Its errors are *trainer.ConfigError.
func shardOf(flag string, get func(name string) string) (h tune.Shard, from string, err error) {
	if flag == "off" {
		return h, "", nil
	}
	index, count, given := strings.Cut(flag, "/")
	if flag != "" {
		if h.Of, err = strconv.Atoi(count); !given || err != nil || h.Of < 1 || h.Of > tune.MaxShards {
			return h, "", badShard(flag)
		}
	}
	if index != "" {
		if h.Index, err = strconv.Atoi(index); err != nil || h.Index < 1 || h.Index > h.Of {
			return h, "", badShard(flag)
		}
		return h, "--shard", nil
	}
	e, err := readEnvironment(get)
	if err == nil {
		h.Index, from, err = e.index()
	}
	if err == nil {
		err = e.settle(&h, flag, from)
	}
	return h, from, err
}

func badShard(flag string) error {
	return flags.Wrong("--shard", flag, fmt.Sprintf("I/N with 1 ≤ I ≤ N ≤ %d, /N with I from the environment, or off",
		tune.MaxShards))
}

// index returns which shard the environment says this is, from 1, and the variable that says so; 0 where none does.
func (e environment) index() (index int, from string, err error) {
	task, slurm := e[slurmTask]
	part, kubernetes := e[jobIndex]
	first, ranged := e[slurmFirst]
	step, stepped := e[slurmStep]
	if !stepped {
		step = 1
	}
	switch {
	case slurm && kubernetes:
		return 0, "", e.wrong(jobIndex, "it or %s (%d), not both: --shard I/N or --shard off decides", slurmTask, task)
	case kubernetes:
		return part + 1, jobIndex, nil
	case !slurm:
		return 0, "", nil
	case !ranged:
		return 0, "", e.lacks(slurmTask, slurmFirst)
	case step < 1 || task < first || (task-first)%step != 0:
		return 0, "", e.wrong(slurmTask, "one of %d, %d, … by %s and %s, or --shard I/N", first, first+step, slurmFirst,
			slurmStep)
	}
	return (task-first)/step + 1, slurmTask, nil
}

// settle finds out how many shards there are, in which whoever says it must agree.
func (e environment) settle(h *tune.Shard, flag, from string) error {
	_, inArray := e[slurmCount]
	_, there := e[shardCount]
	if from == "" {
		switch {
		case flag != "":
			return flags.Wrong("--shard", flag, fmt.Sprintf("I/%d where neither %s nor %s says I", h.Of, slurmTask,
				jobIndex))
		case inArray:
			return e.lacks(slurmCount, slurmTask)
		case there:
			return e.lacks(shardCount, slurmTask+" or "+jobIndex)
		}
		return nil
	}
	said := "--shard " + flag
	for _, name := range []string{slurmCount, shardCount} {
		switch n, ok := e[name]; {
		case !ok || name == slurmCount && from != slurmTask:
		case h.Of == 0:
			h.Of, said = n, fmt.Sprintf("%s %d", name, n)
		case h.Of != n:
			return e.wrong(name, "%d, as %s says, or --shard I/N", h.Of, said)
		}
	}
	// The second task of 1,3,7 would take itself for the third.
	last, ranged := e[slurmLast]
	gaps := ranged && from == slurmTask && (last-e[slurmFirst])/max(e[slurmStep], 1)+1 != h.Of
	switch {
	case h.Of == 0 && from == jobIndex:
		return e.wrong(jobIndex, "--shard /N with the job's completions as N, or --shard off")
	case h.Of == 0:
		return e.lacks(slurmTask, slurmCount)
	case h.Of > tune.MaxShards:
		return badShard(fmt.Sprintf("%d/%d", h.Index, h.Of))
	case h.Index > h.Of:
		return e.wrong(from, "one of %d tasks, as %s says", h.Of, said)
	case gaps:
		return e.wrong(slurmLast, "an array of %d tasks without gaps from %d on, as in --array=1-%[1]d, or --shard I/N",
			h.Of, e[slurmFirst])
	}
	return nil
}

// shard takes the shard from the flags and the environment, and gives it a database of its own.
func (t *tuner) shard() error {
	if t.resume != "" { // which knows its shard
		return nil
	}
	h, from, err := shardOf(t.part, os.Getenv)
	if err != nil || h.Of == 0 {
		return err
	}
	t.config.Shard = h
	name := tune.ShardName(&t.config)
	if err := store.CheckName(name); err != nil {
		return err
	}
	if t.run.Store == "" {
		file, err := store.DefaultPath()
		if err != nil {
			return err
		}
		t.run.Store = filepath.Join(filepath.Dir(file), name+".db")
	}
	t.origin = ""
	if from != "--shard" {
		t.origin = " (from " + from + ")"
	}
	return nil
}

// begin returns the search of a shard; nil for one that has nothing left to do, of which what came of it is printed.
func (t *tuner) begin(cmd *cobra.Command, s *store.Store) (*tune.Search, error) {
	search, again, err := tune.Begin(cmd.Context(), t.config, s)
	var exhausted *tune.ExhaustedError
	over := errors.As(err, &exhausted)
	if err == nil || over {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s%s of %s, kept in %s\n", t.config.Shard, t.origin,
			print.Printable(tune.SweepName(&t.config)), print.Printable(t.run.Store))
	}
	switch {
	case over:
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing left to do: %s\n", print.Printable(exhausted.Error()))
		return nil, t.past(cmd, s, exhausted.Name)
	case err == nil && again:
		fmt.Fprintf(cmd.ErrOrStderr(), "it goes on after %s\n", print.Count(len(search.Leaderboard().Trials), "trial"))
	}
	return search, err
}

// past prints what came of a search that is over.
func (t *tuner) past(cmd *cobra.Command, s *store.Store, name string) error {
	b, err := tune.Load(cmd.Context(), s, name, flags.Command)
	if err != nil {
		return err
	}
	switch t.format {
	case "json", "jsonl":
		err = t.printer(cmd).end(b)
	default:
		err = printBoard(cmd.OutOrStdout(), b, t.top)
	}
	if err == nil && b.Command == "" {
		err = &tune.NothingError{Message: fmt.Sprintf("nothing came of any of %d trials", len(b.Trials))}
	}
	return err
}

// tallyShards says which shards are together on a board, each with what it did, a line a shard; empty for a whole
// search.
func tallyShards(b *tune.Leaderboard) string {
	w := tune.Sweep{Name: b.Name, Of: b.Shard.Of, Parts: b.Parts}
	if len(w.Parts) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:", w.Told())
	for i := range w.Parts {
		p := &w.Parts[i]
		fmt.Fprintf(&text, " %d on %s, %s in %s, %s;", p.Shard.Index, p.Host, print.Count(p.Trials, "trial"),
			print.Elapsed(event.Float(p.Seconds)), tune.StateOf(&p.Search))
	}
	out := strings.TrimSuffix(text.String(), ";")
	if hosts := w.Hosts(); b.Target > 0 && len(hosts) > 1 {
		out += fmt.Sprintf("; their times are of %d machines", len(hosts))
	}
	return out
}
