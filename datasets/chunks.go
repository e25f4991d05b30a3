package datasets

import "os"

// chunkBytes is how much of a rows file is put in order at a time.
const chunkBytes = 64 << 20

// chunks writes rows that come in one order to their places in another, without a write for each of them: every row
// goes to the chunk of the file that its place is in, behind those that came before, and at the end every chunk is put
// in order. That needs memory for twice a chunk, and 4 bytes a row.
type chunks struct {
	f       *rowsFile
	out     *os.File
	rows    int      // of a chunk, but perhaps the last
	came    []int    // rows of each chunk
	slot    []uint32 // of each row that came to a chunk, one chunk after another: where it belongs there
	waiting [][]byte // rows of each chunk that are not in the file yet
	share   int      // bytes that may wait, of each chunk
	row     []byte
}

func newChunks(f *rowsFile, out *os.File, size int) *chunks {
	rows := min(max(size/f.width, 1), f.Rows)
	count := (f.Rows-1)/rows + 1
	return &chunks{f: f, out: out, rows: rows, came: make([]int, count), slot: make([]uint32, f.Rows),
		waiting: make([][]byte, count), share: size / count, row: make([]byte, f.width)}
}

// add takes the values of the row that belongs at place.
func (c *chunks) add(place int, values []float64) error {
	k := place / c.rows
	if len(c.waiting[k])+len(c.row) > c.share {
		if err := c.flush(k); err != nil {
			return err
		}
	}
	c.f.encode(c.row, values)
	c.slot[k*c.rows+c.came[k]] = uint32(place % c.rows)
	c.came[k]++
	if len(c.row) > c.share {
		_, err := c.out.WriteAt(c.row, c.f.offset(k*c.rows+c.came[k]-1))
		return err
	}
	if c.waiting[k] == nil {
		c.waiting[k] = make([]byte, 0, min(c.share, c.rows*len(c.row)))
	}
	c.waiting[k] = append(c.waiting[k], c.row...)
	return nil
}

// flush writes the rows of a chunk that wait, the last of those that came.
func (c *chunks) flush(k int) error {
	rows := len(c.waiting[k]) / c.f.width
	_, err := c.out.WriteAt(c.waiting[k], c.f.offset(k*c.rows+c.came[k]-rows))
	c.waiting[k] = c.waiting[k][:0]
	return err
}

// order puts the rows of each chunk, which have all come, in order.
func (c *chunks) order() error {
	for k := range c.waiting {
		if err := c.flush(k); err != nil {
			return err
		}
	}
	c.waiting = nil
	width := c.f.width
	came, ordered := make([]byte, c.rows*width), make([]byte, c.rows*width)
	for k, rows := range c.came {
		at := c.f.offset(k * c.rows)
		if _, err := c.out.ReadAt(came[:rows*width], at); err != nil {
			return err
		}
		for i, slot := range c.slot[k*c.rows:][:rows] {
			copy(ordered[int(slot)*width:][:width], came[i*width:])
		}
		if _, err := c.out.WriteAt(ordered[:rows*width], at); err != nil {
			return err
		}
	}
	return nil
}
