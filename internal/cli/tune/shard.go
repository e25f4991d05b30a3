package tune

import (
	"cmp"
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
--shard I/N runs part I of N of a search, in its own process and database, on any
machine, with its own seed and an N-th of the limits. newtop runs merge joins the
databases. I counts from 1. A Slurm array gives both numbers, a Kubernetes indexed
job gives I; set N with --shard /N or NEWTOP_SHARDS=N. A restarted shard resumes.`

// The variables that say which shard a process is.
const (
	slurmTask  = "SLURM_ARRAY_TASK_ID"
	slurmFirst = "SLURM_ARRAY_TASK_MIN"
	slurmStep  = "SLURM_ARRAY_TASK_STEP"
	slurmCount = "SLURM_ARRAY_TASK_COUNT"
	jobIndex   = "JOB_COMPLETION_INDEX" // of Kubernetes, from 0
	shardCount = "NEWTOP_SHARDS"
)

// shardOf returns the shard that --shard and the environment name, and where its index is from; 0 of 0 for a whole
// search. Its errors are *trainer.ConfigError.
func shardOf(flag string, get func(name string) string) (index, of int, from string, err error) {
	i, n, _ := strings.Cut(flag, "/")
	number := func(name string) int {
		v, bad := strconv.Atoi(cmp.Or(get(name), "0"))
		if (bad != nil || v < 0) && err == nil {
			err = flags.Invalid(name, get(name), "a whole number ≥ 0")
		}
		return v
	}
	switch {
	case flag == "off":
		return 0, 0, "", nil
	case i != "":
		from = "--shard"
	case get(jobIndex) != "":
		i, n, from = strconv.Itoa(number(jobIndex)+1), cmp.Or(n, get(shardCount)), jobIndex
	case get(slurmTask) != "":
		step := max(number(slurmStep), 1)
		i, n, from = strconv.Itoa((number(slurmTask)-number(slurmFirst))/step+1),
			cmp.Or(n, get(shardCount), get(slurmCount)), slurmTask
	case flag == "":
		return 0, 0, "", nil
	}
	if err != nil {
		return 0, 0, "", err
	}
	index, badIndex := strconv.Atoi(i)
	of, badOf := strconv.Atoi(n)
	if badIndex != nil || badOf != nil || index < 1 || index > of || of > tune.MaxShards {
		return 0, 0, "", flags.Invalid("--shard", cmp.Or(flag, i+"/"+n), fmt.Sprintf(
			"I/N with 1 ≤ I ≤ N ≤ %d, /N with I from %s or %s, or off", tune.MaxShards, slurmTask, jobIndex))
	}
	return index, of, from, nil
}

// shard makes the search a shard where the flags or the environment say so, with a database of its own.
func (t *tuner) shard() error {
	if t.resume != "" { // which knows its shard
		return nil
	}
	index, of, from, err := shardOf(t.part, os.Getenv)
	if err != nil || of == 0 {
		return err
	}
	if t.config.Name == "" {
		return flags.Invalid("--shard", fmt.Sprintf("%d/%d", index, of),
			"--name beside it, which all shards have in common, or off")
	}
	if err := t.config.Divide(index, of); err != nil {
		return err
	}
	if err := store.CheckName(t.config.Name); err != nil {
		return err
	}
	if t.run.Store == "" {
		file, err := store.DefaultPath()
		if err != nil {
			return err
		}
		t.run.Store = filepath.Join(filepath.Dir(file), t.config.Name+".db")
	}
	t.origin = ""
	if from != "--shard" {
		t.origin = " (from " + from + ")"
	}
	return nil
}

// startShard returns the search of a shard, which resumes where it was stopped.
func (t *tuner) startShard(cmd *cobra.Command, s *store.Store) (*tune.Search, error) {
	search, err := tune.New(t.config, s)
	if taken, ok := errors.AsType[*store.SearchError](err); ok && taken.Name == t.config.Name {
		search, err = tune.Resume(cmd.Context(), s, t.config.Name, func(c *tune.Config) {
			own := t.config
			own.Base, own.Over, own.Seed = c.Base, c.Over, c.Seed
			*c = own
		})
	}
	messages := cmd.ErrOrStderr()
	if _, over := errors.AsType[*tune.ExhaustedError](err); over || err == nil {
		fmt.Fprintf(messages, "%s%s of %s, kept in %s\n", t.config.Shard, t.origin,
			print.Printable(t.config.Shard.Sweep), print.Printable(t.run.Store))
	}
	if err == nil {
		if n := len(search.Leaderboard().Trials); n > 0 {
			fmt.Fprintf(messages, "it continues after %s\n", print.Count(n, "trial"))
		}
	}
	return search, err
}

// past prints what came of a search that is over.
func (t *tuner) past(cmd *cobra.Command, s *store.Store, name string) error {
	b, err := tune.Load(cmd.Context(), s, flags.Command, name)
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
		err = &tune.NothingError{Message: fmt.Sprintf("none of %d trials succeeded", len(b.Trials))}
	}
	return err
}

// tallyShards says which searches are together on a board, each with what it did; empty for one alone.
func tallyShards(b *tune.Leaderboard) string {
	if len(b.Parts) == 0 {
		return ""
	}
	hosts := map[string]bool{}
	parts := make([]string, len(b.Parts))
	for i := range b.Parts {
		p := &b.Parts[i]
		hosts[p.Host] = true
		parts[i] = fmt.Sprintf("%d on %s, %s in %s, %s", p.Shard.Index, p.Host, print.Count(p.Trials, "trial"),
			print.Elapsed(event.Float(p.Seconds)), tune.StateOf(&p.Search))
	}
	w := tune.Sweep{Of: b.Shard.Of, Parts: b.Parts}
	out := w.Shards() + ": " + strings.Join(parts, "; ")
	if b.Target > 0 && len(hosts) > 1 {
		out += fmt.Sprintf("; their times are from %d machines", len(hosts))
	}
	return out
}
