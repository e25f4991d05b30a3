package convert

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"sync"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"newtop/datasets/fault"
	"newtop/internal/routine"
)

// parquet is a file in Apache Parquet, of which the columns are plain: https://parquet.apache.org/docs/file-format.
//
// The structures and encodings are read by parquet-go's packages below its own reader of files: that one takes memory
// for whatever number a file has, without an end for damaged LZ4, and reads runs of truth values wrongly. Here sizes
// are checked before.
type parquet struct {
	file    File
	about   description
	columns []parquetColumn
}

// description is what of format.FileMetaData is needed. The library demands fields of the rest that files need not
// have.
type description struct {
	Schema     []schemaElement            `thrift:"2,required"`
	Rows       int64                      `thrift:"3,required"`
	Groups     []rowGroup                 `thrift:"4,required"`
	Encryption format.EncryptionAlgorithm `thrift:"8,optional"`
}

// schemaElement is a column, or what columns are in.
type schemaElement struct {
	Type       format.Type                           `thrift:"1,optional"`
	Length     int32                                 `thrift:"2,optional"` // bytes of a value, where that is fixed
	Repetition format.FieldRepetitionType            `thrift:"3,optional"`
	Name       string                                `thrift:"4,required"`
	Children   int32                                 `thrift:"5,optional"`
	Converted  thrift.Null[deprecated.ConvertedType] `thrift:"6,optional"`
	Scale      int32                                 `thrift:"7,optional"`
	Logical    thrift.Null[format.LogicalType]       `thrift:"10,optional"`
}

// rowGroup is some rows, whose columns are stored one after the other.
type rowGroup struct {
	Columns []columnChunk `thrift:"1,required"`
	Rows    int64         `thrift:"3,required"`
}

// columnChunk is where the values of a column are, and how they are packed.
type columnChunk struct {
	ExternalFile string                      `thrift:"1,optional"`
	About        chunkDescription            `thrift:"3,optional"`
	Encryption   format.ColumnCryptoMetaData `thrift:"8,optional"`
}

type chunkDescription struct {
	Type       format.Type             `thrift:"1,required"`
	Codec      format.CompressionCodec `thrift:"4,required"`
	Values     int64                   `thrift:"5,required"`
	Size       int64                   `thrift:"7,required"` // bytes in the file
	Data       int64                   `thrift:"9,required"` // offset of the first page
	Dictionary int64                   `thrift:"11,optional"`
}

const maxFooter = 1 << 26 // bytes

// openParquet reads the description at the end of a file.
func openParquet(f File) (part, error) {
	p := &parquet{file: f}
	tail, err := f.read(max(f.Size-8, 0), int(min(f.Size, 8)))
	if err != nil {
		return nil, err
	}
	if f.Size < 12 || string(tail[4:]) != "PAR1" {
		return nil, f.at(max(f.Size-4, 0), "another end", `"PAR1"; the file was not written to its end`)
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	if size > maxFooter || size > f.Size-12 {
		return nil, f.at(f.Size-8, fmt.Sprintf("a description of %d bytes", size),
			fmt.Sprintf("at most %d", min(maxFooter, max(f.Size-12, 0))))
	}
	footer, err := f.read(f.Size-8-size, int(size))
	if err != nil {
		return nil, err
	}
	if _, err := readThrift(footer, &p.about); err != nil {
		return nil, f.at(f.Size-8-size, "a damaged description", "one of columns and row groups")
	}
	if p.about.Encryption.Value != nil {
		return nil, f.at(0, "an encrypted Parquet file", "one without encryption")
	}
	return p, p.check(f.Size - 8 - size)
}

// check makes sure that the columns are plain and that there are as many rows as the file says.
func (p *parquet) check(footer int64) error {
	f, rows := &p.file, p.about.Rows
	invalid := func(found, expected string) error { return f.at(footer, found, expected) }
	if len(p.about.Schema) < 2 || p.about.Schema[0].Children == 0 {
		return invalid("no columns", "a table")
	}
	if err := f.fits(max(rows, 0), int64(len(p.about.Schema)-1)); err != nil {
		return err
	}
	for i := range p.about.Schema[1:] {
		c := parquetColumn{schemaElement: &p.about.Schema[1+i]}
		if found, expected := c.prepare(); found != "" {
			return &fault.FormatError{File: f.Name, Offset: footer, Column: c.Name, Found: found, Expected: expected}
		}
		p.columns = append(p.columns, c)
	}
	for i := range p.about.Groups {
		g := &p.about.Groups[i]
		if g.Rows < 0 || g.Rows > rows || len(g.Columns) != len(p.columns) {
			return invalid(fmt.Sprintf("a group of %d rows and %d columns", g.Rows, len(g.Columns)),
				fmt.Sprintf("%d rows of %d columns in all", p.about.Rows, len(p.columns)))
		}
		rows -= g.Rows
		for j := range g.Columns {
			if found, expected := p.checkChunk(j, &g.Columns[j], g.Rows); found != "" {
				return &fault.FormatError{File: f.Name, Offset: g.Columns[j].About.start(), Column: p.columns[j].Name,
					Found: found, Expected: expected}
			}
		}
	}
	if rows != 0 {
		return invalid(fmt.Sprintf("groups of %d rows", p.about.Rows-rows),
			fmt.Sprintf("%d rows as in the description", p.about.Rows))
	}
	return nil
}

// checkChunk says what is wrong with where the values of a column in a row group are, nothing if all is well.
func (p *parquet) checkChunk(column int, c *columnChunk, rows int64) (found, expected string) {
	m, start := &c.About, c.About.start()
	switch {
	case c.ExternalFile != "":
		return "values in another file", "all in one"
	case c.Encryption.Value != nil:
		return "encrypted values", "a file without encryption"
	case m.Type != p.columns[column].Type:
		return fmt.Sprintf("values of type %d", m.Type), fmt.Sprintf("type %d as in the schema", p.columns[column].Type)
	case m.Values != rows:
		return fmt.Sprintf("%d values", m.Values), fmt.Sprintf("%d, one a row", rows)
	case rows > 0 && (start < 4 || m.Size < 0 || start > p.file.Size || m.Size > p.file.Size-start):
		return fmt.Sprintf("%d bytes from offset %d on", m.Size, start),
			fmt.Sprintf("a part of the file, which has %d bytes", p.file.Size)
	}
	return "", ""
}

// start returns where the first page is.
func (c *chunkDescription) start() int64 {
	if c.Dictionary > 0 && c.Dictionary < c.Data {
		return c.Dictionary
	}
	return c.Data
}

// pandasIndex matches the names of columns that pandas keeps an index without a name in.
var pandasIndex = regexp.MustCompile(`^__index_level_[0-9]+__$`)

// write writes the rows. An index of pandas' has no name, as where pandas writes CSV.
func (p *parquet) write(w io.Writer) error {
	var names []string
	for _, c := range p.columns {
		names = append(names, pandasIndex.ReplaceAllString(c.Name, ""))
	}
	if _, err := w.Write(appendNames(nil, names)); err != nil {
		return err
	}
	for i := range p.about.Groups {
		g := &p.about.Groups[i]
		columns, err := p.decode(g)
		if err != nil {
			return err
		}
		err = inOrder(w, spans(int(g.Rows), blockRows(len(columns))), func(dst []byte, s span) ([]byte, error) {
			return p.appendRows(dst, columns, s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parquet) close() {}

// decode reads the columns of a row group, as many at a time as there are processors.
func (p *parquet) decode(g *rowGroup) ([][]page, error) {
	columns, errs := make([][]page, len(p.columns)), make([]error, len(p.columns))
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for j := range p.columns {
		slots <- struct{}{}
		all.Go(routine.Guard(func() {
			columns[j], errs[j] = p.column(j, &g.Columns[j].About)
			<-slots
		}))
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// appendRows appends the text of some rows of a row group.
func (p *parquet) appendRows(dst []byte, columns [][]page, s span) (_ []byte, err error) {
	at := make([]int, len(columns)) // the pages that have the row
	for row := s.first; row < s.last; row++ {
		for j, pages := range columns {
			for row >= pages[at[j]].last {
				at[j]++
			}
			if j > 0 {
				dst = append(dst, ',')
			}
			if dst, err = pages[at[j]].append(dst, row); err != nil {
				return nil, p.fault(j, pages[at[j]].offset, err)
			}
		}
		dst = append(dst, '\n')
	}
	return dst, nil
}

// fault returns what is wrong with a page of a column.
func (p *parquet) fault(column int, offset int64, err error) error {
	e, ok := err.(*pageFault)
	if !ok {
		return err
	}
	return &fault.FormatError{File: p.file.Name, Offset: offset, Column: p.columns[column].Name, Found: e.found,
		Expected: e.expected}
}
