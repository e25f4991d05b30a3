package csv

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"newtop/datasets/fault"
)

// Source is a CSV text. The sources of a table follow one another.
type Source struct {
	Name string
	Text io.ReaderAt
	Size int64
	Test bool // its rows are for testing; such sources come last
}

// MaxRow bounds the bytes of a row: 80 for each of the most columns that are trained on.
const MaxRow = 8 << 20

// chunkBytes is how much of a text is read at a time, by each of those who read it. A row that is longer makes its
// chunk longer.
const chunkBytes = 1 << 20

// chunk is a piece of a text that has whole rows.
type chunk struct {
	index     int  // of all chunks
	source    int  // index
	line      int  // on which it starts, from 1
	first     bool // of its source
	quotes    bool // whether there are any
	oversized bool // it is but the start of a row that has more than MaxRow bytes
	text      []byte
}

// chunker cuts texts into chunks, one after another. Where a row ends is known from the quotes before it: outside
// quotes, they are even in number. That holds up to the first quote in a wrong place, which is an error in the chunk
// that it is in; how the rest is cut doesn't matter then.
type chunker struct {
	sources []Source
	size    int       // bytes of a chunk
	spare   sync.Pool // of *[]byte

	index, source int   // of the next chunk
	offset        int64 // in the source
	line          int   // there, from 1; 0: the source was not begun
}

// next returns the next chunk; io.EOF after the last. The first chunk of a source is there even if it is empty. Its
// errors are of the file system, or a *fault.FormatError for UTF-16.
func (c *chunker) next() (*chunk, error) {
	first := false
	for c.source < len(c.sources) {
		s := &c.sources[c.source]
		if c.line == 0 {
			if err := c.start(s); err != nil {
				return nil, err
			}
			first = true
		}
		k := &chunk{index: c.index, source: c.source, line: c.line, first: first}
		if c.offset >= s.Size && !first {
			c.source, c.line = c.source+1, 0
			continue
		}
		quotes, err := c.read(s, k)
		if err != nil {
			return nil, err
		}
		k.quotes = quotes > 0
		c.offset += int64(len(k.text))
		c.line += bytes.Count(k.text, []byte{'\n'})
		if first && c.offset < s.Size && onlyEmptyLines(k.text) {
			c.release(k) // blank lines before the first row
			continue
		}
		c.index++
		return k, nil
	}
	return nil, io.EOF
}

// start finds out where the text of a source starts.
func (c *chunker) start(s *Source) error {
	start := make([]byte, min(3, s.Size))
	if _, err := s.Text.ReadAt(start, 0); err != nil && err != io.EOF {
		return err
	}
	mark, err := byteOrderMark(s.Name, start)
	c.offset, c.line = int64(mark), 1
	return err
}

// read reads what is in a chunk, and more where that has no end of a row, but not more than a row may be long.
func (c *chunker) read(s *Source, k *chunk) (quotes int, err error) {
	for size := int64(c.size); ; size *= 2 {
		size = min(size, MaxRow+1)
		left := s.Size - c.offset
		k.text = c.buffer(int(min(size, left)))
		if n, err := s.Text.ReadAt(k.text, c.offset); n < len(k.text) {
			if err == nil || err == io.EOF {
				err = fault.Changed(s.Name)
			}
			return 0, err
		}
		quotes := bytes.Count(k.text, []byte{'"'})
		if left <= size {
			return quotes, nil
		}
		if end := lastRow(k.text, quotes); end > 0 {
			k.text = k.text[:end]
			return quotes, nil
		}
		if size > MaxRow {
			k.oversized = true
			k.text = wholeRunes(k.text)
			return quotes, nil
		}
		c.release(k)
	}
}

// lastRow returns where the last row that a text has to its end does end, 0 if there is none; the text starts with a
// row.
func lastRow(text []byte, quotes int) int {
	for end := len(text); ; {
		i := bytes.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return 0
		}
		if quotes > 0 {
			quotes -= bytes.Count(text[i:end], []byte{'"'})
		}
		if quotes%2 == 0 {
			return i + 1
		}
		end = i
	}
}

// wholeRunes drops the last rune of a text, of which the end may be missing.
func wholeRunes(text []byte) []byte {
	end := len(text) - 1
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// onlyEmptyLines reports whether a text has empty lines alone.
func onlyEmptyLines(text []byte) bool {
	for len(text) > 0 && (text[0] == '\n' || bytes.HasPrefix(text, []byte("\r\n"))) {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return len(text) == 0
}

func (c *chunker) buffer(n int) []byte {
	if b, ok := c.spare.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return make([]byte, n)
}

// release takes back the memory of a chunk.
func (c *chunker) release(k *chunk) {
	text := k.text
	k.text = nil
	c.spare.Put(&text)
}

// each has the rest of the chunks worked on by so many goroutines, the calls of one after another in their order, and
// returns the error of the first chunk that has one; no other begins after an error was seen.
func (c *chunker) each(workers int, work func(worker int, k *chunk) error) error {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		index int
		first error
	)
	failed := func(at int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && (first == nil || at < index) {
			index, first = at, err
		}
	}
	sound := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return first == nil
	}
	chunks := make(chan *chunk)
	for w := range workers {
		all.Go(func() {
			for k := range chunks {
				failed(k.index, work(w, k))
				c.release(k)
			}
		})
	}
	for sound() {
		k, err := c.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			failed(c.index, err)
			break
		}
		chunks <- k
	}
	close(chunks)
	all.Wait()
	return first
}
