package python

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// newtopSide is what docs/peer.md has newtop do, as small as it can be, and sharing nothing with trainer/peer.
type newtopSide struct {
	t     *testing.T
	conn  net.Conn
	file  *os.File // the mapped one, if there is one
	half  int64
	hello map[string]any
	id    int
}

// ended is what a program printed and how it ended.
type ended struct {
	out, errs string
	err       error
}

// peerOf starts a program whose peer connects, and greets it. With a size it offers a file of so many bytes to be mapped.
func peerOf(t *testing.T, code string, size int64) (*newtopSide, chan ended) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Python has no Unix sockets there")
	}
	dir, err := os.MkdirTemp("", "peer") // t.TempDir() can be longer than the path of a socket may be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done, over := make(chan ended, 1), make(chan struct{})
	go func() {
		defer close(over)
		defer func() { _ = l.Close() }() // so that accepting ends if the program does, or is skipped
		out, errs, err := program{dir: dir, environ: []string{"NEWTOP_PEER=" + path}}.run(t, code)
		done <- ended{out, errs, err}
	}()
	conn, err := l.Accept()
	if err != nil {
		<-over
		select {
		case e := <-done:
			t.Fatalf("the peer does not come: %+v", e)
		default:
			t.SkipNow()
		}
	}
	t.Cleanup(func() { _ = conn.Close(); <-over })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	n := &newtopSide{t: t, conn: conn}
	n.hello, _ = n.receive()
	welcome := map[string]any{"op": "welcome", "id": 0, "protocol": 1, "unknown": []int{1}}
	if size > 0 {
		if n.file, err = os.Create(filepath.Join(dir, "map")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.file.Close() })
		if err := n.file.Truncate(size); err != nil {
			t.Fatal(err)
		}
		n.half = size / 2
		welcome["map"] = map[string]any{"path": n.file.Name(), "size": size}
	}
	n.send(welcome, nil)
	if reply, _ := n.receive(); reply["id"] != 0.0 || (reply["map"] == true) != (size > 0) {
		t.Fatalf("the welcome is answered with %v", reply)
	}
	return n, done
}

func (n *newtopSide) send(head map[string]any, body []byte) {
	n.t.Helper()
	text, err := json.Marshal(head)
	if err != nil {
		n.t.Fatal(err)
	}
	frame := binary.LittleEndian.AppendUint32([]byte("NTP1"), uint32(len(text)))
	frame = binary.LittleEndian.AppendUint64(frame, uint64(len(body)))
	if _, err := n.conn.Write(append(append(frame, text...), body...)); err != nil {
		n.t.Fatal(err)
	}
}

func (n *newtopSide) receive() (head map[string]any, body []byte) {
	n.t.Helper()
	var fixed [16]byte
	if _, err := io.ReadFull(n.conn, fixed[:]); err != nil || string(fixed[:4]) != "NTP1" {
		n.t.Fatalf("a frame begins with %q: %v", fixed, err)
	}
	text := make([]byte, binary.LittleEndian.Uint32(fixed[4:]))
	body = make([]byte, binary.LittleEndian.Uint64(fixed[8:]))
	if _, err := io.ReadFull(n.conn, text); err != nil {
		n.t.Fatal(err)
	}
	if _, err := io.ReadFull(n.conn, body); err != nil {
		n.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &head); err != nil {
		n.t.Fatalf("%s: %v", text, err)
	}
	return head, body
}

// ask sends a request with at most one vector of weights, and returns the head of the reply and its only vector.
func (n *newtopSide) ask(op, name string, v []float64, rows ...int64) (map[string]any, []float64) {
	n.t.Helper()
	n.id++
	head, body, vectors := map[string]any{"op": op, "id": n.id}, []byte(nil), map[string]any{}
	if len(rows) > 0 {
		for _, r := range rows {
			body = binary.LittleEndian.AppendUint64(body, uint64(r))
		}
		vectors["rows"] = map[string]any{"dtype": "I64", "shape": []int{len(rows)}, "data_offsets": []int{0, len(body)}}
		body = append(body, make([]byte, 64-len(body)%64)...)
	}
	if v != nil {
		told := map[string]any{"dtype": n.hello["dtype"], "shape": []int{len(v)}}
		bytes := n.bytes(v)
		if n.file != nil {
			told["map"], told["data_offsets"] = true, []int{0, len(bytes)}
			if _, err := n.file.WriteAt(bytes, 0); err != nil {
				n.t.Fatal(err)
			}
		} else {
			told["data_offsets"] = []int{len(body), len(body) + len(bytes)}
			body = append(body, bytes...)
		}
		vectors[name] = told
	}
	if len(vectors) > 0 {
		head["vectors"] = vectors
	}
	n.send(head, body)
	reply, answer := n.receive()
	if reply["id"] != float64(n.id) {
		n.t.Fatalf("%s is answered with %v", op, reply)
	}
	got, _ := reply["vectors"].(map[string]any)
	for _, d := range got {
		return reply, n.numbers(d.(map[string]any), answer)
	}
	return reply, nil
}

func (n *newtopSide) bytes(v []float64) (b []byte) {
	for _, x := range v {
		if n.hello["dtype"] == "F32" {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
		} else {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}

func (n *newtopSide) numbers(told map[string]any, body []byte) (v []float64) {
	n.t.Helper()
	offsets := told["data_offsets"].([]any)
	begin, end := int64(offsets[0].(float64)), int64(offsets[1].(float64))
	if (told["map"] == true) != (n.file != nil) || n.file != nil && begin != n.half || told["dtype"] != n.hello["dtype"] {
		n.t.Fatalf("a vector is described as %v", told)
	}
	if n.file != nil {
		body = make([]byte, end-begin)
		if _, err := n.file.ReadAt(body, begin); err != nil {
			n.t.Fatal(err)
		}
		begin, end = 0, int64(len(body))
	}
	for b := body[begin:end]; len(b) > 0; {
		if n.hello["dtype"] == "F32" {
			v, b = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), b[4:]
		} else {
			v, b = append(v, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		}
	}
	return v
}

func (n *newtopSide) want(what string, got, want any) {
	n.t.Helper()
	if !reflect.DeepEqual(got, want) {
		n.t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// refused asks for what has to be refused, with this kind of error.
func (n *newtopSide) refused(kind, op, name string, v []float64, rows ...int64) {
	n.t.Helper()
	reply, _ := n.ask(op, name, v, rows...)
	told, _ := reply["error"].(map[string]any)
	if message, _ := told["message"].(string); told["kind"] != kind || message == "" || strings.Contains(message, "\n") {
		n.t.Errorf("%s is answered with %v, want an error of kind %s", op, reply, kind)
	}
}
