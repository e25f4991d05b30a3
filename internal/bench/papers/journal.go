package papers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"newtop/internal/bench/load"
	"newtop/internal/filelock"
	"newtop/trainer"
	"newtop/trainer/event"
)

// Journal is a file of trials that are done, so that a bench that was stopped goes on where it was. Its first line is an
// Origin; every other one is a trial:
//
//	{"trial":"C in four blocks, seed 3, …","foreign":0.02,"result":{…}}
//
// A line that was cut short, by a crash or a full disk, is done anew. Goroutines may share a Journal; the nil one
// remembers nothing.
type Journal struct {
	mu     sync.Mutex
	file   *os.File
	unlock func()
	done   map[string]journalLine
}

// Origin is what made a journal. Trials of another commit, machine or problem are not to be mixed with its own.
type Origin struct {
	Commit    string `json:"newtop"`
	Machine   string `json:"machine"`
	Arguments string `json:"arguments"` // those that change a trial, and not which or how many there are
}

type journalLine struct {
	Trial   string          `json:"trial"`
	Foreign event.Float     `json:"foreign"` // the share of the processors that others used meanwhile
	Result  json.RawMessage `json:"result"`
}

// OpenJournal opens a journal to go on with, or begins it. It returns a *trainer.ConfigError of --resume for a file that
// is none, that another origin made, or that another process writes.
func OpenJournal(path string, origin Origin) (*Journal, error) {
	wrong := func(expected string, args ...any) error {
		return &trainer.ConfigError{Field: "--resume", Value: path, Expected: fmt.Sprintf(expected, args...)}
	}
	unlock, err := filelock.Lock(path)
	if errors.Is(err, filelock.ErrBusy) {
		return nil, wrong("a file that no other newtop-bench writes")
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{unlock: unlock, done: map[string]journalLine{}}
	if j.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		unlock()
		return nil, err
	}
	whole, lines := int64(0), 0
	for r := bufio.NewReader(j.file); ; lines++ {
		text, fault := r.ReadBytes('\n')
		if fault == io.EOF {
			break // what stands behind the last line end was cut short
		}
		if err = fault; err == nil {
			err = j.read(text, lines == 0, origin, func(expected string, args ...any) error {
				return wrong("in line %d "+expected, append([]any{lines + 1}, args...)...)
			})
		}
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		whole += int64(len(text))
	}
	if err := j.file.Truncate(whole); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if lines == 0 {
		if err := j.write(origin); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return j, nil
}

// read takes a line.
func (j *Journal) read(text []byte, first bool, origin Origin, wrong func(string, ...any) error) error {
	if !first {
		var line journalLine
		if err := json.Unmarshal(text, &line); err != nil || line.Trial == "" || line.Result == nil {
			return wrong("a trial of newtop-bench")
		}
		j.done[line.Trial] = line
		return nil
	}
	var made Origin
	if err := json.Unmarshal(text, &made); err != nil || made.Commit == "" {
		return wrong("what made it, as newtop-bench writes it")
	}
	for _, part := range []struct{ name, made, now string }{
		{"newtop", made.Commit, origin.Commit}, {"the machine", made.Machine, origin.Machine}, {"the arguments", made.Arguments, origin.Arguments},
	} {
		if part.made != part.now {
			return wrong("%s %q and not %q: trials of both are not mixed", part.name, part.now, part.made)
		}
	}
	return nil
}

// write appends a line.
func (j *Journal) write(line any) error {
	text, err := json.Marshal(line)
	if err == nil {
		_, err = j.file.Write(append(text, '\n'))
	}
	return err
}

// Close closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.unlock()
	return j.file.Close()
}

// recall returns what came of a trial and the foreign load meanwhile: from the journal if it is there, else by running
// it, after which it is there.
func recall[T any](ctx context.Context, j *Journal, trial string, run func() (T, error)) (result T, foreign float64, err error) {
	if j != nil {
		j.mu.Lock()
		line, ok := j.done[trial]
		j.mu.Unlock()
		if ok {
			err = json.Unmarshal(line.Result, &result)
			return result, float64(line.Foreign), err
		}
	}
	before := load.Now(ctx)
	if result, err = run(); err != nil {
		return result, 0, err
	}
	foreign = before.Foreign(load.Now(ctx), 0)
	if j == nil {
		return result, foreign, nil
	}
	line := journalLine{Trial: trial, Foreign: event.Float(foreign)}
	if line.Result, err = json.Marshal(result); err != nil {
		return result, foreign, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[trial] = line
	return result, foreign, j.write(line)
}
