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
func slurm(id, first, last, step, count string) map[string]string {
	return map[string]string{slurmTask: id, slurmFirst: first, slurmLast: last, slurmStep: step, slurmCount: count}
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
		{"8/8", slurm("1", "1", "3", "1", "3"), "8/8 --shard"},
		{"1/1", nil, "1/1 --shard"},
		{"off", slurm("1", "1", "3", "1", "3"), "0/0 "},
		{"off", indexed("x"), "0/0 "},
		{"", slurm("0", "0", "7", "1", "8"), "1/8 SLURM_ARRAY_TASK_ID"},
		{"", slurm("7", "0", "7", "1", "8"), "8/8 SLURM_ARRAY_TASK_ID"},
		{"", slurm("8", "1", "8", "1", "8"), "8/8 SLURM_ARRAY_TASK_ID"},
		{"", slurm("12", "2", "12", "5", "3"), "3/3 SLURM_ARRAY_TASK_ID"},
		{"", slurm("3", "1", "", "", "8"), "3/8 SLURM_ARRAY_TASK_ID"}, // of versions that set no more
		{"", slurm("5", "5", "5", "1", "1"), "1/1 SLURM_ARRAY_TASK_ID"},
		{"/8", slurm("3", "1", "8", "1", "8"), "3/8 SLURM_ARRAY_TASK_ID"},
		{"/8", slurm("3", "1", "8", "1", ""), "3/8 SLURM_ARRAY_TASK_ID"},
		{"/8", indexed("0"), "1/8 JOB_COMPLETION_INDEX"},
		{"/8", indexed("7"), "8/8 JOB_COMPLETION_INDEX"},
		{"", with(indexed("7"), shardCount, "8"), "8/8 JOB_COMPLETION_INDEX"},
		{"/8", with(indexed("7"), shardCount, "8"), "8/8 JOB_COMPLETION_INDEX"},
		{"", map[string]string{slurmTask: "", jobIndex: ""}, "0/0 "},

		{"0/8", nil, "--shard 0/8: expected I/N"},
		{"9/8", nil, "--shard 9/8: expected I/N"},
		{"3", nil, "--shard 3: expected I/N"},
		{"a/8", nil, "--shard a/8: expected I/N"},
		{"1/0", nil, "--shard 1/0: expected I/N"},
		{"1/2/3", nil, "--shard 1/2/3: expected I/N"},
		{"/", nil, "--shard /: expected I/N"},
		{"/8", nil, "--shard /8: expected I/8 where neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"},
		{"", indexed("3"), "JOB_COMPLETION_INDEX 3: expected --shard /N"},
		{"/3", indexed("3"), "JOB_COMPLETION_INDEX 3: expected one of 3 tasks, as --shard /3 says"},
		{"", indexed("-1"), "JOB_COMPLETION_INDEX -1: expected a whole number"},
		{"", with(indexed("3"), shardCount, "3"), "JOB_COMPLETION_INDEX 3: expected one of 3 tasks, as NEWTOP_SHARDS 3 says"},
		{"/4", with(indexed("3"), shardCount, "5"), "NEWTOP_SHARDS 5: expected 4, as --shard /4 says"},
		{"", map[string]string{shardCount: "5"}, "NEWTOP_SHARDS 5: expected SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX beside it"},
		{"", slurm("3", "", "", "", ""), "SLURM_ARRAY_TASK_ID 3: expected SLURM_ARRAY_TASK_MIN beside it"},
		{"", slurm("3", "1", "8", "1", ""), "SLURM_ARRAY_TASK_ID 3: expected SLURM_ARRAY_TASK_COUNT beside it"},
		{"", slurm("", "", "", "", "8"), "SLURM_ARRAY_TASK_COUNT 8: expected SLURM_ARRAY_TASK_ID beside it"},
		{"", slurm("x", "1", "8", "1", "8"), "SLURM_ARRAY_TASK_ID x: expected a whole number"},
		{"", slurm("3", "1", "8", "1", "many"), "SLURM_ARRAY_TASK_COUNT many: expected a whole number"},
		{"", slurm("3", "4", "8", "1", "5"), "SLURM_ARRAY_TASK_ID 3: expected one of 4, 5, …"},
		{"", slurm("3", "0", "10", "5", "3"), "SLURM_ARRAY_TASK_ID 3: expected one of 0, 5, …"},
		{"", slurm("3", "1", "7", "1", "3"), "SLURM_ARRAY_TASK_MAX 7: expected an array of 3 tasks without gaps"},
		{"", slurm("7", "1", "7", "1", "3"), "SLURM_ARRAY_TASK_ID 7: expected one of 3 tasks, as SLURM_ARRAY_TASK_COUNT 3 says"},
		{"/8", slurm("3", "3", "5", "2", "2"), "SLURM_ARRAY_TASK_COUNT 2: expected 8, as --shard /8 says, or --shard I/N"},
		{"", with(slurm("3", "1", "8", "1", "8"), jobIndex, "2"), "JOB_COMPLETION_INDEX 2: expected it or SLURM_ARRAY_TASK_ID (3), not both"},
	} {
		h, from, err := shardOf(c.flag, func(name string) string { return c.env[name] })
		got := fmt.Sprintf("%d/%d %s", h.Index, h.Of, from)
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
	want := "2 of 4 shards: 1 on a, 10 trials in 1:00, done; 3 on b, 20 trials in 1:00, done; their times are of 2 machines"
	if got := tallyShards(b); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := b.Label(&b.Trials[5]); got != "2.2" {
		t.Errorf("trial 6 of four shards is %s", got)
	}
}

// Whatever flag and environment say, there is a shard that can be, none, or one line.
func FuzzShardOf(f *testing.F) {
	f.Add("", "3", "1", "8", "1", "8", "", "")
	f.Add("/8", "", "", "", "", "", "0", "8")
	f.Add("2/8", "x", "", "", "", "", "-1", "")
	f.Add("off", "1", "", "", "0", "", "", "")
	f.Add("/", "9223372036854775807", "0", "9223372036854775807", "1", "1000", "", "")
	f.Add("", "0", "0", "0", "9223372036854775807", "1", "", "")
	f.Add("/8", "", "", "", "", "", "9223372036854775807", "")
	f.Fuzz(func(t *testing.T, flag, id, first, last, step, count, index, shards string) {
		env := slurm(id, first, last, step, count)
		env[jobIndex], env[shardCount] = index, shards
		h, from, err := shardOf(flag, func(name string) string { return env[name] })
		switch {
		case err != nil:
			var config *trainer.ConfigError
			if !errors.As(err, &config) {
				t.Errorf("%T: %v", err, err)
			}
		case h == (tune.Shard{}):
		case h.Index < 1 || h.Index > h.Of || h.Of > tune.MaxShards || from == "":
			t.Errorf("%+v from %q", h, from)
		}
	})
}
