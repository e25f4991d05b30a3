package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/routine"
	"newtop/internal/score"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui"
	"newtop/tui/screen"
)

// boardPrinter prints a search as it continues.
type boardPrinter interface {
	// board is given every newer state, which holds all that was in those before.
	board(b *tune.Leaderboard) error
	// end is given the last one. It may be called without board before.
	end(b *tune.Leaderboard) error
}

// printer returns what prints a search in the flags' format.
func (t *tuner) printer(cmd *cobra.Command) boardPrinter {
	out, messages := cmd.OutOrStdout(), cmd.ErrOrStderr()
	progress := print.NewMeter(messages, time.Now())
	switch {
	case t.config.Crosses() && t.format == "jsonl":
		return &foldLines{trialLines{out: out, reported: map[int]bool{}}}
	case t.config.Crosses():
		return &foldReport{out: out, messages: messages, reported: map[int]bool{}}
	case t.format == "jsonl":
		return &trialLines{out: out, reported: map[int]bool{}}
	case t.format == "json":
		return &boardAtEnd{meter: progress, print: func(b *tune.Leaderboard) error {
			return print.JSON(out, boardOf(b, t.top))
		}}
	case t.top == 1:
		return &boardAtEnd{meter: progress, print: func(b *tune.Leaderboard) error { return printBoard(out, b, t.top) }}
	}
	return &trialText{out: out, messages: messages, top: t.top, reported: map[int]int{}}
}

// report says by which rows trials are judged, where the search decides that.
func (t *tuner) report(cmd *cobra.Command, settled trainer.Config) {
	switch given := &t.config.Base; {
	case settled.Folds != given.Folds:
		fmt.Fprintf(cmd.ErrOrStderr(),
			"a trial is %d nets, each trained without one fold, so that all rows are validation rows: --validation "+
				"%s for one net and a part of the rows\n",
			settled.Folds, trainer.DefaultValidation)
	case settled.Validation != given.Validation:
		fmt.Fprintf(cmd.ErrOrStderr(),
			"%s of the training rows are validation rows and choose the best setting: --validation 0 to choose by "+
				"the test rows\n",
			print.Share(settled.Validation))
	}
}

// print searches without a screen. The search continues in a goroutine of its own, so that it does not wait for whoever
// reads what is printed; when nothing can be printed any more it is stopped.
func (t *tuner) print(cmd *cobra.Command, s *tune.Search) error {
	p := t.printer(cmd)
	ended := make(chan error, 1)
	routine.Go(func() { ended <- s.Run(cmd.Context()) })
	printErr := followBoards(cmd.Context(), s, p.board)
	if printErr != nil {
		s.Stop()
	}
	err := <-ended
	if nothingBegan(err) {
		return err
	}
	b := s.Leaderboard()
	if printErr == nil {
		printErr = p.end(b)
	}
	return t.outcome(cmd, s, cmp.Or(err, printErr))
}

// followBoards hands each newer board on until the last one. A search whose context has ended still has a last board.
func followBoards(ctx context.Context, s tui.Searching, do func(*tune.Leaderboard) error) error {
	ctx = context.WithoutCancel(ctx)
	for seen := (*tune.Leaderboard)(nil); ; {
		b, err := s.Wait(ctx, seen)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(b); err != nil {
			return err
		}
		seen = b
	}
}

// nothingBegan reports whether a search ended before there was anything to list.
func nothingBegan(err error) bool {
	_, nothing := errors.AsType[*tune.NothingError](err)
	return err != nil && !errors.Is(err, context.Canceled) && !nothing
}

// show searches behind the screen, and prints what came of it when the screen is gone.
func (t *tuner) show(cmd *cobra.Command, s *tune.Search, runs *store.Store, options screen.Options) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	ended := make(chan error, 1)
	routine.Go(func() {
		err := s.Run(ctx)
		if nothingBegan(err) {
			cancel()
		}
		ended <- err
	})
	screenErr := tui.Tune(ctx, s, runs, options)
	s.Stop()
	err := <-ended
	if nothingBegan(err) {
		return err
	}
	if errors.Is(screenErr, context.Canceled) {
		screenErr = nil
	}
	b := s.Leaderboard()
	return t.outcome(cmd, s, cmp.Or(screenErr, printBoard(cmd.OutOrStdout(), b, t.top), err))
}

// outcome says where the search is kept, and how it is resumed where it was cut short.
func (t *tuner) outcome(cmd *cobra.Command, s *tune.Search, err error) error {
	b := s.Leaderboard()
	at := flags.AtStore(t.run.Store)
	again := "newtop tune --resume " + format.Quote(b.Name) + at
	switch {
	case errors.Is(err, context.Canceled) && cmd.Context().Err() != nil:
		return &print.InterruptedError{Cause: err, Next: again}
	case err != nil || t.format == "json" || t.format == "jsonl":
		return err
	case b.Phase == "stopped":
		fmt.Fprintf(cmd.ErrOrStderr(), "stopped; to continue: %s\n", again)
	default:
		own := b.Command != "" && b.Program == nil && s.Base().Model == "" // the best is a network of newtop's
		if own {
			fmt.Fprint(cmd.ErrOrStderr(), linear(cmd.Context(), s.Base(), b))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "recorded as %s: newtop tune show %s%s\n", b.Name, format.Quote(b.Name), at)
		if own {
			fmt.Fprintf(cmd.ErrOrStderr(), "the best net applied to other rows: newtop predict %s FILE%s\n",
				format.Quote(fmt.Sprintf("%s.%d", b.Name, b.Trials[b.Order[0]].Number)), at)
		}
	}
	return nil
}

// A linear model has that many epochs at most; before, L-BFGS stalls or has no better epoch for long.
const linearEpochs, linearPatience = 1000, 30

// linear trains a net without hidden layers on the rows of a search and says beside the best one whether it would have
// done: it is as good where it is within one standard error of the best's share of wrong rows [Breiman et al. 1984,
// section 3.4.3]. It is a line, or empty where there is none.
func linear(ctx context.Context, c trainer.Config, b *tune.Leaderboard) string {
	c.Hidden, c.Graph, c.Skip, c.Act, c.Experts, c.ExpertHidden = []int{}, "", models.SkipNone, "", 0, nil
	c.Optimizer, c.Set, c.Batch, c.Blocks, c.Schedule, c.InputNoise, c.Average = "lbfgs", nil, 0, 0, "", 0, 0
	c.Until, c.TargetError, c.TargetLoss, c.Epochs, c.Save = "", 0, 0, linearEpochs, ""
	c.TimeLimit = time.Duration(max(b.Seconds/4, 5) * float64(time.Second))
	if decides := c.Folds > 0 || c.Validation != "" && c.Validation != "0"; decides {
		c.Patience = cmp.Or(max(c.Patience, 0), linearPatience)
	}
	session, err := trainer.New(c)
	if err != nil || session.Run(ctx) != nil {
		return ""
	}
	box := session.Subscribe()
	defer box.Close()
	d, err := box.Wait(ctx)
	if err != nil || d.Done == nil {
		return ""
	}
	name, best := b.Test, b.BestTest()
	if math.IsNaN(best) || b.Measure == "validation loss" { // the one score that is none of Scores
		name, best = b.Measure, float64(b.Standings()[0].Best)
	}
	split, title, _ := strings.Cut(name, " ")
	v, rows := math.NaN(), 0
	if title == "loss" {
		v = float64(d.Done.ValidationLoss)
	}
	for _, s := range d.Done.Scores {
		for _, m := range score.Metrics(&s) {
			if s.Split == split && m.Name == title {
				v, rows = float64(m.Value), s.Rows
			}
		}
	}
	if math.IsNaN(v) {
		return ""
	}
	worse, within, is := v-best, math.NaN(), "has a "
	text := fmt.Sprintf("%s of %s against %s", name, judged(b, event.Float(v)), judged(b, event.Float(best)))
	if b.Max() {
		worse = -worse
	}
	if b.Share() {
		within = math.Sqrt(best * (1 - best) / float64(rows))
		text += " ± " + judged(b, event.Float(within))
	}
	if d.Done.Reason == event.ReasonTime {
		text += ", not converged"
	}
	switch {
	case worse <= 0:
		is = "is no worse: "
	case worse <= within:
		is = "is as good: "
	case within >= 0:
		is = "is worse: "
	}
	return "a linear model (--net none --opt lbfgs) " + is + text + "\n"
}

// boardAtEnd prints nothing but the last board. A meter says how far it is.
type boardAtEnd struct {
	meter *print.Meter
	print func(*tune.Leaderboard) error
}

func (p *boardAtEnd) board(b *tune.Leaderboard) error {
	p.meter.Show(time.Now(), done(b), progressText(b))
	return nil
}

func (p *boardAtEnd) end(b *tune.Leaderboard) error {
	p.meter.End()
	return p.print(b)
}

// done returns how much of a search's limits is used up, 0…1.
func done(b *tune.Leaderboard) (share float64) {
	begun := 0
	for i := range b.Trials {
		if t := &b.Trials[i]; !t.Final && t.State != tune.Running && t.State != tune.Waiting {
			begun++
		}
	}
	if b.Budget > 0 {
		share = b.Seconds / b.Budget
	}
	if b.MaxWork > 0 {
		share = max(share, b.Spent/b.MaxWork)
	}
	if b.Planned > 0 {
		share = max(share, float64(begun)/float64(b.Planned))
	}
	return min(share, 1)
}

// progressText says in a line how a search stands.
func progressText(b *tune.Leaderboard) string {
	text := fmt.Sprintf("%s, %s", b.Phase, print.Count(len(b.Trials), "trial"))
	if len(b.Order) > 0 {
		best := &b.Trials[b.Order[0]]
		text += ", best " + judged(b, best.Best)
		if b.Target > 0 && best.TargetSeconds > 0 {
			text += " in " + print.Elapsed(best.TargetSeconds)
		}
	}
	return text
}

// over reports whether nothing more becomes of a trial.
func over(s tune.State) bool {
	switch s {
	case tune.Pruned, tune.Done, tune.Reached, tune.Diverged, tune.Failed, tune.Stopped:
		return true
	}
	return false
}
