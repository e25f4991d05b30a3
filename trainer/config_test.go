package trainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// TestErrorsAreCalledByFlags also where a run says how it ended, and New refuses what Config does.
func TestErrorsAreCalledByFlags(t *testing.T) {
	m := &memory{}
	s := mustNew(t, config.Config{Data: "sine", Loss: "xent"}, m)
	s.NameFields(func(field string) string { return "--" + strings.ToLower(field) })
	if err := s.Run(context.Background()); err == nil || !strings.HasPrefix(of[event.DoneEvent](m)[0].Message, "--loss xent: expected mse") {
		t.Errorf("%v, %+v", err, m.events)
	}
	for _, c := range []config.Config{{Patience: 5}, {Epochs: -1}} {
		var bad *config.ConfigError
		if _, err := New(c); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestUnpreparedRuns(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "bad.csv")
	rows := "a,b,c\n"
	for i := range 30 {
		rows += fmt.Sprintf("%d,%d,%d.5\n", i, i*i%7, i)
	}
	if err := os.WriteFile(table, []byte(rows+"4,1.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config config.Config
		want   string
	}{
		{config.Config{Data: table}, "bad.csv:32"},
		{config.Config{Data: "lettres"}, "letters"},
		{config.Config{Data: "sine", Loss: "xent"}, "Loss xent: expected mse"},
		{config.Config{Data: "mnist", DataDir: dir}, "Fetch mnist"},
	} {
		m := &memory{}
		err := mustNew(t, c.config, m).Run(context.Background())
		var prepare *PrepareError
		if !errors.As(err, &prepare) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v: expected %q", c.config, err, c.want)
		}
		if d := of[event.DoneEvent](m); len(d) != 1 || d[0].Reason != event.ReasonFailed || d[0].Message == "" {
			t.Errorf("%+v: done %+v", c.config, d)
		}
	}
}

// TestRegressionSolvesToTheEnd looks at the limit of inner solves: by the data, unless it was set.
func TestRegressionSolvesToTheEnd(t *testing.T) {
	for _, test := range []struct {
		data   string
		set    []string
		want   any
		blocks any
	}{
		{"sine", nil, 0.0, 1.0}, {"sine", []string{"limit=7"}, 7.0, 1.0}, {"sine", []string{"blocks=2"}, 0.0, 2.0}, {"spirals", nil, 12.0, 6.0},
	} {
		m := train(t, config.Config{Data: test.data, Hidden: []int{3}, Set: test.set, Epochs: 1, Optimizer: "tr-gn"})
		if got := of[event.RunEvent](m)[0].Settings["limit"]; got != test.want {
			t.Errorf("%s %v: limit %v, want %v", test.data, test.set, got, test.want)
		}
		if got := of[event.RunEvent](m)[0].Settings["blocks"]; got != test.blocks {
			t.Errorf("%s %v: %v blocks, want %v", test.data, test.set, got, test.blocks)
		}
	}
}
