package watch

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/hosts"
	"newtop/internal/routine"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
	"newtop/trainer/logs/shape"
	"newtop/trainer/stream"
	"newtop/tui"
	"newtop/tui/screen"
)

const (
	// maxRuns is how many runs of a directory are shown: those that were written last, and as many that begin later.
	maxRuns = 100
	// research is how often directories are searched for runs that have begun, and those of other hosts.
	research       = 5 * time.Second
	researchRemote = 30 * time.Second
)

// several shows logs over one another, and those that directories hold, while they come. found is what the first name,
// a directory, holds, as far as that is known.
func several(w *watcher, cmd *cobra.Command, names []string, found []find.Candidate, options screen.Options) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	p := players{ctx: ctx, options: options, how: w.options, text: w.text, known: map[find.Candidate]bool{},
		more: make(chan tui.Watched)}
	defer func() {
		cancel()
		w.remote.Close()
		for _, message := range p.close() {
			print.Warn(cmd.ErrOrStderr(), message)
		}
	}()
	var runs []tui.Watched
	left, dir := 0, commonDir(names)
	for _, name := range names {
		path, host, err := w.remote.Path(name)
		if err != nil {
			return err
		}
		at := place{path, host}
		p.running.Go(routine.Guard(func() { p.follow(at) }))
		if host != nil && found == nil {
			runs = append(runs, p.later(at, w.run))
			continue
		}
		if stream.HoldsRuns(path) {
			if found == nil {
				found = stream.Find(path)
			}
			in := p.search(at, found)
			left += len(found) - len(in)
			if found = nil; len(in) > 0 {
				runs = append(runs, in...)
				continue
			}
		}
		open := opener(func() (stream.Source, func() error, error) { return w.open(cmd, name) })
		source, closed, err := open()
		if err != nil {
			return err
		}
		p.atEnd(closed)
		if info, err := os.Stat(name); name == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			open = nil // what it says can't be read twice
		}
		runs = append(runs, p.start(strings.TrimPrefix(name, dir), source.Name(), source, open))
	}
	return tui.Workspace(ctx, runs, left, p.more, options)
}

// place is where logs may lie: on another host, or with a nil host on this machine.
type place struct {
	files.Path
	host *hosts.Host
}

// afar has a source on another host wait for it without its caller.
func (at place) afar(open func() (stream.Source, error)) (stream.Source, error) {
	if at.host == nil {
		return open()
	}
	return stream.Afar(at.Name, at.host, open), nil
}

// players play several sources.
type players struct {
	ctx     context.Context
	options screen.Options
	how     stream.Options
	text    shape.Options
	running sync.WaitGroup
	mu      sync.Mutex // guards known and what the players' ends leave behind
	failed  []string
	closers []func() error
	known   map[find.Candidate]bool
	more    chan tui.Watched
}

// commonDir is the directory that all names begin with, which tells none from another; "" where there is none.
func commonDir(names []string) string {
	dir := names[0][:strings.LastIndexByte(names[0], '/')+1]
	for _, name := range names {
		for len(names) == 1 || !strings.HasPrefix(name, dir) {
			if dir == "" {
				return ""
			}
			dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
		}
	}
	return dir
}

// search returns what is new of what was found in a directory.
func (p *players) search(dir place, found []find.Candidate) (runs []tui.Watched) {
	for _, c := range found[:min(len(found), maxRuns)] {
		if !p.isNew(c) {
			continue
		}
		open := p.opener(dir, func() (stream.Source, error) { return stream.OpenFound(c, dir.Path) })
		name, host := cmp.Or(c.Name, c.Path), hostOf(dir.host)
		if host != "" {
			name = host + ":" + name
		}
		w := p.start(name, c.Path, nil, open)
		w.Host = host
		runs = append(runs, w)
	}
	return runs
}

// isNew notes what was found, and reports whether it is shown for the first time.
func (p *players) isNew(c find.Candidate) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := find.Candidate{Kind: c.Kind, Path: c.Path, Run: c.Run}
	if len(p.known) >= 2*maxRuns || p.known[key] {
		return false
	}
	p.known[key] = true
	return true
}

// opener opens a log at a place as text is to be read.
func (p *players) opener(at place, open func() (stream.Source, error)) opener {
	return func() (stream.Source, func() error, error) {
		source, err := at.afar(open)
		if err == nil {
			stream.Configure(source, p.text)
		}
		return source, func() error { return nil }, err
	}
}

// later is a row for what is on another host, which may be away. Where that turns out to be a directory with runs they
// take its place.
func (p *players) later(at place, run string) tui.Watched {
	open := p.opener(at, func() (stream.Source, error) {
		if run == "" && stream.HoldsRuns(at.Path) {
			if found := p.search(at, stream.Find(at.Path)); len(found) > 0 {
				p.bring(found)
				return nil, io.EOF
			}
		}
		return job.OpenRemote(at.Path, run)
	})
	w := p.start(stream.NameOf(at.Name), at.Name, nil, open)
	w.Host = hostOf(at.host)
	return w
}

func hostOf(h *hosts.Host) string {
	if h == nil {
		return ""
	}
	return h.String()
}

// bring hands runs to the screen.
func (p *players) bring(runs []tui.Watched) {
	for _, w := range runs {
		select {
		case p.more <- w:
		case <-p.ctx.Done():
			return
		}
	}
}

// start has the workspace read a log, or plays it where it can't be opened again. first is its source if that is open.
func (p *players) start(name, from string, first stream.Source, open opener) tui.Watched {
	name = filepath.ToSlash(name)
	if open == nil {
		w, end := tui.Play(p.ctx, first, name, p.how, p.options)
		p.atEnd(end)
		return w
	}
	var mu sync.Mutex // guards first
	w, end := tui.Skim(func() (stream.Source, error) {
		mu.Lock()
		defer mu.Unlock()
		if s := first; s != nil {
			first = nil
			return s, nil
		}
		source, closed, err := open()
		if err == nil {
			p.atEnd(closed)
		}
		return source, err
	}, name, from, p.how, p.options)
	p.atEnd(end)
	return w
}

// opener opens a log. closed closes what is beneath its source.
type opener func() (source stream.Source, closed func() error, err error)

func (p *players) atEnd(closed func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, closed)
}

// follow brings runs that begin later at a place.
func (p *players) follow(at place) {
	least := research
	if at.host != nil {
		least = researchRemote
	}
	for pause := least; ; {
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return
		}
		begun := time.Now()
		if stream.HoldsRuns(at.Path) {
			p.bring(p.search(at, stream.Find(at.Path)))
		}
		pause = max(least, 100*time.Since(begun)) // of a large directory less often
	}
}

// close waits for the players, and returns what went wrong.
func (p *players) close() []string {
	p.running.Wait()
	for _, c := range slices.Backward(p.closers) { // what is beneath another was opened before it
		if err := c(); err != nil {
			p.failed = append(p.failed, print.OneLine(err))
		}
	}
	return p.failed
}
