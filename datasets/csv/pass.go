package csv

import "newtop/datasets/fault"

// eachChunk has the chunks of a survey worked on once more, by several goroutines.
func (s *Sheet) eachChunk(work func(worker int, k *chunk) error) error {
	chunks := s.chunker()
	err := chunks.each(s.workers, func(worker int, k *chunk) error {
		if k.index+1 >= len(s.rowsBefore) {
			return fault.Changed(s.sources[k.source].Name)
		}
		return work(worker, k)
	})
	if err == nil && chunks.index < len(s.rowsBefore)-1 && s.rowsBefore[chunks.index] < s.Rows {
		err = fault.Changed(s.sources[0].Name)
	}
	return err
}

// eachRow visits the rows of a chunk that the survey counted.
func (s *Sheet) eachRow(k *chunk, r *rows, visit func() error) error {
	r.reset(k)
	if k.first && s.hasHeader {
		_, _ = r.next() // an error comes again
	}
	for range s.rowsBefore[k.index+1] - s.rowsBefore[k.index] {
		more, err := r.next()
		if !more || err != nil || r.fields != len(s.columns) {
			return fault.Changed(s.sources[k.source].Name)
		}
		if err := visit(); err != nil {
			return err
		}
	}
	return nil
}

// countTestRows returns how many of the rows before each chunk are those of sources for testing.
func (s *Sheet) countTestRows(before []int) (n int) {
	for i, source := range s.chunkSource {
		if s.sources[source].Test {
			n += before[i+1] - before[i]
		}
	}
	return n
}
