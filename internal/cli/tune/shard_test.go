package tune

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/tune"
)

// slurm is the environment of a task of an array.
func slurm(id, first, step, count string) map[string]string {
	return map[string]string{slurmTask: id, slurmFirst: first, slurmStep: step, slurmCount: count}
}

func TestShardOf(t *testing.T) {
	with := func(e map[string]string, key, value string) map[string]string { e[key] = value; return e }
	indexed := func(index string) map[string]string { return map[string]string{jobIndex: index} }
	for _, c := range []struct {
		flag string
		env  map[string]string
		want string // index/of from, or a part of the error
	}{
		{"", nil, "0/0 "},
		{"2/8", nil, "2/8 --shard"},
		{"8/8", slurm("1", "1", "1", "3"), "8/8 --shard"},
		{"off", slurm("1", "1", "1", "3"), "0/0 "},
		{"off", indexed("x"), "0/0 "},
		{"", slurm("0", "0", "1", "8"), "1/8 SLURM_ARRAY_TASK_ID"},
		{"", slurm("8", "1", "1", "8"), "8/8 SLURM_ARRAY_TASK_ID"},
		{"", slurm("12", "2", "5", "3"), "3/3 SLURM_ARRAY_TASK_ID"},
		{"", slurm("3", "1", "", "8"), "3/8 SLURM_ARRAY_TASK_ID"}, // of versions that set no more
		{"/8", slurm("3", "1", "1", ""), "3/8 SLURM_ARRAY_TASK_ID"},
		{"/8", indexed("0"), "1/8 JOB_COMPLETION_INDEX"},
		{"", with(indexed("7"), shardCount, "8"), "8/8 JOB_COMPLETION_INDEX"},
		{"", map[string]string{slurmTask: "", jobIndex: ""}, "0/0 "},

		{"0/8", nil, "--shard 0/8: expected I/N"},
		{"9/8", nil, "--shard 9/8: expected I/N"},
		{"3", nil, "--shard 3: expected I/N"},
		{"a/8", nil, "--shard a/8: expected I/N"},
		{"1/0", nil, "--shard 1/0: expected I/N"},
		{"1/5000", nil, "--shard 1/5000: expected I/N"},
		{"/8", nil, "--shard /8: expected I/N"},
		{"", indexed("3"), "--shard 4/: expected I/N"},
		{"/3", indexed("3"), "--shard /3: expected I/N"},
		{"", indexed("-1"), "JOB_COMPLETION_INDEX -1: expected a whole number"},
		{"", slurm("x", "1", "1", "8"), "SLURM_ARRAY_TASK_ID x: expected a whole number"},
		{"", slurm("3", "1", "1", "many"), "--shard 3/many: expected I/N"},
		{"", slurm("7", "1", "1", "3"), "--shard 7/3: expected I/N"},
	} {
		index, of, from, err := shardOf(c.flag, func(name string) string { return c.env[name] })
		got := fmt.Sprintf("%d/%d %s", index, of, from)
		var config *trainer.ConfigError
		if err != nil {
			got = err.Error()
			if !errors.As(err, &config) {
				t.Errorf("--shard %q with %v: %T", c.flag, c.env, err)
			}
		}
		if err == nil && got != c.want || err != nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("--shard %q with %v: %q, expected %q", c.flag, c.env, got, c.want)
		}
	}
}

// TestShardsOnABoard says which shards there are, and that times of several machines are no race.
func TestShardsOnABoard(t *testing.T) {
	b := sampleBoard()
	if got := tallyShards(b); got != "" {
		t.Error(got)
	}
	b.Shard = tune.Shard{Of: 4, Sweep: "sweep"}
	for i, host := range []string{"a", "b"} {
		p := tune.Part{Shard: tune.Shard{Index: 2*i + 1, Of: 4}}
		p.Host, p.Trials, p.Seconds, p.Phase = host, 10*(i+1), 60, "done"
		b.Parts = append(b.Parts, p)
	}
	want := "2 of 4 shards: 1 on a, 10 trials in 1:00, done; 3 on b, 20 trials in 1:00, done; their times are from 2 machines"
	if got := tallyShards(b); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := b.Label(&b.Trials[5]); got != "2.2" {
		t.Errorf("trial 6 of four shards is %s", got)
	}
}
