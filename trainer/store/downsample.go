package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"newtop/trainer/event"
)

// A run of very many epochs is read downsampled. While it is recorded, each stretch of peakStretch epochs gets a row
// that tells which of them hold the least and the greatest loss, test loss, error and test error; a reader merges
// neighbouring rows until few enough are left and fetches the epochs that they name.

const (
	peakStretch = 128
	// A run of more epochs than this is read downsampled, to at most two epochs for each of event.Extremes and of
	// maxStretches.
	manyEpochs   = 20000
	maxStretches = 2048
	// Of a run with more inner iterations than manyInner those of the newest epochs are read, and of more marks or
	// spectra than manyOthers the newest marks and evenly spread spectra.
	manyInner  = 65536
	newInner   = 4096
	manyOthers = 16384
	newSpectra = 1024
)

// peak is where a figure is least and greatest, and where it is not finite at first, which counts as the greatest.
// Where it is absent there is none of them.
type peak struct {
	low, high     float64
	lowAt, highAt int64 // numbers of the events; 0: none
	badAt         int64 // the first that is not finite
}

func (p *peak) add(f event.Float, at int64) {
	switch v := float64(f); {
	case f.NonFinite() && p.badAt == 0:
		p.badAt = at
	case f.Finite():
		if p.lowAt == 0 || v < p.low {
			p.low, p.lowAt = v, at
		}
		if p.highAt == 0 || v > p.high {
			p.high, p.highAt = v, at
		}
	}
}

// merge adds a later stretch.
func (p *peak) merge(q *peak) {
	if q.lowAt != 0 {
		p.add(event.Float(q.low), q.lowAt)
		p.add(event.Float(q.high), q.highAt)
	}
	if q.badAt != 0 {
		p.add(event.NotFinite, q.badAt)
	}
}

// seqs appends the numbers of the events that hold them.
func (p *peak) seqs(to []int64) []int64 {
	if p.lowAt != 0 {
		to = append(to, p.lowAt)
	}
	switch {
	case p.badAt != 0:
		return append(to, p.badAt)
	case p.highAt != 0:
		return append(to, p.highAt)
	}
	return to
}

// MarshalJSON writes [low, its number, high, its number, number of the first that is not finite].
func (p peak) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{p.low, p.lowAt, p.high, p.highAt, p.badAt})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *peak) UnmarshalJSON(text []byte) error {
	var parts []json.Number
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	if len(parts) != 5 {
		return fmt.Errorf("%d numbers: expected 5", len(parts))
	}
	var err error
	for i, to := range []any{&p.low, &p.lowAt, &p.high, &p.highAt, &p.badAt} {
		switch to := to.(type) {
		case *float64:
			*to, err = parts[i].Float64()
		case *int64:
			*to, err = parts[i].Int64()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stretch is some epochs in a row.
type stretch struct {
	first, last int64 // numbers of the events
	epochs      int
	peaks       []peak // one for each of event.Extremes; in rows of before there may be fewer
}

func (s *stretch) add(e *event.EpochEvent, seq int64) {
	if s.epochs == 0 {
		s.first = seq
	}
	s.last = seq
	s.epochs++
	if s.peaks == nil {
		s.peaks = make([]peak, len(event.Extremes))
	}
	s.note(e, seq)
}

// note adds an epoch's quantities to the peaks that there are.
func (s *stretch) note(e *event.EpochEvent, seq int64) {
	for i, q := range event.Extremes[:min(len(s.peaks), len(event.Extremes))] {
		s.peaks[i].add(*q.Of(e), seq)
	}
}

func (s *stretch) merge(t *stretch) {
	s.last = t.last
	for i := range min(len(s.peaks), len(t.peaks)) {
		s.peaks[i].merge(&t.peaks[i])
	}
}

// whole returns the run's events up to r.events in order, all of them if they are not too many. It reports whether some
// are left out.
func (r *runReader) whole(ctx context.Context) (out []numbered, downsampled bool, err error) {
	if r.epochs <= manyEpochs && r.inner <= manyInner {
		err := r.readAll(ctx, &out)
		return out, false, err
	}
	if err := r.readOpening(ctx, &out); err != nil {
		return nil, true, err
	}
	for _, read := range []func(context.Context, *[]numbered) error{
		r.downsampledEpochs, r.newestInner, r.someSpectra, r.newestMarks,
	} {
		if err := read(ctx, &out); err != nil {
			return nil, true, err
		}
	}
	sortEvents(out)
	return out, true, nil
}

func (r *runReader) readAll(ctx context.Context, out *[]numbered) error {
	for after := int64(0); ; {
		batch, reached, err := r.window(ctx, after)
		if err != nil || len(batch) == 0 {
			return err
		}
		*out = append(*out, batch...)
		after = reached
	}
}

// downsampledEpochs appends the epochs that hold extremes, and those that belong to no stretch yet.
func (r *runReader) downsampledEpochs(ctx context.Context, out *[]numbered) error {
	if r.epochs <= manyEpochs {
		return r.readEpochs(ctx, out, "seq <= ? ORDER BY seq", r.events)
	}
	stretches, err := r.stretches(ctx)
	if err != nil {
		return err
	}
	// What lies between stretches, before the first and behind the last is read whole.
	end := int64(1)
	for _, t := range stretches {
		if err := r.gap(ctx, end, t.first-1, out); err != nil {
			return err
		}
		end = t.last
	}
	if err := r.gap(ctx, end, r.events, out); err != nil {
		return err
	}
	return r.pick(ctx, picks(stretches), out)
}

// gap reads the epochs of after < seq ≤ to, bounded where a damaged table makes a gap of what is none.
func (r *runReader) gap(ctx context.Context, after, to int64, out *[]numbered) error {
	if after >= to {
		return nil
	}
	return r.readEpochs(ctx, out, "seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, to, manyEpochs)
}

// picks returns the numbers of the epochs that are read, ascending, each once.
func picks(stretches []stretch) []int64 {
	for len(stretches) > maxStretches {
		half := stretches[:0]
		for i := 0; i < len(stretches); i += 2 {
			t := stretches[i]
			if i+1 < len(stretches) {
				t.merge(&stretches[i+1])
			}
			half = append(half, t)
		}
		stretches = half
	}
	var seqs []int64
	for i := range stretches {
		if i == 0 {
			seqs = append(seqs, stretches[i].first)
		}
		for j := range stretches[i].peaks {
			seqs = stretches[i].peaks[j].seqs(seqs)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// stretches returns the run's stretches in order. One that is damaged is left out, so that its epochs are read as those
// of a gap.
func (r *runReader) stretches(ctx context.Context) (out []stretch, err error) {
	check := r.sealerOf("peaks")
	query := "SELECT first, last, extremes, " + r.crc() + " FROM peaks WHERE run = ? AND last <= ? ORDER BY first"
	err = eachRow(ctx, r.tx, query, []any{r.run, r.events}, func(rows *sql.Rows) error {
		if t, err := scanStretch(rows, check); err == nil && (len(out) == 0 || t.first > out[len(out)-1].last) {
			out = append(out, t)
		}
		return ctx.Err()
	})
	return out, err
}

// scanStretch reads a row of first, last, extremes and crc.
func scanStretch(rows *sql.Rows, check *sealer) (t stretch, err error) {
	var text sql.RawBytes
	var crc sql.NullInt64
	if err := rows.Scan(&t.first, &t.last, &text, &crc); err != nil {
		return t, err
	}
	if err := check.verify(crc, t.first, t.last, []byte(text)); err != nil {
		return t, err
	}
	if t.first > t.last {
		return t, fmt.Errorf("a stretch from %d to %d: expected its end behind its beginning", t.first, t.last)
	}
	return t, json.Unmarshal(text, &t.peaks)
}

// pick appends the epochs of the given numbers.
func (r *runReader) pick(ctx context.Context, seqs []int64, out *[]numbered) error {
	const at = 256 // one statement's
	for part := range slices.Chunk(seqs, at) {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		where := "seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
		if err := r.readEpochs(ctx, out, where, string(text)); err != nil {
			return err
		}
	}
	return nil
}

func (r *runReader) newestInner(ctx context.Context, out *[]numbered) error {
	var steps []numbered
	for before := r.events + 1; len(steps) < newInner; {
		var part []numbered
		if err := r.readSolves(ctx, &part, "seq < ? ORDER BY seq DESC LIMIT 64", before); err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
		sortEvents(part)
		before = part[0].seq
		steps = append(part, steps...)
	}
	steps = slices.DeleteFunc(steps, func(n numbered) bool { return n.seq > r.events })
	// Whole outer iterations.
	if cut := len(steps) - newInner; cut > 0 {
		epoch := steps[cut].event.(event.InnerEvent).Epoch
		for cut < len(steps) && cut > 0 && steps[cut-1].event.(event.InnerEvent).Epoch == epoch {
			cut--
		}
		steps = steps[cut:]
	}
	*out = append(*out, steps...)
	return nil
}

func (r *runReader) someSpectra(ctx context.Context, out *[]numbered) error {
	var n int64
	if err := r.tx.QueryRowContext(ctx, "SELECT count(*) FROM spectra WHERE run = ? AND seq <= ?", r.run,
		r.events).Scan(&n); err != nil {
		return err
	}
	where := `seq IN (SELECT seq FROM (SELECT seq, row_number() OVER (ORDER BY seq DESC) AS n FROM spectra
		WHERE run = ? AND seq <= ?) WHERE (n - 1) % ? = 0)`
	return r.readSpectra(ctx, out, where, r.run, r.events, max(1, n/newSpectra))
}

func (r *runReader) newestMarks(ctx context.Context, out *[]numbered) error {
	return r.readMarks(ctx, out, "seq <= ? ORDER BY seq DESC LIMIT ?", r.events, manyOthers)
}
