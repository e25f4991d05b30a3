package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"newtop/trainer/event"
)

// permanent reports whether trying again is of no use: the rows contradict what is there.
func permanent(err error) bool {
	switch codeOf(err) {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_RANGE:
		return true
	}
	return unencodable(err)
}

// unencodable reports whether an event can't be written as JSON, which is no fault of the disk's.
func unencodable(err error) bool {
	var value *json.UnsupportedValueError
	var kind *json.UnsupportedTypeError
	return errors.As(err, &value) || errors.As(err, &kind)
}

// tally is what a transaction adds to the run's row.
type tally struct {
	events                  int64
	epochs, inner, bytes    int
	lost                    int // events that are no JSON
	first, last, best, done sql.NullInt64
}

var insertEpoch = "INSERT INTO epochs (run, seq, " + epochColumns + ") VALUES (?, ?" +
	strings.Repeat(", ?", strings.Count(epochColumns, ",")+1) + ")"

const (
	insertSolve    = "INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (?, ?, ?, ?, ?, ?)"
	insertSpectrum = "INSERT INTO spectra (run, seq, json) VALUES (?, ?, ?)"
	insertMark     = "INSERT INTO marks (run, seq, json) VALUES (?, ?, ?)"
	insertPeaks    = "INSERT INTO peaks (run, first, last, extremes) VALUES (?, ?, ?, ?)"
)

// insertEvents writes events in order.
func (w *writer) insertEvents(ctx context.Context, at *place, events []item) (sum tally, err error) {
	var args []any
	for i := 0; i < len(events); i++ {
		n, seq := 0, events[i].seq
		switch e := events[i].event.(type) {
		case event.RunEvent:
			continue // a run has one
		case event.InnerEvent:
			last := i + steps(events[i:]) - 1
			n, err = w.insertSteps(ctx, at.run, events[i:last+1])
			sum.inner += last + 1 - i
			seq, i = events[last].seq, last
		case event.EpochEvent:
			if args, n, err = epochArgs(append(args[:0], at.run, seq), &e); err == nil {
				_, err = w.exec(ctx, insertEpoch, args...)
			}
			if err == nil {
				err = w.note(ctx, at, &e, seq, &sum)
			}
		case event.SpectrumEvent:
			n, err = w.insertJSON(ctx, insertSpectrum, at.run, seq, e)
		default:
			n, err = w.insertJSON(ctx, insertMark, at.run, seq, e)
			if _, over := e.(event.DoneEvent); over {
				sum.done = sql.NullInt64{Int64: seq, Valid: true}
			}
		}
		if unencodable(err) {
			sum.lost, w.flaw = sum.lost+1, fmt.Sprintf("event %d is not recorded: %v", seq, err)
			continue
		}
		if err != nil {
			return sum, err
		}
		sum.bytes += n + 16
		sum.events = seq
	}
	return sum, nil
}

func (w *writer) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := w.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// steps returns how many of the first items are inner iterations that go into one row.
func steps(items []item) int {
	first := items[0].event.(event.InnerEvent)
	for n := 1; n < min(len(items), maxSteps); n++ {
		e, ok := items[n].event.(event.InnerEvent)
		if !ok || items[n].seq != items[0].seq+int64(n) || !together(&first, &e) {
			return n
		}
	}
	return min(len(items), maxSteps)
}

func (w *writer) insertSteps(ctx context.Context, run int64, items []item) (int, error) {
	var text []byte
	for i := range items {
		e := items[i].event.(event.InnerEvent)
		text = appendStep(text, &e)
	}
	e := items[0].event.(event.InnerEvent)
	_, err := w.exec(ctx, insertSolve, run, items[0].seq, e.Epoch, e.Block, e.Member, string(text))
	return len(text), err
}

func (w *writer) insertJSON(ctx context.Context, text string, run, seq int64, e event.Event) (int, error) {
	line, err := event.EncodeEvent(e)
	if err != nil {
		return 0, err
	}
	_, err = w.exec(ctx, text, run, seq, string(line))
	return len(line), err
}

// note adds an epoch to what the run's row and the peaks tell.
func (w *writer) note(ctx context.Context, at *place, e *event.EpochEvent, seq int64, sum *tally) error {
	number := sql.NullInt64{Int64: seq, Valid: true}
	sum.epochs++
	if !sum.first.Valid {
		sum.first = number
	}
	sum.last = number
	at.measure = at.measure.With(e)
	if at.best == nil || at.measure.Better(e, at.best) {
		at.best, sum.best = e, number
	}
	at.stretch.add(e, seq)
	if at.stretch.epochs < peakStretch {
		return nil
	}
	text, err := json.Marshal(&at.stretch.peaks)
	if err == nil {
		_, err = w.exec(ctx, insertPeaks, at.run, at.stretch.first, at.stretch.last, string(text))
	}
	at.stretch = stretch{}
	return err
}
