package watch

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/hosts"
	"newtop/internal/machine"
	"newtop/trainer/alert"
	"newtop/tui"
	"newtop/tui/screen"
)

// showMachines shows how this machine does, or those of names, which are read by a shell over ssh.
func showMachines(w *watcher, cmd *cobra.Command, names []string, options screen.Options) error {
	var trouble func(name, text string)
	if w.alerts.wanted() {
		rings := make(chan screen.RingMsg, 4)
		n, err := w.alerts.notifier(cmd, rings)
		if err != nil {
			return err
		}
		defer leave(n)
		options.Rings = rings
		trouble = func(name, text string) { n.Notify(alert.Alert{Kind: alert.Machine, Text: text}, name) }
	}
	if len(names) == 0 {
		s := machine.NewSampler(machine.Options{GPUUsers: true})
		defer s.Close()
		name, _ := os.Hostname()
		here := tui.Host{Name: cmp.Or(name, "here"), Read: s.Sample, Trouble: trouble}
		return tui.System(cmd.Context(), []tui.Host{here}, options)
	}
	net := hosts.New(hosts.Options{})
	defer net.Close()
	var shown []tui.Host
	var failed []error
	for _, name := range names {
		h := net.Shell(name)
		if err := h.Connect(cmd.Context()); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
		shown = append(shown,
			tui.Host{Name: name, Read: machine.NewRemote(h.Run).Sample, Away: h.Away, Trouble: trouble})
	}
	if err := cmd.Context().Err(); err != nil || len(failed) == len(names) {
		return errors.Join(append(failed, err)...)
	}
	for _, err := range failed {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(err))
	}
	return tui.System(cmd.Context(), shown, options)
}

// checkMachines refuses what --system can't do.
func checkMachines(w *watcher, cmd *cobra.Command, names, program []string) error {
	path := cmd.CommandPath()
	for _, name := range names {
		if err := hosts.Check(name); err != nil {
			return flags.Usagef("%s --system: %v", path, err)
		}
	}
	switch {
	case program != nil:
		return flags.Usagef("%s --system: machines are shown alone: expected no program beside them", path)
	case w.alerts.on != "" || w.until != "" || w.save != "" || w.once || w.format != "":
		return flags.Usagef("%s --system: expected no --alert-on, --until, --save, --once or --format with it", path)
	}
	return nil
}
