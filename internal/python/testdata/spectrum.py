"""Spectra of a small network in one call, held to the dense Hessian of torch; as a peer it serves the same network."""
import numpy
import torch
from torch import nn

import newtop

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()
x, t = torch.randn(60, 3).double(), torch.randint(2, (60,))
names, shapes = zip(*((n, p.shape) for n, p in model.named_parameters()))
w = torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def loss(w):
    parts = dict(zip(names, (v.view(s) for v, s in zip(w.split([s.numel() for s in shapes]), shapes))))
    return nn.functional.cross_entropy(torch.func.functional_call(model, parts, (x,)), t)


def holds(s, block):
    exact = numpy.linalg.eigvalsh(block)[::-1]
    for v, b in zip(s.eigenvalues, s.bounds):
        assert min(abs(exact - v)) <= b < 1e-5, (s, exact)
    assert abs(s.eigenvalues[0] - exact[0]) <= s.bounds[0], (s, exact)
    assert not s.differences and s.weights == len(block)


hessian = torch.autograd.functional.hessian(loss, w).numpy()
s = newtop.spectrum(model, nn.functional.cross_entropy, (x, t), k=2, vectors=True, density=True)
holds(s, hessian)
assert len(s.eigenvalues) == 4 and abs(s.loss - float(loss(w))) < 1e-12
assert numpy.abs(hessian @ s.vectors.T - s.vectors.T * s.eigenvalues).max() <= s.bounds.max()
assert abs(s.trace - numpy.trace(hessian)) < 5 * s.trace_error and len(s.density["grid"]) == len(s.density["values"])
layers = newtop.spectrum(model, nn.functional.cross_entropy, (x, t), k=1, ends="top", layers="*")
assert list(layers) == ["0", "2"] and len(layers["0"].eigenvalues) == 1
holds(layers["0"], hessian[:20, :20])
holds(layers["2"], hessian[20:, 20:])
for wrong in ({"layers": "none*"}, {"ends": "low"}):
    try:
        newtop.spectrum(model, nn.functional.cross_entropy, (x, t), **wrong)
    except RuntimeError as error:
        assert "expected" in str(error) and "\n" not in str(error), error
    else:
        raise AssertionError(wrong)
print("held")
newtop.serve(model, nn.functional.cross_entropy, (x, t))
