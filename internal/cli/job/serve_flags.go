package job

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"charm.land/log/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/trainer"
	"newtop/tui/remote"
)

// ServeFlags say where a run is served, to whom, and how much.
type ServeFlags struct {
	o         remote.Options
	address   string // the flag's name
	linger    time.Duration
	log       string
	logFormat string
	names     []string
	memory    int  // MB
	brief     bool // not served after the run's end, unless --linger says so
}

// What the flags are of.
const (
	Serving  = iota // a command that serves
	Resuming        // one that does with --listen
	Training        // one that does with --serve, and ends with the run
)

// Add declares the flags.
func (f *ServeFlags) Add(cmd *cobra.Command, of int) {
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	set.SortFlags = false
	f.address = "listen"
	listen, about := "", "serve the run over SSH on this `ADDRESS`, as newtop serve does; empty: no"
	lingers := "; not given: until ctrl+c"
	switch of {
	case Serving:
		listen, about = "127.0.0.1:2222",
			"`ADDRESS` to serve the screen on over SSH; beyond loopback --authorized-keys is needed"
	case Training:
		f.address, f.brief, lingers = "serve", true, ""
	}
	set.StringVar(&f.o.Address, f.address, listen, about)
	set.StringVar(&f.o.AuthorizedKeys, "authorized-keys", "",
		"`FILE` of public keys that may watch, in OpenSSH's format; empty: your own ~/.ssh/authorized_keys, only on "+
			"loopback addresses")
	set.StringVar(&f.o.Control, "control", "",
		"`FILE` of keys that may watch and control; empty: only the lines of the former with "+
			"environment=\"NEWTOP_ROLE=control\"")
	set.StringVar(&f.o.HostKey, "host-key", "",
		"`FILE` of the server's private key, created if missing; empty: host_ed25519 in the configuration "+
			"directory")
	set.StringVar(&f.o.Saves, "saves", "",
		"`DIR` where keys with control may save models and pictures; empty: they can't")
	set.IntVar(&f.o.Limits.Sessions, "max-viewers", 0, "maximum number of viewers; 0: 128")
	set.IntVar(&f.memory, "viewer-memory", 0, "maximum memory of all viewers in MB, beyond which others are "+
		"refused; 0: 256")
	set.DurationVar(
		&f.o.Limits.Idle, "idle", 0, "disconnect viewers who have pressed no key for this long, as in 1h; 0: never")
	set.DurationVar(&f.linger, "linger", 0, "time to serve the run after its end, as in 10m; 0: none"+lingers)
	set.StringVar(&f.log, "log", "-",
		"`FILE` that joins, leaves, refusals and commands are appended to; -: standard error")
	set.StringVar(&f.logFormat, "log-format", "text", "text, logfmt or json")
	set.VisitAll(func(flag *pflag.Flag) { f.names = append(f.names, flag.Name) })
	flags.Under("served over SSH", set, f.names...)
	if of == Training {
		flags.Long(set, f.names[1:]...)
	}
	cmd.Flags().AddFlagSet(set)
	flags.Choices(cmd, "log-format", "text", "logfmt", "json")
	if of == Serving {
		return
	}
	// Whoever knows the flag of one command need not learn the other's.
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "listen" || name == "serve" {
			name = f.address
		}
		return pflag.NormalizedName(name)
	})
}

// Wanted reports whether the run is to be served. Flags that say how are refused where it is not.
func (f *ServeFlags) Wanted(cmd *cobra.Command) (bool, error) {
	if f.o.Address != "" {
		return true, nil
	}
	for _, name := range f.names {
		if cmd.Flags().Changed(name) {
			return false, flags.Usagef("--%s: expected --%s with it", name, f.address)
		}
	}
	return false, nil
}

// Host is where a run is served.
type Host struct {
	options remote.Options
	address string // the flag's name
	linger  time.Duration
	forever bool // instead of linger
	log     io.Closer
}

// Close closes the log.
func (h *Host) Close() error {
	if h.log == nil {
		return nil
	}
	return h.log.Close()
}

// listen serves a run, and names the flag that is wrong as it is named here.
func (h *Host) listen(s remote.Run) (*remote.Server, error) {
	server, err := remote.Listen(s, h.options)
	var wrong *trainer.ConfigError
	if errors.As(err, &wrong) && wrong.Field == "--listen" {
		wrong.Field = "--" + h.address
	}
	return server, err
}

// Host checks the flags and opens the log.
func (f *ServeFlags) Host(cmd *cobra.Command, screen *flags.Screen) (*Host, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	h := &Host{options: f.o, address: f.address, linger: f.linger, forever: !f.brief && !cmd.Flags().Changed("linger")}
	var err error
	if h.options.UI, err = screen.Options(); err != nil {
		return nil, err
	}
	// A viewer's choices are kept nowhere, and their pictures would be files on this machine.
	h.options.UI.Preferences, h.options.UI.Pictures = "", ""
	h.options.Limits.Memory = f.memory << 20
	h.options.Saves = flags.AbsolutePath(f.o.Saves)
	out := print.Styled(cmd.ErrOrStderr())
	if f.log != "-" {
		file, err := os.OpenFile(f.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		out, h.log = file, file
	}
	h.options.Log = log.NewWithOptions(out, log.Options{
		ReportTimestamp: true, TimeFormat: time.RFC3339, Formatter: formatters[f.logFormat],
	})
	return h, nil
}

// formatters of --log-format.
var formatters = map[string]log.Formatter{"text": log.TextFormatter, "logfmt": log.LogfmtFormatter,
	"json": log.JSONFormatter}

func (f *ServeFlags) check() error {
	if err := flags.OneOf("--log-format", f.logFormat, "text", "logfmt", "json"); err != nil {
		return err
	}
	switch {
	case f.o.Limits.Sessions < 0:
		return flags.Invalid("--max-viewers", f.o.Limits.Sessions, "a whole number ≥ 1, or 0 for 128")
	case f.memory < 0 || f.memory > 1<<20:
		return flags.Invalid("--viewer-memory", f.memory, "a whole number of MB from 1 to 1048576, or 0 for 256")
	case f.o.Limits.Idle < 0:
		return flags.Invalid("--idle", f.o.Limits.Idle, "a duration ≥ 0")
	case f.linger < 0:
		return flags.Invalid("--linger", f.linger, "a duration ≥ 0")
	case f.o.Saves == "":
		return nil
	}
	if info, err := os.Stat(f.o.Saves); err != nil || !info.IsDir() {
		return flags.Invalid("--saves", f.o.Saves, "a directory that exists")
	}
	return nil
}

// announce says where the run is served and what to type to see it, which it returns.
func announce(w io.Writer, s *remote.Server) (look string) {
	name, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		name, port = s.Addr().String(), "22"
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsUnspecified() {
		if called, err := os.Hostname(); err == nil {
			name = called
		}
	}
	fmt.Fprintf(w, "served on %s; host key %s\n", s.Addr(), s.Fingerprint())
	look = fmt.Sprintf("to look: ssh -p %s %s", port, name)
	fmt.Fprintln(w, look)
	return look
}
