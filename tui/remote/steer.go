package remote

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"charm.land/log/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

const (
	longestFile = 200 // bytes of a file's name, without room for the end of it
	maxAction   = 120 // characters
)

// steered is the run as one viewer sees it. It takes commands of those who may steer alone, keeps what they save in one
// directory, and notes what they do.
type steered struct {
	feed.Feed
	viewer event.Viewer
	room   *room
	saves  string // directory; empty: nothing is saved
	log    *log.Logger
	epoch  atomic.Int64 // the latest that the viewer was told of
}

// Wait returns what is new.
func (f *steered) Wait(ctx context.Context) (feed.Delta, error) {
	d, err := f.Feed.Wait(ctx)
	if err == nil {
		f.epoch.Store(int64(d.Status.Epoch))
	}
	return d, err
}

// named is the run as all viewers see it. Files in the directory of saves go by their names alone: where it is is
// nobody's business.
type named struct {
	feed.Feed
	saves string
}

// Wait returns what is new.
func (f named) Wait(ctx context.Context) (feed.Delta, error) {
	d, err := f.Feed.Wait(ctx)
	if f.saves != "" && len(d.Saved) > 0 {
		d.Saved = slices.Clone(d.Saved)
		for i := range d.Saved {
			if dir, name := filepath.Split(d.Saved[i].File); filepath.Clean(dir) == filepath.Clean(f.saves) {
				d.Saved[i].File = name
			}
		}
	}
	return d, err
}

// Do passes a command on. A viewer who may not steer gets trainer.ErrReadOnly.
func (f *steered) Do(ctx context.Context, c event.Command) error {
	if !f.viewer.Control {
		return feed.ErrReadOnly
	}
	words := clean(event.Label(c), maxAction)
	err := f.pass(ctx, c)
	if !event.Steers(c) {
		return err
	}
	d := event.Action{Epoch: int(f.epoch.Load()), By: f.viewer.Name, What: words}
	switch {
	case err == nil:
		f.log.Info("command", "what", words, "by", f.viewer.Name, "key", f.viewer.Key)
	case ctx.Err() != nil: // who gives a command and hangs up is not to go unnoticed
		d.Refused = "left before the answer; it may have been done"
		f.log.Warn("command unanswered", "what", words, "by", f.viewer.Name, "key", f.viewer.Key, "why", d.Refused)
	default:
		d.Refused = clean(err.Error(), longestLine)
		f.log.Warn("command refused", "what", words, "by", f.viewer.Name, "key", f.viewer.Key, "why", d.Refused)
	}
	f.room.did(d)
	return err
}

func (f *steered) pass(ctx context.Context, c event.Command) error {
	save, ok := c.(event.Save)
	if !ok {
		return f.Feed.Do(ctx, c)
	}
	file, err := savePath(f.saves, save.File)
	if err != nil {
		return err
	}
	return f.Feed.Do(ctx, event.Save{File: file})
}

// savePath is where a file of a name may be saved in a directory. It returns a *trainer.CommandError for anything but
// the bare name of a file that is not there yet, or is a file like others.
func savePath(dir, name string) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", &event.CommandError{Reason: fmt.Sprintf(format, args...)}
	}
	shown := clean(name, 40)
	switch {
	case dir == "":
		return refuse("no models are saved here: the server was started without --saves")
	case name == "":
		return refuse("expected a file name")
	case len(name) >= longestFile:
		return refuse("%s: expected a name of less than %d bytes", shown, longestFile)
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return refuse("%s: expected a name of printable characters", shown)
	case strings.ContainsAny(name, `/\`), !filepath.IsLocal(name), strings.Contains(name, ".."):
		return refuse("%s: expected a bare file name: it is saved in the server's directory", shown)
	case name[0] == '.', name[0] == '-':
		return refuse("%s: expected a name that begins with a letter or digit", shown)
	}
	file := filepath.Join(dir, name)
	if there, err := os.Lstat(file); err == nil && there.Mode()&fs.ModeType != 0 {
		return refuse("%s: there is something of that name that is not a file", shown)
	}
	return file, nil
}
