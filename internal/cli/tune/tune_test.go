package tune

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/cli/clitest"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store/search"
	"newtop/trainer/tune"
)

const noFigure = event.Float(math.SmallestNonzeroFloat64) // in sampleTrial: NaN

// sampleTrial returns a trial that is over.
func sampleTrial(number, setting int, state tune.State, best, target event.Float, opt, rate string) tune.Trial {
	nan := func(v event.Float) event.Float {
		if v == noFigure {
			return event.Float(math.NaN())
		}
		return v
	}
	t := tune.Trial{Number: number, Setting: setting, State: state, Seed: 1, Best: nan(best), Last: nan(best), Loss: 0.5, TargetSeconds: nan(target),
		TargetEquivalents: 10 * nan(target), Epochs: 4 * number, Equivalents: 12.5 * float64(number), Seconds: 0.25 * float64(number),
		Choices: []tune.Choice{{Key: "opt", Value: opt, Number: -1}}, Run: fmt.Sprintf("20261122-010203-00000%d", number)}
	if rate != "" {
		t.Choices = append(t.Choices, tune.Choice{Key: "rate", Value: rate, Number: 0.5})
	}
	return t
}

// sampleBoard is the end of a search with a target, trials of every fate and finals.
func sampleBoard() *tune.Leaderboard {
	b := &tune.Leaderboard{Name: "tune-letters", Data: "letters", Measure: "test error", Target: 0.05, Phase: "done", Seconds: 58.4, Budget: 60,
		Spent: 1234.5, Planned: 100, Parallel: 2, Threads: 1,
		Over: []tune.Dimension{{Key: "opt", Choices: []string{"adam", "tr-gn"}}, {Key: "rate", Low: 1e-4, High: 0.1, Log: true}},
		Trials: []tune.Trial{
			sampleTrial(1, 1, tune.Reached, 0.0496, 1.5, "adam", "0.003162"),
			sampleTrial(2, 2, tune.Pruned, 0.31, noFigure, "adam", "0.09"),
			sampleTrial(3, 3, tune.Diverged, noFigure, noFigure, "adam", "0.1"),
			sampleTrial(4, 4, tune.Failed, noFigure, noFigure, "tr-gn", ""),
			sampleTrial(5, 5, tune.Done, 0.0612, noFigure, "tr-gn", ""),
			sampleTrial(6, 1, tune.Reached, 0.0488, 0.5, "adam", "0.003162"),
			sampleTrial(7, 1, tune.Reached, 0.0498, 0.7, "adam", "0.003162"),
		},
		Order: []int{5, 6, 0, 4, 1, 2, 3},
		Importances: []tune.Importance{{Key: "rate", Share: 0.62, Spread: 0.05, Trend: "best near 0.003"},
			{Key: "opt", Share: 0.3, Spread: math.NaN()}},
		Command: "newtop train --data letters --opt adam --target-error 0.05 --set rate=0.003162",
	}
	for i := range b.Trials {
		b.Trials[i].Test = event.Absent
	}
	b.Trials[1].Error = "behind 4 of 6 after 12 gradient equivalents"
	b.Trials[2].Error = "loss 1e+09 in epoch 3"
	b.Trials[3].Error = "--blocks 4: expected fewer"
	b.Trials[5].Final, b.Trials[6].Final = true, true
	return b
}

func TestTrialText(t *testing.T) {
	var out, messages bytes.Buffer
	p := &trialText{out: &out, messages: &messages, top: 10, reported: map[int]int{}}
	b := sampleBoard()
	early := *b
	early.Phase, early.Trials, early.Order, early.Command = "searching", append([]tune.Trial(nil), b.Trials[:3]...), []int{1}, ""
	early.Trials[0].State, early.Trials[1].State, early.Trials[1].Error = tune.Running, tune.Paused, ""
	late := *b
	late.Phase, late.Warning = "finals", "disk\x1b is full"
	for _, b := range []*tune.Leaderboard{&early, &early, &late} {
		if err := p.board(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(b); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "tune.txt", out.String())
	clitest.Golden(t, "tune-messages.txt", messages.String())
}

func TestSummaryWithTopOneIsTheCommand(t *testing.T) {
	var out bytes.Buffer
	b := sampleBoard()
	if err := printBoard(&out, b, 1); err != nil || out.String() != b.Command+"\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	b.Command = ""
	if err := printBoard(&out, b, 1); err != nil || out.Len() > 0 {
		t.Errorf("without a best: %q, %v", out.String(), err)
	}
}

// TestStandings holds settings against their trials, computed by hand: finals by mean and median, one that did not get
// there counts as the longest.
func TestStandings(t *testing.T) {
	b := sampleBoard()
	list := b.Standings()
	if len(list) != 5 || list[0].Trial.Number != 6 || list[0].Runs != 3 || list[0].Finals != 2 {
		t.Fatalf("%+v", list)
	}
	if got := float64(list[0].Best); math.Abs(got-0.0493) > 1e-12 {
		t.Errorf("the finals' mean is %v", got)
	}
	if got := float64(list[0].ToTarget); math.Abs(got-0.6) > 1e-12 {
		t.Errorf("the finals' median is %v", got)
	}
	cut := b.Trials[list[0].Trial.Number-1] // by the end of the search
	cut.Number, cut.State, cut.Best, cut.TargetSeconds = len(b.Trials)+1, tune.Stopped, 0.9, event.Float(math.NaN())
	b.Trials, b.Order = append(b.Trials, cut), append(b.Order, len(b.Trials))
	if again := b.Standings(); again[0].Best != list[0].Best || again[0].ToTarget != list[0].ToTarget || again[0].Finals != 2 {
		t.Errorf("a final that was stopped counts: %+v", again[0])
	}
	b.Ahead = map[int]bool{} // of shards together: others were better
	if again := b.Standings(); again[0].Finals != 0 || again[0].Best != b.Trials[b.Order[0]].Best {
		t.Errorf("finals of a setting that stands by its trials count: %+v", again[0])
	}
	b.Ahead = nil
	for i := range b.Trials {
		if t := &b.Trials[i]; t.Measured() && t.Setting == list[0].Trial.Setting {
			t.TargetSeconds = event.Float(math.NaN()) // one of two did not get there
			break
		}
	}
	if again := b.Standings(); !math.IsNaN(float64(again[0].ToTarget)) {
		t.Errorf("the median of a time and none is %v", again[0].ToTarget)
	}
}

func TestBoardJSON(t *testing.T) {
	var out bytes.Buffer
	if err := print.JSON(&out, boardOf(sampleBoard(), 2)); err != nil {
		t.Fatal(err)
	}
	clitest.Golden(t, "tune.json", out.String())
	out.Reset()
	p := &trialLines{out: &out, reported: map[int]bool{}}
	for range 2 {
		if err := p.board(sampleBoard()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(sampleBoard()); err != nil {
		t.Fatal(err)
	}
	if types := clitest.Types(t, out.String()); types["trial"] != 7 || types["search"] != 1 {
		t.Errorf("%v", types)
	}
}

// scripted is a search of given boards.
type scripted []*tune.Leaderboard

func (s scripted) Wait(ctx context.Context, seen *tune.Leaderboard) (*tune.Leaderboard, error) {
	for i, b := range s {
		if b == seen {
			if i+1 == len(s) {
				return nil, io.EOF
			}
			return s[i+1], ctx.Err()
		}
	}
	return s[0], nil
}
func (s scripted) Leaderboard() *tune.Leaderboard { return s[len(s)-1] }
func (s scripted) Stop()                          {}

// TestFollowBoards hands on every board even of a search whose context has ended.
func TestFollowBoards(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	err := followBoards(ctx, scripted{sampleBoard(), sampleBoard(), sampleBoard()}, func(*tune.Leaderboard) error { n++; return nil })
	if n != 3 || err != nil {
		t.Errorf("%d boards, %v", n, err)
	}
	if err := followBoards(ctx, scripted{sampleBoard()}, func(*tune.Leaderboard) error { return io.ErrClosedPipe }); err != io.ErrClosedPipe {
		t.Errorf("a printer's error is %v", err)
	}
}

func TestProgressOfASearch(t *testing.T) {
	b := sampleBoard()
	if got := done(b); math.Abs(got-58.4/60) > 1e-12 {
		t.Errorf("%v done by time", got)
	}
	b.Budget, b.Planned = 0, 10
	if got := done(b); got != 0.5 {
		t.Errorf("%v done by trials", got)
	}
	b.MaxWork = 1000
	if got := done(b); got != 1 {
		t.Errorf("%v done by work", got)
	}
	if got := progressText(b); got != "done, 7 trials, best 4.88 % in 500 ms" {
		t.Errorf("it stands: %s", got)
	}
	if got := done(&tune.Leaderboard{}); got != 0 {
		t.Errorf("%v done of nothing", got)
	}
}

func TestSearchList(t *testing.T) {
	at := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	list := []tune.Sweep{
		{Name: "a", Parts: []tune.Part{{Search: search.Search{Name: "a", Started: at, Data: "letters", Trials: 12, Seconds: 61, Spent: 1500, Phase: "finals"}}}},
		{Name: "b", Parts: []tune.Part{{Search: search.Search{Name: "b", Started: at, Data: "sine", Phase: "searching", Running: true}}}},
	}
	g := searchGrid(list, at)
	if g.Rows[0][6] != "interrupted" || g.Rows[1][6] != "searching" || g.Rows[0][4] != "1:01" || g.Rows[0][5] != "1500" {
		t.Errorf("%v", g.Rows)
	}
	if rows := searchRows(list); len(rows) != 2 || rows[0].State != "interrupted" || rows[0].Trials != 12 {
		t.Errorf("%+v", rows)
	}
}

// TestWithin: a row of the table of trials is not wider than the terminal, and whole in a pipe.
func TestWithin(t *testing.T) {
	const line = "   32 done       0.00 %      75     118.6     1.00  opt=kfac rate=0.4149 batch=239 schedule=linear"
	if got := within(line, 80); ansi.StringWidth(got) != 80 || !strings.HasSuffix(got, "…") {
		t.Errorf("%q", got)
	}
	if got := within(line, 0); got != line {
		t.Errorf("%q", got)
	}
}
