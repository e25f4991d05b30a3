package convert

import "encoding/binary"

// thrift reads structures in Thrift's compact protocol, see its specification "Thrift Compact protocol encoding". After a fault all
// values are zero, and failed tells it. Memory is taken only for what is there.
type thrift struct {
	b      []byte
	at     int
	kind   byte // of the value that comes next
	depth  int
	failed bool
}

// The kinds of values.
const (
	thriftTrue = 1 + iota
	thriftFalse
	thriftByte
	thriftInt16
	thriftInt32
	thriftInt64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

func (t *thrift) fail() { t.failed, t.at = true, len(t.b) }

func (t *thrift) byte() byte {
	if t.at >= len(t.b) {
		t.fail()
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b[t.at:])
	if n <= 0 {
		t.fail()
		return 0
	}
	t.at += n
	return v
}

// int returns a whole number.
func (t *thrift) int() int64 {
	switch t.kind {
	case thriftByte:
		return int64(int8(t.byte()))
	case thriftInt16, thriftInt32, thriftInt64:
		v := t.uvarint()
		return int64(v>>1) ^ -int64(v&1)
	}
	t.fail()
	return 0
}

// bool returns the truth value of a field.
func (t *thrift) bool() bool {
	if t.kind != thriftTrue && t.kind != thriftFalse {
		t.fail()
	}
	return t.kind == thriftTrue
}

func (t *thrift) string() string {
	if t.kind != thriftBinary {
		t.fail()
		return ""
	}
	n := t.uvarint()
	if n > uint64(len(t.b)-t.at) {
		t.fail()
		return ""
	}
	t.at += int(n)
	return string(t.b[t.at-int(n) : t.at])
}

const maxDepth = 32

// structure visits the fields of a structure by their numbers. read reads the value of a field that it knows, and returns false
// for another.
func (t *thrift) structure(read func(field int) bool) {
	if t.kind != thriftStruct || t.depth == maxDepth {
		t.fail()
		return
	}
	t.depth++
	defer func() { t.depth-- }()
	for field := 0; ; {
		head := t.byte()
		if head == 0 || t.failed {
			return
		}
		if delta := int(head >> 4); delta > 0 {
			field += delta
		} else {
			v := t.uvarint()
			field = int(int16(v>>1) ^ -int16(v&1))
		}
		t.kind = head & 15
		if kind := t.kind; !read(field) {
			t.kind = kind
			t.skip()
		}
	}
}

// list has read read each element.
func (t *thrift) list(read func()) {
	if t.kind != thriftList && t.kind != thriftSet || t.depth == maxDepth {
		t.fail()
		return
	}
	t.depth++
	defer func() { t.depth-- }()
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for i := uint64(0); i < n && !t.failed; i++ {
		t.kind = head & 15
		read()
	}
}

// skip goes over the value that comes next. Truth values have no bytes as fields, and one as elements.
func (t *thrift) skip() {
	switch t.kind {
	case thriftTrue, thriftFalse:
	case thriftByte, thriftInt16, thriftInt32, thriftInt64:
		t.int()
	case thriftDouble:
		if len(t.b)-t.at < 8 {
			t.fail()
			return
		}
		t.at += 8
	case thriftBinary:
		t.string()
	case thriftList, thriftSet:
		t.list(func() {
			if t.kind == thriftTrue || t.kind == thriftFalse {
				t.byte()
				return
			}
			t.skip()
		})
	case thriftMap:
		t.skipMap()
	case thriftStruct:
		t.structure(func(int) bool { return false })
	default:
		t.fail()
	}
}

func (t *thrift) skipMap() {
	n := t.uvarint()
	if n == 0 {
		return
	}
	kinds := t.byte()
	for i := uint64(0); i < n && !t.failed; i++ {
		for _, kind := range [2]byte{kinds >> 4, kinds & 15} {
			if t.kind = kind; kind <= thriftFalse {
				t.byte()
			} else {
				t.skip()
			}
		}
	}
}
