"""Runs newtop, PyTorch and JAX in turn on the same data, after their numbers agree, and writes the page's table. See ./run."""
import argparse, json, os, re, signal, statistics, subprocess, sys, time
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


EPOCHS, BATCH, RATE, BETA2, DECAY = 20, 128, .02, .95, .05  # of Adam on the letter net, tuned by newtop-bench fair (docs/race.md)
GOAL = .05


def letter(data):
    """The rows of letter, standardized by the 16,000 that are trained on, and the classes."""
    lines = [line.split(",") for line in open(data + "/letter-recognition.data")]
    x = np.array([line[1:] for line in lines], float)
    return (x - x[:16000].mean(0)) / x[:16000].std(0), np.array([ord(line[0]) - 65 for line in lines])


def inputs(name, data):
    """Rows, targets, weights and a direction of a case: random ones, or letter's with a net that Adam trained."""
    nodes, rows, loss = CASES[name][:3]
    rng = np.random.default_rng(1)
    x, chosen = rng.standard_normal((rows, nodes[0])), rng.integers(0, nodes[-1], rows)
    w = np.concatenate([rng.uniform(-1, 1, (n, i + 1)).ravel() / np.sqrt(i) for i, n in zip(nodes, nodes[1:])])
    if name == "letter, trained":
        x, chosen = (part[:rows] for part in letter(data))
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


def program(command, error):
    """Runs a program that prints lines, of which error makes the test error after an epoch, None before the first: milliseconds to the end of the
    first from the first None to the goal, epochs to it, the most memory in MB, and the foreign load."""
    before, began, ready, first, reached, epochs = busy(), time.time(), None, None, None, 0
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in process.stdout:
        now, wrong = time.time(), error(line)
        if wrong is None:
            ready = ready or now
            continue
        epochs, first = epochs + 1, first or now - began
        if wrong <= GOAL:
            reached = now - ready
            break
    process.stdout.close()
    os.kill(process.pid, signal.SIGKILL)  # not process.kill, which may wait itself
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    if first is None:
        sys.exit(f"{' '.join(command)}: expected an epoch")
    foreign = max(0, busy() - before - used.ru_utime - used.ru_stime) / (time.time() - began) / CORES
    return dict(start=1e3 * first, goal=1e3 * reached if reached else np.inf, epochs=epochs, memory=used.ru_maxrss / 1024, foreign=foreign)


def programs(name, dtype, o):
    """The lines of the table of programs from beginning to end, which train the letter net by Adam, set alike."""
    nodes, rows, folder = [16, 70, 50, 26], 16000, f"{o.work}/programs"
    os.makedirs(folder, exist_ok=True)
    x, chosen = letter(o.data)
    t, rng = np.eye(26)[chosen], np.random.default_rng(1)
    w = np.concatenate([rng.uniform(-1, 1, (n, i + 1)).ravel() / np.sqrt(i) for i, n in zip(nodes, nodes[1:])])
    for key, numbers in dict(x=x[:rows], t=t[:rows], w=w, v=w).items():
        numbers.tofile(f"{folder}/{key}.bin")
    for key, numbers in dict(x=x[rows:], t=t[rows:]).items():
        numbers.tofile(f"{folder}/test-{key}.bin")

    def ours(line):
        event = json.loads(line)
        return event["test_error"] if event["type"] == "epoch" and event["epoch"] else None

    json.dump(dict(nodes=nodes, rows=rows, loss="cross", batches=[BATCH], steps=EPOCHS, adam=[RATE, BETA2, DECAY, EPOCHS * (rows // BATCH)]),
              open(folder + "/case.json", "w"))
    sides, took = {}, {}
    methods = {"adam": {"rate": RATE, "batch": BATCH, "beta2": BETA2, "weight-decay": DECAY, "horizon": EPOCHS},
               "soap": {"rate": .025, "batch": 256, "warmup": .2, "weight-decay": .1, "horizon": 8}}  # of docs/race.md too
    theirs = lambda line: None if line == "ready\n" else float(line)
    for n in sorted({1, CORES}):
        for method, settings in methods.items():
            sides[f"newtop {method}@{n}"] = ([
                o.newtop, "train", "--data", "letter", "--data-dir", o.data, "--validation", "0", "--net", "70-50", "--opt", method, "--set", "schedule=linear",
                *sum((["--set", f"{key}={value}"] for key, value in settings.items()), []), "--epochs", str(settings["horizon"]),
                "--precision", dtype, "--threads", str(n), "--record", "off", "--format", "jsonl", "--seed"], ours)
        for kind in "module", "hand":
            sides[f"torch {kind}@{n}"] = ([o.torch, HERE + "/torch_side.py", folder, dtype, str(n), kind], theirs)
        sides[f"jax scan@{n}"] = ([o.jax, HERE + "/jax_side.py", folder, dtype, str(n), "scan"], theirs)
    for seed in range(1, 1 + 3 * o.rounds):
        for side, (command, error) in sides.items():
            tries = []
            while len(tries) < 4 and not (tries and tries[-1]["foreign"] < o.load):
                tries.append(program([*command, str(seed)], error))
            took.setdefault(side, []).append(min(tries, key=lambda row: row["foreign"]))
        print(f"{name}, {dtype}: seed {seed}, foreign load at most {max(rows[-1]['foreign'] for rows in took.values()):.2f}", file=sys.stderr)
    for what, method, label in [("start", "adam", "first epoch done"), ("goal", "adam", "to a test error of 5 %"),
                                ("goal", "soap", "to a test error of 5 %, newtop by soap"), ("memory", "adam", "memory, MB")]:
        of = {side: statistics.median(row[what] for row in rows) for side, rows in took.items()}
        best = lambda sides: min((v, side) for side, v in of.items() if re.match(sides, side))
        (own, threads), (peer, who) = best(f"newtop {method}"), best("torch|jax")
        yield dict(case=name, dtype=dtype, what=label, newtop=own, threads=threads, peer=peer, who=who, ratio=own / peer,
                   load=max(row["foreign"] for rows in took.values() for row in rows),
                   all=of | {f"{side}, epochs": statistics.median(row["epochs"] for row in rows) for side, rows in took.items()})


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
    for flag in ("work", "data", "bench", "newtop", "torch", "jax"):
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
    whole = "letter, programs of Adam"
    for name, (*_, precisions, _) in [*CASES.items(), (whole, (["float32"], 0))]:
        for dtype in precisions:
            if not re.search(o.case, f"{name} {dtype}"):
                continue
            for i, r in enumerate((programs if name == whole else compare)(name, dtype, o)):
                worst = max(worst, r["load"])
                what = NAMES.get(r["what"], r["what"].replace("adam-", "batches of "))
                label = f"{name}, {dtype}: {what}" if i == 0 else f"– {what}"
                print(json.dumps(r) if o.json else f"| {label} | {short(r['newtop'])} | {short(r['peer'])} | {r['who']} | {r['ratio']:.2f} |", flush=True)
    if not o.json:
        print(f"\n{versions(o)}; foreign load at most {worst:.2f}. Each side had its best number of threads.")


if __name__ == "__main__":
    main()
