package datasets

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"

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

// texts are the texts of a table, of which those that were packed are unpacked into temporary files, as they are read in
// pieces and more than once.
type texts struct {
	sources   []csv.Source
	temporary []*os.File
}

// add adds the text of an open file, of rows for testing or others.
func (t *texts) add(path string, file *os.File, size int64, test bool) error {
	content, packed, err := Unpack(io.NewSectionReader(file, 0, size), path)
	if err != nil {
		return err
	}
	if packed {
		if file, err = os.CreateTemp("", "newtop-*.csv"); err != nil {
			return err
		}
		os.Remove(file.Name()) // which systems other than Windows can do to an open file, so that no end leaves it behind
		t.temporary = append(t.temporary, file)
		if size, err = io.Copy(file, content); err != nil {
			return fault.Torn(path, size, "the rest of the packed text", err)
		}
	}
	t.sources = append(t.sources, csv.Source{Name: path, Text: file, Size: size, Test: test})
	return nil
}

// close removes the temporary files.
func (t *texts) close() {
	for _, file := range t.temporary {
		file.Close()
		os.Remove(file.Name())
	}
}
