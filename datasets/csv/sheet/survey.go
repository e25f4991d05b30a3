// Package sheet goes through the texts of a table once and finds out what its columns hold.
package sheet

import (
	"fmt"
	"io"
	"runtime"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Sheet is what a first pass over CSV texts, which are one table, finds out. They may be longer than the memory.
type Sheet struct {
	Sources     []lex.Source
	Options     *lex.Options
	Numerals    lex.Numerals
	styles      []lex.Numerals // that words are tried in
	Readings    []*lex.Reading // of each column, nil for those that are read in the usual way
	forced      []bool         // of each column: whether it is one of numbers as the options say
	Votes       []Vote         // what was decided of how columns are read
	size        int            // bytes of a chunk
	Workers     int
	comma       rune
	HasHeader   bool
	evidence    headerEvidence
	FirstRecord []string // the first record
	Columns     []Column
	RowsBefore  []int // rows before each chunk
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
func Survey(sources []lex.Source, limit int, o *lex.Options) (*Sheet, error) {
	return SurveyInChunks(sources, limit, o, lex.ChunkBytes, runtime.GOMAXPROCS(0))
}

// SurveyInChunks surveys files in chunks of about that many bytes, several at once.
func SurveyInChunks(sources []lex.Source, limit int, o *lex.Options, size, workers int) (*Sheet, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := &Sheet{Sources: sources, Options: o, Numerals: o.Numerals(), styles: lex.OtherStyles, size: size,
		Workers: workers}
	if !s.Numerals.Usual() {
		s.styles = []lex.Numerals{s.Numerals}
	}
	early := s.readStart()
	if early == nil {
		early = readOptions(s)
	}
	if early != nil && !lex.IsFormatError(early) {
		return nil, early
	}
	for again := true; again; {
		v := surveyor{sheet: s, limit: limit, chunks: s.chunker()}
		if err := v.run(early != nil); err != nil {
			return nil, err
		}
		if early != nil {
			return nil, early
		}
		again = vote(s)
	}
	if s.Rows < 2 {
		return nil, &fault.FormatError{File: sources[0].Name, Line: max(s.LastLine, 1),
			Found:    format.Counted(s.Rows, "row"),
			Expected: "at least 2"}
	}
	return s, nil
}

func (s *Sheet) chunker() *lex.Chunker { return &lex.Chunker{Sources: s.Sources, Size: s.size} }

// readStart finds out the delimiter, the header and the columns' names from the start of the first text.
func (s *Sheet) readStart() error {
	first := &s.Sources[0]
	c := s.chunker()
	if err := c.Start(first); err != nil {
		return err
	}
	open := func() io.Reader { return io.NewSectionReader(first.Text, c.Offset, first.Size-c.Offset) }
	comma, sample := lex.SniffDelimiter(open, s.Numerals, s.Options.Separator)
	s.comma = comma
	if len(sample) == 0 {
		_, err := lex.NewRecordReader(open(), comma).Read()
		return lex.RowError(first.Name, 1, err)
	}
	switch s.Options.Header {
	case "yes":
		s.evidence = requested
	case "":
		s.evidence = headerOf(sample[0], sample[1:], s.Numerals)
	}
	s.HasHeader, s.FirstRecord = s.evidence != noHeader, sample[0]
	return s.nameColumns(sample[0])
}

// checkHeader returns an error unless the row that was read, the first of another file, is the header.
func (s *Sheet) checkHeader(file string, r *lex.Rows) error {
	e := &fault.FormatError{File: file, Line: r.Line}
	if r.Fields != len(s.FirstRecord) {
		e.Found, e.Expected = format.Counted(r.Fields, "column"), fmt.Sprintf(
			"the header of %s, which has %d", s.Sources[0].Name, len(s.FirstRecord))
		return e
	}
	for j, name := range s.FirstRecord {
		if field := string(r.Field(j)); field != name {
			e.Found = fmt.Sprintf("%s for column %d", fault.Quote(field), j+1)
			e.Expected = fmt.Sprintf("%s as in the header of %s", fault.Quote(name), s.Sources[0].Name)
			return e
		}
	}
	return nil
}

// NewRows returns a reader of the rows of chunks.
func (s *Sheet) NewRows() lex.Rows {
	return lex.Rows{Comma: byte(s.comma), Numerals: s.Numerals, Readings: s.Readings}
}
