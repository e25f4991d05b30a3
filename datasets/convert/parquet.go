package convert

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"sync"

	"newtop/datasets/fault"
)

// parquet is a file in Apache Parquet, of which the columns are plain: https://parquet.apache.org/docs/file-format.
type parquet struct {
	file    File
	rows    int64
	columns []parquetColumn
	groups  []rowGroup
}

// parquetColumn is a column of the schema.
type parquetColumn struct {
	name     string
	physical physical
	length   int  // bytes of a value, where that is fixed
	optional bool // values may be missing
	repeated bool
	children int
	logical  logical
}

// physical is how a value is stored.
type physical int64

const (
	boolean physical = iota
	int32s
	int64s
	int96s // of Impala and old Spark: a time
	floats
	doubles
	byteArrays
	fixedArrays
)

// rowGroup is some rows, whose columns are stored one after the other.
type rowGroup struct {
	rows   int64
	chunks []columnChunk
}

// columnChunk is where the values of a column are, and how they are packed.
type columnChunk struct {
	elsewhere, encrypted bool
	physical             physical
	codec                int64
	values               int64
	size                 int64 // bytes in the file
	data, dictionary     int64 // offsets of the first pages; dictionary may be 0
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
		return nil, f.at(f.Size-8, fmt.Sprintf("a description of %d bytes", size), fmt.Sprintf("at most %d", min(maxFooter, max(f.Size-12, 0))))
	}
	footer, err := f.read(f.Size-8-size, int(size))
	if err != nil {
		return nil, err
	}
	t := thrift{b: footer, kind: thriftStruct}
	encrypted := false
	t.structure(func(field int) bool {
		switch field {
		case 2:
			t.list(func() { p.columns = append(p.columns, readColumn(&t)) })
		case 3:
			p.rows = t.int()
		case 4:
			t.list(func() { p.groups = append(p.groups, readGroup(&t)) })
		case 8:
			encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	switch {
	case t.failed:
		return nil, f.at(f.Size-8-size, "a damaged description", "one of columns and row groups")
	case encrypted:
		return nil, f.at(0, "an encrypted Parquet file", "one without encryption")
	}
	return p, p.check(f.Size - 8 - size)
}

func readColumn(t *thrift) (c parquetColumn) {
	c.logical.converted = -1
	t.structure(func(field int) bool {
		switch field {
		case 1:
			c.physical = physical(t.int())
		case 2:
			c.length = int(t.int())
		case 3:
			repetition := t.int()
			c.optional, c.repeated = repetition == 1, repetition == 2
		case 4:
			c.name = t.string()
		case 5:
			c.children = int(t.int())
		case 6:
			c.logical.converted = t.int()
		case 7:
			c.logical.scale = t.int()
		case 10:
			c.logical.read(t)
		default:
			return false
		}
		return true
	})
	return c
}

func readGroup(t *thrift) (g rowGroup) {
	t.structure(func(field int) bool {
		switch field {
		case 1:
			t.list(func() { g.chunks = append(g.chunks, readChunk(t)) })
		case 3:
			g.rows = t.int()
		default:
			return false
		}
		return true
	})
	return g
}

func readChunk(t *thrift) (c columnChunk) {
	about := func(field int) bool {
		switch field {
		case 1:
			c.physical = physical(t.int())
		case 4:
			c.codec = t.int()
		case 5:
			c.values = t.int()
		case 7:
			c.size = t.int()
		case 9:
			c.data = t.int()
		case 11:
			c.dictionary = t.int()
		default:
			return false
		}
		return true
	}
	t.structure(func(field int) bool {
		switch field {
		case 1:
			c.elsewhere = t.string() != ""
		case 3:
			t.structure(about)
		case 8:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	return c
}

// check makes sure that the columns are plain and that there are as many rows as the file says.
func (p *parquet) check(footer int64) error {
	f := &p.file
	wrong := func(found, expected string) error { return f.at(footer, found, expected) }
	if len(p.columns) < 2 || p.columns[0].children == 0 {
		return wrong("no columns", "a table")
	}
	p.columns = p.columns[1:]
	if err := f.fits(max(p.rows, 0), int64(len(p.columns))); err != nil {
		return err
	}
	for i := range p.columns {
		if err := p.columns[i].check(); err != nil {
			e := err.(*fault.FormatError)
			e.File, e.Offset = f.Name, footer
			return e
		}
	}
	rows := int64(0)
	for _, g := range p.groups {
		if g.rows < 0 || g.rows > p.rows-rows || len(g.chunks) != len(p.columns) {
			return wrong(fmt.Sprintf("a group of %d rows and %d columns", g.rows, len(g.chunks)), fmt.Sprintf("%d rows of %d columns in all", p.rows, len(p.columns)))
		}
		rows += g.rows
		for j, c := range g.chunks {
			if err := p.checkChunk(j, &c, g.rows); err != nil {
				return err
			}
		}
	}
	if rows != p.rows {
		return wrong(fmt.Sprintf("groups of %d rows", rows), fmt.Sprintf("%d rows as in the description", p.rows))
	}
	return nil
}

// check returns an error without a place for a column that can't be a column of a table.
func (c *parquetColumn) check() error {
	wrong := func(found, expected string) error {
		return &fault.FormatError{Column: c.name, Found: found, Expected: expected}
	}
	switch {
	case c.children > 0 || c.repeated:
		return wrong("a nested column", `plain columns; with Python: pandas.read_parquet(FILE).drop(columns=[…]).to_parquet("table.parquet")`)
	case c.physical < boolean || c.physical > fixedArrays:
		return wrong(fmt.Sprintf("type %d", c.physical), "a type of Parquet's, 0 to 7")
	case c.physical == fixedArrays && (c.length < 1 || c.length > math.MaxInt16):
		return wrong(fmt.Sprintf("values of %d bytes", c.length), fmt.Sprintf("1 to %d", math.MaxInt16))
	}
	return c.logical.check(c)
}

func (p *parquet) checkChunk(column int, c *columnChunk, rows int64) error {
	wrong := func(found, expected string) error {
		return &fault.FormatError{File: p.file.Name, Offset: c.start(), Column: p.columns[column].name, Found: found, Expected: expected}
	}
	switch {
	case c.elsewhere:
		return wrong("values in another file", "all in one")
	case c.encrypted:
		return wrong("encrypted values", "a file without encryption")
	case c.physical != p.columns[column].physical:
		return wrong(fmt.Sprintf("values of type %d", c.physical), fmt.Sprintf("type %d as in the schema", p.columns[column].physical))
	case c.values != rows:
		return wrong(fmt.Sprintf("%d values", c.values), fmt.Sprintf("%d, one a row", rows))
	case rows == 0:
	case c.start() < 4 || c.size < 0 || c.start() > p.file.Size || c.size > p.file.Size-c.start():
		return wrong(fmt.Sprintf("%d bytes from offset %d on", c.size, c.start()), fmt.Sprintf("a part of the file, which has %d bytes", p.file.Size))
	}
	return nil
}

// start returns where the first page is.
func (c *columnChunk) start() int64 {
	if c.dictionary > 0 && c.dictionary < c.data {
		return c.dictionary
	}
	return c.data
}

// pandasIndex matches the names of columns that pandas keeps an index without a name in.
var pandasIndex = regexp.MustCompile(`^__index_level_[0-9]+__$`)

// write writes the rows. An index of pandas' has no name, as where pandas writes CSV.
func (p *parquet) write(w io.Writer) error {
	var names []string
	for _, c := range p.columns {
		if pandasIndex.MatchString(c.name) {
			c.name = ""
		}
		names = append(names, c.name)
	}
	if _, err := w.Write(appendNames(nil, names)); err != nil {
		return err
	}
	for i := range p.groups {
		cells, err := p.decode(&p.groups[i])
		if err != nil {
			return err
		}
		err = inOrder(w, spans(int(p.groups[i].rows), blockRows(len(cells))), func(dst []byte, s span) ([]byte, error) {
			for row := s.first; row < s.last; row++ {
				for j := range cells {
					if j > 0 {
						dst = append(dst, ',')
					}
					dst = cells[j].append(dst, row)
				}
				dst = append(dst, '\n')
			}
			return dst, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *parquet) close() {}

// decode reads the columns of a row group, as many at a time as there are processors.
func (p *parquet) decode(g *rowGroup) ([]cells, error) {
	list, errs := make([]cells, len(p.columns)), make([]error, len(p.columns))
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for j := range p.columns {
		slots <- struct{}{}
		all.Go(func() {
			list[j], errs[j] = p.column(j, &g.chunks[j])
			<-slots
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
