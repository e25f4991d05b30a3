package peer

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
)

// What is written is what the page says, read number by number; what is read is what was written so.
func TestFramesAreThosePage(t *testing.T) {
	x, rows := make([]float64, 70_001), []int{5, 0, 3}
	for i := range x {
		x[i] = float64(i) / 8
	}
	x[3], x[4] = math.Inf(-1), math.Copysign(0, -1)
	for _, single := range []bool{false, true} {
		f := &fake{n: len(x), single: single}
		var b bytes.Buffer
		w := writer{w: &b}
		if err := w.frame(map[string]any{"op": "grad", "id": 3}, dtype(f.dtype()), []outgoing{{name: "w", floats: x}, {name: "rows", ints: rows}}); err != nil {
			t.Fatal(err)
		}
		raw := b.Bytes()
		f.conn = &b
		q, body, err := f.read()
		if err != nil || q.Op != "grad" || *q.ID != 3 || b.Len() != 0 || !slices.Equal(f.vector(&q, body, "w"), x) {
			t.Errorf("%v %+v", err, q)
		}
		r := q.Vectors["rows"]
		if r.Dtype != "I64" || r.Offsets[0]%64 != 0 || r.Offsets[1] != len(body) || binary.LittleEndian.Uint64(body[r.Offsets[0]+16:]) != 3 {
			t.Errorf("rows: %+v", r)
		}
		in := newReader(iotest.HalfReader(bytes.NewReader(raw)))
		if _, err := in.next(); err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(x))
		if _, err := in.vector("w", dtype(f.dtype()), len(x)); err != nil {
			t.Fatal(err)
		}
		if err := in.floats(got, dtype(f.dtype())); err != nil || !slices.Equal(got, x) || in.end() != nil {
			t.Error(err)
		}
		if _, err := in.next(); err != io.EOF {
			t.Error(err)
		}
	}
}

// A frame that says it is long takes no memory before it comes.
func TestLiesTakeNoMemory(t *testing.T) {
	text := `{"vectors":{"g":{"dtype":"F64","shape":[1],"data_offsets":[0,1099511627776]}}}`
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(text)))
	b = append(binary.LittleEndian.AppendUint64(b, maxBody), text...)
	in := newReader(bytes.NewReader(b))
	if _, err := in.next(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.vector("g", f64, 1); err == nil {
		t.Error("a vector of one number has 2^40 bytes")
	}
	if err := in.end(); err != io.ErrUnexpectedEOF || cap(in.buffer) > 1<<15 {
		t.Error(err, cap(in.buffer))
	}
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte(magic), maxHeader), 0)
	in = newReader(bytes.NewReader(b))
	if _, err := in.next(); err != io.ErrUnexpectedEOF || cap(in.buffer) > 1<<15 {
		t.Error(err, cap(in.buffer))
	}
}

// A request takes no memory for its vectors.
func TestFramesTakeNoMemory(t *testing.T) {
	x := make([]float64, 1<<17)
	for _, as := range []dtype{f32, f64} {
		var b bytes.Buffer
		b.Grow(4 << 20)
		w, in := writer{w: &b}, newReader(&b)
		turn := func() {
			if w.frame(map[string]any{"id": 1}, as, []outgoing{{name: "g", floats: x}}) != nil {
				t.Fatal("not written")
			}
			if _, err := in.next(); err != nil {
				t.Fatal(err)
			}
			if _, err := in.vector("g", as, len(x)); err != nil || in.floats(x, as) != nil || in.end() != nil {
				t.Fatal(err)
			}
		}
		turn()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			turn()
		}
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) / 10; took > 20_000 {
			t.Errorf("%s: %d bytes", as, took)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("NTP1"))
	for _, single := range []bool{false, true} {
		var b bytes.Buffer
		p := &fake{conn: &b, n: 2, single: single}
		p.send("", map[string]any{"id": 1, "loss": "NaN", "ms": 0.5}, "g", []float64{1, 2})
		f.Add(b.Bytes())
		p.send("", p.hello(), "", nil)
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, as := range []dtype{f64, f32} {
			in := newReader(bytes.NewReader(b))
			total := 0
			for {
				h, err := in.next()
				if err != nil {
					break
				}
				_, _ = parseHello(h)
				dst := make([]float64, 2)
				v, err := in.vector("g", as, 2)
				if err == nil && !v.Map {
					at := in.at
					if err = in.floats(dst, as); err == nil && (at != v.Offsets[0] || in.at != v.Offsets[1]) {
						t.Fatalf("%+v was read from %d to %d", v, at, in.at)
					}
				} else if err == nil {
					m := mapped{memory: make([]byte, 2*pageBytes)}
					_ = m.read(dst, "g", v, as)
				}
				if in.end() != nil || in.left != 0 {
					break
				}
				total += prefix + int(in.at)
				if total > len(b) {
					t.Fatal("more was read than there is")
				}
			}
			if cap(in.buffer) > chunk+4*len(b)+1<<15 {
				t.Fatalf("%d bytes for %d", cap(in.buffer), len(b))
			}
		}
	})
}
