"""Computes the references of `newtop verify`: make.py FILE writes them as JSON, compressed if FILE ends in .gz.

Truth is float64. A bound is FACTOR times a spread: the most that a number moves, relative to its scale, when weights,
inputs and results of every pass are rounded at random by 2^-52 (float64), or when PyTorch does the passes in float32,
without and with such roundings by 2^-23 (float32). Inner solves must be the same in all of these runs."""
import gzip
import json
import math
import platform
import sys

import numpy as np
import scipy
import torch

import batches
import solves
from net import Net, SplitMix, signs

FACTOR, RUNS = 16, 4
METHODS = batches.METHODS | solves.METHODS
CHAIN = {2: [[1, 0], [2, 1]], 3: [[1, 0], [2, 1], [3, 2]], 1: [[1, 0]]}
ALL = [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]


def problem(seed, layers, activations, loss, rows=18, connections=None, l2=0, coded=False):
    """Numbers that float32 has exactly, in steps of 2^-10; targets that a teacher net makes, with noise."""
    random = np.random.default_rng(seed)
    exact = lambda x: np.round(x * 1024) / 1024
    p = {"layers": layers, "activations": activations, "loss": loss, "l2": l2,
         "connections": connections or CHAIN[len(activations)], "x": exact(random.normal(size=(rows, layers[0])))}
    p["t"] = np.zeros((rows, layers[-1]))
    net = Net(p)
    out = net.natural(net.tensor(random.normal(size=net.n)), None).numpy() + 0.3 * random.normal(size=p["t"].shape)
    if activations[-1] == "softmax" or coded:
        p["t"][np.arange(rows), out.argmax(1)] = 1
        p["t"] = 2 * p["t"] - 1 if coded else p["t"]
    else:
        p["t"] = exact(1 / (1 + np.exp(-out)) if loss == "xent" else out)
    p["w"] = exact(random.normal(size=net.n) / 2)
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in p.items()}


PROBLEMS = {
    "numbers": problem(1, [4, 5, 5], ["tanh", "identity"], "mse"),
    "classes": problem(2, [4, 5, 6], ["tanh", "softmax"], "xent"),
    "coded classes": problem(3, [4, 5, 3], ["tanh", "tanh"], "mse", coded=True),
    "classes with l2": problem(4, [4, 5, 3], ["tanh", "softmax"], "xent", l2=0.03125),
    "sigmoid, softplus, all skips": problem(5, [3, 4, 4, 2], ["sigmoid", "softplus", "identity"], "mse", 9, ALL),
    "relu, tanh, softmax, one skip": problem(6, [3, 5, 4, 3], ["relu", "tanh", "softmax"], "xent", 9,
                                             CHAIN[3] + [[3, 0]]),
    "softmax, identity, sigmoid": problem(7, [3, 4, 3, 2], ["softmax", "identity", "sigmoid"], "xent", 9),
    "no neighbour": problem(13, [2, 3, 3, 2], ["tanh", "sigmoid", "tanh"], "mse", 9, [[1, 0], [2, 0], [3, 1], [3, 2]]),
    "softplus, softmax": problem(8, [3, 4, 3], ["softplus", "softmax"], "mse", 9),
    "relu, sigmoid": problem(9, [3, 4, 3], ["relu", "sigmoid"], "mse", 9),
    "tiny numbers": problem(20, [2, 2, 2], ["tanh", "identity"], "mse"),
    "tiny classes": problem(20, [2, 2, 2], ["tanh", "sigmoid"], "xent"),
    "linear": problem(10, [4, 3], ["softmax"], "xent", 9),
}


def settings(text):
    return dict(pair.split("=") for pair in text.split())


def numeric(text):
    try:
        return float(text)
    except ValueError:
        return text


def runs(f):
    """f by precision: the truth, and what roundings make of it."""
    truth = f(dtype=torch.float64)
    tiny = [f(dtype=torch.float64, eps=2.0**-52, seed=i) for i in range(RUNS)]
    single = [f(dtype=torch.float32)] + [f(dtype=torch.float32, eps=2.0**-23, seed=i) for i in range(RUNS)]
    return truth, {"float64": tiny, "float32": single}


def short(x):
    return float(f"{x:.2e}")


def scaled(x, i, n, length):
    """The scale of a step's number i: its own size, or for projection and coordinates that of the step."""
    return max(abs(x), length if i == 3 else length / math.sqrt(n) if 3 < i < 7 else 0)


def case(method, variant, name, epochs, text, curvature="", precisions=("float64", "float32")):
    chosen = settings(text)
    typed = {k: numeric(v) for k, v in chosen.items()}

    def run(**how):
        net = Net(PROBLEMS[name], **how)
        w, v, steps = np.array(PROBLEMS[name]["w"]), signs(net.n), []
        for after, inner, rho in METHODS[method](net, w.copy(), typed, SplitMix(2), epochs):
            s, w = after - w, after.copy()
            values = [net.loss(w), np.linalg.norm(net.grad(w)), np.linalg.norm(s), v @ s, s[0], s[net.n // 2], s[-1]]
            if curvature:
                values.append(np.linalg.norm((net.hv if curvature == "hessian" else net.gv)(w, v)))
            steps.append((inner, [float(x) for x in values], rho, net.n))
        return steps

    truth, others = runs(run)
    spread = {}
    for precision in precisions:
        spread[precision] = []
        for k, (inner, values, rho, n) in enumerate(truth):
            most = 2.0**-52
            for other in others[precision]:
                where = method, variant, name, precision, k
                assert other[k][0] == inner, (*where, other[k][0], inner)
                for i, (a, b) in enumerate(zip(other[k][1], values)):
                    most = max(most, abs(a - b) and abs(a - b) / scaled(b, i, n, values[2]))
                if rho is not None:
                    most = max(most, abs(other[k][2] - rho) / max(1, abs(rho)))
            spread[precision].append(short(most))
    return {"method": method, "variant": variant, "problem": name, "curvature": curvature, "settings": chosen,
            "epochs": epochs, "spread": spread,
            "steps": [{"solves": inner, "values": values} | ({"rho": float(rho)} if rho is not None else {})
                      for inner, values, rho, _ in truth]}


def passes(name):
    def run(**how):
        net = Net(PROBLEMS[name], **how)
        w, v = PROBLEMS[name]["w"], signs(net.n)
        g, product = net.gauss_newton(w), net.gv(w, v)
        values, scales = [net.loss(w)], [0]
        for x in (net.grad(w), net.hv(w, v), product, product, np.diag(g)):
            length = np.linalg.norm(x)
            each = length / math.sqrt(net.n)
            values += [length, v @ x, x[0], x[net.n // 2], x[-1]]
            scales += [0, length, each, each, each]
        ends = np.linalg.eigvalsh(net.hessian(w))
        return np.array(values + [np.linalg.norm(g), ends[-1], ends[0]]), np.array(scales + [0, 0, ends[-1]])

    (values, scales), others = runs(run)
    scales = np.maximum(scales, np.abs(values))
    spread = {k: np.max([np.abs(o - values) / scales for o, _ in some], 0) for k, some in others.items()}
    return {"problem": name, "values": values.tolist(),
            "spread": {k: [short(max(x, 2.0**-52)) for x in v] for k, v in spread.items()}}


BATCHES = "batch=8 schedule=constant weight-decay=0 warmup=0 horizon=0 end-rate=0 "
CLASSES, NUMBERS, CODED = "classes", "numbers", "coded classes"


def cases():
    for name, schedule in (NUMBERS, "schedule=linear"), (CLASSES, "schedule=cosine"):
        for method, text in (("sgd", "rate=0.5"), ("momentum", "rate=0.1 momentum=0.9"),
                             ("nag", "rate=0.1 momentum=0.9"), ("adagrad", "rate=0.1 delta=1e-8"),
                             ("rmsprop", "rate=0.05 decay=0.9 epsilon=1e-8"),
                             ("online-bp", "rate=0.05 momentum=0.8 batch=2"),
                             ("adam", "rate=0.05 beta1=0.9 beta2=0.999 epsilon=1e-8")):
            yield case(method, "batches", name, 2, BATCHES + text)
            yield case(method, schedule, name, 3, BATCHES + text + " weight-decay=0.1 end-rate=0.1 " + schedule)
        adam = BATCHES + "rate=0.05 beta1=0.8 beta2=0.95 epsilon=1e-6 weight-decay=0.1 "
        yield case("adam", "warm-up, a horizon", name, 3, adam + "horizon=2 warmup=0.5 end-rate=0.1 " + schedule)
        yield case("adam", "all rows", name, 4, adam + "batch=0")
        later = schedule + " end-rate=0.1 weight-decay=0.1 "
        for side in "512", "5":
            more = later if side == "512" else ""
            what = "every=2, " + (schedule if more else "side=5")
            factors = BATCHES + f"factor-decay=0.9 every=2 side={side} "
            yield case("soap", what, name, 3, factors + "rate=0.05 beta1=0.9 beta2=0.95 epsilon=1e-3 " + more)
            yield case("shampoo", what, name, 3,
                       factors + "rate=0.05 beta1=0.9 beta2=0.99 epsilon=1e-3 damping=1e-3 " + more)
            kfac = factors + "rate=1 momentum=0.9 clip=0.01 damping=0.03 adapt=2 factor-share=0.5 product-share=0.75 "
            for step in "step=rate ", "step=model ":
                yield case("kfac", step + what, name, 3, kfac + step + more,
                           "gauss-newton" if "model" in step else "")
            yield case("muon", schedule if more else "constant rate", name, 3,
                       BATCHES + "rate=0.05 momentum=0.95 bias-rate=0.03 " + more)
    yield from solves.cases(case, NUMBERS, CLASSES, BATCHES)


def main():
    batches.check_muon()
    references = {"versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__,
                               "scipy": scipy.__version__},
                  "factor": FACTOR, "problems": PROBLEMS, "passes": [passes(name) for name in PROBLEMS],
                  "cases": sorted(cases(), key=lambda c: c["method"]), "notcovered": NOT_COVERED}
    text = json.dumps(references, separators=(",", ":")).encode()
    with open(sys.argv[1], "wb") as f:
        f.write(gzip.compress(text, mtime=0) if sys.argv[1].endswith(".gz") else text)


NOT_COVERED = ["sparse connections, mixtures of experts, committees", "label smoothing, class weights, input noise",
               "several processes", "another program's model"]
if __name__ == "__main__":
    main()
