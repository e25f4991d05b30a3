"""A newtop that is not newtop: the other side of docs/peer.md, written from that page, for tests and measurements."""
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join(HERE, "..", "..", "internal", "python")


class Failed(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.kind = error["kind"]


class Driver:
    def __init__(self, path=None, mapped=True, listener=None):
        self.dir = tempfile.TemporaryDirectory()
        self.path = path or os.path.join(self.dir.name, "peer")
        self.listener = listener or socket.socket(socket.AF_UNIX)
        if listener is None:
            self.listener.bind(self.path)
            self.listener.listen(1)
        self.mapped, self.id, self.file = mapped, 0, None

    def start(self, *argv, **environ):
        """Run a program whose peer connects here."""
        environ = {**os.environ, "NEWTOP_PEER": self.path, "PYTHONPATH": MODULE, "PYTHONDONTWRITEBYTECODE": "1", **environ}
        return subprocess.Popen([sys.executable, *argv], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def call(self, f, *args, **named):
        """Run a function whose peer connects here, in a thread. What it returned is in self.result, or it raises in join()."""
        os.environ["NEWTOP_PEER"] = self.path
        self.result = self.error = None

        def run():
            try:
                self.result = f(*args, **named)
            except BaseException as error:
                self.error = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        try:
            return self.meet()
        except (EOFError, OSError, Failed):
            self.join()
            raise

    def join(self):
        self.thread.join(60)
        assert not self.thread.is_alive(), "the peer hangs"
        if self.error is not None:
            raise self.error
        return self.result

    def meet(self):
        self.listener.settimeout(120)  # torch is imported meanwhile
        self.sock = self.listener.accept()[0]
        self.sock.settimeout(60)
        self.hello, _ = self.receive()
        if self.hello["op"] == "error":
            raise Failed(self.hello["error"])
        assert self.hello["op"] == "hello" and self.hello["protocol"] == [1, 1], self.hello
        self.n, self.dtype = self.hello["n"], np.dtype({"F64": "<f8", "F32": "<f4"}[self.hello["dtype"]])
        assert sum(int(np.prod(b["shape"])) for b in self.hello["blocks"]) == self.n
        welcome = {"op": "welcome", "id": 0, "protocol": 1}
        if self.mapped:
            half = -(-self.n * self.dtype.itemsize // 4096) * 4096
            name = os.path.join(self.dir.name, "vectors")
            self.file = np.memmap(name, dtype=np.uint8, mode="w+", shape=(2 * half,))
            welcome["map"] = {"path": name, "size": 2 * half}
        self.send(welcome)
        reply, _ = self.receive()
        assert reply["id"] == 0 and reply.get("map", False) == self.mapped, reply
        return self

    def send(self, head, **vectors):
        body = bytearray()
        for name, v in vectors.items():
            v = np.ascontiguousarray(v, dtype={"rows": "<i8", "draws": "<f8"}.get(name, self.dtype))
            told = {"dtype": {"i": "I64", "f": "F%d" % (8 * v.itemsize)}[v.dtype.kind], "shape": [v.size]}
            if self.file is not None and name not in ("rows", "draws"):
                self.file[: v.nbytes] = v.view(np.uint8)
                told.update(map=True, data_offsets=[0, v.nbytes])
            else:
                body += bytes(-len(body) % 64)
                told["data_offsets"] = [len(body), len(body) + v.nbytes]
                body += v.tobytes()
            head.setdefault("vectors", {})[name] = told
        text = json.dumps(head).encode()
        self.sock.sendall(b"NTP1" + struct.pack("<IQ", len(text), len(body)) + text + bytes(body))

    def read(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            n = self.sock.recv_into(view)
            if not n:
                raise EOFError
            view = view[n:]
        return data

    def receive(self):
        fixed = self.read(16)
        assert fixed[:4] == b"NTP1"
        size, length = struct.unpack("<IQ", fixed[4:])
        assert size <= 1 << 20
        head, body = json.loads(self.read(size), parse_constant=lambda word: 1 / 0), self.read(length)
        vectors = {}
        for name, d in head.get("vectors", {}).items():
            begin, end = d["data_offsets"]
            source = self.file if d.get("map") else np.frombuffer(body, np.uint8)
            assert begin % 64 == 0 and (d["shape"] == [self.n] or name == "factors") and d["dtype"] == self.hello["dtype"]
            assert not d.get("map") or begin == len(self.file) // 2
            vectors[name] = source[begin:end].view(self.dtype).copy()
            assert [vectors[name].size] == d["shape"]
        return head, vectors

    def ask(self, op, event=None, sizes=None, **vectors):
        self.id += 1
        self.send({"op": op, "id": self.id, **({} if event is None else {"event": event}), **({} if sizes is None else {"sizes": sizes})}, **vectors)
        head, got = self.receive()
        assert head["id"] == self.id, head
        if "error" in head:
            assert "\n" not in head["error"]["message"]
            raise Failed(head["error"])
        return {**head, **got}

    def fails(self, kind, op, **vectors):
        try:
            self.ask(op, **vectors)
        except Failed as error:
            assert error.kind == kind, (error.kind, error)
            return str(error)
        raise AssertionError(f"{op} is answered")

    def look(self):
        """In observed mode: the next step that is offered."""
        head, _ = self.receive()
        assert head["op"] == "step", head
        return head

    def on(self):
        self.send({"op": "on"})
