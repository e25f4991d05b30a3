package recorder

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

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

// addition is what a transaction adds to a run.
type addition struct {
	*connection
	at   *position
	sum  tally
	flaw string // why an event was left out
}

// insert writes a row of a table, its run first, and counts the checksum of an event.
func (a *addition) insert(ctx context.Context, table string, args []any) error {
	crc, err := a.connection.insert(ctx, table, args)
	if slices.Contains(rowcode.EventTables, table) {
		a.sum.sums += crc
	}
	return err
}

// insertEvents writes events in order.
func (a *addition) insertEvents(ctx context.Context, events []Item) (err error) {
	var args []any
	sum := &a.sum
	for i := 0; i < len(events); i++ {
		n, seq := 0, events[i].Seq
		switch e := events[i].Event.(type) {
		case event.RunEvent:
			continue // a run has one
		case event.InnerEvent:
			last := i + steps(events[i:]) - 1
			n, err = a.insertSteps(ctx, events[i:last+1])
			sum.inner += last + 1 - i
			seq, i = events[last].Seq, last
		case event.EpochEvent:
			if args, n, err = rowcode.EpochArgs(append(args[:0], a.at.run, seq), &e); err == nil {
				err = a.insert(ctx, "epochs", args)
			}
			if err == nil {
				err = a.note(ctx, &e, seq)
			}
		case event.SpectrumEvent:
			n, err = a.insertJSON(ctx, "spectra", seq, e)
		default:
			n, err = a.insertJSON(ctx, "marks", seq, e)
			switch e.(type) {
			case event.DoneEvent:
				sum.ended, sum.done = true, sql.NullInt64{Int64: seq, Valid: true}
			case event.ResumeEvent:
				sum.ended, sum.done = true, sql.NullInt64{}
			}
		}
		if sqlfile.Unencodable(err) {
			sum.lost, a.flaw = sum.lost+1, fmt.Sprintf("event %d is not recorded: %v", seq, err)
			continue
		}
		if err != nil {
			return err
		}
		sum.bytes += n + rowcode.RowBytes
		sum.events = seq
	}
	return nil
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

func (a *addition) insertSteps(ctx context.Context, items []Item) (int, error) {
	var text []byte
	for i := range items {
		e := items[i].Event.(event.InnerEvent)
		text = rowcode.AppendStep(text, &e)
	}
	e := items[0].Event.(event.InnerEvent)
	err := a.insert(ctx, "solves", []any{a.at.run, items[0].Seq, e.Epoch, e.Block, e.Member, string(text)})
	return len(text), err
}

func (a *addition) insertJSON(ctx context.Context, table string, seq int64, e event.Event) (int, error) {
	line, err := event.EncodeEvent(e)
	if err != nil {
		return 0, err
	}
	err = a.insert(ctx, table, []any{a.at.run, seq, string(line)})
	return len(line), err
}

// note adds an epoch to what the run's row and the peaks tell.
func (a *addition) note(ctx context.Context, e *event.EpochEvent, seq int64) error {
	at, sum := a.at, &a.sum
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
		err = a.insert(ctx, "peaks", []any{at.run, at.stretch.First, at.stretch.Last, string(text)})
	}
	at.stretch = rowcode.Stretch{}
	at.thinning.exact++
	return err
}
