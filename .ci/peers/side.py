"""What the sides of peers share: a problem read from its folder, and the answers to what compare.py asks for."""
import json, sys, time
import numpy as np


class Problem:
    def __init__(self, folder, dtype):
        self.folder, case = folder, json.load(open(folder + "/case.json"))
        self.nodes, self.rows, self.loss, self.batches, self.most = (case[key] for key in ("nodes", "rows", "loss", "batches", "steps"))
        self.start, self.beta2, self.decay, self.horizon = case.get("adam", (1e-3, .999, 0, None))
        self.layers, self.dtype = len(self.nodes) - 1, dtype
        read = lambda name: np.fromfile(f"{folder}/{name}.bin").astype(dtype)
        self.x, self.t = read("x").reshape(self.rows, -1), read("t").reshape(self.rows, -1)
        self.w, self.v = read("w"), read("v")

    def split(self, flat):
        """The weights and biases of each layer, from newtop's flat vector, which may be of any library."""
        parts, at = [], 0
        for inputs, nodes in zip(self.nodes, self.nodes[1:]):
            middle, end = at + nodes * inputs, at + nodes * inputs + nodes
            parts.append((flat[at:middle].reshape(nodes, inputs), flat[middle:end]))
            at = end
        return parts

    def bends(self, layer):
        """Whether a layer has tanh."""
        return layer < self.layers - 1 or self.loss == "squared"

    def steps(self, batch):
        return min(self.most, self.rows // batch)

    def rate(self, step):
        """Adam's, which falls to 0 with the last step of the horizon, if there is one."""
        return self.start * (1 - step / self.horizon) if self.horizon else self.start

    def held_out(self):
        """Rows of the test, and their classes."""
        read = lambda name: np.fromfile(f"{self.folder}/test-{name}.bin")
        t = read("t").reshape(-1, self.nodes[-1])
        return read("x").astype(self.dtype).reshape(len(t), -1), t.argmax(1)


def whole(epochs, epoch, outputs, classes):
    """A training from beginning to end: a line when it can begin, and the share of wrong test rows after each epoch."""
    print("ready", flush=True)
    for _ in range(epochs):
        epoch()
        print((np.asarray(outputs()).argmax(1) != classes).mean(), flush=True)
    sys.exit()


def largest(problem, prepare, product, products):
    """The five largest eigenvalues to 1e-6, by the peers' own solver; products gets how many it took."""
    from scipy.sparse.linalg import LinearOperator, eigsh
    n, start = len(problem.w), np.random.default_rng(0).standard_normal(len(problem.w))

    def run():
        keep = prepare()
        products[0] = 0

        def multiply(v):
            products[0] += 1
            return product(keep, v)
        return np.sort(eigsh(LinearOperator((n, n), multiply, dtype=float), 5, which="LA", tol=1e-6, v0=start, return_eigenvectors=False))[::-1]
    return run


def answer(works):
    """works: name → (run, out, units): what is timed, what returns its numbers, and how many steps run takes."""
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "list":
            said = sorted(works)
        elif verb == "out":
            try:
                began = time.perf_counter()
                np.asarray(works[rest[0]][1](), dtype=np.float64).ravel().tofile(rest[1])
                said = {"first": time.perf_counter() - began}
            except Exception as error:  # a variant that its library refuses: the others go on
                said = {"error": repr(error)[:300]}
        else:
            run, _, units = works[rest[0]]
            run()
            took, began = [], time.perf_counter()
            while len(took) < 3 or time.perf_counter() - began < float(rest[1]):
                start = time.perf_counter_ns()
                run()
                took.append((time.perf_counter_ns() - start) / units)
            said = {"median": float(np.median(took)), "best": min(took)}
        print(json.dumps(said), flush=True)
