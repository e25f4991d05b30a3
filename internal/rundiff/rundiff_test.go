package rundiff

import (
	"slices"
	"testing"

	"newtop/trainer/event"
)

func run(optimizer string, seed uint64, settings map[string]any) *event.RunEvent {
	return &event.RunEvent{Optimizer: optimizer, Seed: seed, Settings: settings, Epochs: 40, Kernel: "avx2",
		Data: event.DataInfo{Name: "letters", Classes: 26}, Model: event.ModelInfo{Layers: []int{16, 70, 26}}}
}

func TestLabels(t *testing.T) {
	other := run("adam", 1, map[string]any{"rate": 0.1})
	other.Model.Layers, other.Kernel, other.Epochs = []int{16, 26}, "neon", 9
	committee := run("scg", 3, nil)
	committee.Committee = 5
	elsewhere := run("adam", 9, map[string]any{"rate": 0.5})
	elsewhere.Data.Name, elsewhere.Model.Layers = "sine", []int{1, 16, 1}
	for _, c := range []struct {
		runs  []*event.RunEvent
		names []string
		want  []string
	}{
		{[]*event.RunEvent{run("adam", 1, nil), run("scg", 1, nil)}, nil, []string{"adam", "scg"}},
		{[]*event.RunEvent{run("adam", 1, nil), run("adam", 2, nil), run("scg", 3, nil)}, nil, []string{"adam, seed 1", "adam, seed 2", "scg"}},
		{[]*event.RunEvent{run("adam", 1, map[string]any{"rate": 0.1}), run("adam", 1, map[string]any{"rate": 1e-5})}, nil, []string{"adam, rate 0.1", "adam, rate 1e-5"}},
		{[]*event.RunEvent{run("adam", 1, map[string]any{"rate": 0.1}), other}, nil, []string{"adam, 16-70-26", "adam, 16-26"}},
		{[]*event.RunEvent{run("adam", 1, nil), run("adam", 2, nil), elsewhere, run("scg", 1, nil)}, nil,
			[]string{"adam, letters, seed 1", "adam, letters, seed 2", "adam, sine", "scg"}},
		{[]*event.RunEvent{run("adam", 1, nil), run("adam", 1, nil), run("adam", 1, nil)}, nil, []string{"adam", "adam (2)", "adam (3)"}},
		{[]*event.RunEvent{run("adam", 1, nil), run("adam", 2, nil)}, []string{"mine", ""}, []string{"mine", "adam, seed 2"}},
		{[]*event.RunEvent{nil, run("", 1, nil), run("scg", 3, nil), committee}, nil, []string{"run 1", "run 2", "scg, seed 3", "scg, seed 3 to 7"}},
		{[]*event.RunEvent{run("adam", 1, nil), run("scg", 1, nil)}, []string{"a", "a"}, []string{"a", "a (2)"}},
	} {
		if got := Labels(c.runs, c.names); !slices.Equal(got, c.want) {
			t.Errorf("labels are %q, not %q", got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	a, b := run("adam", 1, map[string]any{"rate": 0.1, "beta1": 0.9}), run("scg", 1, map[string]any{"rate": 0.1})
	b.Batch = 64
	rows := map[string]Row{}
	for _, r := range Table([]*event.RunEvent{a, nil, b}) {
		rows[r.Name] = r
	}
	for name, want := range map[string]Row{
		"optimizer": {Values: []string{"adam", "", "scg"}, Differs: true},
		"beta1":     {Values: []string{"0.9", "", ""}, Differs: true},
		"batch":     {Values: []string{"", "", "64"}, Differs: true},
		"net":       {Values: []string{"16-70-26", "", "16-70-26"}, Differs: true},
	} {
		if got := rows[name]; !slices.Equal(got.Values, want.Values) || got.Differs != want.Differs {
			t.Errorf("%s: %+v, not %+v", name, got, want)
		}
	}
	for name, contested := range map[string]bool{"optimizer": true, "beta1": false, "rate": false, "net": false} {
		if r := rows[name]; r.Contested() != contested {
			t.Errorf("%s: contested %t", name, !contested)
		}
	}
	if _, ok := rows["test rows"]; ok {
		t.Error("a choice that no run has is in the table")
	}
	for _, r := range Table([]*event.RunEvent{a, a}) {
		if r.Differs {
			t.Errorf("%s differs between a run and itself", r.Name)
		}
	}
	if len(Table(nil)) != 0 {
		t.Error("no runs have choices")
	}
}
