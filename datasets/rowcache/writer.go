package rowcache

import (
	"fmt"
	"os"
	"sync"
)

// chunkBytes is how much of a rows file is put in order at a time.
const chunkBytes = 64 << 20

// Writer writes rows that come in one order to their places in another, without a write for each of them: every row
// goes to the chunk of the file that its place is in, behind those that came before, and at the end every chunk is put
// in order. That needs memory for twice a chunk, and 4 bytes a row.
type Writer struct {
	*File
	out     *os.File
	rows    int      // of a chunk, but perhaps the last
	came    []int    // rows of each chunk
	slot    []uint32 // of each row that came to a chunk, one chunk after another: where it belongs there
	waiting [][]byte // rows of each chunk that are not in the file yet
	share   int      // bytes that may wait, of each chunk

	mu   sync.Mutex // of all but the file's description
	room sync.Pool  // of *[]byte: for a row
}

// Begin lays out the file; it must be called first, and once.
func (w *Writer) Begin(rows int, columns []Column) error { return w.begin(rows, columns, chunkBytes) }

func (w *Writer) begin(rows int, columns []Column, size int) error {
	f, ok := newFile(w.out.Name(), w.out, header{Rows: rows, Columns: columns})
	if !ok {
		panic(fmt.Sprintf("rowcache: %d rows of columns %v", rows, columns))
	}
	w.File = f
	w.rows = min(max(size/f.width, 1), rows)
	count := (rows-1)/w.rows + 1
	w.came, w.slot, w.waiting, w.share = make([]int, count), make([]uint32, rows), make([][]byte, count), size/count
	_, err := w.out.WriteAt([]byte(magic), 0)
	return err
}

// Put takes the values of the row that belongs at place. Several goroutines may call it.
func (w *Writer) Put(place int, values []float64) error {
	room, ok := w.room.Get().(*[]byte)
	if !ok {
		room = new([]byte)
		*room = make([]byte, w.width)
	}
	defer w.room.Put(room)
	row := *room
	w.encode(row, values)
	k := place / w.rows
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting[k])+len(row) > w.share {
		if err := w.flush(k); err != nil {
			return err
		}
	}
	w.slot[k*w.rows+w.came[k]] = uint32(place % w.rows)
	w.came[k]++
	if len(row) > w.share {
		_, err := w.out.WriteAt(row, w.offset(k*w.rows+w.came[k]-1))
		return err
	}
	if w.waiting[k] == nil {
		w.waiting[k] = make([]byte, 0, min(w.share, w.rows*len(row)))
	}
	w.waiting[k] = append(w.waiting[k], row...)
	return nil
}

// flush writes the rows of a chunk that wait, the last of those that came.
func (w *Writer) flush(k int) error {
	rows := len(w.waiting[k]) / w.width
	_, err := w.out.WriteAt(w.waiting[k], w.offset(k*w.rows+w.came[k]-rows))
	w.waiting[k] = w.waiting[k][:0]
	return err
}

// Order puts the rows of each chunk, which have all come, in order. They can be read then.
func (w *Writer) Order() error {
	for k := range w.waiting {
		if err := w.flush(k); err != nil {
			return err
		}
	}
	w.waiting = nil
	came, ordered := make([]byte, w.rows*w.width), make([]byte, w.rows*w.width)
	for k, rows := range w.came {
		at := w.offset(k * w.rows)
		if _, err := w.out.ReadAt(came[:rows*w.width], at); err != nil {
			return err
		}
		for i, slot := range w.slot[k*w.rows:][:rows] {
			copy(ordered[int(slot)*w.width:][:w.width], came[i*w.width:])
		}
		if _, err := w.out.WriteAt(ordered[:rows*w.width], at); err != nil {
			return err
		}
	}
	return nil
}
