package lex

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"newtop/datasets/fault"
	"newtop/internal/routine"
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

// ChunkBytes is how much of a text is read at a time, by each of those who read it. A row that is longer makes its
// chunk longer.
const ChunkBytes = 1 << 20

// Chunk is a piece of a text that has whole rows.
type Chunk struct {
	Index     int  // of all chunks
	Source    int  // index
	Line      int  // on which it starts, from 1
	First     bool // of its source
	quotes    bool // whether there are any
	Oversized bool // it is but the start of a row that has more than MaxRow bytes
	Text      []byte
}

// Chunker cuts texts into chunks, one after another. Where a row ends is known from the quotes before it: outside
// quotes, they are even in number. That holds up to the first quote in a wrong place, which is an error in the chunk
// that it is in; how the rest is cut doesn't matter then.
type Chunker struct {
	Sources []Source
	Size    int       // bytes of a chunk
	spare   sync.Pool // of *[]byte

	Index, source int   // of the next chunk
	Offset        int64 // in the source
	line          int   // there, from 1; 0: the source was not begun
}

// Next returns the next chunk; io.EOF after the last. The first chunk of a source is there even if it is empty. Its
// errors are of the file system, or a *fault.FormatError for UTF-16.
func (c *Chunker) Next() (*Chunk, error) {
	first := false
	for c.source < len(c.Sources) {
		s := &c.Sources[c.source]
		if c.line == 0 {
			if err := c.Start(s); err != nil {
				return nil, err
			}
			first = true
		}
		k := &Chunk{Index: c.Index, Source: c.source, Line: c.line, First: first}
		if c.Offset >= s.Size && !first {
			c.source, c.line = c.source+1, 0
			continue
		}
		quotes, err := c.read(s, k)
		if err != nil {
			return nil, err
		}
		k.quotes = quotes > 0
		c.Offset += int64(len(k.Text))
		c.line += bytes.Count(k.Text, []byte{'\n'})
		if first && c.Offset < s.Size && onlyEmptyLines(k.Text) {
			c.Release(k) // blank lines before the first row
			continue
		}
		c.Index++
		return k, nil
	}
	return nil, io.EOF
}

// Start finds out where the text of a source starts.
func (c *Chunker) Start(s *Source) error {
	start := make([]byte, min(3, s.Size))
	if _, err := s.Text.ReadAt(start, 0); err != nil && err != io.EOF {
		return err
	}
	mark, err := ByteOrderMark(s.Name, start)
	c.Offset, c.line = int64(mark), 1
	return err
}

// read reads what is in a chunk, and more where that has no end of a row, but not more than a row may be long.
func (c *Chunker) read(s *Source, k *Chunk) (quotes int, err error) {
	for size := int64(c.Size); ; size *= 2 {
		size = min(size, MaxRow+1)
		left := s.Size - c.Offset
		k.Text = c.buffer(int(min(size, left)))
		if n, err := s.Text.ReadAt(k.Text, c.Offset); n < len(k.Text) {
			if err == nil || err == io.EOF {
				err = fault.Changed(s.Name)
			}
			return 0, err
		}
		quotes := bytes.Count(k.Text, []byte{'"'})
		if left <= size {
			return quotes, nil
		}
		if end := LastRow(k.Text, quotes); end > 0 {
			k.Text = k.Text[:end]
			return quotes, nil
		}
		if size > MaxRow {
			k.Oversized = true
			k.Text = wholeRunes(k.Text)
			return quotes, nil
		}
		c.Release(k)
	}
}

// LastRow returns where the last row that a text has to its end does end, 0 if there is none; the text starts with a
// row.
func LastRow(text []byte, quotes int) int {
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

func (c *Chunker) buffer(n int) []byte {
	if b, ok := c.spare.Get().(*[]byte); ok && cap(*b) >= n {
		return (*b)[:n]
	}
	return make([]byte, n)
}

// Release takes back the memory of a chunk.
func (c *Chunker) Release(k *Chunk) {
	text := k.Text
	k.Text = nil
	c.spare.Put(&text)
}

// Each has the rest of the chunks worked on by that many goroutines, the calls of one after another in their order, and
// returns the error of the first chunk that has one; no other begins after an error was seen.
func (c *Chunker) Each(workers int, work func(worker int, k *Chunk) error) error {
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
	chunks := make(chan *Chunk)
	for w := range workers {
		all.Go(routine.Guard(func() {
			for k := range chunks {
				failed(k.Index, work(w, k))
				c.Release(k)
			}
		}))
	}
	for sound() {
		k, err := c.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			failed(c.Index, err)
			break
		}
		chunks <- k
	}
	close(chunks)
	all.Wait()
	return first
}
