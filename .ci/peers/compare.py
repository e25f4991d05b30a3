"""Runs newtop, PyTorch and JAX in turn on the same data, after their numbers agree, and writes the page's table. See ./run."""
import argparse, json, os, re, statistics, subprocess, sys, time
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
CORES = len(os.sched_getaffinity(0))
LIMITS = {"float64": 1e-11, "float32": 1e-4}  # of what sides differ by, relative to the largest number
PRODUCTS = "gradient|hv-kept|gn-kept|hv|gn|predict"
WIDE, SMALL = [784, 1024, 1024, 10], [2, 64, 64, 1]
BATCHES = [1, 8, 32, 128, 256]
CASES = {  # name: nodes, rows, loss, batches of Adam, works, precisions, threads
    "letter 16-70-50-26, 16,000 rows": ([16, 70, 50, 26], 16000, "squared", [], PRODUCTS, ["float64", "float32"], [1, CORES]),
    "784-1024-1024-10, 256 rows": (WIDE, 256, "cross", [], PRODUCTS, ["float64", "float32"], [CORES]),
    "20 × 128, 256 rows": ([128] * 21 + [10], 256, "cross", [], PRODUCTS, ["float32"], [CORES]),
    "2-64-64-1, 8 rows": (SMALL, 8, "linear", [], "gradient|hv-kept", ["float32"], [1, CORES]),
    "Adam, 784-1024-1024-10": (WIDE, 2048, "cross", BATCHES, "adam.*", ["float32"], [CORES]),
    "Adam, 2-64-64-1": (SMALL, 4096, "linear", BATCHES, "adam.*", ["float32"], [1, CORES]),
    "letter, trained": ([16, 70, 50, 26], 16000, "cross", [], "eigenvalues", ["float64"], [CORES]),
}


def inputs(name, data):
    """Rows, targets, weights and a direction of a case: random ones, or letter's with a net that Adam trained."""
    nodes, rows, loss = CASES[name][:3]
    rng = np.random.default_rng(1)
    x, chosen = rng.standard_normal((rows, nodes[0])), rng.integers(0, nodes[-1], rows)
    w = np.concatenate([rng.uniform(-1, 1, (n, i + 1)).ravel() / np.sqrt(i) for i, n in zip(nodes, nodes[1:])])
    if name == "letter, trained":
        lines = [line.split(",") for line in open(data + "/letter-recognition.data")][:rows]
        x, chosen = np.array([line[1:] for line in lines], float), np.array([ord(line[0]) - 65 for line in lines])
        x = (x - x.mean(0)) / x.std(0)
        w = trained(nodes, w, x, np.eye(nodes[-1])[chosen], rng)
    t = np.eye(nodes[-1])[chosen] * (2 if loss == "squared" else 1) - (loss == "squared")
    if loss == "linear":
        t = np.sin(x.sum(1, keepdims=True))
    return dict(x=x, t=t, w=w, v=rng.standard_normal(len(w)))


def trained(nodes, w, x, t, rng, epochs=20, batch=128):
    """The weights after some epochs of AdamW with a rate that falls to 0; tanh, softmax."""
    m, s, n, total = np.zeros_like(w), np.zeros_like(w), 0, epochs * (len(x) // batch)
    bounds = np.cumsum([0] + [size for i, k in zip(nodes, nodes[1:]) for size in (k * i, k)])
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for first in range(0, total // epochs * batch, batch):
            rows = order[first:first + batch]
            parts = [w[a:b] for a, b in zip(bounds, bounds[1:])]
            u, g = [x[rows]], np.empty_like(w)
            for W, b in zip(parts[::2], parts[1::2]):
                u.append(np.tanh(u[-1] @ W.reshape(len(b), -1).T + b))
            z = u[-2] @ parts[-2].reshape(nodes[-1], -1).T + parts[-1]
            e = np.exp(z - z.max(1, keepdims=True))
            d = (e / e.sum(1, keepdims=True) - t[rows]) / batch
            for l in reversed(range(len(nodes) - 1)):
                g[bounds[2 * l]:bounds[2 * l + 1]] = (d.T @ u[l]).ravel()
                g[bounds[2 * l + 1]:bounds[2 * l + 2]] = d.sum(0)
                d = d @ parts[2 * l].reshape(len(parts[2 * l + 1]), -1) * (1 - u[l] ** 2) if l else d
            n += 1
            m, s = .9 * m + .1 * g, .95 * s + .05 * g * g
            w = w - .02 * (1 - n / total) * (m / (1 - .9 ** n) / (np.sqrt(s / (1 - .95 ** n)) + 1e-8) + .05 * w)
    return w


class Side:
    """A process that answers, and what it has."""

    def __init__(self, name, folder, command, works):
        self.name, self.errors = name, f"{folder}/{name}.err"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.errors, "w"), text=True)
        self.works = [w for w in self.ask("list") if re.fullmatch(works, w.split(":")[0].split("@")[0])]

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if not said:
            sys.exit(f"{self.name} ended at {line!r}; its errors are in {self.errors}")
        return json.loads(said)

    def spent(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy():
    """Seconds that all processors have computed."""
    user, nice, system, _, _, irq, soft, steal = map(int, open("/proc/stat").readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def compare(name, dtype, o):
    """The lines of the table of a case."""
    nodes, rows, loss, batches, works, _, threads = CASES[name]
    folder = f"{o.work}/{re.sub('[^a-z0-9]+', '-', name.lower())}"
    os.makedirs(folder, exist_ok=True)
    json.dump(dict(nodes=nodes, rows=rows, loss=loss, batches=batches, steps=400 if nodes == SMALL else 40), open(folder + "/case.json", "w"))
    for key, numbers in inputs(name, o.data).items():
        numbers.astype(float).tofile(f"{folder}/{key}.bin")
    sides, works = [], f"(?:{o.only or works})"
    for n in sorted(set(threads)):
        sides.append(Side(f"newtop@{n}", folder, [o.bench, "side", folder, "--precision", dtype, "--threads", str(n)], works))
        for kind in ["plain"] + ["compiled"] * (not o.no_compile):
            sides.append(Side(f"torch-{kind}@{n}", folder, [o.torch, HERE + "/torch_side.py", folder, dtype, str(n), kind], works))
        sides.append(Side(f"jax@{n}", folder, [o.jax, HERE + "/jax_side.py", folder, dtype, str(n)], works))
    reference, there = {}, []
    for side in sides[1:] + sides[:1]:
        for work in side.works:
            path = f"{folder}/out.bin"
            said = side.ask(f"out {work} {path}")
            if "error" in said:
                print(f"{name}, {dtype}: {side.name} {work}: {said['error']}", file=sys.stderr)
                continue
            what, numbers = re.split("[:@]", work)[0], np.fromfile(path)
            want = reference.setdefault(what, numbers)
            apart = np.abs(numbers - want).max() / np.abs(want).max()
            limit = 1e-6 if what == "eigenvalues" else LIMITS[dtype] * (100 if what.startswith("adam") else 1)
            if not apart <= limit:
                sys.exit(f"{name}, {dtype}: {side.name} {work} is {apart:.1e} of the largest number from {sides[1].name}'s, expected at most {limit:.0e}")
            there.append((side, work, what))
    times, load, tries = {}, [], 0
    while len(load) < o.rounds and tries < 4 * o.rounds:
        tries += 1
        before, own, began = busy(), sum(s.spent() for s in sides), time.time()
        took = {(side.name, work): side.ask(f"run {work} {o.seconds}")["median"] for side, work, _ in there}
        foreign = max(0, busy() - before - sum(s.spent() for s in sides) + own) / (time.time() - began) / CORES
        print(f"{name}, {dtype}: round {tries}, foreign load {foreign:.2f}", file=sys.stderr)
        if foreign < o.load or o.rounds - len(load) > 4 * o.rounds - tries:
            load.append(foreign)
            for key, ns in took.items():
                times.setdefault(key, []).append(ns)
    for side in sides:
        side.process.stdin.close()
        side.process.wait()
    for what in dict.fromkeys(what for _, _, what in there):
        best = {}
        for side, work, of in there:
            if of == what:
                who = "newtop" if side.name.startswith("newtop") else "peer"
                row = times[side.name, work]
                label = side.name if who == "newtop" else f"{side.name.split('-')[0].split('@')[0]} {work.split(':')[1]}"
                best[who] = min(best.get(who, (np.inf,)), (statistics.median(row), label, row))
        if len(best) == 2:
            yield dict(case=name, dtype=dtype, what=what, newtop=best["newtop"][0] / 1e6, threads=best["newtop"][1], peer=best["peer"][0] / 1e6,
                       who=best["peer"][1], ratio=statistics.median(a / b for a, b in zip(best["newtop"][2], best["peer"][2])), load=max(load), all={f"{a} {b}": statistics.median(c) / 1e6 for (a, b), c in times.items() if re.split("[:@]", b)[0] == what})


NAMES = {"gradient": "gradient", "hv-kept": "Hv on kept passes", "gn-kept": "Gauss–Newton product on kept passes", "hv": "Hv at new weights",
         "gn": "Gauss–Newton product at new weights", "predict": "outputs", "eigenvalues": "five largest eigenvalues to 1e-6"}


def short(v):
    return f"{v:.0f}" if v >= 100 else f"{v:.3g}"


def versions(o):
    """What was compared, and where."""
    ask = lambda python, code: subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()
    torch = ask(o.torch, "import torch; print('PyTorch', torch.__version__.split('+')[0], 'on', 'MKL' if torch.backends.mkl.is_available() else 'another BLAS')")
    jax = ask(o.jax, "import jax, numpy; print('JAX', jax.__version__, '(Eigen in XLA), NumPy', numpy.__version__)")
    core = subprocess.run([o.bench, "core", "--quick", "--format", "json"], capture_output=True, text=True)
    about = json.loads(core.stdout)["machine"]
    return (f"{about['cpu']}, {about['cores']} cores, kernel {about['kernel']}, FMA peak {short(about['peak_gflops'])} GFLOP/s of one core in float64; "
            f"{torch}, {jax}, {about['go']}; {time.strftime('%d %B %Y')}")


def main():
    a = argparse.ArgumentParser()
    for flag in ("work", "data", "bench", "torch", "jax"):
        a.add_argument("--" + flag, required=True)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--seconds", type=float, default=.3, help="of a variant in a round")
    a.add_argument("--load", type=float, default=.05, help="share of the processors that others may have in a round")
    a.add_argument("--case", default=".", help="regular expression of cases and precisions")
    a.add_argument("--only", help="regular expression of works")
    a.add_argument("--no-compile", action="store_true", help="without torch.compile, which takes minutes")
    a.add_argument("--json", action="store_true", help="a line of JSON a row, with all variants, in place of the table")
    o = a.parse_args()
    if not o.json:
        print("| | newtop, ms | best peer, ms | which | newtop ÷ peer |\n|---|--:|--:|---|--:|", flush=True)
    worst = 0
    for name, (*_, precisions, _) in CASES.items():
        for dtype in precisions:
            if not re.search(o.case, f"{name} {dtype}"):
                continue
            for i, r in enumerate(compare(name, dtype, o)):
                worst = max(worst, r["load"])
                what = NAMES.get(r["what"], r["what"].replace("adam-", "batches of "))
                label = f"{name}, {dtype}: {what}" if i == 0 else f"– {what}"
                print(json.dumps(r) if o.json else f"| {label} | {short(r['newtop'])} | {short(r['peer'])} | {r['who']} | {r['ratio']:.2f} |", flush=True)
    if not o.json:
        print(f"\n{versions(o)}; foreign load at most {worst:.2f}. Each side had its best number of threads.")


if __name__ == "__main__":
    main()
