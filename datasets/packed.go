package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"newtop/datasets/convert"
	"newtop/datasets/csv/form"
	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
)

// Unpack returns a reader of a file's content, which may be packed by gzip, whatever the file is called.
func Unpack(file io.Reader, name string) (content *bufio.Reader, packed bool, err error) {
	in := bufio.NewReader(file)
	if magic, err := in.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return in, false, nil
	}
	out, err := gzip.NewReader(in)
	if err != nil {
		return nil, true, fault.Torn(name, 0, "a gzip header", err)
	}
	return bufio.NewReader(out), true, nil
}

// texts are the texts of a table. Those that were packed, or have another format than CSV, are in temporary files, as
// they are read in pieces and more than once.
type texts struct {
	sources   []lex.Source
	temporary []*os.File
	header    string // of texts that were converted: whether they begin with names, yes or no; else empty
	notes     []string
}

// add adds the content of an open file, of rows for testing or others.
func (t *texts) add(path string, file *os.File, size int64, test bool) error {
	content, packed, err := Unpack(io.NewSectionReader(file, 0, size), path)
	if err != nil {
		return err
	}
	if packed {
		if file, err = t.create(); err != nil {
			return err
		}
		if size, err = io.Copy(file, content); err != nil {
			return fault.Torn(path, size, "the rest of the packed text", err)
		}
	}
	t.sources = append(t.sources, lex.Source{Name: path, Text: file, Size: size, Test: test})
	return nil
}

// convert turns files of other formats into CSV texts, of which is known whether they begin with names, and reports
// whether they say which rows are for testing.
func (t *texts) convert(o *Options) (tested bool, err error) {
	var files []convert.File
	for _, s := range t.sources {
		files = append(files, convert.File{Name: s.Name, Content: s.Text, Size: s.Size})
	}
	table, err := convert.Open(files)
	if err == nil && table.Format == convert.CSV {
		err = t.reform(&o.Columns)
	}
	if err != nil || table.Format == convert.CSV {
		return false, err
	}
	defer table.Close()
	t.header = "no"
	if table.Header {
		t.header = "yes"
	}
	if requested := o.Columns.Header; requested != "" && requested != t.header {
		return false, &fault.OptionError{Field: "header", Value: requested,
			Expected: fmt.Sprintf("%s, or nothing, for a table in %s", t.header, table.Format)}
	}
	o.Columns.Header = t.header
	var sources, tests []lex.Source
	for i := range table.Texts {
		text := &table.Texts[i]
		source := t.sources[text.File]
		if text.Test && o.Test != "" {
			return false, &fault.OptionError{Field: "test", Value: o.Test,
				Expected: "nothing, as " + source.Name + " says which rows are for testing"}
		}
		if source.Text, source.Size, err = t.write(text); err != nil {
			return false, err
		}
		if source.Test = source.Test || text.Test; source.Test {
			tests = append(tests, source)
		} else {
			sources = append(sources, source)
		}
		tested = tested || text.Test
	}
	t.sources = append(sources, tests...)
	return tested, nil
}

// sniffed is how much is looked at of a text's start, and of its end.
const sniffed = 1 << 18

// reform writes texts anew that are not plain CSV, and says so.
func (t *texts) reform(o *lex.Options) error {
	comma := ""
	for i := range t.sources {
		s := &t.sources[i]
		text := form.Text{Head: make([]byte, min(sniffed, s.Size)), Tail: make([]byte, min(sniffed, s.Size))}
		piece := make([]byte, lex.ChunkBytes)
		for at := int64(0); at < s.Size; at += int64(len(piece)) {
			piece = piece[:min(int64(len(piece)), s.Size-at)]
			if _, err := s.Text.ReadAt(piece, at); err != nil && err != io.EOF {
				return err
			}
			text.Bad.Add(piece)
			text.Lines += bytes.Count(piece, []byte{'\n'})
			text.Returns += bytes.Count(piece, []byte{'\r'})
		}
		if _, err := s.Text.ReadAt(text.Head, 0); err != nil && err != io.EOF {
			return err
		}
		if _, err := s.Text.ReadAt(text.Tail, s.Size-int64(len(text.Tail))); err != nil && err != io.EOF {
			return err
		}
		text.Lines++
		f, err := form.Sniff(text, s.Name, o)
		if err != nil {
			return err
		}
		comma = f.Comma()
		if i == 0 {
			t.notes = f.Notes()
		}
		if f.Plain() {
			continue
		}
		file, err := t.create()
		if err != nil {
			return err
		}
		size, err := io.Copy(file, f.Reader(io.NewSectionReader(s.Text, 0, s.Size)))
		if err != nil {
			return err
		}
		s.Text, s.Size = file, size
	}
	o.Separator = comma
	return nil
}

// attribute has an error about a text that was converted tell the row, as the lines are not those of the file.
func (t *texts) attribute(err error) error {
	if e, ok := errors.AsType[*fault.FormatError](err); ok && t.header != "" && e.Line > 0 {
		e.Row = e.Line
		if t.header == "yes" {
			e.Row--
		}
		e.Line, e.Offset = 0, fault.Whole
	}
	return err
}

// write writes a text to a temporary file.
func (t *texts) write(text *convert.Text) (*os.File, int64, error) {
	file, err := t.create()
	if err != nil {
		return nil, 0, err
	}
	if err := text.Write(file); err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func (t *texts) create() (*os.File, error) {
	file, err := convert.Temporary()
	if err == nil {
		t.temporary = append(t.temporary, file)
	}
	return file, err
}

// close removes the temporary files.
func (t *texts) close() {
	for _, file := range t.temporary {
		convert.Discard(file)
	}
}

// Text returns the content of a table's file as CSV text, whatever the file's format is and whether it is packed, and
// what its fields are parted by, empty where that is to be found out. Closing it closes the file. o says how it is
// written, where that does not look so.
func Text(file *os.File, path string, o lex.Options) (content io.ReadCloser, separator string, err error) {
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		content, _, err := Unpack(file, path)
		return readCloser{content, file.Close}, o.Separator, err
	}
	options := Options{Columns: o}
	var t texts
	if err == nil {
		err = t.add(path, file, info.Size(), false)
	}
	if err == nil {
		_, err = t.convert(&options)
	}
	if err != nil {
		t.close()
		return nil, "", err
	}
	s := t.sources[0]
	return readCloser{io.NewSectionReader(s.Text, 0, s.Size), func() error {
		t.close()
		return file.Close()
	}}, options.Columns.Separator, nil
}

// readCloser is a reader with something to be done at its end.
type readCloser struct {
	io.Reader
	close func() error
}

func (r readCloser) Close() error { return r.close() }
