"""Both ends of the Hessian of one network by newtop and by other tools: the table in docs/own-model.md.

    python3 beside.py [TOOL...]

The network has 2,906 weights in float64, and 512 rows of 26 Gaussian classes; Adam has taken 100 steps. Each tool runs the lines that stand here, the
first for what it imports, and is told to find both ends to 1e-6. Errors are relative to the dense Hessian's; seconds are those of
CPU that the other lines take, the least of RUNS (3). They need:

    pip install torch scipy curvlinops-for-pytorch 'hessian-eigenthings>=1.0.0a5' PyHessian backpack-for-pytorch

and the program newtop, which NEWTOP names.
"""
import contextlib
import importlib.metadata
import io
import os
import resource
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "internal", "python"))
warnings.simplefilter("ignore")
import torch
from torch import nn

TOOLS = {
    "newtop": """
import newtop
top, low = newtop.spectrum(model, loss_fn, (x, y), k=1, threads=1).eigenvalues
""",
    "curvlinops-for-pytorch": """
import curvlinops, scipy
h = curvlinops.HessianLinearOperator(model, loss_fn, list(model.parameters()), [(x, y)]).to_scipy()
low, top = scipy.sparse.linalg.eigsh(h, 2, which="BE", tol=1e-6, return_eigenvectors=False)
""",
    "hessian-eigenthings": """
import hessian_eigenthings as he
h = he.HessianOperator(model, [(x, y)], he.supervised_loss(loss_fn))
top, low = (he.lanczos(h, k=1, which=end, max_iter=120, tol=1e-6).eigenvalues[0] for end in ("LA", "SA"))
""",
    "hessian-eigenthings, as it comes": """
import hessian_eigenthings as he
h = he.HessianOperator(model, [(x, y)], he.supervised_loss(loss_fn))
top, low = (he.lanczos(h, k=1, which=end).eigenvalues[0] for end in ("LA", "SA"))
""",
    "PyHessian": """
import pyhessian
(top,), _ = pyhessian.hessian(model, loss_fn, data=(x, y), cuda=False).eigenvalues(maxIter=10_000, tol=1e-6)
""",
    "PyHessian, as it comes": """
import pyhessian
(top,), _ = pyhessian.hessian(model, loss_fn, data=(x, y), cuda=False).eigenvalues()
""",
    "backpack-for-pytorch": """
import scipy; from backpack.hessianfree.hvp import hessian_vector_product
params, vector = list(model.parameters()), nn.utils.parameters_to_vector
def product(v):
    parts = [part.view_as(p) for part, p in zip(torch.as_tensor(v).split([p.numel() for p in params]), params)]
    return vector(hessian_vector_product(loss, params, parts, grad_params=gradient)).numpy()
loss = loss_fn(model(x), y)
gradient = torch.autograd.grad(loss, params, create_graph=True)
h = scipy.sparse.linalg.LinearOperator([sum(p.numel() for p in params)] * 2, product, dtype="float64")
low, top = scipy.sparse.linalg.eigsh(h, 2, which="BE", tol=1e-6, return_eigenvectors=False)
""",
}


def network():
    torch.manual_seed(0)
    y = torch.arange(512) % 26
    x = torch.randn(26, 16)[y] + torch.randn(512, 16)
    model, loss_fn = nn.Sequential(nn.Linear(16, 36), nn.Tanh(), nn.Linear(36, 36), nn.Tanh(), nn.Linear(36, 26)), nn.CrossEntropyLoss()
    adam = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(100):
        adam.zero_grad()
        loss_fn(model(x), y).backward()
        adam.step()
    adam.zero_grad()
    return {"model": model, "loss_fn": loss_fn, "x": x, "y": y, "torch": torch, "nn": nn}


def dense(model, loss_fn, x, y, **_):
    """The largest and smallest eigenvalue of the Hessian as a matrix of all its entries."""
    params, flat = list(model.parameters()), lambda tensors: torch.cat([t.reshape(-1) for t in tensors])
    g = flat(torch.autograd.grad(loss_fn(model(x), y), params, create_graph=True))
    h = torch.stack([flat(torch.autograd.grad(e, params, retain_graph=True)) for e in g])
    return torch.linalg.eigvalsh((h + h.T) / 2)[[-1, 0]].tolist()


def cpu():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    given = network()
    truth = dense(**given)
    print(f"{sum(p.numel() for p in given['model'].parameters())} weights, PyTorch {torch.__version__}, the dense Hessian's ends {truth[0]:.10f} and {truth[1]:.10f}")
    print(f"{'':36} error of max  of min  CPU seconds  lines")
    for name, text in TOOLS.items():
        package, _, how = name.partition(", ")
        if sys.argv[1:] and package not in sys.argv[1:]:
            continue
        first, *rest = text.strip().split("\n")
        try:
            known, version = dict(given), importlib.metadata.version(package) if package != "newtop" else ""
            exec(first, known)
            code, seconds = compile("\n".join(rest), name, "exec"), []
            for _ in range(int(os.environ.get("RUNS", "3"))):
                torch.manual_seed(1)
                began = cpu()
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(code, known)
                seconds.append(cpu() - began)
        except Exception as error:
            print(f"{name:36} {type(error).__name__}: {error}")
            continue
        errors = [f"{abs(float(known[end]) / t - 1):8.0e}" if end in known else f"{'–':>8}" for end, t in zip(("top", "low"), truth)]
        print(f"{' '.join(filter(None, (package, version, how))):40} {'  '.join(errors)} {min(seconds):10.2f} {len(rest) + 1:9}", flush=True)
        known["model"].zero_grad()


if __name__ == "__main__":
    main()
