//go:build unix

package peer

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythonPeer is a peer written from docs/peer.md alone, with nothing but Python's own modules: ½ Σ (i+1) wᵢ².
const pythonPeer = `
import array, json, mmap, os, socket, struct
import newtop
assert os.path.dirname(newtop.__file__) == os.path.dirname(os.environ["NEWTOP_PEER"]), newtop.__file__
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["NEWTOP_PEER"])
f, N, shared = s.makefile("rwb"), int(os.environ["N"]), None
def send(head, name=None, x=None):
    body = b""
    if name:
        raw = array.array("f", x).tobytes()
        at = len(shared) // 2 if shared else 0
        head["vectors"] = {name: {"dtype": "F32", "shape": [len(x)], "data_offsets": [at, at + len(raw)], "map": bool(shared)}}
        if shared:
            shared[at:at + len(raw)] = raw
        else:
            body = raw
    text = json.dumps(head).encode()
    f.write(struct.pack("<4sIQ", b"NTP1", len(text), len(body)) + text + body)
    f.flush()
send({"op": "hello", "protocol": [1, 1], "mode": "driven", "n": N, "dtype": "F32", "blocks": [{"name": "w", "shape": [N]}],
      "has": ["hv"], "map": True})
while True:
    magic, head, body = struct.unpack("<4sIQ", f.read(16))
    head, body = json.loads(f.read(head)), f.read(body)
    assert magic == b"NTP1"
    if head["op"] == "welcome":
        if head.get("map"):
            fd = os.open(head["map"]["path"], os.O_RDWR)
            shared = mmap.mmap(fd, head["map"]["size"])
            os.close(fd)
        send({"id": 0, "map": shared is not None})
    elif head["op"] == "hv":
        v = head["vectors"]["v"]
        begin, end = v["data_offsets"]
        assert v.get("map", False) == bool(shared) and v["shape"] == [N] and begin % 64 == 0
        x = array.array("f", (shared if shared else body)[begin:end])
        send({"id": head["id"]}, "hv", [(i + 1) * a for i, a in enumerate(x)])
    else:
        send({"id": head["id"]})
        if head["op"] == "stop":
            print("stopped", flush=True)
            break
`

func TestPythonPeer(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	t.Setenv("NEWTOP_PYTHON", "")
	t.Setenv("PYTHONPATH", "")
	path := filepath.Join(t.TempDir(), "model.py")
	if err := os.WriteFile(path, []byte(pythonPeer), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, maps := range []bool{false, true} {
		for _, n := range []int{1, 5000} {
			lines := new(lockedLines)
			options := Options{Map: 1}
			if !maps {
				options.Map = -1
			}
			c, err := Open(t.Context(), path, Command{Env: []string{fmt.Sprint("N=", n)}, Console: lines.add}, options)
			if err != nil {
				t.Fatal(err, lines.lines)
			}
			v, want := make([]float64, n), make([]float64, n)
			for i := range v {
				v[i] = float64(i%3 - 1)
				want[i] = float64(i+1) * v[i]
			}
			if err := c.HessianTo(v, v); err != nil || !slices.Equal(v, want) || (c.wire.mapped != nil) != maps {
				t.Errorf("n %d, mapped %v: %v", n, (c.wire.mapped != nil), err)
			}
			c.Close()
			if !lines.has("stopped") {
				t.Errorf("%q", lines.lines)
			}
		}
	}
}

// newtop.py comes by a port, and has newtop come by one, where there are no Unix sockets.
func TestPythonByPort(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 here")
	}
	t.Setenv("NEWTOP_PYTHON", "")
	t.Setenv("PYTHONPATH", "")
	t.Setenv(SocketVariable, "tcp")
	dir := t.TempDir()
	script := filepath.Join(dir, "model.py")
	const code = "import newtop, sys\nclass Half:\n    def start(self): return [1., 2.]\n    def loss(self, w): return sum(x * x for x in w) / 2\n" +
		"newtop.serve_object(Half(), listen=(sys.argv + [None])[1])\n"
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	loss := func(c *Client, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if told, err := c.Loss([]float64{3, 4}, nil); err != nil || told.Loss != 12.5 {
			t.Errorf("the loss is %v, %v", told, err)
		}
	}
	loss(Open(t.Context(), script, Command{}, Options{}))
	l, err := Listen(Options{}) // for newtop.py
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(dir, "s")
	program := exec.Command("python3", script, path)
	program.Env = append(l.Environ(os.Environ()), SocketVariable+"=tcp")
	errs, err := program.StderrPipe()
	if err != nil || program.Start() != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(errs).ReadString('\n'); !strings.HasSuffix(line, "newtop train --model unix:"+path+"\n") {
		t.Fatal(line, err)
	}
	loss(Open(t.Context(), SocketPrefix+path, Command{}, Options{}))
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the token is left")
	}
}
