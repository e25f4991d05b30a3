package tui

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
)

// TestNewestEpochIsLabelled: with every scale of x the newest epoch has its number, and the label at the right the unit.
func TestNewestEpochIsLabelled(t *testing.T) {
	for _, c := range []struct {
		epochs, limit int
		keys          string
		newest, right string
	}{
		{5, 0, "", " 5 ", " 10 epochs"}, {7, 0, "X", " 7 ", " 10 epochs"}, {1000, 0, "X", " 1,000 ", " 1,000 epochs"},
		{4, 10, "", " 4 ", " 10 epochs"}, {10, 10, "", " 10 ", " 10 epochs"}, {60, 0, "X", " 60 ", " 60 epochs"},
	} {
		t.Run(fmt.Sprint(c.epochs, c.limit, c.keys), func(t *testing.T) {
			v := testView()
			r := rand.New(rand.NewPCG(1, 2))
			d := feed.Delta{Run: tuitest.NewRun(tuitest.Script{})[0].Run, Status: event.Status{Epoch: c.epochs, EpochLimit: c.limit}}
			for e := range c.epochs + 1 {
				d.Epochs = append(d.Epochs, tuitest.Epoch(e, 1, r))
			}
			v.H.Apply(&d)
			rows := zoomedBody(t, v, &Loss{}, 80, 24, c.keys)
			axis := strings.TrimSpace(ansi.Strip(rows[len(rows)-2]))
			if !strings.HasSuffix(axis, c.right) || !strings.Contains(axis, c.newest) {
				t.Errorf("%q lacks %q or does not end with %q", axis, c.newest, c.right)
			}
		})
	}
}

func TestClauses(t *testing.T) {
	const s = "one two; three four; five"
	for _, c := range []struct {
		w, n int
		want []string
	}{
		{40, 1, []string{s}},
		{20, 1, []string{"one two; three four"}},
		{20, 2, []string{"one two; three four;", "five"}},
		{10, 1, []string{"one two"}},
		{8, 2, []string{"one two"}},
	} {
		if got := clauses(s, c.w, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d × %d: %q, want %q", c.w, c.n, got, c.want)
		}
	}
	if got := clauses("alpha beta gamma", 10, 1); !reflect.DeepEqual(got, []string{"alpha beta"}) {
		t.Errorf("%q", got)
	}
}
