package python

import (
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Three rows, each of which has a quadratic of two weights: loss is the mean of c/2·(a·w0² + b·w1²) for (a, b) of the rows.
const quadratic = `
import newtop
A = [(1.0, 2.0), (3.0, 8.0), (5.0, 2.0)]
class Model:
    about = {"dtype": DTYPE, "rows": 3, "loss": "quadratic", "digest": "7"}
    def start(self): return [0.5, -1.0]
    def loss(self, w):
        if w[0] == 9: raise MemoryError("no room")
        if w[0] == 8: raise ValueError("one\ntwo")
        return {"loss": self.grad(w)[0], "error_rate": 0.25}
    def grad(self, w): return self.rows_grad(w, [0, 1, 2])
    def rows_grad(self, w, rows):
        d = [sum(A[r][k] for r in rows) / len(rows) for k in range(2)]
        return sum(d[k] * w[k] ** 2 for k in range(2)) / 2, [d[k] * w[k] for k in range(2)]
    def hv(self, w, v): return [3 * v[0], 4 * v[1]]
    def eval(self, w): return float("inf") if w[0] > 100 else float("nan")
    def set(self, w): print("final", list(w))
events = []
model = newtop.serve_object(Model(), name="three rows", on_event=events.append)
print(model.__class__.__name__, events)
`

func TestServeObject(t *testing.T) {
	for _, c := range []struct {
		name, dtype string
		size        int64
	}{{"bodies", "F64", 0}, {"mapped", "F64", 8192}, {"single", "F32", 0}, {"single and mapped", "F32", 16384}} {
		t.Run(c.name, func(t *testing.T) {
			n, done := peerOf(t, strings.ReplaceAll(quadratic, "DTYPE", `"`+c.dtype+`"`), c.size)
			for key, want := range map[string]any{"op": "hello", "mode": "driven", "protocol": []any{1.0, 1.0}, "name": "three rows", "n": 2.0, "dtype": c.dtype, "rows": 3.0, "digest": "7", "map": true,
				"blocks": []any{map[string]any{"name": "w", "shape": []any{2.0}}}, "has": []any{"eval", "event", "grad", "hv", "rows"}} {
				n.want(key, n.hello[key], want)
			}
			_, w := n.ask("get", "", nil)
			n.want("the first weights", w, []float64{0.5, -1})
			reply, _ := n.ask("loss", "", nil)
			n.want("the loss", reply["loss"], (3*0.25+4*1)/2)
			n.want("the error rate", reply["error_rate"], 0.25)
			reply, _ = n.ask("loss", "w", []float64{1, 2})
			n.want("the loss elsewhere", reply["loss"], 9.5)
			n.ask("at", "w", []float64{2, 1})
			reply, g := n.ask("grad", "", nil)
			n.want("the gradient", g, []float64{6, 4})
			n.want("its loss", reply["loss"], 8.0)
			_, g = n.ask("grad", "w", []float64{1, 1})
			n.want("the gradient elsewhere", g, []float64{3, 4})
			_, g = n.ask("grad", "", nil, 1, 1, 0)
			n.want("the gradient of rows", math.Abs(g[0]-2*7.0/3) < 1e-6 && g[1] == 6, true)
			_, g = n.ask("grad", "w", []float64{1, 1}, 2)
			n.want("the gradient of a row elsewhere", g, []float64{5, 2})
			_, hv := n.ask("hv", "v", []float64{1, -1})
			n.want("the product", hv, []float64{3, -4})
			reply, _ = n.ask("eval", "", nil)
			n.want("a loss that is no number", reply["loss"], "NaN")
			reply, _ = n.ask("eval", "w", []float64{101, 0})
			n.want("an infinite loss", reply["loss"], "Infinity")
			n.refused("unsupported", "gnv", "v", []float64{1, 1})
			n.refused("unsupported", "jump", "", nil)
			n.refused("failed", "hv", "", nil)
			n.refused("failed", "hv", "v", []float64{1, 2, 3})
			n.refused("memory", "loss", "w", []float64{9, 0})
			n.refused("failed", "loss", "w", []float64{8, 0})
			n.send(map[string]any{"op": "event", "id": -3, "event": map[string]any{"type": "epoch"}}, nil)
			reply, _ = n.receive()
			n.want("the id of the reply to an event", reply["id"], -3.0)
			n.ask("set", "w", []float64{7, 8})
			n.ask("stop", "", nil)
			if e := <-done; e.err != nil || e.out != "final [7.0, 8.0]\nModel [{'type': 'epoch'}]\n" || !strings.HasSuffix(e.errs, "ValueError: one\ntwo\n") {
				t.Errorf("it ends with %+v", e)
			}
		})
	}
}

func TestServeWithoutNewtop(t *testing.T) {
	out, errs, err := program{dir: t.TempDir()}.run(t, `
import newtop
class Model:
    def start(self): raise ValueError
print(type(newtop.serve_object(Model())).__name__, newtop.seed(4))
probe = newtop.probe(None, None, None, every=1)
for _ in range(3): probe.step(1.0)
newtop.probe(None, None, None)
import sys
print(sorted(m for m in ("torch", "jax", "numpy") if m in sys.modules))
`)
	if err != nil || out != "Model 4\n[]\n" || errs != "newtop: to train this model: newtop train --model train.py\nnewtop: to see the curvature of this model: newtop watch -- python3 train.py\n" {
		t.Errorf("%q, %q, %v", out, errs, err)
	}
	if out, _, _ := (program{dir: t.TempDir(), environ: []string{"NEWTOP_SEED=17"}}).run(t, "import newtop\nprint(newtop.seed())\n"); out != "17\n" {
		t.Errorf("the seed is %q", out)
	}
}

// What is not the protocol ends the program with one line, and the end of newtop with none.
func TestBrokenFrames(t *testing.T) {
	for want, bytes := range map[string]string{
		"":                             "",
		"a frame has no magic":         "GET / HTTP/1.1\r\n",
		"a frame is too long":          "NTP1\x01\x00\x10\x00" + strings.Repeat("\x00", 8),
		"a head is no object":          "NTP1\x02\x00\x00\x00" + strings.Repeat("\x00", 8) + "[]",
		"a frame can't be read: 'utf":  "NTP1\x02\x00\x00\x00" + strings.Repeat("\x00", 8) + "\xff\xff",
		"a frame can't be read: Expec": "NTP1\x02\x00\x00\x00" + strings.Repeat("\x00", 8) + "{]",
	} {
		n, done := peerOf(t, strings.ReplaceAll(quadratic, "DTYPE", `"F64"`), 0)
		if _, err := n.conn.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		_ = n.conn.(*net.UnixConn).CloseWrite()
		e := <-done
		said := strings.HasPrefix(e.errs, "newtop: "+want) && strings.Count(e.errs, "\n") == 1
		if want == "" {
			said = e.errs == ""
		}
		if e.err == nil || !said || e.out != "" {
			t.Errorf("%q: it ends with %+v", bytes, e)
		}
	}
}

// What fails in on_event is said once, and the run goes on; so does the program after it, whose children are no peers.
func TestEventsThatFail(t *testing.T) {
	n, done := peerOf(t, `
import newtop, subprocess, sys
class Model:
    def start(self): return [1.0]
    def loss(self, w): return w[0] ** 2
def told(event):
    if event["epoch"] == 1: raise NotImplementedError
    if event["epoch"] < 4: raise MemoryError("no\nroom")
    print("told", flush=True)
    subprocess.run([sys.executable, "-c", "import os, newtop; print('NEWTOP_PEER' in os.environ, newtop.probe(None, None, None).path)"], check=True)
newtop.serve_object(Model(), on_event=told)
print("goes on", newtop.probe(None, None, None).path)
newtop.serve_object(Model())
`, 0)
	for epoch := range 4 {
		n.send(map[string]any{"op": "event", "id": epoch + 1, "event": map[string]any{"epoch": epoch + 1}}, nil)
		if reply, _ := n.receive(); reply["error"] != nil {
			t.Errorf("the event is answered with %v", reply)
		}
	}
	n.id = 4
	reply, _ := n.ask("loss", "", nil)
	n.want("the loss", reply["loss"], 1.0)
	n.ask("stop", "", nil)
	e := <-done
	if e.err != nil || e.out != "told\nFalse None\ngoes on None\n" {
		t.Errorf("it ends with %+v", e)
	}
	for _, want := range []string{"newtop: on_event: NotImplementedError: the run goes on\n", "newtop: on_event: no room: the run goes on\n",
		"newtop: this program has served a model: newtop trains one of a program, and the next one is left as it is\n"} {
		if strings.Count(e.errs, want) != 1 {
			t.Errorf("%q is not said once in\n%s", want, e.errs)
		}
	}
}

// A path that leads to something else, as it may where processes have other numbers, is not mapped.
func TestMapsOnlyWhatWasOffered(t *testing.T) {
	_, errs, err := program{dir: t.TempDir()}.run(t, `
import newtop, os
wire = newtop._Wire(None)
for name, size in (("short", 4096), ("long", 16384), ("right", 8192)):
    with open(name, "wb") as f: f.truncate(size)
for name in "short", "long", ".", os.devnull, "/dev/zero", "absent":
    assert not wire.open_map({"path": name, "size": 8192}, 16) and wire.map is None, name
assert wire.open_map({"path": "right", "size": 8192}, 16) and len(wire.map) == 8192
`)
	if err != nil {
		t.Errorf("%v: %s", err, errs)
	}
}

// A peer that listens serves one newtop, of the same user.
func TestListen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Python has no Unix sockets there")
	}
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	done := make(chan ended, 1)
	go func() {
		defer close(done)
		code := strings.ReplaceAll(strings.Replace(quadratic, "on_event", `listen="s", on_event`, 1), "DTYPE", `"F64"`)
		out, errs, err := program{dir: dir}.run(t, "import os\nos.umask(0o022)\ndel os.chmod  # comes too late\n"+code+"print(oct(os.umask(0)))\n")
		done <- ended{out, errs, err}
	}()
	var conn net.Conn
	for conn == nil {
		select {
		case e, ok := <-done:
			if !ok {
				t.SkipNow()
			}
			t.Fatalf("it does not listen: %+v", e)
		case <-time.After(5 * time.Millisecond):
			if info, err := os.Stat(filepath.Join(dir, "s")); err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the socket is %v", info.Mode())
			}
			conn, _ = net.Dial("unix", filepath.Join(dir, "s"))
		}
	}
	defer func() { _ = conn.Close() }()
	n := &newtopSide{t: t, conn: conn}
	n.hello, _ = n.receive()
	n.send(map[string]any{"op": "welcome", "id": 0, "protocol": 1, "map": map[string]any{"path": "/no/such/file", "size": 8192}}, nil)
	if reply, _ := n.receive(); reply["map"] != nil {
		t.Errorf("it maps what is not there: %v", reply)
	}
	n.ask("stop", "", nil)
	if e := <-done; e.err != nil || e.errs != "newtop: waits for newtop: newtop train --model unix:s\n" || !strings.HasSuffix(e.out, "\n0o22\n") {
		t.Errorf("it ends with %+v", e)
	}
	if _, err := os.Stat(filepath.Join(dir, "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// Whatever bytes come, the reader ends with one of its own errors.
func TestReaderOfSpoiltFrames(t *testing.T) {
	_, errs, err := program{dir: t.TempDir()}.run(t, `
import json, newtop, random, socket, struct
random.seed(1)
head = json.dumps({"op": "hv", "id": 3, "vectors": {"v": {"dtype": "F64", "shape": [8], "data_offsets": [0, 64]}}}).encode()
frame = struct.pack("<4sIQ", b"NTP1", len(head), 64) + head + bytes(64)
good = 0
for _ in range(4000):
    data = bytearray(frame)
    for _ in range(random.randrange(3)):
        at = random.randrange(len(data)) if random.random() < 0.9 else random.randrange(8)
        if 8 <= at < 16: at = 8  # no lengths of many gigabytes
        data[at] = random.choice(b'\x00\xff09"[]{}-.e')
    if random.random() < 0.2: del data[random.randrange(len(data)):]
    a, b = socket.socketpair()
    a.sendall(data)
    a.close()
    wire = newtop._Wire(b)
    try:
        view = wire.vector(wire.receive(), "v", "F64", 8)
        assert len(view) == 64
        good += 1
    except (newtop._Broken, newtop._Closed, ValueError):
        pass
    b.close()
assert 500 < good < 3500, good
`)
	if err != nil {
		t.Errorf("%v: %s", err, errs)
	}
}
