package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// conversion is the way from a CSV file to a rows file and what there is of it.
type conversion struct {
	path     string // of the CSV file
	csv      *os.File
	info     os.FileInfo
	source   rowsSource
	sum      string // SHA-256 of the CSV file; empty if nobody asked for it
	name     string // of the rows file, in whatever directory
	o        Options
	patience time.Duration // with another process that shows no sign of life
}

// loadRange reads a range of the rows of a CSV file, which is converted to a rows file when that is first
// asked for, and again when it was changed. The rows file goes into rows below CacheDir, or, where nothing
// can be written there, into .newtop beside the CSV file. Several processes, of several hosts that have the
// directory in common, may ask at once: one converts and the others wait, and fail as it does. What nobody has used
// for a month is removed.
//
// The conversion reads the text four times, puts the rows in order chunk by chunk, and reads them three times more, for
// the scalings. It needs memory for 12 bytes a row, for two chunks, and for the different words.
func loadRange(path string, o Options) (*Dataset, error) {
	c, err := newConversion(path, o)
	if err != nil {
		return nil, err
	}
	defer c.csv.Close()
	d, damaged, err := c.load(nil)
	if damaged != nil {
		d, _, err = c.load(damaged)
	}
	return d, err
}

// load reads the rows. If the rows file has values that can't be, it returns that too, to be made anew.
func (c *conversion) load(damaged os.FileInfo) (*Dataset, os.FileInfo, error) {
	rows, f, err := c.open(damaged)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	d, err := rows.dataset(c.path, c.o.Keep)
	if e, ok := errors.AsType[*FormatError](err); ok && e.File == rows.file {
		if info, statErr := f.Stat(); statErr == nil {
			damaged = info
		}
		return nil, damaged, err
	}
	return d, nil, err
}

func newConversion(path string, o Options) (*conversion, error) {
	csv, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &conversion{path: path, csv: csv, o: o, patience: 5 * time.Minute}
	if err := c.identify(); err != nil {
		csv.Close()
		return nil, err
	}
	return c, nil
}

// identify finds out which version of the CSV file there is, and the name of its rows file: one for each
// path and each way to split it.
func (c *conversion) identify() error {
	var err error
	if c.info, err = c.csv.Stat(); err != nil {
		return err
	}
	if !c.info.Mode().IsRegular() {
		return fmt.Errorf("%s: reading a part of its rows needs a regular file", c.path)
	}
	c.source = rowsSource{Size: c.info.Size(), Modified: c.info.ModTime().UnixNano()}
	const end = 1 << 16
	sum := sha256.New()
	for _, from := range []int64{0, max(c.source.Size-end, 0)} {
		if _, err := io.Copy(sum, io.NewSectionReader(c.csv, from, end)); err != nil {
			return err
		}
	}
	c.source.Ends = hex.EncodeToString(sum.Sum(nil))
	path, err := filepath.Abs(c.path)
	if err != nil {
		return err
	}
	// Other processors may round otherwise, see fitStandard.
	id := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %s", path, c.o.Target, c.o.Test, c.o.Seed, c.o.Rows, runtime.GOARCH))
	base := filepath.Base(path)
	c.name = strings.ToValidUTF8(base[:min(len(base), 100)], "") + "-" + hex.EncodeToString(id[:12])
	return nil
}

// dirs returns the directories for the rows file, the preferred one first.
func (c *conversion) dirs() (dirs []string) {
	if cache, err := CacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "rows"))
	}
	return append(dirs, filepath.Join(filepath.Dir(c.path), ".newtop"))
}

// open returns a rows file of this version of the CSV file, which is made if there is none but the damaged one.
func (c *conversion) open(damaged os.FileInfo) (*rowsFile, *os.File, error) {
	for _, dir := range c.dirs() {
		if rows, f := c.find(dir, damaged); rows != nil {
			return rows, f, nil
		}
	}
	var faults []string
	for _, dir := range c.dirs() {
		rows, f, err := c.make(dir, damaged)
		if err == nil {
			return rows, f, nil
		}
		if !isFileError(err) {
			return nil, nil, err
		}
		faults = append(faults, err.Error())
	}
	return nil, nil, fmt.Errorf("%s: no place to write its rows for reading by range: %s; say where with NEWTOP_CACHE", c.path, strings.Join(faults, "; "))
}

// isFileError reports whether the file system refused.
func isFileError(err error) bool {
	_, link := errors.AsType[*os.LinkError](err)
	return link || isPathError(err)
}

// find opens the rows file in dir, or returns nil if there is none that is sound and of this version.
func (c *conversion) find(dir string, damaged os.FileInfo) (*rowsFile, *os.File) {
	path := filepath.Join(dir, c.name)
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(info, damaged) {
		if rows, err := openRows(path, f, info.Size()); err == nil && c.made(rows) {
			if time.Since(info.ModTime()) > 24*time.Hour {
				touch(path) // for sweep
			}
			return rows, f
		}
	}
	f.Close()
	return nil, nil
}

// made reports whether the rows are of this version of the CSV file, or of one of another time with the same text, as hosts
// that each have a copy and one cache in common may find.
func (c *conversion) made(rows *rowsFile) bool {
	if rows.Source == c.source {
		return true
	}
	if rows.Source.Size != c.source.Size || rows.Source.Ends != c.source.Ends {
		return false
	}
	return c.addUp() == nil && rows.Sum == c.sum
}

// addUp computes the checksum of the CSV file.
func (c *conversion) addUp() error {
	if c.sum != "" {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(c.csv, 0, c.source.Size)); err != nil {
		return err
	}
	c.sum = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// make has the rows file written to dir, by this process or by another.
func (c *conversion) make(dir string, damaged os.FileInfo) (*rowsFile, *os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, c.name)
	turn, err := c.wait(path + ".lock")
	if err != nil {
		return nil, nil, err
	}
	// The file is opened before the lock ends, so that one who makes another version of it doesn't matter.
	defer turn.end()
	if rows, f := c.find(dir, damaged); rows != nil {
		return rows, f, nil
	}
	if err := turn.failed; err != nil {
		return nil, nil, err
	}
	sweep(dir)
	part, err := os.CreateTemp(dir, c.name+".*.part")
	if err != nil {
		return nil, nil, err
	}
	turn.live(part.Name())
	rows, err := c.writeTo(part)
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		part.Close()
		os.Remove(part.Name())
		turn.fail(c.source, err)
		return nil, nil, err
	}
	rows.file = path
	return rows, part, nil
}

// writeTo converts the CSV file.
func (c *conversion) writeTo(out *os.File) (*rowsFile, error) {
	// What the rows are to others, they stay.
	if err := out.Chmod(c.info.Mode().Perm()&0o666 | 0o600); err != nil {
		return nil, err
	}
	s, err := survey(c.path, c.csv, c.source.Size, maxRow, c.o.Rows)
	if err != nil {
		return nil, err
	}
	l, test, err := s.layout(&c.o)
	if err != nil {
		return nil, err
	}
	f := newRowsFile(out.Name(), out, describe(s, l, test))
	if err := c.addUp(); err != nil {
		return nil, err
	}
	f.Source, f.Sum = c.source, c.sum
	if err := f.fill(out, s, l, shuffle(s.rows, c.o.Seed)); err != nil {
		return nil, err
	}
	if info, err := os.Stat(c.path); err != nil || info.Size() != c.info.Size() || !info.ModTime().Equal(c.info.ModTime()) {
		return nil, s.changed(nil)
	}
	if err := f.fit(); err != nil {
		return nil, err
	}
	return f, f.seal(out)
}

// fill writes the rows; row i of the text becomes row place[i].
func (f *rowsFile) fill(out *os.File, s *sheet, l *layout, place []int) error {
	if _, err := out.WriteAt([]byte(rowsMagic), 0); err != nil {
		return err
	}
	c := newChunks(f, out, chunkBytes)
	if err := s.each(l, func(i int, values []float64) error { return c.add(place[i], values) }); err != nil {
		return err
	}
	return c.order()
}

// seal writes what follows the rows and has all of it reach the disk.
func (f *rowsFile) seal(out *os.File) error {
	text, err := json.Marshal(&f.rowsHeader)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	text = binary.LittleEndian.AppendUint64(text, uint64(len(text)))
	if _, err := io.Copy(io.NewOffsetWriter(out, f.offset(f.Rows)), bytes.NewReader(append(text, sum[:]...))); err != nil {
		return err
	}
	return out.Sync()
}
