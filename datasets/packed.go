package datasets

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"

	"newtop/datasets/convert"
	"newtop/datasets/csv"
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

// texts are the texts of a table. Those that were packed, or have another format than CSV, are in temporary files, as they are
// read in pieces and more than once.
type texts struct {
	sources   []csv.Source
	temporary []*os.File
}

// add adds the content of an open file.
func (t *texts) add(path string, file *os.File, size int64) error {
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
	t.sources = append(t.sources, csv.Source{Name: path, Text: file, Size: size})
	return nil
}

// convert turns files of other formats into CSV texts, of which is known whether they begin with names.
func (t *texts) convert(o *Options) error {
	var files []convert.File
	for _, s := range t.sources {
		files = append(files, convert.File{Name: s.Name, Content: s.Text, Size: s.Size})
	}
	table, err := convert.Open(files)
	if err != nil || table.Format == convert.CSV {
		return err
	}
	defer table.Close()
	var sources []csv.Source
	for i := range table.Texts {
		text := &table.Texts[i]
		source := t.sources[text.File]
		if text.Test {
			return &fault.FormatError{File: source.Name, Offset: fault.Whole, Found: "rows to train on and to test on", Expected: "arrays X and y"}
		}
		if source.Text, source.Size, err = t.write(text); err != nil {
			return err
		}
		sources = append(sources, source)
	}
	t.sources = sources
	o.Columns.Header = "no"
	if table.Header {
		o.Columns.Header = "yes"
	}
	return nil
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
