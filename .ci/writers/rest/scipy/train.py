# SciPy: what its minimizers print, with f of each iteration from the callback.
import contextlib
import json
import os
import sys

import numpy as np

from scipy.optimize import Bounds, minimize, rosen, rosen_der, rosen_hess

start = np.array([-1.2, 1.0, 0.5, 2.0])
truth = {}


def solve(name, method, column="f", first=0, **settings):
    """Run one method with its prints in log/NAME (the console for None)."""
    points = []

    def callback(intermediate_result):
        points.append(float(intermediate_result.fun))

    with open("log/" + name, "w") if name else contextlib.nullcontext(sys.stdout) as f, contextlib.redirect_stdout(f):
        minimize(rosen, start, method=method, jac=rosen_der, callback=callback, **settings)
    truth["log/" + name if name else "console"] = [(column, first + i, v) for i, v in enumerate(points)]


os.makedirs("log")
solve(None, "trust-constr", "f val", 1, hess=rosen_hess, bounds=Bounds(-2, 2), options={"verbose": 3})
solve("slsqp.txt", "SLSQP", "OBJFUN", 1, options={"iprint": 2, "disp": True})
json.dump(truth, open("truth.json", "w"))
