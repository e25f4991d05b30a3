package sqlfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"os"
)

// headerSize is that of a database's header [SQLite, "Database File Format", 1.3].
const headerSize = 100

const (
	magic    = "SQLite format 3\x00"
	pageSize = 4096 // SQLite's own, which newtop leaves as it is
)

// Header returns the header of the file at path, and what newtop would have written in its place: all of it is known
// but counters, which stay, and the number of pages, which the file's size tells. It returns nil where the first page
// is none of a table's.
func Header(path string) (is, should []byte) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	page := make([]byte, headerSize+1)
	info, err := f.Stat()
	if _, short := io.ReadFull(f, page); err != nil || short != nil {
		return nil, nil
	}
	if kind := page[headerSize]; kind != 0x05 && kind != 0x0d { // of tables, within and at the end
		return nil, nil
	}
	order := binary.BigEndian
	is = page[:headerSize:headerSize]
	should = bytes.Clone(is)
	copy(should, magic)
	size := int64(order.Uint16(is[16:]))
	if size == 1 { // means one that does not fit
		size = 1 << 16
	}
	if size < 512 || bits.OnesCount64(uint64(size)) != 1 {
		size = pageSize
		order.PutUint16(should[16:], pageSize)
	}
	copy(should[18:], []byte{2, 2, 0, 64, 32, 32}) // with a WAL, and nothing between pages
	order.PutUint32(should[28:], uint32((info.Size()+size-1)/size))
	order.PutUint32(should[44:], 4) // of the schema
	order.PutUint32(should[48:], 0) // of the cache
	order.PutUint32(should[56:], 1) // UTF-8
	if v := order.Uint32(is[60:]); v < 1 || v > uint32(len(Migrations)) {
		order.PutUint32(should[60:], uint32(len(Migrations)))
	}
	order.PutUint32(should[68:], Application)
	clear(should[72:92])
	copy(should[92:96], should[24:28]) // the pages are of this state
	return is, should
}

// named reports whether a header has SQLite's name or newtop's.
func named(header []byte) bool {
	return header != nil && (bytes.HasPrefix(header, []byte(magic)) ||
		binary.BigEndian.Uint32(header[68:]) == Application)
}
