package tune

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/tune"
)

// trialText prints a line for each trial that is over or waits to be taken further, again when it has been, and what
// came of the search in the end.
type trialText struct {
	out, messages io.Writer
	top           int
	reported      map[int]int // epochs of trials by number, as they were last printed
	opened        bool
	phase         string
	warning       string
	measure       string
}

func (p *trialText) board(b *tune.Leaderboard) error {
	if !p.opened {
		p.opened = true
		p.opening(b)
		if _, err := fmt.Fprintln(p.out, within(trialHeader(b), print.Width(p.out))); err != nil {
			return err
		}
	}
	if b.Phase != p.phase && b.Phase == "finals" {
		how := "alone, to be measured"
		if b.Program != nil {
			how = "with other seeds"
		}
		fmt.Fprintln(p.messages, "the best are run again "+how)
	}
	if b.Warning != p.warning && b.Warning != "" {
		print.Warn(p.messages, b.Warning)
	}
	if b.Program != nil && b.Program.By == "" && b.Measure != p.measure {
		fmt.Fprintf(p.messages, "trials are judged by the %s: --by NAME names another metric\n", b.Measure)
	}
	p.phase, p.warning, p.measure = b.Phase, b.Warning, b.Measure
	for i := range b.Trials {
		t := &b.Trials[i]
		epochs, known := p.reported[t.Number]
		if !over(t.State) && t.State != tune.Paused || known && epochs == t.Epochs {
			continue
		}
		p.reported[t.Number] = t.Epochs
		if _, err := fmt.Fprintln(p.out, within(trialLine(b, t), print.Width(p.out))); err != nil {
			return err
		}
	}
	return nil
}

// within cuts a line to a terminal's width, 0 for none: a line that is broken is no row of a table, and tune show has
// all of a trial.
func within(line string, width int) string {
	if width == 0 {
		return line
	}
	return ansi.Truncate(line, width, "…")
}

// opening says what is searched.
func (p *trialText) opening(b *tune.Leaderboard) {
	text := b.Data
	if b.Measure != "" {
		text += ": " + b.Measure
	}
	if b.Target > 0 {
		text = fmt.Sprintf("%s: least time to a %s of %s", b.Data, b.Measure, judged(b, event.Float(b.Target)))
	}
	if l := limits(b); l != "" {
		text += ", " + l
	}
	fmt.Fprintf(p.messages, "%s, %s at once\n", print.Printable(text), print.Count(b.Parallel, "trial"))
	for i := range b.Over {
		fmt.Fprintf(p.messages, "  over %s\n", print.Printable(b.Over[i].String()))
	}
}

func (p *trialText) end(b *tune.Leaderboard) error {
	if err := p.board(b); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.out); err != nil {
		return err
	}
	return printBoard(p.out, b, p.top)
}

// judged writes a figure of what trials are judged by.
func judged(b *tune.Leaderboard, v event.Float) string {
	if b.Share() {
		return print.Percent(v)
	}
	return print.Number(v, 4)
}

// trialHeader is the heading over the lines of trials; without a target none has a time to it.
func trialHeader(b *tune.Leaderboard) string {
	return trialColumns(b, "trial", "state", "best", "to target", "epochs", "gradients", "seconds", "setting")
}

func trialColumns(b *tune.Leaderboard, number, state, best, target, epochs, work, seconds, setting string) string {
	best = fmt.Sprintf("%8s", best)
	if b.Program != nil {
		return fmt.Sprintf("%5s %-8s %s %8s %8s  %s", number, state, best,
			strings.Replace(epochs, "epochs", "steps", 1), seconds, setting)
	}
	if b.Target > 0 {
		best += fmt.Sprintf(" %9s", target)
	}
	return fmt.Sprintf("%5s %-8s %s %7s %9s %8s  %s", number, state, best, epochs, work, seconds, setting)
}

// trialLine tells of a trial in a line.
func trialLine(b *tune.Leaderboard, t *tune.Trial) string {
	text := settingText(t)
	if t.Final && b.Program != nil {
		text += fmt.Sprintf(", seed %d", t.Seed)
	} else if t.Final {
		text += ", measured alone"
	}
	if t.Error != "" {
		text += ": " + t.Error
	}
	return print.Printable(trialColumns(b, b.Label(t), t.State.String(), judged(b, t.Best),
		print.Elapsed(t.TargetSeconds), strconv.Itoa(t.Epochs),
		print.Fixed(event.Float(t.Equivalents), 1), print.Fixed(event.Float(t.Seconds), 2), text))
}

// settingText writes the choices of a trial.
func settingText(t *tune.Trial) string {
	parts := make([]string, len(t.Choices))
	for i, c := range t.Choices {
		parts[i] = ownKey(c.Key) + "=" + c.Value
	}
	return strings.Join(parts, " ")
}

// ownKey returns a key without the method that it is for alone: a trial has no other's.
func ownKey(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// printBoard prints what came of a search: the best settings, what mattered, and how the best is trained. With top 1 it
// prints that command and nothing else.
func printBoard(out io.Writer, b *tune.Leaderboard, top int) error {
	if b.Folds > 0 {
		return printFolds(out, b)
	}
	if top == 1 {
		if b.Command == "" {
			return nil
		}
		_, err := fmt.Fprintln(out, b.Command)
		return err
	}
	if err := leaderboard(b, top).Fit(out, print.Width(out)); err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s\n", print.Printable(tallyTrials(b)))
	if shards := tallyShards(b); shards != "" {
		text.WriteString(print.Printable(shards) + "\n")
	}
	if b.Warning != "" {
		fmt.Fprintf(&text, "warning: %s\n", print.Printable(b.Warning))
	}
	if len(b.Importances) > 0 {
		text.WriteString("\nwhat the differences come from\n")
	}
	var wide int
	for _, i := range b.Importances {
		wide = max(wide, len(i.Key))
	}
	for _, i := range b.Importances {
		line := fmt.Sprintf("  %-*s %4.0f %%", wide, i.Key, 100*i.Share)
		if !math.IsNaN(i.Spread) {
			line += fmt.Sprintf(" ± %.0f", 100*i.Spread)
		}
		if i.Trend != "" {
			line += "  " + i.Trend
		}
		text.WriteString(print.Printable(line) + "\n")
	}
	if test := b.BestTest(); b.Test != "" && !math.IsNaN(test) {
		fmt.Fprintf(&text, "\nthe best has a %s of %s, which was not used to choose\n", b.Test,
			judged(b, event.Float(test)))
	}
	if b.Command != "" {
		word := "trained"
		if b.Program != nil {
			word = "run"
		}
		fmt.Fprintf(&text, "\nthe best is %s by\n%s\n", word, b.Command)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// leaderboard lists the best settings.
func leaderboard(b *tune.Leaderboard, top int) *print.Table {
	list := b.Standings()
	list = list[:min(top, len(list))]
	keys := columnKeys(list)
	g := &print.Table{Headers: []string{">#", ">TRIAL", "STATE", ">" + strings.ToUpper(b.Measure), ">RUNS", ">EPOCHS",
		">GRADIENTS", ">TIME"},
		Ranks: []int{0, 0, 6, 0, 4, 3, 5, 2}}
	const timed = 4 // where the time to the target stands, if there is one
	const work = 6  // and the gradient equivalents, of nets
	if b.Target > 0 {
		g.Headers, g.Ranks = slices.Insert(g.Headers, timed, ">TO TARGET"), slices.Insert(g.Ranks, timed, 0)
	}
	for _, key := range keys {
		g.Headers, g.Ranks = append(g.Headers, strings.ToUpper(key)), append(g.Ranks, 0)
	}
	if b.Test != "" {
		g.Headers, g.Ranks = slices.Insert(g.Headers, timed, ">"+strings.ToUpper(b.Test)),
			slices.Insert(g.Ranks, timed, 1)
	}
	for n, s := range list {
		t := s.Trial
		best := judged(b, s.Best)
		if s.Spread.Finite() {
			best += " ± " + judged(b, s.Spread)
		}
		cells := []string{strconv.Itoa(n + 1), b.Label(t), t.State.String(), best, strconv.Itoa(s.Runs),
			strconv.Itoa(t.Epochs), print.Work(event.Float(t.Equivalents)), print.Elapsed(event.Float(t.Seconds))}
		if b.Target > 0 {
			cells = slices.Insert(cells, timed, print.Elapsed(s.ToTarget))
		}
		if b.Test != "" {
			cells = slices.Insert(cells, timed, judged(b, s.Test))
		}
		for _, key := range keys {
			cells = append(cells, choiceOf(t, key))
		}
		if b.Program != nil {
			cells = slices.Delete(cells, work, work+1)
		}
		g.Add(cells...)
	}
	if b.Program != nil { // whose work nobody knows
		g.Headers[work-1] = ">STEPS"
		g.Headers, g.Ranks = slices.Delete(g.Headers, work, work+1), slices.Delete(g.Ranks, work, work+1)
	}
	return g
}

// columnKeys returns the keys of the settings' choices in the order in which they first appear.
func columnKeys(list []tune.Standing) (keys []string) {
	for _, s := range list {
		for _, c := range s.Trial.Choices {
			if key := ownKey(c.Key); !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// choiceOf returns a trial's value of a key; empty where it has none.
func choiceOf(t *tune.Trial, key string) string {
	for _, c := range t.Choices {
		if ownKey(c.Key) == key {
			return c.Value
		}
	}
	return ""
}

// tallyTrials counts what became of the trials.
func tallyTrials(b *tune.Leaderboard) string {
	n := map[tune.State]int{}
	for i := range b.Trials {
		n[b.Trials[i].State]++
	}
	text := fmt.Sprintf("%s: %s in %s", b.Name, print.Count(len(b.Trials), "trial"),
		print.Elapsed(event.Float(b.Seconds)))
	for _, s := range []tune.State{tune.Reached, tune.Done, tune.Pruned, tune.Paused, tune.Running, tune.Waiting,
		tune.Stopped, tune.Diverged, tune.Failed} {
		if n[s] > 0 {
			text += fmt.Sprintf(", %d %s", n[s], s)
		}
	}
	if b.Program != nil {
		return text
	}
	return text + fmt.Sprintf("; %s gradient equivalents", print.Work(event.Float(b.Spent)))
}
