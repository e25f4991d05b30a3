package store

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

// sampler reads a long run downsampled.
type sampler struct{ *RunReader }

// read returns what is read of a long run, in order.
func (s sampler) read(ctx context.Context) (out []Numbered, err error) {
	if err := s.readOpening(ctx, &out); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, *[]Numbered) error{
		s.downsampledEpochs, s.latestInner, s.sampledSpectra, s.latestMarks,
	} {
		if err := read(ctx, &out); err != nil {
			return nil, err
		}
	}
	sortEvents(out)
	return out, nil
}

// downsampledEpochs appends the epochs that hold extremes, and those that belong to no stretch yet.
func (s sampler) downsampledEpochs(ctx context.Context, out *[]Numbered) error {
	if s.Epochs <= rowcode.ManyEpochs {
		return s.readEpochs(ctx, out, "seq <= ? ORDER BY seq", s.Events)
	}
	stretches, err := s.stretches(ctx)
	if err != nil {
		return err
	}
	// What lies between stretches, before the first and behind the last is read whole.
	end := int64(1)
	for _, t := range stretches {
		if err := s.gap(ctx, end, t.First-1, out); err != nil {
			return err
		}
		end = t.Last
	}
	if err := s.gap(ctx, end, s.Events, out); err != nil {
		return err
	}
	return s.pick(ctx, Picks(stretches), out)
}

// gap reads the epochs of after < seq ≤ to, bounded where a damaged table makes a gap of what is none.
func (s sampler) gap(ctx context.Context, after, to int64, out *[]Numbered) error {
	if after >= to {
		return nil
	}
	return s.readEpochs(ctx, out, "seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, to, rowcode.ManyEpochs)
}

// Picks returns the numbers of the epochs that are read, ascending, each once.
func Picks(stretches []rowcode.Stretch) []int64 {
	for len(stretches) > rowcode.MaxStretches {
		half := stretches[:0]
		for i := 0; i < len(stretches); i += 2 {
			t := stretches[i]
			if i+1 < len(stretches) {
				t.Merge(&stretches[i+1])
			}
			half = append(half, t)
		}
		stretches = half
	}
	var seqs []int64
	for i := range stretches {
		if i == 0 {
			seqs = append(seqs, stretches[i].First)
		}
		for j := range stretches[i].Peaks {
			seqs = stretches[i].Peaks[j].Seqs(seqs)
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// stretches returns the run's stretches in order. One that is damaged is left out, so that its epochs are read as those
// of a gap.
func (s sampler) stretches(ctx context.Context) (out []rowcode.Stretch, err error) {
	check := s.checksummerOf("peaks")
	query := "SELECT first, last, extremes, " + s.crc() + " FROM peaks WHERE run = ? AND last <= ? ORDER BY first"
	err = sqlfile.EachRow(ctx, s.Tx, query, []any{s.Run, s.Events}, func(rows *sql.Rows) error {
		if t, err := ScanStretch(rows, check); err == nil && (len(out) == 0 || t.First > out[len(out)-1].Last) {
			out = append(out, t)
		}
		return ctx.Err()
	})
	return out, err
}

// ScanStretch reads a row of first, last, extremes and crc.
func ScanStretch(rows *sql.Rows, check *rowcode.Checksummer) (t rowcode.Stretch, err error) {
	var text sql.RawBytes
	var crc sql.NullInt64
	if err := rows.Scan(&t.First, &t.Last, &text, &crc); err != nil {
		return t, err
	}
	if err := check.Verify(crc, t.First, t.Last, []byte(text)); err != nil {
		return t, err
	}
	if t.First > t.Last {
		return t, fmt.Errorf("a stretch from %d to %d: expected its end behind its beginning", t.First, t.Last)
	}
	return t, json.Unmarshal(text, &t.Peaks)
}

// pick appends the epochs of the given numbers.
func (s sampler) pick(ctx context.Context, seqs []int64, out *[]Numbered) error {
	const at = 256 // one statement's
	for part := range slices.Chunk(seqs, at) {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		where := "seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
		if err := s.readEpochs(ctx, out, where, string(text)); err != nil {
			return err
		}
	}
	return nil
}

func (s sampler) latestInner(ctx context.Context, out *[]Numbered) error {
	var steps []Numbered
	for before := s.Events + 1; len(steps) < rowcode.LatestInner; {
		var part []Numbered
		if err := s.readSolves(ctx, &part, "seq < ? ORDER BY seq DESC LIMIT 64", before); err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
		sortEvents(part)
		before = part[0].Seq
		steps = append(part, steps...)
	}
	steps = slices.DeleteFunc(steps, func(n Numbered) bool { return n.Seq > s.Events })
	// Whole outer iterations.
	if cut := len(steps) - rowcode.LatestInner; cut > 0 {
		epoch := steps[cut].Event.(event.InnerEvent).Epoch
		for cut < len(steps) && cut > 0 && steps[cut-1].Event.(event.InnerEvent).Epoch == epoch {
			cut--
		}
		steps = steps[cut:]
	}
	*out = append(*out, steps...)
	return nil
}

func (s sampler) sampledSpectra(ctx context.Context, out *[]Numbered) error {
	var n int64
	if err := s.Tx.QueryRowContext(ctx, "SELECT count(*) FROM spectra WHERE run = ? AND seq <= ?", s.Run,
		s.Events).Scan(&n); err != nil {
		return err
	}
	where := `seq IN (SELECT seq FROM (SELECT seq, row_number() OVER (ORDER BY seq DESC) AS n FROM spectra
		WHERE run = ? AND seq <= ?) WHERE (n - 1) % ? = 0)`
	return s.readSpectra(ctx, out, where, s.Run, s.Events, max(1, n/rowcode.NewSpectra))
}

func (s sampler) latestMarks(ctx context.Context, out *[]Numbered) error {
	return s.readMarks(ctx, out, "seq <= ? ORDER BY seq DESC LIMIT ?", s.Events, rowcode.ManyOthers)
}
