"""A peer written from docs/peer.md alone, with NumPy: logistic regression, whose Hessian is known in closed form."""
import json
import os
import socket
import struct
import sys

import numpy as np

rng = np.random.default_rng(3)
x = np.hstack([rng.normal(size=(120, 6)), np.ones((120, 1))])
y = (x @ rng.normal(size=7) + rng.normal(size=120) > 0).astype(float)
x, y, test_x, test_y = x[:90], y[:90], x[90:], y[90:]
n, decay = x.shape[1], 1e-3
point = np.zeros(n)


def read(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            sys.exit(1)  # newtop has gone
        data += part
    return data


def send(sock, head, **vectors):
    body = b""
    if vectors:
        head["vectors"] = {}
    for name, v in vectors.items():
        body += bytes(-len(body) % 64)
        head["vectors"][name] = {"dtype": "F64", "shape": [len(v)], "data_offsets": [len(body), len(body) + 8 * len(v)]}
        body += np.asarray(v, dtype="<f8").tobytes()
    text = json.dumps(head).encode()
    sock.sendall(b"NTP1" + struct.pack("<IQ", len(text), len(body)) + text + body)


def receive(sock):
    fixed = read(sock, 16)
    assert fixed[:4] == b"NTP1", "no magic"
    size, length = struct.unpack("<IQ", fixed[4:])
    head, body = json.loads(read(sock, size)), read(sock, length)
    vectors = {}
    for name, d in head.get("vectors", {}).items():
        begin, end = d["data_offsets"]
        vectors[name] = np.frombuffer(body[begin:end], dtype={"F64": "<f8", "I64": "<i8"}[d["dtype"]]).copy()
        assert [len(vectors[name])] == d["shape"], "a vector's shape"
    return head, vectors


def chance(w, x):
    return 1 / (1 + np.exp(-x @ w))


def figures(w, x, y):
    z = x @ w
    return {"loss": float(np.mean(np.logaddexp(0, z) - y * z) + decay / 2 * w @ w), "error_rate": float(np.mean((z > 0) != y))}


def gradient(w, x, y):
    return x.T @ (chance(w, x) - y) / len(y) + decay * w


def bent(w):
    p = chance(w, x)
    return (x.T * (p * (1 - p))) @ x / len(y)


sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
sock.connect(os.environ["NEWTOP_PEER"])
send(sock, {
    "op": "hello", "protocol": [1, 1], "mode": "driven", "name": "logistic regression", "program": "NumPy " + np.__version__, "n": n, "dtype": "F64",
    "blocks": [{"name": "slopes", "shape": [n - 1]}, {"name": "bias", "shape": [1]}], "has": ["grad", "hv", "gnv", "diag", "eval", "rows"],
    "rows": len(y), "test_rows": len(test_y), "classes": 2, "outputs": 1, "loss": "logistic", "digest": "3"})
while True:
    head, v = receive(sock)
    op, reply, w = head["op"], {"id": head["id"]}, v.get("w", point)
    if op in ("welcome", "set"):
        send(sock, reply)
    elif op == "get":
        send(sock, reply, w=point)
    elif op == "at":
        point = w
        send(sock, reply)
    elif op == "loss":
        send(sock, {**reply, **figures(w, x, y)})
    elif op == "eval":
        send(sock, {**reply, **figures(w, test_x, test_y)})
    elif op == "grad":
        rows = v.get("rows", np.arange(len(y)))
        send(sock, {**reply, "loss": figures(w, x[rows], y[rows])["loss"]}, g=gradient(w, x[rows], y[rows]))
    elif op == "hv":
        send(sock, reply, hv=bent(point) @ v["v"] + decay * v["v"])
    elif op == "gnv":  # the decay is a part of the loss by the weights, and not by the outputs
        send(sock, reply, gnv=bent(point) @ v["v"])
    elif op == "diag":
        send(sock, reply, diag=np.diag(bent(point)))
    elif op == "stop":
        send(sock, reply)
        sock.close()
        break
    else:
        send(sock, {**reply, "error": {"kind": "unsupported", "message": "there is no " + str(op)}})
