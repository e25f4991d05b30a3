package stream

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"newtop/trainer/logs/files"
)

// How often files are looked at where the system tells of changes, which it does not on every file system, and where it
// does not.
const (
	slowPoll = time.Second
	fastPoll = 100 * time.Millisecond
	// calm is how long nothing is looked at again, so that what is written in quick succession is read at once.
	calm = 50 * time.Millisecond
)

// watcher wakes a source when something has changed in the directories that it watches. Without the system's help it
// wakes it regularly.
type watcher struct {
	notify *fsnotify.Watcher // nil where there is none
	only   string            // the name of the one file that matters, or empty for all
	poll   time.Duration
	dirs   []files.Path // that will be watched from the first wait on
	woke   time.Time    // when something had changed last
	names  bool         // whether files may have come, gone or been renamed since this was last set to false
}

// newWatcher watches a file and what may take its place, or a directory, from the first wait on: the system takes some
// milliseconds, which what is read once can spare.
func newWatcher(path files.Path) *watcher {
	w := &watcher{poll: fastPoll, dirs: []files.Path{path}}
	if !path.IsDir() {
		w.dirs[0], w.only = path.Dir(), path.Base()
	}
	return w
}

// begin asks the system to tell of changes.
func (w *watcher) begin() {
	dirs := w.dirs
	w.dirs = nil
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	if !notifies(notify, dirs[0]) {
		notify.Close()
		return
	}
	w.notify, w.poll, w.names = notify, slowPoll, true
	for _, dir := range dirs[1:] {
		w.add(dir)
	}
}

// add watches one more directory. Where that fails its changes are seen when it is looked at.
func (w *watcher) add(dir files.Path) {
	switch {
	case w.dirs != nil:
		w.dirs = append(w.dirs, dir)
	case w.notify != nil && !notifies(w.notify, dir):
		w.poll = fastPoll
	}
}

func notifies(n *fsnotify.Watcher, dir files.Path) bool {
	name := dir.In.Local(dir.Name)
	return name != "" && n.Add(name) == nil
}

// wait returns when something may have changed, after a time if that is not 0, or with the context's error.
func (w *watcher) wait(ctx context.Context, most time.Duration) error {
	if w.dirs != nil { // what changed before is seen by one more look
		w.begin()
		return ctx.Err()
	}
	if most == 0 || most > w.poll {
		most = w.poll
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.notify != nil {
		events, errs = w.notify.Events, w.notify.Errors
	}
	for {
		select {
		case e, open := <-events:
			if !open {
				events = nil
			} else if w.matters(e) {
				if rest := calm - time.Since(w.woke); rest > 0 {
					timer.Reset(rest)
					select {
					case <-timer.C:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				w.drain()
				w.woke = time.Now()
				return nil
			}
		case _, open := <-errs: // as that events were lost: look
			if open {
				w.names = true
				return nil
			}
			errs = nil
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (w *watcher) matters(e fsnotify.Event) bool {
	w.names = w.names || e.Op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0
	return (w.only == "" || filepath.Base(e.Name) == w.only) && e.Op != fsnotify.Chmod
}

// drain forgets the changes that one look will see. Those that come from now on are kept by the system.
func (w *watcher) drain() {
	for range 1024 {
		select {
		case e, open := <-w.notify.Events:
			if !open {
				return
			}
			w.matters(e)
		default:
			return
		}
	}
}

func (w *watcher) close() {
	if w.notify != nil {
		w.notify.Close()
	}
}
