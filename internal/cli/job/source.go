package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/hosts"
	"newtop/trainer/logs/files"
	"newtop/trainer/peer"
	"newtop/trainer/store"
	"newtop/trainer/stream"
)

// Remote are the hosts on which logs lie. Its zero value is for use; it must be closed.
type Remote struct {
	hosts.Options
	net *hosts.Network
}

// Path is the path that a name stands for: on this machine where there is something or the name has no host, else on
// that host, which is nil for this machine.
func (r *Remote) Path(name string) (files.Path, *hosts.Host, error) {
	if _, err := os.Lstat(name); err == nil || name == "-" || strings.HasPrefix(name, peer.SocketPrefix) {
		return files.Here(name), nil, nil
	}
	host, at, remote, err := hosts.Split(name)
	if err != nil || !remote {
		return files.Here(name), nil, err
	}
	if r.net == nil {
		r.net = hosts.New(r.Options)
	}
	h := r.net.Files(host)
	return h.Path(at), h, nil
}

// Connect connects to the hosts of some names, one after another, so that ssh can ask its user. It returns why that
// failed, by the names of hosts, and how many there are.
func (r *Remote) Connect(ctx context.Context, names []string) (failed []error, all int, err error) {
	seen := map[*hosts.Host]bool{}
	for _, name := range names {
		_, h, err := r.Path(name)
		if err != nil {
			return nil, 0, err
		}
		if h == nil || seen[h] {
			continue
		}
		seen[h] = true
		if err := h.Connect(ctx); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", h, err))
		}
	}
	return failed, len(seen), ctx.Err()
}

// Close ends the connections.
func (r *Remote) Close() {
	if r.net != nil {
		r.net.Close()
	}
}

// OpenSource returns the source that a name stands for: standard input for -, a path that exists, one on a host of
// remote, or a recorded run. run says which of the runs that a log holds, empty for the latest. The function closes
// what is beneath the source.
func OpenSource(cmd *cobra.Command, a StoreFlags, remote *Remote, name, run string) (source stream.Source,
	closed func() error, err error) {
	closed = func() error { return nil }
	if path, h, err := remote.Path(name); err != nil {
		return nil, nil, err
	} else if h != nil {
		return stream.Afar(path.Name, h, func() (stream.Source, error) {
			if remote.Once {
				return stream.Open(path, run)
			}
			return OpenRemote(path, run)
		}), closed, nil
	}
	if name == "-" {
		if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(f.Fd()) {
			return nil, nil, flags.Usagef("%s -: standard input is the terminal: expected a log from a pipe or a file",
				cmd.CommandPath())
		}
		return stream.Lines(cmd.InOrStdin(), "standard input"), closed, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode().IsRegular() && isStore(files.Here(name)):
		return recorded(cmd, StoreFlags{File: name}, cmp.Or(run, "last"))
	case err == nil:
		source, err = stream.Open(files.Here(name), run)
	case !errors.Is(err, fs.ErrNotExist):
	case strings.ContainsRune(name, filepath.Separator):
		err = fmt.Errorf("%s: expected a file, a directory, or a recorded run by ID or name", name)
	default:
		if source, closed, err = recorded(cmd, a, name); err != nil {
			err = fmt.Errorf("no file %s here, and %w", name, err)
		}
	}
	return source, closed, err
}

// OpenRemote returns the source of what is at a path of another host, or will be.
func OpenRemote(path files.Path, run string) (stream.Source, error) {
	source, err := stream.Open(path, run)
	if errors.Is(err, fs.ErrNotExist) {
		return stream.Await(path, run), nil
	}
	return source, err
}

// recorded returns a source of a run in a store.
func recorded(cmd *cobra.Command, a StoreFlags, name string) (stream.Source, func() error, error) {
	s, err := a.Open(store.Options{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	r, err := Find(cmd, s, name)
	if err != nil {
		return nil, nil, cmp.Or(err, s.Close())
	}
	if host, _ := os.Hostname(); r.State == store.Running && r.Host != host {
		if network := s.Network(); network != "" {
			print.Warn(cmd.ErrOrStderr(),
				fmt.Sprintf("%s is on %s and written by %s: what is seen from here may be old or damaged; expected "+
					"ssh %s newtop watch, or --serve there",
					s.Path(), network, r.Host, r.Host))
		}
	}
	source, err := s.Source(cmd.Context(), r.ID)
	if err != nil {
		return nil, nil, cmp.Or(err, s.Close())
	}
	return source, s.Close, nil
}

// isStore reports whether a file begins as SQLite's do and is none of another program's. It reads, which a pipe must be
// spared.
func isStore(path files.Path) bool {
	const magic = "SQLite format 3\x00"
	head, err := path.Read(int64(len(magic)))
	return err == nil && string(head) == magic && !stream.IsDatabase(path)
}
