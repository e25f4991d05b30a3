package plain

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// packings are known by how a file begins, whatever it is called.
var packings = []struct {
	magic   string
	open    func(r io.Reader) (io.Reader, error) // nil: it is not read
	program string                               // that unpacks it to its standard output
}{
	{magic: "\x1f\x8b", open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{magic: "\x28\xb5\x2f\xfd", open: func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	}},
	{magic: "\xfd7zXZ\x00", open: func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }},
	{magic: "BZh", program: "bzip2 -dc"},
}

// HeadSize is how much of a file says how it is packed.
const HeadSize = 6

// ErrDamaged says that packed data can't be read any further.
var ErrDamaged = errors.New("what is packed can't be read any further")

// Packed reports whether a file that begins so is packed.
func Packed(head []byte) bool {
	at, _ := packingOf(head)
	return at >= 0
}

// packingOf returns the index of a packing, -1 for none, and whether more of the file may show another one.
func packingOf(head []byte) (at int, unsure bool) {
	for i := range packings {
		magic := packings[i].magic
		if bytes.HasPrefix(head, []byte(magic)) {
			return i, false
		}
		unsure = unsure || strings.HasPrefix(magic, string(head))
	}
	return -1, unsure
}

// Refused returns an error that says how to unpack a file that begins so, and nil for what can be read. The name is the
// file's, or empty for a pipe.
func Refused(head []byte, name string) error {
	at, _ := packingOf(head)
	if at < 0 || packings[at].open != nil {
		return nil
	}
	if name != "" {
		name = " '" + name + "'"
	}
	return fmt.Errorf("it is packed: expected %s%s | newtop watch -", packings[at].program, name)
}

// Reader returns a reader of what a file or a pipe holds, unpacked if it is packed. It reads no more than it needs at
// once. Where what is packed ends too early or is damaged, the error wraps ErrDamaged.
func Reader(r io.Reader) io.Reader { return &reader{r: r} }

type reader struct {
	r      io.Reader // behind the head
	head   []byte    // what was read to find out how it is packed
	known  bool
	packed io.Reader
	err    error
}

func (u *reader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !u.known {
		if err := u.open(b); err != nil {
			return 0, err
		}
	}
	if u.packed == nil {
		if len(u.head) > 0 {
			n := copy(b, u.head)
			u.head = u.head[n:]
			return n, nil
		}
		if u.err != nil {
			return 0, u.err
		}
		return u.r.Read(b)
	}
	n, err := u.packed.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return n, err
}

// open finds out how the file is packed.
func (u *reader) open(b []byte) error {
	at := -1
	for unsure := true; unsure && u.err == nil; {
		n, err := u.r.Read(b)
		u.head, u.err = append(u.head, b[:n]...), err
		at, unsure = packingOf(u.head)
	}
	u.known = true
	if at < 0 {
		return nil
	}
	if err := Refused(u.head, ""); err != nil {
		u.head, u.err = nil, err
		return err
	}
	rest := u.r
	if u.err != nil {
		rest = errorReader{u.err}
	}
	packed, err := packings[at].open(io.MultiReader(bytes.NewReader(u.head), rest))
	if err != nil {
		u.head, u.err = nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
		return u.err
	}
	u.packed, u.head = packed, nil
	return nil
}

type errorReader struct{ err error }

func (e errorReader) Read([]byte) (int, error) { return 0, e.err }

// Text returns the text of a file, or of its beginning as far as that can be unpacked, at most some bytes of it.
func Text(raw []byte, most int) []byte {
	if Packed(raw) {
		raw, _ = io.ReadAll(io.LimitReader(Reader(bytes.NewReader(raw)), int64(most)))
	}
	var d Decoder
	if d.how = encodingOf(raw); d.how == utf8Text && !bytes.HasPrefix(raw, byteOrderMark) {
		return raw
	}
	d.how = unknown
	return d.End(d.Append(nil, raw))
}
