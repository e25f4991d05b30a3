package peer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake is a peer with the model ½ Σ aᵢ (wᵢ-1)², aᵢ = 1 + i mod 7, whose rows are its weights. It reads and writes frames by code of
// its own, number by number.
type fake struct {
	conn     io.ReadWriter
	n        int
	single   bool
	observed bool
	maps     bool
	keys     map[string]any                   // of hello, instead of its own
	spoil    func(op string, b []byte) []byte // a frame before it goes; what it returns goes, and nil ends the peer
	refuse   map[string]string                // op: kind of error

	point  []float64
	rows   []int // of the point
	set    []float64
	events []string
	file   *os.File
	size   int64
}

func (f *fake) curvature(i int) float64 { return 1 + float64(i%7) }

func (f *fake) dtype() string {
	if f.single {
		return "F32"
	}
	return "F64"
}

func (f *fake) bytes(x []float64) []byte {
	var b []byte
	for _, v := range x {
		if f.single {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func (f *fake) floats(b []byte) (x []float64) {
	for len(b) > 0 {
		if f.single {
			x, b = append(x, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
		} else {
			x, b = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		}
	}
	return x
}

// framed is a frame with a body.
func framed(head any, body []byte) []byte {
	text, err := json.Marshal(head)
	if err != nil {
		panic(err)
	}
	b := binary.LittleEndian.AppendUint32([]byte("NTP1"), uint32(len(text)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	return append(append(b, text...), body...)
}

// send returns false if the peer is to end.
func (f *fake) send(op string, head map[string]any, name string, x []float64) bool {
	var body []byte
	if name != "" {
		raw := f.bytes(x)
		at, v := 64, map[string]any{"dtype": f.dtype(), "shape": []int{len(x)}}
		if f.file != nil {
			at, v["map"] = int(f.size/2), true
			if _, err := f.file.WriteAt(raw, f.size/2); err != nil {
				panic(err)
			}
		} else {
			body = append(make([]byte, 64), raw...)
		}
		v["data_offsets"] = []int{at, at + len(raw)}
		head["vectors"] = map[string]any{name: v}
	}
	head["a key of later"] = []int{1}
	b := framed(head, body)
	if f.spoil != nil {
		if b = f.spoil(op, b); b == nil {
			return false
		}
	}
	_, err := f.conn.Write(b)
	return err == nil
}

// asked is a request.
type asked struct {
	Op    string          `json:"op"`
	ID    *int            `json:"id"`
	Event json.RawMessage `json:"event"`
	Sizes []int           `json:"sizes"`
	Map   *struct {
		Path string
		Size int64
	}
	Vectors map[string]struct {
		Dtype   string
		Shape   []int
		Offsets []int `json:"data_offsets"`
		Map     bool
	}
}

func (f *fake) read() (q asked, body []byte, err error) {
	begin := make([]byte, 16)
	if _, err := io.ReadFull(f.conn, begin); err != nil {
		return q, nil, err
	}
	if string(begin[:4]) != "NTP1" {
		return q, nil, fmt.Errorf("magic %q", begin[:4])
	}
	text := make([]byte, binary.LittleEndian.Uint32(begin[4:]))
	body = make([]byte, binary.LittleEndian.Uint64(begin[8:]))
	if _, err := io.ReadFull(f.conn, text); err != nil {
		return q, nil, err
	}
	if _, err := io.ReadFull(f.conn, body); err != nil {
		return q, nil, err
	}
	return q, body, json.Unmarshal(text, &q)
}

// vector is one of a request; nil: it has none of the name.
func (f *fake) vector(q *asked, body []byte, name string) []float64 {
	v, ok := q.Vectors[name]
	if !ok {
		return nil
	}
	if v.Offsets[0]%64 != 0 || v.Dtype != f.dtype() || len(v.Shape) != 1 || v.Map != (f.file != nil) {
		panic(fmt.Sprintf("a bad vector: %+v", v))
	}
	if v.Map {
		body = make([]byte, f.size/2)
		if _, err := f.file.ReadAt(body, 0); err != nil {
			panic(err)
		}
	}
	x := f.floats(body[v.Offsets[0]:v.Offsets[1]])
	if len(x) != v.Shape[0] {
		panic("a bad shape")
	}
	return x
}

func (f *fake) hello() map[string]any {
	h := map[string]any{
		"op": "hello", "protocol": []int{1, 3}, "mode": "driven", "name": "quadratic", "program": "Go\x1b[2J", "n": f.n, "dtype": f.dtype(),
		"blocks": []any{map[string]any{"name": "a", "shape": []int{f.n - 1}}, map[string]any{"name": "b", "shape": []int{}}},
		"has":    []string{"grad", "hv", "gnv", "diag", "eval", "rows", "event", "update", "sample", "of later"}, "rows": f.n, "map": f.maps,
	}
	if f.observed {
		h["mode"] = "observed"
	}
	for k, v := range f.keys {
		h[k] = v
		if v == nil {
			delete(h, k)
		}
	}
	return h
}

// serve answers until stop or the end of the connection. In observed mode it takes two steps.
func (f *fake) serve() {
	f.point = make([]float64, f.n)
	if !f.send("hello", f.hello(), "", nil) {
		return
	}
	steps := 0
	for {
		q, body, err := f.read()
		if err != nil {
			return
		}
		if q.Op != "on" && !f.answer(&q, body) || q.Op == "stop" {
			return
		}
		if f.observed && (q.Op == "on" || q.Op == "welcome") {
			if steps++; steps > 2 || !f.send("step", map[string]any{"op": "step", "step": 100 * steps, "loss": "NaN", "rate": 0.1, "optimizer": "SGD"}, "", nil) {
				return
			}
		}
	}
}

func (f *fake) answer(q *asked, body []byte) bool {
	h := map[string]any{"id": q.ID, "ms": 2.5}
	if kind, ok := f.refuse[q.Op]; ok {
		h["error"] = map[string]any{"kind": kind, "message": "too\nmuch"}
		return f.send(q.Op, h, "", nil)
	}
	w, v, rows := f.vector(q, body, "w"), f.vector(q, body, "v"), []int(nil)
	if r, ok := q.Vectors["rows"]; ok {
		for at := r.Offsets[0]; at < r.Offsets[1]; at += 8 {
			rows = append(rows, int(binary.LittleEndian.Uint64(body[at:])))
		}
	}
	at := f.point
	if w != nil {
		at = w
	}
	switch q.Op {
	case "welcome":
		if q.Map != nil {
			file, err := os.OpenFile(q.Map.Path, os.O_RDWR, 0)
			if err != nil {
				panic(err)
			}
			f.file, f.size = file, q.Map.Size
			h["map"] = true
		}
	case "get":
		return f.send(q.Op, h, "w", f.point)
	case "at":
		f.point, f.rows = w, rows
	case "set":
		f.set = w
	case "loss", "eval":
		h["loss"], h["rmse"] = f.loss(at), "Infinity"
	case "factors":
		return f.send(q.Op, h, q.Op, f.factors(at, rows, q.doubles(body, "draws"), q.Sizes))
	case "grad":
		if h["loss"] = f.loss(at); w == nil {
			rows = f.rows
		}
		return f.send(q.Op, h, "g", f.gradient(at, rows))
	case "hv", "gnv":
		for i := range v {
			if v[i] *= f.curvature(i); f.rows != nil && !slices.Contains(f.rows, i) {
				v[i] = 0
			}
		}
		return f.send(q.Op, h, q.Op, v)
	case "diag", "update":
		x := make([]float64, f.n)
		for i := range x {
			x[i] = f.curvature(i)
		}
		return f.send(q.Op, h, map[string]string{"diag": "diag", "update": "u"}[q.Op], x)
	case "event":
		f.events = append(f.events, string(q.Event))
	}
	return f.send(q.Op, h, "", nil)
}

// factors are numbers that tell what was asked for.
func (f *fake) factors(w []float64, rows []int, draws []float64, sizes []int) (x []float64) {
	for i, size := range sizes {
		for range size {
			x = append(x, w[i%len(w)]+float64(len(rows))+draws[len(draws)-1])
		}
	}
	return x
}

// doubles is a vector of F64 in the body.
func (q *asked) doubles(body []byte, name string) []float64 {
	v := q.Vectors[name]
	if v.Dtype != "F64" || v.Map || v.Offsets[0]%64 != 0 {
		panic(fmt.Sprintf("a bad vector: %+v", v))
	}
	return (&fake{}).floats(body[v.Offsets[0]:v.Offsets[1]])
}

func (f *fake) loss(w []float64) (sum float64) {
	for i, x := range w {
		sum += f.curvature(i) / 2 * (x - 1) * (x - 1)
	}
	return sum
}

// gradient is that of all rows, or of some, of which each has the term of one weight.
func (f *fake) gradient(w []float64, rows []int) []float64 {
	g := make([]float64, len(w))
	for i, x := range w {
		if rows == nil || slices.Contains(rows, i) {
			g[i] = f.curvature(i) * (x - 1)
		}
	}
	return g
}

// greeted is a client of a fake at the other end of a Unix socket.
func greeted(t testing.TB, f *fake, o Options) (*Client, error) {
	t.Helper()
	near, far := sockets(t)
	f.conn = far
	served := make(chan struct{})
	go func() {
		defer close(served)
		f.serve()
		far.Close()
		if f.file != nil {
			f.file.Close()
		}
	}()
	c, err := New(t.Context(), near, o)
	t.Cleanup(func() {
		if c != nil {
			c.Close()
		}
		far.Close()
		<-served
	})
	return c, err
}

// sockets is a connection of two Unix sockets.
func sockets(t testing.TB) (near, far net.Conn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip("no Unix sockets here: ", err)
	}
	defer l.Close()
	if near, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// replaced changes the head of a frame.
func replaced(b []byte, old, with string) []byte {
	length := binary.LittleEndian.Uint32(b[4:])
	text := strings.Replace(string(b[16:16+length]), old, with, 1)
	if text == string(b[16:16+length]) {
		panic(old + " is not in " + text)
	}
	out := bytes.Clone(b[:16])
	binary.LittleEndian.PutUint32(out[4:], uint32(len(text)))
	return append(append(out, text...), b[16+length:]...)
}
