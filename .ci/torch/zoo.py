"""Models as people write them: the largest and smallest eigenvalue of each one's Hessian by newtop.spectrum, held to truth in float64.

    python3 zoo.py [NAME...]      all by default. Those of zoo_torch.py where there is PyTorch, of zoo_jax.py where there is JAX

The truth shares nothing with newtop: autograd in float64, as a dense matrix of at most 400 weights and else by ARPACK on products.
A model is right if both ends are within the ± that newtop states, or if it is refused in one line with the words that it should be.
NEWTOP names the program.
"""
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "internal", "python"))
warnings.simplefilter("ignore")
import numpy as np

import newtop

DENSE = 400


def ends(product, n):
    """The largest and smallest eigenvalue of the symmetric matrix that product multiplies by."""
    if n <= DENSE:
        h = np.array([product(e) for e in np.eye(n)])
        apart = np.abs(h - h.T).max() / max(np.abs(h).max(), 1e-300)
        assert apart < 1e-5, f"the truth is not symmetric, by {apart:.0e}"
        values = np.linalg.eigvalsh((h + h.T) / 2)
        return values[-1], values[0]
    from scipy.sparse.linalg import LinearOperator, eigsh
    operator, start = LinearOperator((n, n), matvec=product, dtype=np.float64), np.random.default_rng(0).normal(size=n)
    return [eigsh(operator, 1, which=end, v0=start, tol=1e-10, maxiter=100 * n, return_eigenvectors=False)[0] for end in ("LA", "SA")]


class Timer:
    """The times that a method of objects takes; that of what follows it belongs to the same product."""

    def __init__(self):
        self.times = []

    def of(self, owner, first, *after):
        for name in first, *after:
            setattr(owner, name, self.timed(getattr(owner, name), name == first))

    def timed(self, inner, new):
        def call(*args):
            began = time.perf_counter()
            result = inner(*args)
            took = 1e3 * (time.perf_counter() - began)
            if new:
                self.times.append(took)
            elif self.times:
                self.times[-1] += took
            return result
        return call


def timers_of(kind):
    """Timers of products and of gradients, of all objects of a class made from now on."""
    products, gradients, made = Timer(), Timer(), kind.__init__

    def init(self, *args):
        made(self, *args)
        products.of(self, "hv", "write")  # which waits for what JAX computes
        gradients.of(self, "grad")

    kind.__init__ = init
    return products, gradients


def per_product(products, gradients):
    """Milliseconds, of two gradients where there are no products."""
    return float(np.median(products.times)) if products.times else 2 * float(np.median(gradients.times))


def missing(needs):
    """The first of some requirements, as transformers>=4.40, that is not there."""
    for need in needs:
        name, _, least = need.partition(">=")
        try:
            have = importlib.metadata.version({"haiku": "dm-haiku"}.get(name, name))
        except importlib.metadata.PackageNotFoundError:
            return need
        if [int(x) for x in re.findall(r"\d+", have)[:2]] < [int(x) for x in re.findall(r"\d+", least)]:
            return need
    return ""


def judge(case, spectrum, timers, truth):
    """What newtop says of a case, what is true, and what is wrong with it; and whether that is as it should be."""
    for timer in timers:
        timer.times.clear()
    try:
        s = spectrum(case)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        ok = bool(case.refused) and "\n" not in str(error) and re.search(case.refused, str(error)) is not None
        return f"{'refused: ' + str(error) if ok else said}", ok
    if case.refused:
        return f"{s}: expected to be refused with {case.refused!r}", False
    (top, low), n = truth(case)
    errors = abs(s.eigenvalues[0] - top), abs(s.eigenvalues[-1] - low)
    ok, notes = all(e <= b for e, b in zip(errors, s.bounds[[0, -1]])), " ".join(s.notes)
    line = (f"{n:7} {s.eigenvalues[0]:13.7g} ±{s.bounds[0]:.0e} {s.eigenvalues[-1]:13.5g} ±{s.bounds[-1]:.0e} "
            f"{top:13.7g} {low:13.5g} {max(errors) / max(abs(top), abs(low), 1e-300):8.0e} {per_product(*timers):8.2f}")
    for wrong, words in ((not ok, "beyond its ±"), (case.noted and not re.search(case.noted, notes), f"no word of {case.noted!r} in {notes!r}"),
                         (s.differences != case.differences, "from differences" if s.differences else "not from differences"),
                         (s.bounds[0] > case.within * max(abs(top), abs(low)), "± is wide")):
        if wrong:
            line, ok = line + "  " + words, False
    return line + ("  from differences" if ok and s.differences else ""), ok


def main():
    if not os.environ.get("NEWTOP"):
        place = tempfile.TemporaryDirectory()
        os.environ["NEWTOP"] = os.path.join(place.name, "newtop")
        subprocess.run(["go", "build", "-o", os.environ["NEWTOP"], "."], cwd=os.path.join(HERE, "..", ".."), check=True)
    failed, count, names = [], 0, set(sys.argv[1:])
    for kind in "torch", "jax":
        if importlib.util.find_spec(kind) is None:
            continue
        zoo = importlib.import_module("zoo_" + kind)
        print(f"{zoo.title():36} weights    newtop's max               min                     true max      true min    error  ms a product")
        for case in zoo.cases:
            if names and case.name not in names:
                continue
            if missing(case.needs):
                print(f"{case.name:36} skipped: there is no {missing(case.needs)}", flush=True)
                continue
            try:
                zoo.begin(case)
                line, ok = judge(case, zoo.spectrum, zoo.timers, zoo.truth)
            except Exception as error:
                line, ok = f"{type(error).__name__}: {error}", False
            count += 1
            print(f"{case.name:36} {line}{'' if ok else '   WRONG'}", flush=True)
            failed += [] if ok else [case.name]
    print(f"{count - len(failed)} of {count} right" + (": not " + ", ".join(failed) if failed else ""))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
