package datasets

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// turn is a process's turn to make a rows file. Meanwhile its file is locked, and touched every few seconds. It stays,
// and says how the last turn failed.
type turn struct {
	path   string
	failed error // that of a process that was waited for
	unlock func()
	quit   chan struct{}
	alive  sync.WaitGroup
}

// failure is what the file of a turn says. One of its errors is not nil.
type failure struct {
	ID     string // of the turn
	Source rowsSource
	Format *FormatError
	Option *OptionError
	Refuse *refusal
}

// refusal is an error of the file system.
type refusal struct{ Op, Path, Text string }

// failure returns the error that the file of a turn tells of, nil if it is about another version of the CSV file.
func (c *conversion) failure(text []byte) error {
	var f failure
	if json.Unmarshal(text, &f) != nil || f.Source != c.source {
		return nil
	}
	return f.err()
}

func (f *failure) err() error {
	switch {
	case f.Format != nil:
		return f.Format
	case f.Option != nil:
		return f.Option
	case f.Refuse != nil:
		return &os.PathError{Op: f.Refuse.Op, Path: f.Refuse.Path, Err: errors.New(f.Refuse.Text)}
	}
	return nil
}

const (
	signOfLife = 10 * time.Second
	abandoned  = 10 * time.Minute    // without a sign of life, by clocks that may differ: what is being written is nobody's
	unused     = 30 * 24 * time.Hour // of files that are touched on each day on which they are used
)

// wait waits for this process's turn.
func (c *conversion) wait(path string) (*turn, error) {
	before, _ := os.ReadFile(path)
	var touched time.Time
	since := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		unlock, err := lock(path)
		if err == nil {
			t := &turn{path: path, unlock: unlock, quit: make(chan struct{})}
			if after, err := os.ReadFile(path); err == nil && !bytes.Equal(before, after) {
				t.failed = c.failure(after)
			}
			return t, nil
		}
		if !errors.Is(err, ErrBusy) {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && !info.ModTime().Equal(touched) {
			touched, since = info.ModTime(), time.Now()
		}
		if time.Since(since) > c.patience {
			return nil, fmt.Errorf("%s: another process that converts it has not shown a sign of life for %s: end it, or remove %s", c.path, c.patience, path)
		}
		time.Sleep(pause)
	}
}

// live shows others until the end of the turn that this process, which writes part, is there.
func (t *turn) live(part string) {
	touch(t.path)
	t.alive.Go(func() {
		ticker := time.NewTicker(signOfLife)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				touch(t.path)
				touch(part)
			case <-t.quit:
				return
			}
		}
	})
}

func touch(path string) { _ = os.Chtimes(path, time.Now(), time.Now()) }

// fail tells those who wait what is wrong, if it is that for them too.
func (t *turn) fail(source rowsSource, err error) {
	f := failure{ID: rand.Text(), Source: source}
	f.Format, _ = errors.AsType[*FormatError](err)
	f.Option, _ = errors.AsType[*OptionError](err)
	if e, ok := errors.AsType[*os.PathError](err); ok {
		f.Refuse = &refusal{e.Op, e.Path, e.Err.Error()}
	}
	if text, err := json.Marshal(&f); err == nil && f.err() != nil {
		_ = os.WriteFile(t.path, text, 0o644) // else they find out for themselves
	}
}

func (t *turn) end() {
	close(t.quit)
	t.alive.Wait()
	t.unlock()
}

// ours matches what conversions make in their directories: rows files, files of turns, and parts.
var ours = regexp.MustCompile(`-[0-9a-f]{24}(\.lock|\.[0-9]+\.part)?$`)

// sweep removes what processes left that were ended while they wrote, and what nobody uses.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !ours.MatchString(e.Name()) {
			continue
		}
		if age := time.Since(info.ModTime()); age > unused || age > abandoned && strings.HasSuffix(e.Name(), ".part") {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another may have been faster
		}
	}
}
