# Loss, gradient, Hv, Gauss-Newton v and five steps of AdamW of a small net with weight decay, label smoothing and class weights:
#   python3 generalize.py > generalize.json      (PyTorch 1.13)
import json

import torch

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
LAMBDA, EPSILON, DECAY, RATE = 0.05, 0.1, 0.2, 0.01
x = torch.randn(13, 4)
labels = torch.tensor([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
start = torch.nn.utils.parameters_to_vector(net.parameters()).detach().clone()
v = torch.randn_like(start)
shapes = [(p.shape, p.numel()) for p in net.parameters()]
counts = torch.bincount(labels).double()
rows = (len(labels) / (3 * counts))[labels]  # scikit-learn's class_weight="balanced"


def split(w):
    out, at = [], 0
    for shape, n in shapes:
        out.append(w[at:at + n].view(shape))
        at += n
    return out


def logits(w):
    a, b, c, d = split(w)
    return torch.tanh(x @ a.T + b) @ c.T + d


def of(z):
    each = torch.nn.functional.cross_entropy(z, labels, reduction="none", label_smoothing=EPSILON)
    return (rows * each).mean()


def penalty(w):
    return LAMBDA / 2 * sum((p ** 2).sum() for p in split(w) if p.dim() > 1)


def loss(w):
    return of(logits(w)) + penalty(w)


F = torch.autograd.functional
gradient = F.jacobian(loss, start)
hessian = F.hessian(loss, start)
j = F.jacobian(logits, start).reshape(-1, len(start))
curvature = F.hessian(lambda z: of(z.view(13, 3)), logits(start).reshape(-1))
gauss = j.T @ curvature @ j + F.hessian(penalty, start)

weights, biases = [p for p in net.parameters() if p.dim() > 1], [p for p in net.parameters() if p.dim() == 1]
adamw = torch.optim.AdamW([{"params": weights, "weight_decay": DECAY}, {"params": biases, "weight_decay": 0}], lr=RATE)
for _ in range(5):
    adamw.zero_grad()
    (of(net(x)) + LAMBDA / 2 * sum((p ** 2).sum() for p in weights)).backward()
    adamw.step()
end = torch.nn.utils.parameters_to_vector(net.parameters())

print(json.dumps({
    "x": x.tolist(), "labels": labels.tolist(), "start": start.tolist(), "v": v.tolist(),
    "l2": LAMBDA, "smoothing": EPSILON, "decay": DECAY, "rate": RATE,
    "data loss": of(logits(start)).item(), "loss": loss(start).item(), "gradient": gradient.tolist(), "hv": (hessian @ v).tolist(),
    "gnv": (gauss @ v).tolist(), "diagonal": gauss.diagonal().tolist(), "end": end.tolist(),
}, indent=1))
