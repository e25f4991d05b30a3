package screen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"newtop/tui/style"
)

// cast is a film of a session: asciinema's asciicast, version 2 (https://docs.asciinema.org/manual/asciicast/v2/), a
// JSON object and an array a line. What can't be written ends the film and not the session.
type cast struct {
	mu      sync.Mutex
	file    *os.File
	out     *bufio.Writer
	started time.Time
	err     error
}

// newCast begins a film, of which there must not be a file yet. It returns nil where none is asked for.
func newCast(file string, w, h int, environ []string) (*cast, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	c := &cast{file: f, out: bufio.NewWriter(f), started: time.Now()}
	c.line(map[string]any{
		"version": 2, "width": w, "height": h, "timestamp": c.started.Unix(),
		"env": map[string]string{"TERM": style.Lookup(environ, "TERM")},
	})
	return c, c.err
}

func (c *cast) line(v any) {
	if c.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = c.out.Write(append(text, '\n'))
	}
	c.err = err
}

// note films that something was written or, as w×h, that the terminal has another size.
func (c *cast) note(kind, what string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line([]any{json.Number(fmt.Sprintf("%.6f", time.Since(c.started).Seconds())), kind, what})
}

// end closes the file. It returns the first error.
func (c *cast) end() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, err := range []error{c.out.Flush(), c.file.Close()} {
		if c.err == nil {
			c.err = err
		}
	}
	if c.err != nil {
		return fmt.Errorf("the film: %w", c.err)
	}
	return nil
}

// filmed is a terminal that is filmed.
type filmed struct {
	out  io.Writer
	film *cast
}

func (f filmed) Write(p []byte) (int, error) {
	f.film.note("o", string(p))
	return f.out.Write(p)
}
