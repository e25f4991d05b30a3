package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"newtop/internal/bench"
	"newtop/trainer"

	"github.com/spf13/cobra"
)

const peersDescription = `Run the peers' scripts in a directory and newtop's own measurement before and
after each.

Figures of peer_hvp.py (products) and peer_letter.py (seconds to a test error of
5 % on UCI letter) are compared with newtop's; other scripts peer_*.py are run
and their lines shown. The scripts need python3 with torch and sklearn.`

func newBenchPeers() *cobra.Command {
	var flags benchFlags
	var o bench.PeerOptions
	var seconds float64
	cmd := &cobra.Command{
		Use:     "peers DIR [flags]",
		Short:   "Run peers' scripts, and newtop beside them",
		Long:    peersDescription,
		Example: "newtop bench peers ../shared/bench --budget 60",
		Args:    oneArgument("the directory of the scripts peer_*.py"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if !(seconds >= 0 && seconds < 1e6) {
				return &trainer.ConfigError{Field: "--budget", Value: fmt.Sprint(seconds), Expected: "a number of seconds, or 0 for the default"}
			}
			o.Dir, o.Threads, o.Quick = args[0], flags.threads, flags.quick
			o.Budget = time.Duration(seconds * float64(time.Second))
			return benchPeers(cmd, flags.format, o)
		},
	}
	flags.add(cmd)
	set := cmd.Flags()
	set.StringVar(&o.Python, "python", "", "what runs the scripts; empty: the first of python3 and /usr/bin/python3 that has what they import")
	set.StringVar(&o.DataDir, "data-dir", "", "where letter-recognition.data is; empty: the directory data beside DIR")
	set.Float64Var(&seconds, "budget", 0, "seconds after which a run of training that has not got there ends; 0: 30, with --quick 5")
	set.VisitAll(wrap)
	return cmd
}

// benchPeers shows lines as they come, with the results or, where these are to be one JSON object, the messages.
func benchPeers(cmd *cobra.Command, format string, o bench.PeerOptions) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	live := out
	if format == "json" {
		live = errs
	}
	o.Live = func(l bench.Live) {
		w := live
		if l.Failure != "" {
			w = errs
		}
		fmt.Fprintln(w, liveText(&l))
	}
	p, err := bench.MeasurePeers(cmd.Context(), o)
	if err != nil {
		return err
	}
	if format == "json" {
		err = writeJSON(out, p)
	} else {
		_, err = io.WriteString(out, peersText(p))
	}
	if err == nil && p.Failures != nil {
		err = fmt.Errorf("%d of %s failed", len(p.Failures), count(len(p.Scripts), "script"))
	}
	return err
}

// liveText writes a figure that just came.
func liveText(l *bench.Live) string {
	switch {
	case l.Products != nil:
		p := l.Products
		return fmt.Sprintf("%s, %s, %s: gradient %s, Hv %s, both %s ms",
			p.Peer, p.DType, count(p.Threads, "thread"), short(p.GradientMS), short(p.HvKeptMS), short(p.HvFreshMS))
	case l.Letter != nil:
		return letterRunText(l.Letter)
	case l.Failure != "":
		return l.Source + " failed: " + l.Failure
	}
	return l.Source + ": " + l.Text
}

func letterRunText(p *bench.PeerLetter) string {
	reached := fmt.Sprintf("not %g %% in %s s", p.TargetPercent, secondsText(p.Seconds))
	if p.SecondsToTarget != nil {
		reached = fmt.Sprintf("%g %% in %s s", p.TargetPercent, secondsText(*p.SecondsToTarget))
	}
	return fmt.Sprintf("%s: %s, %s; best %.2f %%", p.Peer, reached, count(p.Epochs, "epoch"), p.BestTestError)
}

// peersText writes the comparisons, at most 80 columns wide.
func peersText(p *bench.Peers) string {
	var b strings.Builder
	if p.Products != nil {
		ratiosText(&b, p.Products.Ratios)
	}
	if p.Letter != nil {
		runsText(&b, p.Letter)
		resultsText(&b, p.Letter.Results)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
		machineText(&b, &p.Machine)
	}
	return b.String()
}

// ratiosText writes a table for each peer and dtype.
func ratiosText(b *strings.Builder, list []bench.Ratio) {
	const form = "%-32s %8s %8s  %s"
	group := ""
	for i := range list {
		r := &list[i]
		if next := r.Peer + " " + r.DType; next != group {
			group = next
			heading(b, form, group, "its ms", "newtop", "times faster")
		}
		reached := fmt.Sprintf("%.1f ×", r.Ratio)
		if r.Goal != nil {
			reached = fmt.Sprintf("%.1f × wanted, %.1f × reached", r.Goal.AtLeast, r.Ratio)
		}
		row(b, form, fmt.Sprintf("%s, %s", passName(r.What), count(r.Threads, "thread")), short(r.PeerMS), short(r.NewtopMS), reached)
	}
}

// runsText lists the runs, the fastest first, with the times of all repetitions and the errors of the first.
func runsText(b *strings.Builder, l *bench.LetterBeside) {
	const form = "%-35s %20s %7s %7s %7s"
	heading(b, form, "UCI letter", "seconds to 5 %", "best %", "train %", "epochs")
	for _, r := range l.Ranked() {
		times := make([]string, len(r))
		for i := range r {
			times[i] = timeText(&r[i])
		}
		p := &r[0]
		row(b, form, p.Peer, strings.Join(times, ", "), fmt.Sprintf("%.2f", p.BestTestError), fmt.Sprintf("%.2f", p.TrainError),
			fmt.Sprint(p.Epochs))
	}
}

// timeText writes the seconds of a run to its target, or how long it had.
func timeText(p *bench.PeerLetter) string {
	if p.SecondsToTarget == nil {
		return fmt.Sprintf("never (%s)", secondsText(p.Seconds))
	}
	return secondsText(*p.SecondsToTarget)
}

// secondsText writes hundredths where they may matter.
func secondsText(s float64) string {
	if s < 99.995 {
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.0f", s)
}

func resultsText(b *strings.Builder, list []bench.Result) {
	const form = "%-17s %-24s %7s %6s %5s  %s"
	for i := range list {
		r := &list[i]
		if i == 0 {
			heading(b, form, "seconds to 5 %", "newtop's", "newtop", "peer", "share", "")
		}
		seconds, share := "never", "–"
		if r.NewtopSeconds != nil {
			seconds, share = secondsText(*r.NewtopSeconds), fmt.Sprintf("%.2f", *r.Share)
		}
		row(b, form, r.What, r.Newtop, seconds, secondsText(r.PeerSeconds), share, bound(r.Goal))
	}
}
