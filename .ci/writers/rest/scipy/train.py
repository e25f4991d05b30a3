# SciPy: what its minimizers print, with f of each iteration from the callback.
import contextlib
import json
import operator
import os
import sys

import numpy as np

from scipy.optimize import Bounds, minimize, rosen, rosen_der, rosen_hess

start = np.array([-1.2, 1.0, 0.5, 2.0])
truth = {}


def rosenbrock(x):
    """f, and how often it was asked for."""
    rosenbrock.calls += 1
    return rosen(x)


def slope(x):
    """The gradient, of which the norm is kept."""
    gradient = rosen_der(x)
    slope.norm = np.linalg.norm(gradient)
    return gradient


def solve(name, method, columns, **settings):
    """Run one method with its prints in log/NAME (the console for None); columns are what it prints of its state."""
    points, steps = [], 0
    rosenbrock.calls = 0

    def callback(intermediate_result):
        nonlocal steps
        steps += 1
        points.extend((column, steps, float(of(intermediate_result))) for column, of in columns.items())

    with open("log/" + name, "w") if name else contextlib.nullcontext(sys.stdout) as f, contextlib.redirect_stdout(f):
        minimize(rosenbrock, start, method=method, jac=slope, callback=callback, **settings)
    truth["log/" + name if name else "console"] = points


columns = {"f val": "fun", "f evals": "nfev", "cg iter": "cg_niter", "tr radius": "tr_radius", "opt": "optimality"}
columns |= {"c viol": "constr_violation", "penalty": "constr_penalty", "barrier param": "barrier_parameter", "cg stop": "cg_stop_cond"}
columns = {column: operator.attrgetter(name) for column, name in columns.items()}
os.makedirs("log")
solve(None, "trust-constr", columns, hess=rosen_hess, bounds=Bounds(-2, 2), options={"verbose": 3})
columns = {"OBJFUN": lambda r: r.fun, "GNORM": lambda r: slope.norm, "FC": lambda r: rosenbrock.calls}
solve("slsqp.txt", "SLSQP", columns, options={"iprint": 2, "disp": True})
json.dump(truth, open("truth.json", "w"))
