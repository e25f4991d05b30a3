package mlflow

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/files/filestest"
)

// store is a program that writes a store of files.
type store struct {
	*filestest.Memory
	dir files.Path
}

func newStore() store {
	m := new(filestest.Memory)
	s := store{m, m.Path("mlruns")}
	s.write("0/meta.yaml", "artifact_location: file:///tmp/mlruns/0\ncreation_time: 1\nexperiment_id: '0'\nlifecycle_stage: active\nname: Default\n")
	s.write(".trash/x", "")
	return s
}

func (s store) write(name, text string) { s.Write("mlruns/"+name, text) }
func (s store) add(name, text string)   { s.Append("mlruns/"+name, text) }

func (s store) run(id, name string, began int, status int) {
	s.write("0/"+id+"/meta.yaml", fmt.Sprintf("artifact_uri: file:///tmp/x\nend_time: null\nentry_point_name: ''\nexperiment_id: '0'\n"+
		"lifecycle_stage: active\nrun_id: %s\nrun_name: %s\nrun_uuid: %s\nstart_time: %d\nstatus: %d\ntags: []\nuser_id: me\n", id, name, id, began, status))
}

func openFiles(t testing.TB, dir files.Path, run string) logs.Reader {
	t.Helper()
	r, err := OpenFiles(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestFollowFiles(t *testing.T) {
	s := newStore()
	s.run("aaa", "'it''s: one'", 1_700_000_000_000, 1)
	s.write("0/aaa/params/opt/lr", "0.1")
	s.write("0/aaa/params/net", "mlp\n")
	s.write("0/aaa/metrics/loss", "1000 2.0 1\n2000 nan 2\n3000 inf 3\nbroken\n4000 -inf 4\n5000 0.")
	s.write("0/aaa/metrics/val/acc", "1000 0.5 1\n")
	r := openFiles(t, s.dir, "")
	var got sink
	if err := drain(t, r, &got); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1@1 loss=2 val/acc=0.5", "2@2 loss=NaN", "3@3 loss=+Inf", "4@4 loss=-Inf"}; !slices.Equal(got.got, want) {
		t.Errorf("%q", got.got)
	}
	if got.info.Name != "it's: one" || !reflect.DeepEqual(got.info.Config, map[string]any{"opt/lr": 0.1, "net": "mlp"}) {
		t.Errorf("%+v", got.info)
	}
	if !strings.Contains(r.Warning(), "1 lines") {
		t.Errorf("%q", r.Warning())
	}
	want(t, r)
	s.add("0/aaa/metrics/loss", "25 5\n")
	s.write("0/aaa/metrics/new", "6000 7\n") // as old versions wrote: without a step
	want(t, r, "5@5 loss=0.25", "0@6 new=7")
	s.run("aaa", "one", 1_700_000_000_000, 5)
	s.add("0/aaa/metrics/loss", "7000 1 7\n")
	want(t, r, "7@7 loss=1", "end 3KILLED")
	s.write("0/aaa/metrics/loss", "1000 9 1\n")
	wantRestart(t, r)
	want(t, r, "1@1 loss=9 val/acc=0.5", "0@6 new=7", "end 3KILLED")
}

func TestWhichRunInFiles(t *testing.T) {
	s := newStore()
	r := openFiles(t, s.dir, "")
	want(t, r)
	if r.Warning() == "" {
		t.Error("nothing is said of a store without runs")
	}
	s.run("aaa", "one", 1, 1)
	s.write("0/aaa/metrics/loss", "1000 1 1\n")
	want(t, r, "1@1 loss=1")
	s.write("0/bbb/metrics/loss", "1000 2 1\n")
	want(t, r) // it has no meta.yaml yet
	s.run("bbb", "two", 2, 1)
	wantRestart(t, r)
	want(t, r, "1@1 loss=2")
	want(t, openFiles(t, s.dir, "one"), "1@1 loss=1")
	if runs, err := ListFiles(s.dir); err != nil || len(runs) != 2 || runs[0].ID != "bbb" || runs[0].Status != "RUNNING" {
		t.Errorf("%+v, %v", runs, err)
	}
	if _, err := OpenFiles(s.dir, "three"); err == nil {
		t.Error("an unknown run was opened")
	}
	if _, err := OpenFiles(s.dir.Join("absent"), ""); err == nil {
		t.Error("an absent store was opened")
	}
	if !SniffFiles(s.dir) || SniffFiles(s.dir.Dir()) {
		t.Error("a store is not known, or another directory is taken for one")
	}
	s.Remove("mlruns/0/bbb")
	wantRestart(t, r)
	want(t, r, "1@1 loss=1")
	if len(r.Watch()) < 3 {
		t.Error(r.Watch())
	}
}

// BenchmarkOpenFiles opens a run of a million metrics.
func BenchmarkOpenFiles(b *testing.B) {
	s := newStore()
	s.run("aaa", "one", 1, 1)
	for _, key := range []string{"loss", "val_loss"} {
		var text strings.Builder
		for i := range 500_000 {
			fmt.Fprintf(&text, "%d %v %d\n", 1_700_000_000_000+i, 1/float64(i+1), i)
		}
		s.write("0/aaa/metrics/"+key, text.String())
	}
	b.ResetTimer()
	for b.Loop() {
		var c counter
		if err := drain(b, openFiles(b, s.dir, ""), &c); err != nil || c.values != 1_000_000 {
			b.Fatal(err, c)
		}
	}
}
