"""Tunes four scripts with newtop, with Optuna's TPE and MedianPruner and with random search, on equal budgets of epochs. See ./run."""
import argparse, atexit, json, math, os, re, signal, statistics, subprocess, sys, time
import numpy as np, optuna

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {  # name: the program, its axes as --over has them, --by, what Optuna reads of a line, epochs of a trial
    "PyTorch": (["net.py"], ["opt=adam,sgd", "lr=1e-4..1:log", "momentum=0..0.99 if opt=sgd", "wd=1e-6..0.1:log", "hidden=8..64:log:int",
                             "batch=32,128"], "val_loss", r"epoch (\d+):.* val_loss (\S+)", 18),
    "XGBoost": (["boost.py"], ["eta=0.01..1:log", "depth=2..9:int", "child=0.1..30:log", "rows=0.3..1", "columns=0.3..1", "l2=1e-3..100:log"],
                "val-logloss", r"\[(\d+)\]\s+val-logloss:(\S+)", 45),
    "scikit-learn": (["linear.py"], ["loss=hinge,log_loss,modified_huber", "penalty=l2,l1", "alpha=1e-6..1:log", "eta=1e-3..10:log",
                                     "rate=constant,invscaling", "power=0.1..0.9 if rate=invscaling"],
                     "val_error", r"\[(\d+)/\d+\] val_error=(\S+)", 18),
    "Lightning": (["csvlog.py"], ["lr=1e-4..0.1:log", "hidden=8..64:log:int"], "val_loss", "", 96),  # steps; of newtop alone
    "awk": (["vowels.sh"], ["rate=1e-4..10:log", "decay=0..1", "momentum=0..0.99", "l2=1e-6..1:log"], "loss", r"epoch=(\d+) loss=(\S+)", 18),
}


def rows(folder, data):
    """Writes the rows of all scripts: 1,000 letters to train on and as many to judge by, scikit-learn's digits, 600 letters as text."""
    from sklearn.datasets import load_digits
    lines = open(data + "/letter-recognition.data").read().split()
    y = np.array([ord(line[0]) - 65 for line in lines])
    x = np.array([line[2:].split(",") for line in lines], "float32") / 8 - 1
    d = load_digits()
    dx, dy = (d.data / 16).astype("float32"), d.target
    np.savez(folder + "/data.npz", letters_x=x[:1000], letters_y=y[:1000], letters_vx=x[1000:2000], letters_vy=y[1000:2000],
             digits_x=dx[:1200], digits_y=dy[:1200], digits_vx=dx[1200:], digits_vy=dy[1200:])
    open(folder + "/rows.csv", "w").write("\n".join(lines[:600]) + "\n")


def serve(folder, python, *modules):
    """A process to fork a script's from, and how its scripts are run."""
    path = f"{folder}/{modules[0]}.sock"
    server = subprocess.Popen([python, HERE + "/fork.py", "serve", path, *modules], env=os.environ | {"TUNE_DATA": folder + "/data.npz"})
    atexit.register(server.kill)
    while not os.path.exists(path):
        time.sleep(.1)
    return [sys.executable, "-I", "-S", HERE + "/fork.py", path]


def newtop(case, runner, seed, epochs, folder, options):
    (script, *_), over, by, _, _ = CASES[case]
    keys = [o.split("=")[0] for o in over]
    args = ["{%s}" % k for k in keys] if script.endswith(".sh") else [w for k in keys for w in ("--" + k, "{%s}" % k)] + ["--seed", "{seed}"]
    log = ["--log", "{dir}"] if CASES[case][3] == "" else []
    args += ["--dir", "{dir}"] if log else []
    command = [options.newtop, "tune", *log, *(w for o in over for w in ("--over", o)), "--by", "min:" + by, "--most", str(epochs), "--seed", str(seed),
               "--name", f"{case}-{seed}-{time.time_ns()}", "--format", "json", "--jobs", "1", *options.flag, "--", *runner, HERE + "/" + script, *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    trials = json.loads(done.stdout or sys.exit(done.stderr))["trials"]
    return min(t["best"] for t in trials if isinstance(t["best"], float)), len(trials), sum(t["epochs"] for t in trials)


def suggest(trial, over, values):
    """Draws a value as an axis of --over says."""
    axis, _, condition = over.partition(" if ")
    key, _, text = axis.partition("=")
    if condition and values.get(condition.split("=")[0]) != condition.split("=")[1]:
        return
    text, *flags = text.split(":")
    low, ranged, high = text.partition("..")
    if not ranged:
        values[key] = trial.suggest_categorical(key, text.split(","))
    elif "int" in flags:
        values[key] = str(trial.suggest_int(key, int(low), int(high), log="log" in flags))
    else:
        values[key] = "%.4g" % trial.suggest_float(key, float(low), float(high), log="log" in flags)


def others(case, runner, seed, epochs, folder, sampler, pruner):
    (script, *_), over, _, line, _ = CASES[case]
    study = optuna.create_study(sampler=sampler, pruner=pruner)
    spent, best = 0, math.inf

    def objective(trial):
        nonlocal spent, best
        values, own = {}, math.inf
        for o in over:
            suggest(trial, o, values)
        args = list(values.values()) if script.endswith(".sh") else [w for k, v in values.items() for w in ("--" + k, v)] + ["--seed", str(seed)]
        with subprocess.Popen([*runner, HERE + "/" + script, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
            for text in p.stdout:
                if not (m := re.match(line, text)):
                    continue
                spent += 1
                value = float(m[2])
                if math.isfinite(value):
                    own, best = min(own, value), min(best, value)
                    trial.report(value, int(m[1]))
                if spent >= epochs or not math.isfinite(value) or trial.should_prune():
                    p.kill()
                    raise optuna.TrialPruned
        if own == math.inf:
            raise optuna.TrialPruned
        return own

    while spent < epochs:
        study.optimize(objective, n_trials=1)
    return best, len(study.trials), spent


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--newtop", default="newtop")
    p.add_argument("--torch", default=sys.executable, help="a Python with PyTorch")
    p.add_argument("--data", required=True, help="a folder with letter-recognition.data")
    p.add_argument("--folder", required=True, help="an empty folder")
    p.add_argument("--out", default="tune.jsonl", help="where results are appended, and read from")
    p.add_argument("--seeds", type=int, default=10, help="the last seed")
    p.add_argument("--first", type=int, default=1, help="seed")
    p.add_argument("--runs", type=int, default=12, help="the budget, in whole trials")
    p.add_argument("--cases", default=",".join(c for c in CASES if CASES[c][3]))
    p.add_argument("--of", default="newtop,optuna,random", help="which searches run; others are read from --out")
    p.add_argument("--flag", action="append", default=[], help="of newtop tune")
    p.add_argument("--brief", action="store_true", help="three trials of every script by newtop, which prints no table")
    o = p.parse_args()
    if o.brief:
        o.seeds, o.runs, o.of, o.cases, o.out = 1, 3, "newtop", ",".join(CASES), o.folder + "/tune.jsonl"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers end too
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows(o.folder, o.data)
    cases = o.cases.split(",")
    runners = {"awk": []}
    if {"PyTorch", "Lightning"} & {*cases}:
        runners["PyTorch"] = runners["Lightning"] = serve(o.folder, o.torch, "torch", "numpy", "torch._dynamo")
    if {"XGBoost", "scikit-learn"} & {*cases}:
        runners["XGBoost"] = runners["scikit-learn"] = serve(o.folder, sys.executable, "xgboost", "numpy", "sklearn.linear_model")
    ways = {"newtop": lambda *a: newtop(*a, o), "optuna": lambda *a: others(*a, optuna.samplers.TPESampler(seed=a[2]), optuna.pruners.MedianPruner()),
            "random": lambda *a: others(*a, optuna.samplers.RandomSampler(seed=a[2]), optuna.pruners.NopPruner())}
    with open(o.out, "a") as out:
        for seed in range(o.first, o.seeds + 1):
            for case in cases:
                for way in o.of.split(","):
                    best, trials, spent = ways[way](case, runners[case], seed, o.runs * CASES[case][4], o.folder)
                    out.write(json.dumps(dict(case=case, of=way, seed=seed, best=best, trials=trials, epochs=spent)) + "\n")
                    out.flush()
    if not o.brief:
        return table(o.out)
    for r in map(json.loads, open(o.out)):
        print(f"{r['case']}: {r['best']:.4g} by {r['trials']} trials")
        assert r["trials"] > 1, r


def table(path):
    """Prints means over seeds with their standard errors, and how often newtop was no worse."""
    results = {}
    for r in map(json.loads, open(path)):
        results[r["case"], r["of"], r["seed"]] = r
    print("| | newtop | TPE, MedianPruner | random | no worse than TPE, random |\n|---|---|---|---|---|")
    for case in sorted({c for c, _, _ in results}):
        seeds = [s for c, w, s in results if c == case and w == "newtop"]
        cells = []
        for way in ("newtop", "optuna", "random"):
            rs = [results[case, way, s] for s in seeds if (case, way, s) in results]
            v = [r["best"] for r in rs]
            if len(v) > 1:
                cells.append(f"{statistics.mean(v):.4g} ± {statistics.stdev(v) / len(v) ** .5:.2g}, {statistics.mean(r['trials'] for r in rs):.0f} trials")
        won = ["%d of %d" % (sum(results[case, "newtop", s]["best"] <= results[case, w, s]["best"] for s in seeds if (case, w, s) in results), len(seeds))
               for w in ("optuna", "random")]
        print("|", " | ".join([case, *cells, ", ".join(won)]), "|")


if __name__ == "__main__":
    main()
