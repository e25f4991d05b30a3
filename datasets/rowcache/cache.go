package rowcache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"newtop/datasets/fault"
	"newtop/internal/filelock"
)

// Convert writes the rows of a text of so many bytes, and returns what is to be known beside them, fit for JSON.
type Convert func(text *os.File, size int64, rows *Writer) (about any, err error)

// version tells one version of a text from another.
type version struct {
	Size     int64
	Modified int64  // nanoseconds since 1970
	Ends     string // SHA-256 of its first and last bytes, in hexadecimal
}

// conversion is the way from a text to a rows file and what there is of it.
type conversion struct {
	path    string // of the text
	text    *os.File
	info    os.FileInfo
	version version
	sum     string // SHA-256 of the text; empty if nobody asked for it
	name    string // of the rows file, in whatever directory
	convert Convert
}

// Open returns the rows that a text becomes by the conversion that key names. Their file is in the first of the directories
// that has one of this version of the text, or else made in the first one that can be written to. Several processes, of
// several hosts that have the directory in common, may ask at once: one converts and the others wait for it. What nobody
// has used for a month is removed.
func Open(path, key string, dirs []string, convert Convert) (*File, error) {
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	c := &conversion{path: path, text: text, convert: convert}
	if err := c.identify(key); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if f := c.find(dir); f != nil {
			return f, nil
		}
	}
	var refused []string
	for _, dir := range dirs {
		f, err := c.make(dir)
		if _, link := errors.AsType[*os.LinkError](err); !link && !fault.IsPathError(err) {
			return f, err
		}
		refused = append(refused, err.Error())
	}
	return nil, fmt.Errorf("%s: no place to write its rows for reading by range: %s; say where with NEWTOP_CACHE", path, strings.Join(refused, "; "))
}

// identify finds out which version of the text there is, and the name of its rows file.
func (c *conversion) identify(key string) (err error) {
	if c.info, err = c.text.Stat(); err != nil {
		return err
	}
	if !c.info.Mode().IsRegular() {
		return fmt.Errorf("%s: reading a part of its rows needs a regular file", c.path)
	}
	c.version = version{Size: c.info.Size(), Modified: c.info.ModTime().UnixNano()}
	const end = 1 << 16
	sum := sha256.New()
	for _, from := range []int64{0, max(c.version.Size-end, 0)} {
		if _, err := io.Copy(sum, io.NewSectionReader(c.text, from, end)); err != nil {
			return err
		}
	}
	c.version.Ends = hex.EncodeToString(sum.Sum(nil))
	path, err := filepath.Abs(c.path)
	if err != nil {
		return err
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%q %s", path, key))
	base := filepath.Base(path)
	c.name = strings.ToValidUTF8(base[:min(len(base), 100)], "") + "-" + hex.EncodeToString(id[:12])
	return nil
}

// find opens the rows file in dir, or returns nil if there is none that is sound and of this version.
func (c *conversion) find(dir string) *File {
	path := filepath.Join(dir, c.name)
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	if info, err := file.Stat(); err == nil {
		if f, err := Read(path, file, info.Size()); err == nil && c.made(f) {
			if now := time.Now(); now.Sub(info.ModTime()) > 24*time.Hour {
				_ = os.Chtimes(path, now, now) // for sweep
			}
			return f
		}
	}
	file.Close()
	return nil
}

// made reports whether the rows are of this version of the text, or of one of another time with the same bytes, as hosts
// that each have a copy and one cache in common may find.
func (c *conversion) made(f *File) bool {
	if f.Source == c.version {
		return true
	}
	same := f.Source.Size == c.version.Size && f.Source.Ends == c.version.Ends
	return same && c.addUp() == nil && f.Sum == c.sum
}

// addUp computes the checksum of the text.
func (c *conversion) addUp() error {
	if c.sum != "" {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(c.text, 0, c.version.Size)); err != nil {
		return err
	}
	c.sum = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// make has the rows file written to dir, by this process or by another.
func (c *conversion) make(dir string) (*File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, c.name)
	unlock, err := filelock.Lock(path + ".lock")
	for pause := time.Millisecond; errors.Is(err, filelock.ErrBusy); pause = min(2*pause, 250*time.Millisecond) {
		time.Sleep(pause) // the lock of a process ends with it
		unlock, err = filelock.Lock(path + ".lock")
	}
	if err != nil {
		return nil, err
	}
	// The file is opened before the lock ends, so that one who makes another version of it doesn't matter.
	defer unlock()
	if f := c.find(dir); f != nil {
		return f, nil
	}
	sweep(dir)
	part, err := os.CreateTemp(dir, c.name+".*.part")
	if err != nil {
		return nil, err
	}
	f, err := c.writeTo(part)
	if err == nil {
		err = os.Rename(part.Name(), path)
	}
	if err != nil {
		part.Close()
		os.Remove(part.Name())
		return nil, err
	}
	f.Path = path
	return f, nil
}

// writeTo converts the text.
func (c *conversion) writeTo(out *os.File) (*File, error) {
	// What the text is to others, its rows are.
	if err := out.Chmod(c.info.Mode().Perm()&0o666 | 0o600); err != nil {
		return nil, err
	}
	w := &Writer{out: out}
	about, err := c.convert(c.text, c.version.Size, w)
	if err != nil {
		return nil, err
	}
	if err := c.addUp(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(c.path); err != nil || info.Size() != c.info.Size() || !info.ModTime().Equal(c.info.ModTime()) {
		return nil, fault.Changed(c.path)
	}
	w.Source, w.Sum = c.version, c.sum
	if w.header.About, err = json.Marshal(about); err != nil {
		return nil, err
	}
	return w.File, w.seal(out)
}

const (
	abandoned = 24 * time.Hour      // of what is being written, by clocks that may differ
	unused    = 30 * 24 * time.Hour // of files that are touched on each day on which they are used
)

// ours matches what conversions make in their directories: rows files, their locks, and parts.
var ours = regexp.MustCompile(`-[0-9a-f]{24}(\.lock|\.[0-9]+\.part)?$`)

// sweep removes what processes left that were ended while they wrote, and what nobody uses.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !ours.MatchString(e.Name()) {
			continue
		}
		if age := time.Since(info.ModTime()); age > unused || age > abandoned && strings.HasSuffix(e.Name(), ".part") {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another may have been faster
		}
	}
}
