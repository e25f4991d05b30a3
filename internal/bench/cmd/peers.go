package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

const peersDescription = `Run the peers' scripts in a directory and newtop's own measurements in turn, and
show each figure of every pair, and how busy others kept the processors.

Newtop measures beside peer_hvp.py (gradients and products), peer_batch.py
(steps of Adam) and peer_letter.py (UCI letter to 5 % test error, another seed
in each pair); other scripts peer_*.py run once. All takes about 45 minutes,
with --quick --pairs 1 a few minutes. The scripts need torch and sklearn.`

func newBenchPeers() *cobra.Command {
	var f benchFlags
	var o bench.PeerOptions
	var seconds float64
	cmd := &cobra.Command{
		Use:     "peers DIR [flags]",
		Short:   "Run peers' scripts and newtop in turn",
		Long:    peersDescription,
		Example: "newtop-bench peers ../shared/bench --format md > peers.md",
		Args:    flags.OneArgument("the directory of the scripts peer_*.py"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check("text", "json", "md"); err != nil {
				return err
			}
			if !(seconds > 0 && seconds < 1e6) {
				return flags.Invalid("--budget", seconds, "a number of seconds above 0")
			}
			if o.Pairs < 1 || o.Pairs > 99 {
				return flags.Invalid("--pairs", o.Pairs, "a whole number from 1 to 99")
			}
			o.Dir, o.Threads, o.Quick, o.Budget = args[0], f.threads, f.quick, time.Duration(seconds*float64(time.Second))
			return benchPeers(cmd, f.format, o)
		},
	}
	f.add(cmd, "text", "json", "md")
	set := cmd.Flags()
	set.Lookup("format").Usage = "text, json: one JSON object, or md: tables for GitHub"
	set.Lookup("quick").Usage = "fewer repetitions within a pair"
	set.IntVar(&o.Pairs, "pairs", 5, "how often a script and newtop run in turn")
	set.StringVar(&o.Python, "python", "", "`FILE` that runs the scripts; empty: the first of python3 and /usr/bin/python3 that has what they import")
	set.StringVar(&o.DataDir, "data-dir", "", "`DIR` where letter-recognition.data is; empty: the directory data beside DIR")
	set.Float64Var(&seconds, "budget", 30, "seconds after which a run of training that has not got there ends")
	return cmd
}

// benchPeers shows lines as they come, with the results or, where these are to be a file, the messages.
func benchPeers(cmd *cobra.Command, format string, o bench.PeerOptions) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	live := errs
	if format == "text" {
		live = out
	}
	o.Live = func(l bench.PeerLine, failed bool) {
		if failed {
			fmt.Fprintln(errs, l.Source+" failed: "+l.Text)
		} else {
			fmt.Fprintln(live, l.Source+": "+l.Text)
		}
	}
	p, err := bench.MeasurePeers(cmd.Context(), o)
	if err != nil {
		return err
	}
	err = writeReport(out, format, p, peersDocument(p))
	if err == nil && p.Failures != nil {
		err = fmt.Errorf("%d of %s failed", len(p.Failures), print.Count(len(p.Scripts), "script"))
	}
	return err
}

// peersDocument has a table for each figure, with a column for each pair.
func peersDocument(p *bench.Peers) (d Document) {
	for _, f := range p.Figures {
		t := &FigureTable{Title: f.What}
		for i := range f.Load[0].Pairs {
			t.Columns = append(t.Columns, strconv.Itoa(i+1))
		}
		t.Columns = append(t.Columns, "median")
		for _, row := range slices.Concat(f.Times, f.Load) {
			var cells []string
			for _, v := range append(row.Pairs, row.Median) {
				cells = append(cells, peerValue(v))
			}
			t.Add(row.Name, cells...)
		}
		for _, r := range f.Ratios {
			t.Notes = append(t.Notes, fmt.Sprintf("%s × as fast (%s to %s) as %s", peerValue(r.Median), peerValue(r.Least), peerValue(r.Most), r.Name))
		}
		d = append(d, t)
	}
	if d != nil {
		d = append(d, Facts{{"machine", machineWords(&p.Machine)}})
	}
	return d
}

// peerValue writes a time or a ratio: ∞ is that of one who never got there, – of one who did not run.
func peerValue(v event.Float) string {
	return strings.NewReplacer("NaN", nothing, "+Inf", "∞").Replace(short(float64(v)))
}
