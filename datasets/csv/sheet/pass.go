package sheet

import (
	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
)

// EachChunk has the chunks of a survey worked on once more, by several goroutines.
func (s *Sheet) EachChunk(work func(worker int, k *lex.Chunk) error) error {
	chunks := s.chunker()
	err := chunks.Each(s.Workers, func(worker int, k *lex.Chunk) error {
		if k.Index+1 >= len(s.RowsBefore) {
			return fault.Changed(s.Sources[k.Source].Name)
		}
		return work(worker, k)
	})
	if err == nil && chunks.Index < len(s.RowsBefore)-1 && s.RowsBefore[chunks.Index] < s.Rows {
		err = fault.Changed(s.Sources[0].Name)
	}
	return err
}

// EachRow visits the rows of a chunk that the survey counted.
func (s *Sheet) EachRow(k *lex.Chunk, r *lex.Rows, visit func() error) error {
	r.Reset(k)
	if k.First && s.HasHeader {
		_, _ = r.Next() // an error comes again
	}
	for range s.RowsBefore[k.Index+1] - s.RowsBefore[k.Index] {
		more, err := r.Next()
		if !more || err != nil || r.Fields != len(s.Columns) {
			return fault.Changed(s.Sources[k.Source].Name)
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return nil
}

// CountTestRows returns how many of the rows before each chunk are those of sources for testing.
func (s *Sheet) CountTestRows(before []int) (n int) {
	for i, source := range s.chunkSource {
		if s.Sources[source].Test {
			n += before[i+1] - before[i]
		}
	}
	return n
}

// reading returns the reading of a column, which it has from then on.
func (s *Sheet) reading(j int) *lex.Reading {
	if s.Readings == nil {
		s.Readings = make([]*lex.Reading, len(s.Columns))
	}
	if s.Readings[j] == nil {
		s.Readings[j] = &lex.Reading{Numerals: s.Numerals}
	}
	return s.Readings[j]
}

// Given returns how a column is read.
func (s *Sheet) Given(j int) lex.Reading {
	if s.isRead(j) {
		return *s.Readings[j]
	}
	return lex.Reading{Numerals: s.Numerals}
}

// isRead reports whether a column has a reading of its own.
func (s *Sheet) isRead(j int) bool { return s.Readings != nil && s.Readings[j] != nil }
