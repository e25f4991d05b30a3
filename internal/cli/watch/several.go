package watch

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
	"newtop/trainer/logs/shape"
	"newtop/trainer/stream"
	"newtop/tui"
	"newtop/tui/screen"
)

const (
	// maxRuns is how many runs of directories are opened: those that were written last.
	maxRuns = 100
	// research is how often directories are searched for runs that have begun.
	research = 5 * time.Second
)

// several shows logs over one another, and those that directories hold, while they come.
func several(w *watcher, cmd *cobra.Command, names []string, options screen.Options) (err error) {
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
	for _, name := range names {
		if files.Here(name).IsDir() {
			if found := p.search(name); len(found) > 0 {
				runs = append(runs, found...)
				continue
			}
		}
		source, closed, err := w.open(cmd, name)
		if err != nil {
			return err
		}
		runs = append(runs, p.start(source, name, closed))
	}
	p.running.Go(func() { p.follow(names) })
	return tui.Workspace(ctx, runs, p.more, options)
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

// search opens what is new in a directory.
func (p *players) search(dir string) (runs []tui.Watched) {
	for i, c := range stream.Find(files.Here(dir)) {
		key := find.Candidate{Kind: c.Kind, Path: c.Path, Run: c.Run}
		if i >= maxRuns || len(p.known) >= maxRuns || p.known[key] {
			continue
		}
		p.known[key] = true
		source, err := stream.OpenFound(c, files.Here(dir))
		if err != nil {
			p.fail(print.OneLine(err))
			continue
		}
		stream.Configure(source, p.text)
		name := c.Name
		if name == "" {
			name = c.Path
		}
		runs = append(runs, p.start(source, name, nil))
	}
	return runs
}

// start plays a source.
func (p *players) start(source stream.Source, name string, closed func() error) tui.Watched {
	w, end := tui.Play(p.ctx, source, filepath.ToSlash(name), p.how, p.options)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, end)
	if closed != nil {
		p.closers = append(p.closers, closed)
	}
	return w
}

func (p *players) fail(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, message)
}

// follow brings runs that begin later.
func (p *players) follow(names []string) {
	defer close(p.more)
	ticker := time.NewTicker(research)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.ctx.Done():
			return
		}
		for _, name := range names {
			if !files.Here(name).IsDir() {
				continue
			}
			for _, w := range p.search(name) {
				select {
				case p.more <- w:
				case <-p.ctx.Done():
					return
				}
			}
		}
	}
}

// close waits for the players, and returns what went wrong.
func (p *players) close() []string {
	p.running.Wait()
	for _, c := range p.closers {
		if err := c(); err != nil {
			p.failed = append(p.failed, print.OneLine(err))
		}
	}
	return p.failed
}
