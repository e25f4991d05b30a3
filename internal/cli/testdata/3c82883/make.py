"""Writes this folder with the program of commit 3c82883: python3 make.py /path/to/newtop

The record holds every kind of run, and expected.json.gz what that program says of it. Later programs have to say the same.
"""
import fcntl, gzip, json, os, pathlib, pty, re, select, shutil, signal, sqlite3, struct, subprocess, sys, termios, time

program, here = sys.argv[1], pathlib.Path(__file__).resolve().parent
work = pathlib.Path("/tmp/newtop-3c82883")  # which stands in the record
work.mkdir()
os.environ.update(NEWTOP_STATE_DIR=str(work / "state"), NEWTOP_CONFIG_DIR=str(work / "config"), TERM="xterm-256color", LANG="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
os.chdir(work)


def newtop(*args, code=0, db="runs.db", **more):
    done = subprocess.run([program, *args] + (["--record", db] if db else []), capture_output=True, text=True, **more)
    assert done.returncode == code, (args, done.returncode, done.stdout[-500:], done.stderr)
    return done.stdout


def screen(steps, *args):
    """Runs the program in a terminal; a step waits for a text and presses keys."""
    pid, tty = pty.fork()
    if pid == 0:
        os.execv(program, [program, *args, "--record", "runs.db"])
    fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = ""
    for wanted, keys in steps:
        deadline = time.time() + 20
        while not re.search(wanted, seen):
            assert time.time() < deadline, (args, wanted, seen[-3000:])
            if select.select([tty], [], [], 0.1)[0]:
                seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", os.read(tty, 65536).decode(errors="replace"))
        time.sleep(0.3)
        seen = ""
        os.write(tty, keys.encode())
    while True:
        try:
            if not os.read(tty, 65536):
                break
        except OSError:
            break
    os.waitpid(pid, 0)


def query(text, file="runs.db"):
    db = sqlite3.connect(file, isolation_level=None)
    try:
        return db.execute(text).fetchall()
    finally:
        db.close()


# Tables, a network and a model of another program.
rows = [f"{i % 5},{('red', 'green', 'blue')[i % 3]},{i * 7 % 11},{i % 5 * 0.5 + i % 3 + (i * 13 % 7) * 0.1:.2f}" for i in range(60)]
(work / "table.csv").write_text("width,color,height,price\n" + "\n".join(rows) + "\n")
(work / "model.py").write_text("""import newtop

class Bowl:
    def start(self): return [3.0, -2.0]
    def loss(self, w): return (w[0] - 1) ** 2 + 4 * (w[1] - 2) ** 2
    def grad(self, w): return self.loss(w), [2 * (w[0] - 1), 8 * (w[1] - 2)]
    def hv(self, w, v): return [2 * v[0], 8 * v[1]]

newtop.serve_object(Bowl())
""")
(work / "log.jsonl").write_text("".join(json.dumps({"step": i, "loss": 2 / (i + 1), "val_loss": 2.5 / (i + 1) + 0.01 * i, "lr": 0.1}) + "\n" for i in range(8)))

train = ["train", "--threads", "1", "--seed", "3"]
spirals = [*train, "--data", "spirals", "--net", "4"]
newtop(*spirals, "--opt", "tr-newton", "--epochs", "4", "--spectrum-every", "2", "--name", "own", "--save", "own.safetensors")
newtop(*spirals, "--opt", "tr-gn", "--blocks", "2", "--epochs", "3", "--density", "--name", "density")
newtop(*spirals, "--opt", "adam", "--batch", "400", "--epochs", "5", "--validation", "0.2", "--name", "validated")
newtop(*spirals, "--opt", "scg", "--epochs", "3", "--folds", "3", "--committee", "3", "--name", "folds", "--save", "folds.onnx")
newtop(*train, "--data", "recipes", "--experts", "2x3", "--gate", "hue", "--opt", "tr-newton", "--epochs", "2", "--name", "mixture")
newtop(*train, "--data", "table.csv", "--target", "price", "--net", "3", "--opt", "lbfgs", "--epochs", "6", "--name", "table", "--save", "table.onnx")
newtop(*train, "--data", "table.csv", "--target", "color", "--net", "3", "--opt", "adam", "--l2", "0.001", "--precision", "float32", "--epochs", "4", "--name", "words", "--save", "words.safetensors")
newtop(*train, "--data", "sine", "--act", "identity", "--opt", "sgd", "--set", "rate=1e9", "--epochs", "30", "--name", "diverged", code=3)
newtop(*spirals, "--opt", "kfac", "--epochs", "400", "--target-error", "0.4", "--name", "target")
newtop(*train, "--model", "model.py", "--opt", "tr-newton", "--epochs", "3", "--name", "bowl")
newtop("watch", "log.jsonl", "--save", "watched", "--once", "--format", "text")

# One that is killed, one that is stopped in the middle of its work.
killed = subprocess.Popen([program, *train, "--data", "letters", "--net", "4", "--opt", "tr-newton", "--epochs", "100000", "--name", "killed", "--record", "runs.db"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while True:
    time.sleep(0.02)
    if query("SELECT 1 FROM checkpoints c JOIN runs r USING (run) WHERE r.name = 'killed' AND c.epoch > 2"):
        break
killed.send_signal(signal.SIGKILL)
killed.wait()

# A race, forked on the screen; a note, tags and preferences.
screen([("epochs done", "f"), ("1 racer so far", "\x1b[B "), ("B tr-gn", "\r"), ("race over|over|goes on", "\r"), ("epochs done", "q")],
       *spirals[1:], "--opt", "tr-gn", "--epochs", "3", "--name", "raced")
screen([("newest first", "/own\r"), ("/own", "n"), ("note on own", "slow at first\r"), (".", "t"), ("tags", "keep small\r"), (".", "s"), (".", "T"), (".", "g"), (".", "M"), (".", "C"), ("columns|shown|▸", " \r"), (".", "q")], "runs")
screen([("watched|loss", "x"), (".", "x"), (".", "q")], "watch", "watched")
newtop("runs", "rename", "target", "renamed")

# Searches: one whole, one in two shards, which are merged.
tune = ["tune", "--data", "spirals", "--net", "3", "--seed", "5", "--parallel", "1", "--threads", "1", "--over", "rate=1e-3..1e-1:log", "--opt", "adam", "--format", "json", "--finals", "1"]
newtop(*tune, "--trials", "4", "--trial", "12", "--name", "search")
newtop("tune", *tune[1:], "--trials", "2", "--trial", "6", "--name", "sweep", "--shard", "1/2", db="sweep-1of2.db")
newtop("tune", *tune[1:], "--trials", "2", "--trial", "6", "--name", "sweep", "--shard", "2/2", db="sweep-2of2.db")
newtop("runs", "merge", "sweep-1of2.db", "sweep-2of2.db")
newtop(*train, "--data", "table.csv", "--target", "price", "--net", "2", "--opt", "tr-gn", "--epochs", "2", "--name", "newest")

query("PRAGMA journal_mode=DELETE")
query("VACUUM")
for shard in "sweep-1of2.db", "sweep-2of2.db":
    query("PRAGMA journal_mode=DELETE", shard)
for file in "runs.db", "sweep-1of2.db", "sweep-2of2.db":
    (here / (file + ".gz")).write_bytes(gzip.compress(pathlib.Path(file).read_bytes(), 9, mtime=0))
for file in "table.csv", "own.safetensors", "words.safetensors", "folds.onnx", "table.onnx", "config/ui.toml":
    shutil.copy(file, here)

# What the program says of them, in this order: the later commands change the record.
names = [n for n, in query("SELECT name FROM runs ORDER BY run")]
had = query("SELECT max(epoch) FROM epochs e JOIN runs r USING (run) WHERE r.name = 'killed'")[0][0]
own = [n for n in names if not n.startswith("s")]
commands = ["runs list --trials --format json", "runs list --trials --format csv", "tune list --format json", "runs check"]
commands += [f"runs show {n} --format json" for n in own]
commands += [f"runs export {n} --format {f}" for n in own for f in ("jsonl", "csv") if n + f != "killedjsonl"]
commands += [f"tune show {n} --format {f}" for n in ("search", "sweep") for f in ("json", "text")]
commands += ["runs compare own density raced --format text", "runs compare table newest --format json", "runs compare own validated folds --reach 0.45 --format json"]
commands += [f"runs export {n} --format {f} -o {n}-exported.{f}" for n, f in (("words", "safetensors"), ("mixture", "safetensors"), ("folds", "onnx"))]
commands += ["predict own.safetensors spirals", "predict folds.onnx spirals --format jsonl", "predict table.onnx table.csv", "predict words.safetensors table.csv"]
commands += ["predict words-exported.safetensors table.csv", "predict mixture-exported.safetensors recipes", "predict folds-exported.onnx spirals", "predict validated", "predict killed --worst 3"]
commands += [f"resume {n} --threads 1 --format jsonl --epochs {e}" for n, e in (("killed", had + 2), ("own", 6), ("density", 5), ("validated", 8), ("folds", 4), ("mixture", 3), ("table", 8), ("raced", 13))]
commands += ["watch watched --once --format jsonl", "runs rm search.1 sweep-1of2.2 --yes", "runs merge sweep-1of2.db sweep-2of2.db", "tune show sweep --format json"]
said = []
for c in commands:
    args = c.split()
    says = newtop(*args, db=None if args[0] == "predict" and "." in args[1] else "runs.db").splitlines(keepends=True)
    if args[0] == "predict":
        says = says[:21]
    if args[0] == "resume":
        says = [line for line in says if '"type":"epoch"' in line]
    said.append({"command": c, "says": "".join(says)})
(here / "expected.json.gz").write_bytes(gzip.compress(json.dumps(said, indent=1).encode(), 9, mtime=0))
shutil.rmtree(work)
