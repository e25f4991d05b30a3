package bench

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/bench"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

const peersDescription = `Run the peers' scripts in a directory and newtop's own measurement before and
after each.

Newtop measures beside peer_hvp.py (products) and peer_letter.py (seconds to a
test error of 5 % on UCI letter); other scripts peer_*.py are run. Their lines
are shown as they come, then how many times as fast newtop is. The scripts need
python3 with torch and sklearn.`

func newBenchPeers() *cobra.Command {
	var f benchFlags
	var o bench.PeerOptions
	var seconds float64
	cmd := &cobra.Command{
		Use:     "peers DIR [flags]",
		Short:   "Run peers' scripts, and newtop beside them",
		Long:    peersDescription,
		Example: "newtop bench peers ../shared/bench --budget 60",
		Args:    flags.OneArgument("the directory of the scripts peer_*.py"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			if !(seconds >= 0 && seconds < 1e6) {
				return flags.Wrong("--budget", seconds, "a number of seconds, or 0 for the default")
			}
			o.Dir, o.Threads, o.Quick = args[0], f.threads, f.quick
			o.Budget = time.Duration(seconds * float64(time.Second))
			return benchPeers(cmd, f.format, o)
		},
	}
	f.add(cmd, "text", "json")
	set := cmd.Flags()
	set.StringVar(&o.Python, "python", "", "`FILE` that runs the scripts; empty: the first of python3 and /usr/bin/python3 that has what they import")
	set.StringVar(&o.DataDir, "data-dir", "", "`DIR` where letter-recognition.data is; empty: the directory data beside DIR")
	set.Float64Var(&seconds, "budget", 0, "seconds after which a run of training that has not got there ends; 0: 30, with --quick 5")
	return cmd
}

// benchPeers shows lines as they come, with the results or, where these are to be one JSON object, the messages.
func benchPeers(cmd *cobra.Command, format string, o bench.PeerOptions) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	live := out
	if format == "json" {
		live = errs
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
	if format == "json" {
		err = writeJSON(out, p)
	} else {
		_, err = io.WriteString(out, peersText(p))
	}
	if err == nil && p.Failures != nil {
		err = fmt.Errorf("%d of %s failed", len(p.Failures), print.Count(len(p.Scripts), "script"))
	}
	return err
}

// peersText writes the comparisons: a peer's figure, and below it newtop's.
func peersText(p *bench.Peers) string {
	const form = "%-60s %8s  %s"
	var b strings.Builder
	for i := range p.Ratios {
		r := &p.Ratios[i]
		heading(&b, form, r.What, "", "")
		row(&b, form, print.Printable(r.Peer), short(r.PeerIs), "")
		if r.OwnIs > 0 {
			row(&b, form, r.Newtop, short(float64(r.OwnIs)), fmt.Sprintf("%.1f ×", float64(r.Quicker)))
		} else {
			row(&b, form, r.Newtop, "never", "")
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
		machineText(&b, &p.Machine)
	}
	return b.String()
}
