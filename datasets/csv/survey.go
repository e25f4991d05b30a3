// Package csv reads tables of numbers and words as rows of numbers: it finds out what the columns of a file are, lays
// them out as inputs and a target, and reads rows to come in the same way.
package csv

import (
	"fmt"
	"io"
	"runtime"

	"newtop/datasets/fault"
)

// Sheet is what a first pass over CSV texts, which are one table, finds out. They may be longer than the memory.
type Sheet struct {
	sources     []Source
	options     *Options
	numerals    numerals
	size        int // bytes of a chunk
	workers     int
	comma       rune
	hasHeader   bool
	evidence    headerEvidence
	firstRecord []string // the first record
	columns     []column
	rowsBefore  []int // rows before each chunk
	chunkSource []int // of each chunk
	Rows        int   // without the headers
	// LastFile and LastLine are where the last row starts.
	LastFile string
	LastLine int
}

// Survey finds out what the columns of the first limit rows (0: of all) hold, in texts of which one follows the other;
// all must have the header of the first, if that has one. What it finds doesn't depend on how many threads there are.
// It returns a *fault.FormatError for what is wrong with a text, and a *fault.OptionError for what is wrong with an
// option.
func Survey(sources []Source, limit int, o *Options) (*Sheet, error) {
	return surveyInChunks(sources, limit, o, chunkBytes, runtime.GOMAXPROCS(0))
}

func surveyInChunks(sources []Source, limit int, o *Options, size, workers int) (*Sheet, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &Sheet{sources: sources, options: o, numerals: o.numerals(), size: size, workers: workers}
	v := surveyor{sheet: s, limit: limit, chunks: s.chunker()}
	early := s.readStart()
	if early != nil && !isFormatError(early) {
		return nil, early
	}
	if err := v.run(early != nil); err != nil {
		return nil, err
	}
	if early != nil {
		return nil, early
	}
	if s.Rows < 2 {
		return nil, &fault.FormatError{File: sources[0].Name, Line: max(s.LastLine, 1), Found: plural(s.Rows, "row"),
			Expected: "at least 2"}
	}
	return s, nil
}

func (s *Sheet) chunker() *chunker { return &chunker{sources: s.sources, size: s.size} }

// readStart finds out the delimiter, the header and the columns' names from the start of the first text.
func (s *Sheet) readStart() error {
	first := &s.sources[0]
	c := s.chunker()
	if err := c.start(first); err != nil {
		return err
	}
	open := func() io.Reader { return io.NewSectionReader(first.Text, c.offset, first.Size-c.offset) }
	comma, sample := sniffDelimiter(open, s.numerals)
	s.comma = comma
	if len(sample) == 0 {
		_, err := newRecordReader(open(), comma).Read()
		return rowError(first.Name, 1, err)
	}
	switch s.options.Header {
	case "yes":
		s.evidence = requested
	case "":
		s.evidence = headerOf(sample[0], sample[1:], s.numerals)
	}
	s.hasHeader, s.firstRecord = s.evidence != noHeader, sample[0]
	return s.nameColumns(sample[0])
}

// checkHeader returns an error unless the row that was read, the first of another file, is the header.
func (s *Sheet) checkHeader(file string, r *rows) error {
	e := &fault.FormatError{File: file, Line: r.line}
	if r.fields != len(s.firstRecord) {
		e.Found, e.Expected = plural(r.fields, "column"), fmt.Sprintf(
			"the header of %s, which has %d", s.sources[0].Name, len(s.firstRecord))
		return e
	}
	for j, name := range s.firstRecord {
		if field := string(r.field(j)); field != name {
			e.Found = fmt.Sprintf("%s for column %d", fault.Quote(field), j+1)
			e.Expected = fmt.Sprintf("%s as in the header of %s", fault.Quote(name), s.sources[0].Name)
			return e
		}
	}
	return nil
}

// newRows returns a reader of the rows of chunks.
func (s *Sheet) newRows() rows { return rows{comma: byte(s.comma), numerals: s.numerals} }
