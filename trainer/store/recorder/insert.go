package recorder

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"newtop/trainer/event"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// tally is what a transaction adds to the run's row.
type tally struct {
	events                  int64
	epochs, inner, bytes    int
	sums                    int64 // of checksums
	thinned, whole          int64 // epochs that were taken out, and up to where
	lost                    int   // events that are no JSON
	first, last, best, done sql.NullInt64
	ended                   bool // done is what it is now
}

// insertion is how rows of a table of runs are written: run, what is sealed, and the checksum of that.
type insertion struct {
	text string
	seal *rowcode.Sealer
}

func newInsertion(table string) insertion {
	s := rowcode.NewSealer(table)
	return insertion{"INSERT INTO " + table + " (run, " + rowcode.Sealed[table] + ", crc) VALUES (?" +
		strings.Repeat(", ?", len(s.Names)+1) + ")", s}
}

// insert writes a row of a table, its run first, and counts its checksum.
func (w *Writer) insert(ctx context.Context, table string, args []any, sum *tally) error {
	i, ok := w.insertions[table]
	if !ok {
		i = newInsertion(table)
		if w.insertions == nil {
			w.insertions = map[string]insertion{}
		}
		w.insertions[table] = i
	}
	crc := i.seal.Of(args[1:]...)
	if slices.Contains(rowcode.EventTables, table) {
		sum.sums += crc
	}
	_, err := w.exec(ctx, i.text, append(args, crc)...)
	return err
}

// insertEvents writes events in order.
func (w *Writer) insertEvents(ctx context.Context, at *place, events []Item) (sum tally, err error) {
	var args []any
	for i := 0; i < len(events); i++ {
		n, seq := 0, events[i].Seq
		switch e := events[i].Event.(type) {
		case event.RunEvent:
			continue // a run has one
		case event.InnerEvent:
			last := i + steps(events[i:]) - 1
			n, err = w.insertSteps(ctx, at.run, events[i:last+1], &sum)
			sum.inner += last + 1 - i
			seq, i = events[last].Seq, last
		case event.EpochEvent:
			if args, n, err = rowcode.EpochArgs(append(args[:0], at.run, seq), &e); err == nil {
				err = w.insert(ctx, "epochs", args, &sum)
			}
			if err == nil {
				err = w.Note(ctx, at, &e, seq, &sum)
			}
		case event.SpectrumEvent:
			n, err = w.insertJSON(ctx, "spectra", at.run, seq, e, &sum)
		default:
			n, err = w.insertJSON(ctx, "marks", at.run, seq, e, &sum)
			switch e.(type) {
			case event.DoneEvent:
				sum.ended, sum.done = true, sql.NullInt64{Int64: seq, Valid: true}
			case event.ResumeEvent:
				sum.ended, sum.done = true, sql.NullInt64{}
			}
		}
		if sqlfile.Unencodable(err) {
			sum.lost, w.flaw = sum.lost+1, fmt.Sprintf("event %d is not recorded: %v", seq, err)
			continue
		}
		if err != nil {
			return sum, err
		}
		sum.bytes += n + rowcode.RowBytes
		sum.events = seq
	}
	return sum, nil
}

func (w *Writer) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := w.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// steps returns how many of the first items are inner iterations that go into one row.
func steps(items []Item) int {
	first := items[0].Event.(event.InnerEvent)
	for n := 1; n < min(len(items), rowcode.MaxSteps); n++ {
		e, ok := items[n].Event.(event.InnerEvent)
		if !ok || items[n].Seq != items[0].Seq+int64(n) || !rowcode.Together(&first, &e) {
			return n
		}
	}
	return min(len(items), rowcode.MaxSteps)
}

func (w *Writer) insertSteps(ctx context.Context, run int64, items []Item, sum *tally) (int, error) {
	var text []byte
	for i := range items {
		e := items[i].Event.(event.InnerEvent)
		text = rowcode.AppendStep(text, &e)
	}
	e := items[0].Event.(event.InnerEvent)
	err := w.insert(ctx, "solves", []any{run, items[0].Seq, e.Epoch, e.Block, e.Member, string(text)}, sum)
	return len(text), err
}

func (w *Writer) insertJSON(ctx context.Context, table string, run, seq int64, e event.Event, sum *tally) (int, error) {
	line, err := event.EncodeEvent(e)
	if err != nil {
		return 0, err
	}
	err = w.insert(ctx, table, []any{run, seq, string(line)}, sum)
	return len(line), err
}

// note adds an epoch to what the run's row and the peaks tell.
func (w *Writer) Note(ctx context.Context, at *place, e *event.EpochEvent, seq int64, sum *tally) error {
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
	at.stretch.Add(e, seq)
	if at.stretch.Epochs < rowcode.PeakStretch {
		return nil
	}
	text, err := json.Marshal(&at.stretch.Peaks)
	if err == nil {
		err = w.insert(ctx, "peaks", []any{at.run, at.stretch.First, at.stretch.Last, string(text)}, sum)
	}
	at.stretch = rowcode.Stretch{}
	at.thinning.exact++
	return err
}
