package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"newtop/trainer"
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

// environment reads variables, of which empty ones are as good as none.
type environment func(name string) string

// number returns a variable's value and whether it has one.
func (e environment) number(name string) (n int, ok bool, err error) {
	text := e(name)
	if text == "" {
		return 0, false, nil
	}
	n, err = strconv.Atoi(text)
	if err != nil || n < 0 || n > mostTasks {
		return 0, false, &trainer.ConfigError{Field: name, Value: text, Expected: "a whole number ≥ 0"}
	}
	return n, true, nil
}

// shardOf returns the shard that --shard and the environment name, and where its index is from; the zero Shard for a
// whole search. Its errors are *trainer.ConfigError.
func shardOf(flag string, env environment) (h tune.Shard, from string, err error) {
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
	if h.Index, from, err = env.index(); err != nil {
		return h, "", err
	}
	return h, from, env.settle(&h, flag, from)
}

func badShard(flag string) error {
	return &trainer.ConfigError{
		Field: "--shard", Value: flag, Expected: fmt.Sprintf("I/N with 1 ≤ I ≤ N ≤ %d, /N with I from the environment, or off", tune.MaxShards),
	}
}

// index returns which shard the environment says this is, from 1, and the variable that says so; 0 where none does.
func (e environment) index() (index int, from string, err error) {
	task, slurm, err := e.number(slurmTask)
	if err != nil {
		return 0, "", err
	}
	job, kubernetes, err := e.number(jobIndex)
	switch {
	case err != nil:
		return 0, "", err
	case slurm && kubernetes:
		return 0, "", &trainer.ConfigError{
			Field: jobIndex, Value: e(jobIndex), Expected: fmt.Sprintf("it or %s (%d), not both: --shard I/N or --shard off decides", slurmTask, task),
		}
	case kubernetes:
		return job + 1, jobIndex, nil
	case !slurm:
		return 0, "", nil
	}
	first, there, err := e.number(slurmFirst)
	if err != nil || !there {
		return 0, "", orMissing(err, slurmTask, e(slurmTask), slurmFirst)
	}
	step, there, err := e.number(slurmStep)
	if err != nil {
		return 0, "", err
	}
	if !there {
		step = 1
	}
	if step < 1 || task < first || (task-first)%step != 0 {
		return 0, "", &trainer.ConfigError{
			Field: slurmTask, Value: e(slurmTask), Expected: fmt.Sprintf("one of %d, %d, … by %s and %s, or --shard I/N", first, first+step, slurmFirst, slurmStep),
		}
	}
	return (task-first)/step + 1, slurmTask, nil
}

// orMissing returns err, or what is missing beside a variable.
func orMissing(err error, have, value, lack string) error {
	if err != nil {
		return err
	}
	return &trainer.ConfigError{Field: have, Value: value, Expected: lack + " beside it, or --shard I/N, or --shard off"}
}

// settle finds out how many shards there are, in which whoever says it must agree.
func (e environment) settle(h *tune.Shard, flag, from string) error {
	array, inArray, err := e.number(slurmCount)
	if err != nil {
		return err
	}
	own, there, err := e.number(shardCount)
	if err != nil {
		return err
	}
	if from == "" {
		switch {
		case flag != "":
			return &trainer.ConfigError{Field: "--shard", Value: flag, Expected: fmt.Sprintf("I/%d where neither %s nor %s says I", h.Of, slurmTask, jobIndex)}
		case inArray:
			return orMissing(nil, slurmCount, e(slurmCount), slurmTask)
		case there:
			return orMissing(nil, shardCount, e(shardCount), slurmTask+" or "+jobIndex)
		}
		return nil
	}
	said := "--shard " + flag
	for _, l := range []struct {
		name string
		n    int
		ok   bool
	}{{slurmCount, array, inArray && from == slurmTask}, {shardCount, own, there}} {
		switch {
		case !l.ok:
		case h.Of == 0:
			h.Of, said = l.n, fmt.Sprintf("%s %d", l.name, l.n)
		case h.Of != l.n:
			return &trainer.ConfigError{Field: l.name, Value: e(l.name), Expected: fmt.Sprintf("%d, as %s says, or --shard I/N", h.Of, said)}
		}
	}
	switch {
	case h.Of == 0 && from == jobIndex:
		return &trainer.ConfigError{Field: jobIndex, Value: e(jobIndex), Expected: "--shard /N with the job's completions as N, or --shard off"}
	case h.Of == 0:
		return orMissing(nil, slurmTask, e(slurmTask), slurmCount)
	case h.Of > tune.MaxShards:
		return badShard(fmt.Sprintf("%d/%d", h.Index, h.Of))
	case h.Index > h.Of:
		return &trainer.ConfigError{Field: from, Value: e(from), Expected: fmt.Sprintf("one of %d tasks, as %s says", h.Of, said)}
	}
	return e.gaps(h, from)
}

// gaps refuses an array of tasks whose numbers are no range: the second of 1,3,7 would take itself for the third.
func (e environment) gaps(h *tune.Shard, from string) error {
	last, there, err := e.number(slurmLast)
	if err != nil || !there || from != slurmTask {
		return err
	}
	first, _, _ := e.number(slurmFirst) // which index has read
	step, _, _ := e.number(slurmStep)
	if (last-first)/max(step, 1)+1 != h.Of {
		return &trainer.ConfigError{
			Field: slurmLast, Value: e(slurmLast), Expected: fmt.Sprintf("an array of %d tasks without gaps from %d on, as in --array=1-%d, or --shard I/N", h.Of, first, h.Of),
		}
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
	if t.run.record == "" {
		file, err := store.DefaultPath()
		if err != nil {
			return err
		}
		t.run.record = filepath.Join(filepath.Dir(file), name+".db")
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
		fmt.Fprintf(cmd.ErrOrStderr(), "%s%s of %s, kept in %s\n", t.config.Shard, t.origin, printable(tune.SweepName(&t.config)), printable(t.run.record))
	}
	switch {
	case over:
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing left to do: %s\n", printable(exhausted.Error()))
		return nil, t.past(cmd, s, exhausted.Name)
	case err == nil && again:
		fmt.Fprintf(cmd.ErrOrStderr(), "it goes on after %s\n", count(len(search.Board().Trials), "trial"))
	}
	return search, err
}

// past prints what came of a search that is over.
func (t *tuner) past(cmd *cobra.Command, s *store.Store, name string) error {
	b, err := tune.Load(cmd.Context(), s, name, commandOf)
	if err != nil {
		return err
	}
	switch t.format {
	case "json", "jsonl":
		err = t.printer(cmd).end(b)
	default:
		err = summarize(cmd.OutOrStdout(), b, t.top)
	}
	if err == nil && b.Command == "" {
		err = &tune.NothingError{Message: fmt.Sprintf("nothing came of any of %d trials", len(b.Trials))}
	}
	return err
}

// tallyShards says which shards are together on a board, each with what it did, a line a shard; empty for a whole search.
func tallyShards(b *tune.Board) string {
	w := tune.Sweep{Name: b.Name, Of: b.Shard.Of, Parts: b.Parts}
	if len(w.Parts) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:", w.Told())
	for i := range w.Parts {
		p := &w.Parts[i]
		fmt.Fprintf(&text, " %d on %s, %s in %s, %s;", p.Shard.Index, p.Host, count(p.Trials, "trial"), elapsed(event.Float(p.Seconds)), searchState(&p.Search))
	}
	out := strings.TrimSuffix(text.String(), ";")
	if hosts := w.Hosts(); b.Target > 0 && len(hosts) > 1 {
		out += fmt.Sprintf("; their times are of %d machines", len(hosts))
	}
	return out
}
