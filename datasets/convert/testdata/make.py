"""Writes the arrays of this directory, each with the table that it is beside it, as NAME.want: a row a line, its
fields parted by bars. Run with: /usr/bin/python3 testdata/make.py testdata (numpy 1.24.2, scikit-learn 1.2.1)"""
import os
import sys

import numpy as np
from sklearn.datasets import load_iris

path = lambda name: os.path.join(sys.argv[1], name)


def text(v):
    if isinstance(v, (str, np.str_)):
        return str(v)
    if isinstance(v, bytes):
        return v.decode()
    if isinstance(v, (np.bool_, bool)):
        return str(int(v))
    if isinstance(v, (np.integer, int)):
        return str(int(v))
    return "" if np.isnan(v) else repr(float(v))


def want(name, rows, names=None):
    with open(path(name + ".want"), "w") as f:
        for row in ([names] if names else []) + [list(r) for r in rows]:
            f.write("|".join(text(v) for v in row) + "\n")


def npy(name, a):
    np.save(path(name), a)
    want(name, a)


r = np.random.default_rng(1)
edge = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 1e-5, 1e15, 123456.789, 5e-324, 1.7e308, np.nan, 2.0**53, 0.000001, 999999.9999995, 1e-7]
for kind in ["<f8", ">f8", "<f4", ">f4", "<f2", ">f2"]:
    with np.errstate(over="ignore"):
        a = np.array(edge).astype(kind)
    a[np.isinf(a)] = 65504
    npy("%s%s.npy" % ({"<": "little_", ">": "big_"}[kind[0]], kind[1:]), a.reshape(4, 4))
for kind in ["i1", "u1", ">i2", "<u2", "<i4", ">u4", "<i8", ">i8", "<u8"]:
    i = np.iinfo(kind)
    npy(kind.strip("<>") + ("_big" if kind[0] == ">" else "") + ".npy", np.array([[i.min, 0, i.max], [1, 2, 100]], dtype=kind))
npy("bool.npy", np.array([[True, False], [False, True]]))
npy("fortran.npy", np.asfortranarray(r.standard_normal((7, 3))))
npy("words.npy", np.array([["a", "b,c", 'say "x"'], ["ü€😀", " d ", ""]]))
npy("bytes.npy", np.array([[b"a", b"bc"], [b"", b"d"]]))
np.save(path("objects.npy"), np.array([[1, "a"], [None, 2]], dtype=object))
np.save(path("structured.npy"), np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]))
np.save(path("complex.npy"), np.ones((2, 2), dtype=complex))
np.save(path("flat.npy"), np.arange(5))
np.save(path("infinite.npy"), np.array([[1, 2], [3, np.inf]]))

iris = load_iris()
X, y = iris.data[::10], iris.target[::10]
columns = ["x%d" % (i + 1) for i in range(4)]
np.savez(path("xy.npz"), X=X, y=iris.target_names[y])
want("xy.npz", [list(a) + [iris.target_names[b]] for a, b in zip(X, y)], columns + ["y"])
np.savez_compressed(path("packed.npz"), data=X, target=y.reshape(-1, 1))
want("packed.npz", [list(a) + [b] for a, b in zip(X, y)], columns + ["target"])
images = r.integers(0, 256, (6, 2, 3), dtype=np.uint8)
labels = r.integers(0, 10, 6)
np.savez(path("split.npz"), x_train=images[:4], y_train=labels[:4], x_test=images[4:], y_test=labels[4:])
want("split.npz", [list(a.reshape(-1)) + [b] for a, b in zip(images, labels)], ["x%d" % (i + 1) for i in range(6)] + ["y"])
np.savez(path("one.npz"), X)
want("one.npz", X)
np.savez(path("unknown.npz"), a=X, b=y)
np.savez(path("rows.npz"), X=X, y=y[:3])
