"""Trains with the libraries whose output the reader is tested on: python3 writers.py xgboost|tqdm|mlp|gbm|hgb|sgd|mnist."""
import sys


def rows(n=120):
    import random
    random.seed(1)
    x = [[random.random(), random.random()] for _ in range(n)]
    y = [int(a + b > 1) for a, b in x]
    return x, y


def xgboost():
    import numpy as np
    import xgboost as xgb
    x, y = map(np.array, rows())
    a, b = xgb.DMatrix(x[:80], y[:80]), xgb.DMatrix(x[80:], y[80:])
    xgb.train({"objective": "binary:logistic", "eval_metric": ["logloss", "error"], "nthread": 1}, a, 5,
              [(a, "train"), (b, "valid")])
    xgb.cv({"objective": "reg:squarederror", "nthread": 1}, a, 3, nfold=3, verbose_eval=True)


def tqdm():
    from tqdm import tqdm as bar
    for epoch in range(2):
        with bar(range(4), desc=f"Epoch {epoch}", ncols=80, mininterval=0, ascii=False) as b:
            for i in b:
                b.set_postfix(loss=1 / (1 + 4 * epoch + i), refresh=False)
                if i == 2:
                    bar.write(str({"loss": 0.5, "epoch": epoch + 0.75}), file=sys.stderr)


def sklearn(name):
    import numpy as np
    from sklearn import ensemble, linear_model, neural_network
    x, y = map(np.array, rows())
    {
        "mlp": lambda: neural_network.MLPClassifier((4,), max_iter=4, verbose=True, early_stopping=True, random_state=1),
        "gbm": lambda: ensemble.GradientBoostingClassifier(n_estimators=5, subsample=0.5, verbose=2, random_state=1),
        "hgb": lambda: ensemble.HistGradientBoostingClassifier(max_iter=3, verbose=1, early_stopping=True, random_state=1),
        "sgd": lambda: linear_model.SGDClassifier(max_iter=3, tol=None, verbose=1, random_state=1),
    }[name]().fit(x, y)


def mnist():
    """The lines of PyTorch's MNIST example, on random pictures."""
    import torch
    from torch import nn
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, y = torch.randn(640, 20), torch.randint(0, 3, (640,))
    net = nn.Linear(20, 3)
    step = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(1, 3):
        for i in range(10):
            loss = nn.functional.cross_entropy(net(x[64 * i:64 * i + 64]), y[64 * i:64 * i + 64])
            step.zero_grad()
            loss.backward()
            step.step()
            if i % 5 == 0:
                print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(epoch, 64 * i, 640, 10. * i, loss.item()))
        right = int((net(x).argmax(1) == y).sum())
        print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(
            nn.functional.cross_entropy(net(x), y).item(), right, 640, 100. * right / 640))


name = sys.argv[1]
{"xgboost": xgboost, "tqdm": tqdm, "mnist": mnist}.get(name, lambda: sklearn(name))()
