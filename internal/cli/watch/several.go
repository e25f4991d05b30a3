package watch

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
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
	// research is how often directories are searched for runs that have begun.
	research = 5 * time.Second
)

// several shows logs over one another, and those that directories hold, while they come. found is what the first name,
// a directory, holds, as far as that is known.
func several(w *watcher, cmd *cobra.Command, names []string, found []find.Candidate, options screen.Options) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	p := players{ctx: ctx, options: options, how: w.options, text: w.text, known: map[find.Candidate]bool{},
		more: make(chan tui.Watched)}
	defer func() {
		cancel()
		for _, message := range p.close() {
			print.Warn(cmd.ErrOrStderr(), message)
		}
	}()
	var runs []tui.Watched
	left := 0
	for _, name := range names {
		if dir := files.Here(name); stream.HoldsRuns(dir) {
			if found == nil {
				found = stream.Find(dir)
			}
			in := p.search(dir, found)
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
		runs = append(runs, p.start(name, source.Name(), source, open))
	}
	p.running.Go(routine.Guard(func() { p.follow(names) }))
	return tui.Workspace(ctx, runs, left, p.more, options)
}

// players play several sources. Its methods but follow are called by the goroutine that opens them, follow by its own
// afterwards.
type players struct {
	ctx     context.Context
	options screen.Options
	how     stream.Options
	text    shape.Options
	running sync.WaitGroup
	mu      sync.Mutex // guards what the players' ends leave behind
	failed  []string
	closers []func() error
	known   map[find.Candidate]bool
	more    chan tui.Watched
}

// search returns what is new of what was found in a directory.
func (p *players) search(dir files.Path, found []find.Candidate) (runs []tui.Watched) {
	for _, c := range found[:min(len(found), maxRuns)] {
		key := find.Candidate{Kind: c.Kind, Path: c.Path, Run: c.Run}
		if len(p.known) >= 2*maxRuns || p.known[key] {
			continue
		}
		p.known[key] = true
		open := func() (stream.Source, func() error, error) {
			source, err := stream.OpenFound(c, dir)
			if err == nil {
				stream.Configure(source, p.text)
			}
			return source, func() error { return nil }, err
		}
		runs = append(runs, p.start(cmp.Or(c.Name, c.Path), c.Path, nil, open))
	}
	return runs
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

// follow brings runs that begin later.
func (p *players) follow(names []string) {
	defer close(p.more)
	for pause := research; ; {
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return
		}
		begun := time.Now()
		for _, name := range names {
			dir := files.Here(name)
			if !stream.HoldsRuns(dir) {
				continue
			}
			for _, w := range p.search(dir, stream.Find(dir)) {
				select {
				case p.more <- w:
				case <-p.ctx.Done():
					return
				}
			}
		}
		pause = max(research, 100*time.Since(begun)) // of a large directory less often
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
