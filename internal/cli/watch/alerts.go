package watch

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/notify"
	"newtop/trainer/alert"
	"newtop/trainer/event"
	"newtop/tui/screen"
)

// alertFlags say who is called, and what for.
type alertFlags struct {
	to []string
	on string
}

func (f *alertFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringArrayVar(&f.to, "alert", nil, "call when something happens: "+notify.Specs+"; may be given several times")
	set.StringVar(&f.on, "alert-on", "",
		"which events call: nan, divergence, plateau, overfitting, end, quiet (quiet=5m), or conditions as in "+
			"--until; empty: all that have a name")
	flags.Under("alerts", set, "alert", "alert-on")
}

func (f *alertFlags) wanted() bool { return len(f.to) > 0 }

// check refuses what can't be read.
func (f *alertFlags) check() error {
	if _, err := alert.ParseRules(f.on); err != nil {
		return flags.Invalid("--alert-on", f.on, err.Error())
	}
	if f.on != "" && !f.wanted() {
		return flags.Usagef("--alert-on: expected --alert with it")
	}
	return nil
}

// goodbye is how long the last alerts may take.
const goodbye = 10 * time.Second

// caller watches a run and has its user called. What was there before anyone looked is no reason for a call.
type caller struct {
	watch  *alert.Watch
	rules  alert.Rules
	now    func() time.Time
	notify *notify.Notifier
	rings  chan screen.RingMsg // for the screen; nil without one
	run    string
	gone   func() string // why nothing more comes of the run, empty while it may
	heard  bool          // of the run, since it was looked at
}

// caller starts what the flags ask for.
func (f *alertFlags) caller(cmd *cobra.Command, rings chan screen.RingMsg) (*caller, error) {
	rules, err := alert.ParseRules(f.on)
	if err != nil {
		return nil, flags.Invalid("--alert-on", f.on, err.Error())
	}
	c := &caller{watch: alert.New(rules), rules: rules, now: time.Now, rings: rings}
	c.notify, err = f.notifier(cmd, rings)
	return c, err
}

// notifier brings what is said to whoever the flags name, and to a screen that rings, or to a terminal without one.
func (f *alertFlags) notifier(cmd *cobra.Command, rings chan screen.RingMsg) (*notify.Notifier, error) {
	n, err := notify.New(f.to, notify.Options{
		Ring: func(sequence string) {
			if rings == nil {
				cmd.ErrOrStderr().Write([]byte(sequence))
				return
			}
			ring(rings, screen.RingMsg{Sequence: sequence})
		},
		Failed: func(line string) {
			if rings == nil {
				print.Warn(cmd.ErrOrStderr(), line)
				return
			}
			ring(rings, screen.RingMsg{Text: line})
		},
	})
	if err != nil {
		return nil, flags.Invalid("--alert", format.Masked(strings.Join(f.to, " ")), err.Error())
	}
	return n, nil
}

// ring hands something to the screen, unless that has not taken the last.
func ring(rings chan screen.RingMsg, m screen.RingMsg) {
	select {
	case rings <- m:
	default:
	}
}

// See calls for what has come since the run was looked at.
func (c *caller) See(e event.Event, live bool) {
	if run, ok := e.(event.RunEvent); ok {
		c.run = run.Data.Name
	}
	alerts := c.watch.See(e)
	if !live {
		return
	}
	if _, told := e.(event.EpochEvent); told {
		c.watch.Heard(c.now())
		c.heard = true
	}
	c.call(alerts)
}

// Idle asks whether the run is quiet, or its writer gone.
func (c *caller) Idle() {
	c.call(c.watch.Ask(c.now()))
	if why := c.gone(); c.heard && why != "" {
		c.call(c.watch.End(why))
	}
}

func (c *caller) call(alerts []alert.Alert) {
	for _, a := range alerts {
		c.notify.Notify(a, c.run)
		if c.rings != nil {
			ring(c.rings, screen.RingMsg{Text: a.Text})
		}
	}
}

// Restart forgets what is void.
func (c *caller) Restart() { c.watch = alert.New(c.rules) }

// close has the last alerts brought.
func (c *caller) close() { leave(c.notify) }

func leave(n *notify.Notifier) {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	n.Close(ctx)
}
