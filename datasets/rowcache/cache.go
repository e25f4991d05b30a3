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
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"newtop/datasets/fault"
	"newtop/internal/filelock"
)

// Text is a text that is open, or the next part of one that several files are.
type Text struct {
	Path string
	*os.File
	Size int64
}

// Convert writes the rows of texts that follow one another, and returns what is to be known beside them, fit for JSON.
type Convert func(texts []Text, rows *Writer) (about any, err error)

// version tells one version of a text from another.
type version struct {
	Size     int64
	Modified int64  // nanoseconds since 1970
	Ends     string // SHA-256 of its first and last bytes, in hexadecimal
}

// conversion is the way from texts to a rows file and what there is of it.
type conversion struct {
	texts    []Text
	infos    []os.FileInfo
	versions []version
	sum      string // see addUp; empty if nobody asked for it
	name     string // of the rows file, in whatever directory
	convert  Convert
}

// Open returns the rows that the texts at these paths become by the conversion that key names. Their file is in the
// first of the directories that has one of this version of the texts, or else made in the first one that can be written
// to. Several processes, of several hosts that have the directory in common, may ask at once: one converts and the
// others wait for it. What nobody has used for a month is removed.
func Open(paths []string, key string, dirs []string, convert Convert) (*File, error) {
	c := &conversion{convert: convert}
	for _, path := range paths {
		text, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer text.Close()
		c.texts = append(c.texts, Text{Path: path, File: text})
	}
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
	return nil, fmt.Errorf("%s: no place to write its rows for reading by range: %s; say where with NEWTOP_CACHE",
		paths[0], strings.Join(refused, "; "))
}

// identify finds out which versions of the texts there are, and the name of the rows file.
func (c *conversion) identify(key string) error {
	id := sha256.New()
	for i := range c.texts {
		t := &c.texts[i]
		info, err := t.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: reading a part of its rows needs a regular file", t.Path)
		}
		t.Size = info.Size()
		v := version{Size: t.Size, Modified: info.ModTime().UnixNano()}
		const end = 1 << 16
		sum := sha256.New()
		for _, from := range []int64{0, max(v.Size-end, 0)} {
			if _, err := io.Copy(sum, io.NewSectionReader(t, from, end)); err != nil {
				return err
			}
		}
		v.Ends = hex.EncodeToString(sum.Sum(nil))
		c.infos, c.versions = append(c.infos, info), append(c.versions, v)
		path, err := filepath.Abs(t.Path)
		if err != nil {
			return err
		}
		fmt.Fprintf(id, "%q ", path)
	}
	fmt.Fprint(id, key)
	base := filepath.Base(c.texts[0].Path)
	c.name = strings.ToValidUTF8(base[:min(len(base), 100)], "") + "-" + hex.EncodeToString(id.Sum(nil)[:12])
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

// made reports whether the rows are of these versions of the texts, or of some of other times with the same bytes, as
// hosts that each have copies and one cache in common may find.
func (c *conversion) made(f *File) bool {
	if slices.Equal(f.Sources, c.versions) {
		return true
	}
	same := slices.EqualFunc(f.Sources, c.versions, func(a, b version) bool {
		return a.Size == b.Size &&
			a.Ends == b.Ends
	})
	return same && c.addUp() == nil && f.Sum == c.sum
}

// addUp computes the checksum of the texts: that of the checksums of their parts, of which each processor has some.
func (c *conversion) addUp() error {
	if c.sum != "" {
		return nil
	}
	const part = 16 << 20
	var sums []byte
	for _, t := range c.texts {
		of := make([][sha256.Size]byte, (t.Size+part-1)/part)
		errs := make([]error, len(of))
		next := atomic.Int64{}
		var all sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), len(of)) {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(of)); i = next.Add(1) - 1 {
					sum := sha256.New()
					_, errs[i] = io.Copy(sum, io.NewSectionReader(t, i*part, min(part, t.Size-i*part)))
					sum.Sum(of[i][:0])
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for i := range of {
			sums = append(sums, of[i][:]...)
		}
	}
	sum := sha256.Sum256(sums)
	c.sum = hex.EncodeToString(sum[:])
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

// writeTo converts the texts.
func (c *conversion) writeTo(out *os.File) (*File, error) {
	// What the texts are to others, their rows are.
	mode := os.FileMode(0o666)
	for _, info := range c.infos {
		mode &= info.Mode().Perm()
	}
	if err := out.Chmod(mode | 0o600); err != nil {
		return nil, err
	}
	w := &Writer{out: out}
	about, err := c.convert(c.texts, w)
	if err != nil {
		return nil, err
	}
	if err := c.addUp(); err != nil {
		return nil, err
	}
	for i, was := range c.infos {
		path := c.texts[i].Path
		if info, err := os.Stat(path); err != nil || info.Size() != was.Size() || !info.ModTime().Equal(was.ModTime()) {
			return nil, fault.Changed(path)
		}
	}
	w.Sources, w.Sum = c.versions, c.sum
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
