"""Log a training run from any loop, in one line, and watch it with newtop; or give newtop the model itself.

    import newtop
    newtop.log(loss=loss, val_loss=val_loss)

Then `python3 train.py | newtop watch -`, or `newtop watch newtop.jsonl` in another terminal. Each call writes a JSON object
on a line of its own. Where the lines go:

    NEWTOP_LOG=FILE      appended to FILE, which may be a named pipe;
    a pipe or a file     to standard output, if that is neither a terminal nor a notebook;
    else                 appended to newtop.jsonl in the working directory.

Of several processes (torchrun, Slurm, MPI) the one of rank 0 writes; with NEWTOP_ALL_RANKS=1 the others write too, each
to a file of its own. Nothing here raises into your loop: if a line can't be written, that is said once on standard
error, and then nothing more is written. The file needs Python 3.8 and no other module.
"""
from __future__ import annotations

import atexit
import json
import math
import os
import sys
import threading
import time
import weakref
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Tuple


def log(data: Optional[Mapping[str, Any]] = None, /, *, step: Any = None, **values: Any) -> None:
    """Write numbers by their names: log(loss=0.5) or log({"train/loss": 0.5}, step=100).

    A value is a number, or a tensor or array of one. Mappings within mappings get names with / between. Without a step the
    calls are counted from 1. Calls with the same step belong together.
    """
    _writer.safely(_writer.log, data, step, values)


def run(name: Optional[str] = None, config: Any = None, epochs: Optional[int] = None) -> None:
    """Begin a run with a name, its settings (a mapping or an argparse.Namespace), and how many epochs or steps it will have.

    It is not needed: the first log() begins a run that has the program's name. Another call begins another run.
    """
    _writer.safely(_writer.begin, name, config, epochs)


def watch(model: Any, every: int = 1, name: str = "") -> None:
    """Have log() add the norms of a torch module's gradients and weights: grad_norm, and grad_norm/BLOCK and weight_norm/BLOCK
    of each of its top-level blocks, each with NAME/ before it if there is a name.

    Gradients are measured as the optimizer gets them, at each EVERY-th of its steps, or at log() where torch is older than 2.0;
    there, call log() before zero_grad(). It takes about as long as one pass over the weights and the gradients. Of a
    sharded model the norms are of this process's shard. Any object will do that has named_parameters(), with .grad and
    .detach().norm().
    """
    _writer.safely(lambda: _writer.watched.append(_Norms(model, max(1, int(every)), name + "/" if name else "")))


class _Norms:
    """The norms of a model. What a device computes is waited for in log(), not within the step."""

    def __init__(self, model: Any, every: int, prefix: str) -> None:
        self.model, self.every, self.prefix, self.calls = weakref.ref(model), every, prefix, 0
        self.newest: Optional[Tuple[List[str], Any, Any]] = None
        register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_pre_hook", None)
        self.hook = register(self._stepping) if register is not None else None

    def _stepping(self, optimizer: Any, *_: Any) -> None:
        """Measure before a step of an optimizer that has the model's first parameter."""
        model = self.model()
        first = next((p for _, p in model.named_parameters()), None) if model is not None else None
        if first is not None and not _writer.silent and any(p is first for g in optimizer.param_groups for p in g["params"]):
            self.measure()

    def measure(self) -> None:
        self.calls += 1
        model = self.model()
        if model is None or self.calls % self.every:
            return
        try:
            pairs = [(n, p) for n, p in model.named_parameters() if getattr(p, "grad", None) is not None]
            if pairs:
                gradients = _norms([getattr(p.grad, "detach", lambda: p.grad)() for _, p in pairs])
                self.newest = _blocks([n for n, _ in pairs]), gradients, _norms([p.detach() for _, p in pairs])
        except Exception as error:
            self.model = lambda: None
            _say(f"watch: {error!r}: no more norms")

    def add(self, row: Dict[str, Any]) -> None:
        if self.hook is None:
            self.measure()
        if self.newest is None:
            return
        (blocks, *both), self.newest = self.newest, None
        for kind, norms in zip(("grad_norm", "weight_norm"), both):
            squares: Dict[str, float] = {}
            for block, n in zip(blocks, norms.tolist() if hasattr(norms, "tolist") else map(float, norms)):
                squares[block] = squares.get(block, 0.0) + n * n
            if kind == "grad_norm":
                row[self.prefix + kind] = math.sqrt(sum(squares.values()))
            row.update({f"{self.prefix}{kind}/{block}": math.sqrt(square) for block, square in squares.items()})


def _norms(tensors: List[Any]) -> Any:
    with suppress(Exception):  # no torch, sparse ones, or on several devices
        torch = sys.modules["torch"]
        return torch.stack(torch._foreach_norm(tensors))
    return [t.norm() for t in tensors]


def _blocks(names: List[str]) -> List[str]:
    """The part of each parameter's name at which the names begin to differ."""
    parts, depth = [n.split(".") for n in names], 0
    while all(len(p) > depth + 1 for p in parts) and len({p[depth] for p in parts}) == 1:
        depth += 1
    return [p[depth] for p in parts]


class _Writer:
    """The run that is written, by one process; its lock makes lines whole and steps count once."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.fd, self.pid, self.silent, self.begun = -1, 0, False, False
        self.began, self.step, self.runs = time.monotonic(), 0, 0
        self.how = ("epochs", "")  # the run will have ended
        self.left_out: set = set()
        self.watched: List[_Norms] = []

    def safely(self, do: Any, *args: Any) -> None:
        with self.lock:
            try:
                if not self.silent:
                    do(*args)
            except Exception as error:
                self.silent = True
                _say(f"{error or repr(error)}: nothing more is logged")

    def log(self, data: Optional[Mapping[str, Any]], step: Any, values: Mapping[str, Any]) -> None:
        told: Dict[str, Any] = {}
        self._flatten("", data or {}, told)
        self._flatten("", values, told)
        if step is not None:
            self._flatten("", {"step": step}, told)
        step = told.pop("step", None)
        if not self.begun:
            self.begin(None, None, None)
        if self.silent:
            return
        self.step = step if isinstance(step, (int, float)) and math.isfinite(step) else self.step + 1
        row = {"step": self.step, "elapsed": round(time.monotonic() - self.began, 3), **told}
        for norms in self.watched:
            norms.add(row)
        self._write(row)

    def _flatten(self, prefix: str, data: Mapping[str, Any], out: Dict[str, Any]) -> None:
        for key, value in data.items():
            key = f"{prefix}{key}"
            if isinstance(value, Mapping):
                self._flatten(key + "/", value, out)
            elif value is not None:
                try:
                    out[key] = _plain(value)
                except Exception:
                    if key not in self.left_out:
                        _say(f"log: {key} is a {type(value).__name__} and not one number: it is left out")
                    self.left_out.add(key)

    def begin(self, name: Optional[str], config: Any, epochs: Optional[int]) -> None:
        self.end()
        self._open()
        if self.silent:
            return
        now, program = datetime.now(timezone.utc), os.path.basename((sys.argv or [""])[0])
        name = str(name or (program if program not in ("", "-c") else "python"))
        self.runs, self.step, self.began, self.how, self.begun = self.runs + 1, 0, time.monotonic(), ("epochs", ""), True
        line = {"type": "run", "version": 1, "id": f"{name}-{now:%Y%m%d-%H%M%S}-{os.getpid()}-{self.runs}",
                "time": now.isoformat(timespec="seconds"), "data": {"name": name}}
        if config is not None:
            line["settings"] = {str(k): v for k, v in (config if isinstance(config, Mapping) else vars(config)).items()}
        if epochs is not None:
            line["epochs"] = int(epochs)
        self._write(line)

    def end(self) -> None:
        """Say that the run is over, if this process began one."""
        if self.begun and self.pid == os.getpid():
            self.begun = False
            reason, message = self.how
            line = {"type": "done", "reason": reason, "epochs": int(self.step), "elapsed": round(time.monotonic() - self.began, 3)}
            self._write({**line, "message": message} if message else line)

    def _open(self) -> None:
        rank, named = _rank(), os.environ.get("NEWTOP_LOG")
        path = named or "newtop.jsonl"
        self.silent = rank > 0 and not os.environ.get("NEWTOP_ALL_RANKS")
        if self.silent or self.fd >= 0:
            return
        if rank > 0:
            path = "{0}.rank{2}{1}".format(*os.path.splitext(path), rank)
        elif not named and sys.stdout and sys.stdout is sys.__stdout__ and not sys.stdout.isatty():
            self.fd = sys.stdout.fileno()
        if self.fd < 0:
            self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            if not named:
                _say(f"writes to {path}: newtop watch {path}")
        self.pid, previous = os.getpid(), sys.excepthook

        def failed(kind: Any, value: Any, trace: Any) -> None:
            words = " ".join(f"{kind.__name__}: {value}".split())[:200]
            self.how = ("stopped", "") if issubclass(kind, KeyboardInterrupt) else ("failed", words)
            previous(kind, value, trace)

        sys.excepthook = failed
        atexit.register(self.safely, self.end)

    def _write(self, line: Dict[str, Any]) -> None:
        text = memoryview((json.dumps(line, default=str) + "\n").encode())  # NaN and Infinity as these words
        with suppress(Exception):
            sys.stdout.flush()  # what was printed before comes before
        while text:  # at once, without a buffer that a fork would double
            text = text[os.write(self.fd, text):]


def _plain(value: Any) -> Any:
    """A number, text or truth value as JSON has it."""
    if not isinstance(value, (bool, int, float, str)) and hasattr(value, "item"):
        value = value.item()
    return value if isinstance(value, (bool, int, float, str)) else float(value)


def _rank() -> int:
    """Which of the processes of a run this one is; 0 if it is the only one, or the first."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    ranks = (os.environ.get(key, "") for key in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"))
    return int(next(filter(str.isdigit, ranks), 0))


def _say(text: str) -> None:
    with suppress(Exception):
        print("newtop: " + text, file=sys.stderr, flush=True)


_writer = _Writer()
if hasattr(os, "register_at_fork"):  # the lock may be held by a thread that a child does not have
    os.register_at_fork(after_in_child=lambda: setattr(_writer, "lock", threading.RLock()))


# Models for newtop: what follows answers docs/peer.md. Logging needs nothing of it.

import array, copy, ctypes, hashlib, hmac, mmap, random, re, socket, stat, struct, traceback  # noqa: E401, E402
from contextlib import ExitStack, contextmanager, nullcontext  # noqa: E402


def serve(model: Any, loss_fn: Any = None, batch: Any = None, eval: Any = None, *, name: Optional[str] = None, rows: bool = True,
          outputs: Any = None, on_event: Any = None, listen: Optional[str] = None, sharing: str = "expand") -> Any:
    """Have newtop train a model: `newtop train --model model.py`. It returns the model with the final weights.

    PyTorch: batch is a pair (inputs, targets), and the loss loss_fn(model(inputs), targets), a mean over the rows; or anything else, and
    loss_fn(model, batch) returns the loss, or the loss and the outputs that it is a function of, which products with the Gauss-Newton matrix need.
    Without a loss_fn the loss is model(**batch).loss, as in transformers, or the second of model(*batch). batch may be a loader, as a DataLoader or a
    list of batches: all is exact over its rows then. eval is the test data, of the same kind: it is evaluated without dropout. rows=False forbids
    losses of some rows only. Weights that need no gradient stay as they are. sharing is how kfac takes a layer that sees many positions of a row, as
    a convolution: "expand" for each by itself, or "reduce" for their mean (Eschenhagen et al. 2023).

    JAX: serve(loss_fn, params, batch) with loss_fn(params, batch), or with outputs=net: loss_fn(net(params, inputs), targets); final params return.

    The random numbers that dropout draws are those that come when serve is called, in every evaluation, and no running average is updated. on_event
    is called with each event of the run, a dict. When the run is over the program goes on; it ends if newtop ends before. Without newtop it says how
    to run and returns. With listen=PATH it waits there for one newtop (`--model unix:PATH`).
    """
    sock = _connect(listen) if _rank() == 0 else None
    if sock is None:
        return model if hasattr(model, "named_parameters") else loss_fn
    with sock, _told(sock):
        what = _model(model, loss_fn, batch, eval, outputs, rows, sharing=sharing)
        _drive(sock, what, name, on_event)
    return (getattr(what, "finish", None) or what.model.params)()


def _model(model: Any, loss_fn: Any, batch: Any, test: Any = None, outputs: Any = None, rows: bool = True, observed: bool = False, sharing: str = "expand") -> Any:
    """What answers for a model of PyTorch or JAX, with a batch or with all of a loader's."""
    _check_arguments(model, loss_fn, batch, test)
    train, eval = (_read(x) if _is_loader(x) else None for x in (batch, test))
    first, other = train[0] if train else batch, eval[0] if eval else test
    if hasattr(model, "named_parameters"):
        what = _Torch(model, loss_fn, first, other, rows and train is None, observed)
        what.try_products(sharing)
    else:
        what = _Plain(_Jax(model, loss_fn, first, other, outputs, rows and train is None))
    return what if train is eval is None or getattr(what, "fatal", str)() else _Batches(what, train, eval, rows)


def serve_object(model: Any, *, name: Optional[str] = None, on_event: Any = None, listen: Optional[str] = None) -> Any:
    """Have newtop train whatever has these methods, in which vectors are flat: NumPy arrays if the program has imported NumPy, else array.array.

        start()              the first weights. Needed
        loss(w)              the mean loss over the rows, or a dict {"loss": …, "error_rate": …, "rmse": …}. Needed
        grad(w)              the loss, and its gradient
        rows_grad(w, rows)   the same of the mean over some rows
        hv(w, v), gnv(w, v)  the products of the Hessian and of the Gauss-Newton matrix at w with v
        diag(w)              the diagonal of the Gauss-Newton matrix
        eval(w)              as loss, over the test rows
        set(w)               is told the final weights

    What is missing newtop does without. An attribute `about`, a dict, tells more, by the keys of the protocol's hello: blocks, rows, test_rows,
    classes, outputs, loss, digest, findings, dtype ("F64", or "F32").
    """
    sock = _connect(listen) if _rank() == 0 else None
    if sock is not None:
        with sock, _told(sock):
            _drive(sock, _Plain(model), name, on_event)
    return model


def probe(model: Any, loss_fn: Any, batch: Any, every: int = 200, optimizer: Any = None, *, name: Optional[str] = None, pause: float = 1.0,
          listen: Optional[str] = None) -> "_Probe":
    """Let newtop look at the curvature of a model while your own loop trains it: `newtop watch -- python3 train.py`.

        probe = newtop.probe(model, loss_fn, batch, every=200, optimizer=optimizer)
        ...
        optimizer.step()
        probe.step(loss)

    batch and loss_fn are as for serve(): always the same batch, best without augmentation. The loop computes the same bits with and without it:
    weights, gradients, random numbers, running averages stay as they are. It stands still for no more than PAUSE seconds at a time, once newtop has
    tested the products. Without newtop it does nothing. A program may have several probes. With listen=PATH `newtop watch unix:PATH` comes and goes
    while the loop runs, in a notebook or a Slurm job too.
    """
    return _Probe(model, loss_fn, batch, max(1, int(every)), optimizer, name, pause, listen)


def spectrum(model: Any, loss_fn: Any = None, batch: Any = None, *, k: int = 3, ends: str = "both", of: str = "hessian", tolerance: float = 1e-6,
             density: bool = False, layers: Optional[str] = None, vectors: bool = False, outputs: Any = None, threads: int = 0, share: float = 1.0) -> Any:
    """The k largest and k smallest eigenvalues of the Hessian of the loss at the weights as they are.

        s = newtop.spectrum(model, loss_fn, (inputs, targets))
        s.eigenvalues, s.bounds

    model, loss_fn, batch and outputs are as for serve(), of PyTorch or JAX. Some eigenvalue lies within bounds[i] of
    eigenvalues[i], which go downwards; s.differences says where these are estimates. ends="top" has the largest alone;
    of="gauss-newton" that matrix; layers="blocks.*" a spectrum of the block of each layer that matches, in s.layers by name;
    share=0.1 is over a tenth of the rows, evenly spaced, of a loader in whole batches. With density, s.density has grid, values
    and errors, and s.trace and s.trace_error are the sum of all eigenvalues and its standard error. With vectors, s.vectors[i]
    is the i-th eigenvector. Arrays are NumPy's. It needs the program newtop: in PATH, beside this Python, or named by NEWTOP.
    """
    import numpy, tempfile  # noqa: E401
    what = _model(model, loss_fn, batch, None, outputs, rows=share < 1)  # else nothing is asked of some rows, which takes tests
    if getattr(what, "fatal", str)():
        raise RuntimeError(what.fatal())
    with tempfile.TemporaryDirectory(prefix="newtop") as place:
        file = os.path.join(place, "vectors.safetensors")
        lines = _ask(place, what, ["spectrum", "--format", "jsonl", f"--count={k}", f"--ends={ends}", f"--of={of}", f"--tolerance={tolerance!r}", f"--threads={threads}", f"--share={share}",
                                   *(["--density"] if density else []), *([f"--layers={layers}"] if layers else []), *(["--vectors", file] if vectors else [])])
        found = [_Spectrum(numpy, json.loads(line)) for line in lines]
        if vectors:
            with open(file, "rb") as f:
                size, = struct.unpack("<Q", f.read(8))
                heads = json.loads(f.read(size))
            for s in found:
                (begin, end), shape = (heads[s.layer or "all"][key] for key in ("data_offsets", "shape"))
                s.vectors = numpy.fromfile(file, "<f8", (end - begin) // 8, offset=8 + size + begin).reshape(shape)
    if not layers:
        return found[0]
    found[0].layers = {s.layer: s for s in found}
    return found[0].layers


class _Spectrum:
    """What spectrum() returns, from a line of `newtop spectrum --format jsonl`."""

    def __init__(self, numpy: Any, told: Dict[str, Any]) -> None:
        array = lambda values: numpy.array([float(v if v is not None else "nan") for v in values])
        self.eigenvalues, self.bounds, self.vectors = array(told["eigenvalues"]), array(told["residuals"]), None
        self.layer, self.weights, self.loss, self.products = told.get("layer", ""), told["weights"], float(told["loss"]), told["products"]
        self.differences, self.open, self.notes = told.get("differences", False), told.get("open", ""), told.get("notes", [])
        trace = told.get("trace") or {"value": "nan", "error": "nan"}
        self.trace, self.trace_error = (float(v if v is not None else "nan") for v in (trace["value"], trace["error"]))
        self.density = {key: array(told["density"][key]) for key in ("grid", "values", "errors")} if told.get("density") else None

    def __repr__(self) -> str:
        pairs = ", ".join(f"{v:.7g} ± {b:.0e}" for v, b in zip(self.eigenvalues, self.bounds))
        return f"<spectrum{' of ' + self.layer if self.layer else ''}: {pairs}>"


def _ask(place: str, what: Any, arguments: List[str]) -> List[str]:
    """Have the program newtop ask a model, and return the lines that it prints."""
    import shutil, subprocess, sysconfig  # noqa: E401
    program = os.environ.get("NEWTOP") or shutil.which("newtop") or shutil.which("newtop", path=sysconfig.get_path("scripts"))
    if not program:
        raise RuntimeError("the program newtop is not found: put it into PATH, or its path into the variable NEWTOP")
    path = os.path.join(place, "socket")
    accept = _door(path)
    with open(os.path.join(place, "out"), "w+b") as out, open(os.path.join(place, "err"), "w+b") as err:
        process = subprocess.Popen([program, *arguments, "--model", "unix:" + path], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            while not (sock := accept(0.05)) and process.poll() is None:
                pass
            if sock:
                with sock, suppress(SystemExit):  # its own words follow
                    _drive(sock, what, None, None)
            status = process.wait()
        finally:
            process.kill()
        for file in (out, err):
            file.seek(0)
        if status != 0:
            raise RuntimeError(err.read().decode(errors="replace").strip()[-2000:] or f"newtop ended with status {status}")
        return out.read().decode().splitlines()


def HFCallback(every: int = 200, rows: int = 8, pause: float = 1.0) -> Any:
    """For transformers: Trainer(..., callbacks=[newtop.HFCallback()]) logs what the Trainer does, and has the curvature of
    model(**batch).loss looked at, on the first rows of its data."""
    from transformers import TrainerCallback
    class Callback(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **now: Any) -> None:
            loader, device = now["train_dataloader"], next(now["model"].parameters()).device
            batch = loader.collate_fn([loader.dataset[i] for i in range(min(rows, len(loader.dataset)))])
            self.probe = probe(now["model"], None, _each(batch, lambda x: x.to(device)), every, now.get("optimizer"), pause=pause)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.probe.step()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            log(logs, step=state.global_step)
    return Callback()


def LightningCallback(loss_fn: Any, batch: Any, every: int = 200, pause: float = 1.0) -> Any:
    """For Lightning: Trainer(..., callbacks=[newtop.LightningCallback(loss_fn, batch)]) logs the module's metrics, and has the
    curvature of the loss looked at, of which loss_fn and batch are as for serve()."""
    from importlib import import_module, util
    both = "lightning.pytorch", "pytorch_lightning"  # each has a Trainer that takes its own callbacks alone
    names = [n for n in both if n in sys.modules] or [both[not util.find_spec("lightning")]]
    class Looking(*(import_module(n).Callback for n in names)):  # type: ignore
        def on_train_start(self, trainer: Any, module: Any) -> None:
            self.probe = probe(module, loss_fn, _each(batch, lambda x: x.to(module.device)), every, next(iter(trainer.optimizers), None), pause=pause)

        def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, *_: Any) -> None:
            self.probe.step(outputs["loss"] if outputs else None)
            log(trainer.callback_metrics, step=trainer.global_step)
    return Looking()


def seed(default: int = 0) -> int:
    """The seed that newtop wants, for torch.manual_seed(newtop.seed())."""
    return int(os.environ.get("NEWTOP_SEED") or default)


_TCP = os.environ.get("NEWTOP_PEER") == "tcp" and bool(os.environ.pop("NEWTOP_PEER")) or not hasattr(socket, "AF_UNIX")


def _connect(listen: Optional[str]) -> Optional[socket.socket]:
    """The socket to the newtop that drives this program. It is driven once: who comes later and its children find no path."""
    path = os.environ.pop("NEWTOP_PEER", None)
    if listen or path:
        _connect.served = True
    if listen:
        accept = _door(listen)
        _say(f"waits for newtop: newtop train --model unix:{listen}")
        while not (sock := accept()):
            pass
        os.unlink(listen)
        return sock
    if path:
        return _open(path)
    if getattr(_connect, "served", False):
        _say("this program has served a model: newtop trains one of a program, and the next one is left as it is")
        return None
    _say(f"to train this model: newtop train --model {(sys.argv or [''])[0] or 'model.py'}")
    return None


def _door(path: str) -> Any:
    """Where newtop may connect, and no other user: a Unix socket, or, where there are none, a port of this machine, of which a file at the path has
    the address and the token that who connects sends first. It returns what waits for a connection, so many seconds."""
    with suppress(OSError, ValueError):
        if stat.S_ISSOCK(os.stat(path).st_mode) or open(path).read(10) == "127.0.0.1:":
            os.unlink(path)  # left by a program that was killed
    token, mask = b"", os.umask(0o177)  # from the first moment
    try:
        if _TCP:
            door, token = socket.create_server(("127.0.0.1", 0)), os.urandom(16).hex().encode() + b"\n"
            with open(path, "xb") as file:
                file.write(b"127.0.0.1:%d " % door.getsockname()[1] + token)
        else:
            door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            door.bind(path)
    finally:
        os.umask(mask)
    door.listen(1)

    def accept(patience: Optional[float] = None) -> Optional[socket.socket]:
        door.settimeout(patience)
        with suppress(socket.timeout, BlockingIOError, ConnectionError):
            sock = door.accept()[0]
            sock.settimeout(1)
            if not token or hmac.compare_digest(sock.makefile("rb").read(len(token)), token):
                return _kept(sock)
        return None
    return accept


def _open(path: str) -> socket.socket:
    """Connect to newtop."""
    ported = os.path.isfile(path)
    sock = socket.socket(socket.AF_INET if ported else socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if ported:
            address, token = open(path).read().split()
        sock.connect(("127.0.0.1", int(address.split(":")[1])) if ported else path)
        sock.sendall(f"{token}\n".encode() if ported else b"")
    except (OSError, ValueError) as error:
        sock.close()
        raise ConnectionError(f"newtop can't be reached at {path}: {getattr(error, 'strerror', None) or error}") from None
    return _kept(sock)


def _kept(sock: socket.socket) -> socket.socket:
    sock.settimeout(None)
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(os, "register_at_fork"):  # a child that lives on would hide that this process died
        os.register_at_fork(after_in_child=sock.close)
    return sock


@contextmanager
def _told(sock: socket.socket) -> Any:
    """Tell newtop in place of hello of an exception that ends the program."""
    try:
        yield
    except Exception as error:
        with suppress(Exception):
            _Wire(sock).send({"op": "error", "error": _described(error)})
        raise


class _Broken(Exception):
    """What newtop sent is not the protocol."""


class _Closed(Exception):
    """newtop is gone."""


_SYMMETRIC = 1e-4  # how far products with u and v may be apart; good models have 3e-7 in float32
_SIZES = {"F64": 8, "F32": 4, "I64": 8}
_json = json.JSONEncoder(allow_nan=False)


class _Wire:
    """Frames over a socket, and the file that both sides map."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.buffer, self.body, self.map = sock, memoryview(b""), memoryview(b""), None

    def send(self, head: Dict[str, Any], body: Any = b"") -> None:
        try:
            text = _json.encode(head).encode()
        except (TypeError, ValueError):  # some number is none of Python's, or not finite
            text = _json.encode(_finite(head)).encode()
        if len(text) > 1 << 20:
            raise ValueError("the model has too many blocks: their names and shapes take more than 1 MiB")
        try:
            self.sock.sendall(struct.pack("<4sIQ", b"NTP1", len(text), len(body)) + text)
            if len(body):
                self.sock.sendall(body)
        except OSError as error:
            raise _Closed from error

    def receive(self) -> Dict[str, Any]:
        fixed = bytearray(16)
        self._fill(memoryview(fixed))
        magic, size, length = struct.unpack("<4sIQ", fixed)
        if magic != b"NTP1" or size > 1 << 20 or length > 1 << 40:
            raise _Broken("a frame has no magic" if magic != b"NTP1" else "a frame is too long")
        text = bytearray(size)
        self._fill(memoryview(text))
        try:
            head = json.loads(text.decode())
            if length > len(self.buffer):
                self.buffer = memoryview(mmap.mmap(-1, length))  # begins with a page
        except (OSError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            raise _Broken(f"a frame can't be read: {error}") from error
        if not isinstance(head, dict):
            raise _Broken("a head is no object")
        self.body = self.buffer[:length]
        self._fill(self.body)
        return head

    def _fill(self, view: memoryview) -> None:
        try:
            while view:
                n = self.sock.recv_into(view)
                if n == 0:
                    raise _Closed
                view = view[n:]
        except OSError as error:
            raise _Closed from error

    def vector(self, head: Dict[str, Any], name: str, dtype: str, n: Optional[int]) -> memoryview:
        """The bytes of a vector, which the next frame overwrites."""
        try:
            told = head["vectors"][name]
            (count,), (begin, end) = told["shape"], told["data_offsets"]
            source = self.map if told.get("map") is True else self.body
            good = (told["dtype"] == dtype and n in (None, count) and end - begin == count * _SIZES[dtype]
                    and begin % 64 == 0 and 0 <= begin <= end <= len(source))
        except (KeyError, TypeError, ValueError, AttributeError):
            good = False
        if not good:
            raise ValueError(f"the vector {name} is missing, or has another length or dtype")
        return source[begin:end]

    def open_map(self, told: Any, need: int) -> bool:
        """Map the file that newtop offers, if both halves of it have room."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            size = told["size"]
            with open(os.fspath(told["path"]), "r+b", buffering=0) as file:
                found = os.fstat(file.fileno())  # where processes have other numbers the path leads to another file
                if stat.S_ISREG(found.st_mode) and found.st_size == size and size // 2 >= need and size % 8192 == 0:
                    self.map = memoryview(mmap.mmap(file.fileno(), size))
        return self.map is not None


def _finite(value: Any) -> Any:
    """What JSON can say, with words for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if value is not None and not isinstance(value, str):
        value = _plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


class _Peer:
    """One model's side of a connection.

    A model has about(), the keys of hello; read(bytes) and write(vector, bytes); and a method by the name of each request that
    it answers. What read returns is valid until the next frame.
    """

    def __init__(self, sock: socket.socket, model: Any, name: Optional[str], mode: str = "driven", on_event: Any = None) -> None:
        self.wire, self.model, self.mode, self.on_event, self.warned = _Wire(sock), model, mode, on_event, set()
        about = model.about()
        self.n, self.dtype, self.has = about["n"], about["dtype"], set(about["has"])
        if on_event is not None:
            self.has.add("event")
        program = os.path.basename((sys.argv or [""])[0])
        self.size, self.out = self.n * _SIZES[self.dtype], bytearray()
        self.wire.send({"op": "hello", "protocol": [1, 1], "mode": mode, "name": name or (program if program not in ("", "-c") else "model"),
                        **about, "has": sorted(self.has), "map": True})
        welcome = self.wire.receive()
        if welcome.get("op") != "welcome" or welcome.get("protocol") != 1:
            raise _Broken("newtop speaks another version of the protocol")
        mapped = "map" in welcome and self.wire.open_map(welcome["map"], self.size)
        self.wire.send({"id": welcome.get("id", 0), **({"map": True} if mapped else {})})

    def answer(self, head: Dict[str, Any]) -> bool:
        """Reply to a request, and report whether there may be more of them."""
        op, began = head.get("op"), time.perf_counter()
        if op == "stop":
            self.wire.send({"id": head.get("id")})
            return False
        reply: Dict[str, Any] = {"id": head.get("id")}
        body, error = self._try(op, head, reply)
        if error is not None and _is_memory(error) and hasattr(self.model, "release"):
            self.model.release()
            error = None
            body, error = self._try(op, head, reply)
        if error is not None:
            reply = {"id": head.get("id"), "error": _described(error)}
        reply["ms"] = round((time.perf_counter() - began) * 1e3, 3)
        self.wire.send(reply, body)
        return True

    def _try(self, op: Any, head: Dict[str, Any], reply: Dict[str, Any]) -> Tuple[Any, Optional[Exception]]:
        try:
            return self._do(op, head, reply), None
        except (_Closed, _Broken):
            raise
        except Exception as error:
            if not isinstance(error, NotImplementedError) and not _is_memory(error):
                traceback.print_exc()
            return b"", error.with_traceback(None)  # its frames hold tensors

    def _do(self, op: Any, head: Dict[str, Any], reply: Dict[str, Any]) -> Any:
        vectors, rows = head.get("vectors") or {}, array.array("q")
        take = lambda key: self.model.read(self.wire.vector(head, key, self.dtype, self.n))
        may = lambda key: take(key) if key in vectors else None
        if "rows" in vectors:
            if ("rows" if op == "grad" else "sample") not in self.has:
                raise NotImplementedError(f"the model answers no {op} of some rows")
            rows.frombytes(self.wire.vector(head, "rows", "I64", None))
            if not rows:
                raise ValueError("no rows")
        some = (rows,) if rows else ()
        if op == "event" and self.on_event is not None:
            self._tell(head.get("event"))
        elif op in ("at", "set") and self.mode == "driven":
            getattr(self.model, op)(take("w"), *some)
        elif op == "loss" or op == "eval" and op in self.has:
            reply.update(getattr(self.model, op)(may("w"), *some))
        elif op == "get":
            return self._vector(reply, "w", self.model.get())
        elif op == "factors" and op in self.has:
            body = self.model.factors(may("w"), rows if rows else None, self.wire.vector(head, "draws", "F64", None), head["sizes"])
            reply["vectors"] = {op: {"dtype": self.dtype, "shape": [len(body) // _SIZES[self.dtype]], "data_offsets": [0, len(body)]}}
            return body
        elif op == "grad" and op in self.has:
            told, g = self.model.grad(may("w"), rows if rows else None)
            reply.update(told)
            return self._vector(reply, "g", g)
        elif op in ("hv", "gnv") and op in self.has:
            return self._vector(reply, op, getattr(self.model, op)(take("v")))
        elif op in ("diag", "update") and op in self.has:
            return self._vector(reply, "u" if op == "update" else op, getattr(self.model, op)())
        else:
            raise NotImplementedError(f"the model does not answer {op}")
        return b""

    def _tell(self, event: Any) -> None:
        """Call on_event. What fails there is said once, and the run goes on."""
        try:
            self.on_event(event)
        except Exception as error:
            text = _described(error)["message"]
            if text not in self.warned:
                self.warned.add(text)
                traceback.print_exc()
                _say(f"on_event: {text}: the run goes on")

    def _vector(self, reply: Dict[str, Any], name: str, vector: Any) -> Any:
        """Write a vector of weights to the file or for the body, and describe it."""
        begin = len(self.wire.map) // 2 if self.wire.map is not None else 0
        if self.wire.map is None and not self.out:
            self.out = bytearray(self.size)
        view = memoryview(self.out) if self.wire.map is None else self.wire.map[begin:begin + self.size]
        self.model.write(vector, view)
        reply["vectors"] = {name: {"dtype": self.dtype, "shape": [self.n], "data_offsets": [begin, begin + self.size]}}
        if self.wire.map is None:
            return view
        reply["vectors"][name]["map"] = True
        return b""


def _drive(sock: socket.socket, model: Any, name: Optional[str], on_event: Any) -> None:
    """Answer until newtop stops; the program ends if newtop is gone, which needs no words."""
    try:
        peer = _Peer(sock, model, name, on_event=on_event)
        while peer.answer(peer.wire.receive()):
            pass
    except (_Closed, _Broken) as error:
        raise SystemExit(f"newtop: {error}" if isinstance(error, _Broken) else 1) from None


def _is_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text


def _described(error: BaseException) -> Dict[str, str]:
    text = " ".join(str(error).split())[:300] or type(error).__name__
    missing = isinstance(error, NotImplementedError) or "is not implemented" in text or "once_differentiable" in text
    return {"kind": "memory" if _is_memory(error) else "unsupported" if missing else "failed", "message": text}


class _Plain:
    """A plain object as serve_object describes it."""

    def __init__(self, model: Any) -> None:
        self.model, self.numpy = model, sys.modules.get("numpy")
        self.told = dict(getattr(model, "about", None) or {})
        self.code = "f" if self.told.get("dtype") == "F32" else "d"
        start = model.start()
        self.n = len(start)
        self.point = self.final = self._own(start)
        self.get, self.diag = lambda: self.final, lambda: model.diag(self.point)
        self.loss, self.eval = (lambda w, of=of: self._figures(getattr(model, of)(self.point if w is None else w)) for of in ("loss", "eval"))
        self.hv, self.gnv = (lambda v, of=of: getattr(model, of)(self.point, v) for of in ("hv", "gnv"))

    def about(self) -> Dict[str, Any]:
        has = [r for r in ("grad", "hv", "gnv", "diag", "eval") if hasattr(self.model, r)]
        return {"program": f"Python {sys.version.split()[0]}", "n": self.n, "dtype": "F32" if self.code == "f" else "F64",
                "blocks": [{"name": "w", "shape": [self.n]}], **self.told, "has": has + (["rows"] if hasattr(self.model, "rows_grad") else [])}

    def _own(self, x: Any) -> Any:
        x = self.numpy.array(x, dtype=self.code).reshape(-1) if self.numpy else array.array(self.code, x)
        if len(x) != self.n:
            raise ValueError(f"a vector has {len(x)} numbers, and the model {self.n} weights")
        return x

    def read(self, view: memoryview) -> Any:
        if self.numpy:
            return self.numpy.frombuffer(view, dtype=self.code).copy()
        return array.array(self.code, bytes(view))

    def write(self, x: Any, view: memoryview) -> None:
        view[:] = memoryview(self._own(x)).cast("B")

    def at(self, w: Any) -> None:
        self.point = self.final = w

    def set(self, w: Any) -> None:
        self.final = w
        if hasattr(self.model, "set"):
            self.model.set(w)

    def _figures(self, told: Any) -> Dict[str, Any]:
        return {k: _plain(v) for k, v in (told.items() if isinstance(told, Mapping) else [("loss", told)])}

    def grad(self, w: Any, rows: Any) -> Tuple[Dict[str, float], Any]:
        w = self.point if w is None else w
        told = self.model.grad(w) if rows is None else self.model.rows_grad(w, self.numpy.array(rows) if self.numpy else rows)
        if not (isinstance(told, (tuple, list)) and len(told) == 2):
            raise TypeError("grad and rows_grad: expected a pair, the loss and its gradient")
        return {"loss": _plain(told[0])}, told[1]


class _Jax:
    """A function of a tree of arrays in JAX, as a plain object."""

    def __init__(self, loss_fn: Any, params: Any, batch: Any, test: Any, outputs: Any, rows: bool) -> None:
        import jax, numpy  # noqa: E401
        from jax.flatten_util import ravel_pytree
        _check_leaves(jax, params)
        self.w, self.unravel = ravel_pytree(params)
        self.forget, self.data, self.coupled, self.targets, self.counts = int, batch, False, lambda data: None, lambda data: {"rows": max(1, _rows(self.tree.tree_leaves(data)))}
        self.own, self.start, self.params = lambda w: jax.numpy.asarray(w, dtype=self.w.dtype), lambda: numpy.asarray(self.w), lambda: self.unravel(self.w)
        both = lambda pair: (float(pair[0]), pair[1])
        self.take = lambda data, rows: self.tree.tree_map(lambda x: x[numpy.asarray(rows)], data)
        self.jax, self.batch, self.test, self.numpy, self.tree = jax, batch, test, numpy, jax.tree_util
        self.count = _rows(self.tree.tree_leaves(batch))
        evenly = self.count and all(getattr(x, "shape", ())[:1] == (self.count,) for x in self.tree.tree_leaves(batch))

        loss = lambda w, data: loss_fn(self.unravel(w), data) if outputs is None else loss_fn(outputs(self.unravel(w), data[0]), data[1])
        forward = lambda f, x, v: jax.jvp(f, (x,), (v,))[1]
        def reverse(f: Any, x: Any, v: Any) -> Any:
            """The same by two derivatives backward, of which the second is that of (Jᵀu, v) by u: what custom_vjp has not forward."""
            out, pull = jax.vjp(f, x)
            return jax.vjp(lambda u: pull(u)[0], jax.numpy.zeros_like(out))[1](v)[0]

        def curvature(along: Any, w: Any, v: Any, data: Any) -> Any:
            if along is reverse:  # the Hessian is symmetric: the gradient of (gradient, v)
                return jax.grad(lambda w: jax.numpy.vdot(jax.grad(lambda w: loss(w, data))(w), v))(w)
            return along(jax.grad(lambda w: loss(w, data)), w, v)

        def gauss_newton(along: Any, w: Any, v: Any, data: Any) -> Any:
            net = lambda w: outputs(self.unravel(w), data[0])
            out, pull = jax.vjp(net, w)
            return pull(along(jax.grad(lambda o: loss_fn(o, data[1])), out, along(net, w, v)))[0]

        def first(product: Any, name: str) -> Any:
            """The first of both ways that JAX knows; None, with a finding, where it knows neither."""
            for along in forward, reverse:
                try:
                    compiled = jax.jit(lambda w, v, data, along=along: product(along, w, v, data))
                    compiled(self.w, self.w, batch)
                    return compiled
                except Exception as error:
                    failed = error
            self.findings.append({"what": f"{name} fails", "where": _line(failed), "remedy": "newtop takes differences of gradients" if name == "hv" else "a loss of the outputs that JAX differentiates twice"})

        self.findings: List[Dict[str, str]] = []
        value, slope = jax.jit(loss), jax.jit(jax.value_and_grad(loss))
        jax.eval_shape(jax.value_and_grad(loss), self.w, batch)  # what fails, fails before newtop asks
        half = _halves(jax.make_jaxpr(loss)(self.w, batch))
        if half:
            self.findings.append({"what": "16 bits within the model or the loss", "where": ", ".join(half[:3]), "remedy": _HALVES})
        curve, product = first(curvature, "hv"), first(gauss_newton, "gnv") if outputs is not None else None
        self.loss_of = lambda data, w=self.w: float(value(self.own(w), data))
        self.loss, self.grad = lambda w: self.loss_of(self.batch, w), lambda w: both(slope(self.own(w), self.batch))
        if curve is not None:
            self.hv = lambda w, v: curve(self.own(w), self.own(v), self.batch)
        if product is not None:
            self.gnv = lambda w, v: product(self.own(w), self.own(v), self.batch)
        if test is not None:
            self.eval = lambda w: self.loss_of(self.test, w)
        if rows and evenly:
            self.rows_grad = lambda w, rows: both(slope(self.own(w), self.take(self.batch, rows)))

    @property
    def about(self) -> Dict[str, Any]:
        params = self.unravel(self.w)
        blocks = [{"name": self.tree.keystr(k), "shape": list(x.shape)} for k, x in self.tree.tree_flatten_with_path(params)[0]]
        return {"program": f"JAX {self.jax.__version__}", "dtype": "F64" if str(self.w.dtype).endswith("float64") else "F32", "blocks": blocks,
                "lacks": {"factors": "a function of JAX has no layers that newtop could know"},
                "rows": self.count, "findings": self.findings, "digest": _digest([(b["name"], b["shape"]) for b in blocks], [self.numpy.asarray(x) for x in self.tree.tree_leaves(self.batch)])}

    def set(self, w: Any) -> None:
        self.w = self.own(w)


_HALVES = "compute it in float32, without autocast: products and eigenvalues have two or three digits so"


def _halves(jaxpr: Any) -> List[str]:
    """The functions of a jaxpr that return numbers of 16 bits."""
    found: Dict[str, bool] = {}
    todo = [jaxpr]
    while todo:
        part = getattr(todo[-1], "jaxpr", todo.pop())
        for equation in getattr(part, "eqns", ()):
            if any("float16" in str(getattr(v.aval, "dtype", "")) for v in equation.outvars):
                found[equation.primitive.name] = True
            for value in equation.params.values():
                todo += value if isinstance(value, (tuple, list)) else [value]
    return list(found)


def _check_leaves(jax: Any, params: Any) -> None:
    """Refuse leaves that are no weights."""
    flat = jax.tree_util.tree_leaves(params)
    for kind in (str(getattr(x, "dtype", type(x).__name__)) for x in flat):
        if "complex" in kind:
            raise TypeError(f"params have leaves of {kind}: give the real and the imaginary part as two leaves")
        if "float" not in kind:
            raise TypeError(f"params have leaves of {kind}, which are no weights: leave them out, as with flax.nnx.split(model, nnx.Param, ...) "
                            "or equinox.partition(model, equinox.is_inexact_array)")
    if not flat:
        raise ValueError("params have no leaves: expected a tree of arrays")


def _digest(*parts: Any) -> str:
    """A text that is the same for the same names, shapes and data. Of a tensor of more than 64 MB evenly spaced numbers are read:
    enough to tell another batch, and quick."""
    digest = hashlib.sha256()

    def add(x: Any) -> None:
        if isinstance(x, Mapping):
            add(sorted(((str(k), v) for k, v in x.items()), key=lambda pair: pair[0]))
        elif isinstance(x, (list, tuple)):
            digest.update(f"[{len(x)}]".encode())
            for part in x:
                add(part)
        elif hasattr(x, "dtype") and hasattr(x, "shape"):
            digest.update(f"{x.dtype}{tuple(x.shape)}".encode())
            flat = x.detach().reshape(-1) if hasattr(x, "detach") else x.reshape(-1)
            item = x.element_size() if hasattr(x, "element_size") else x.itemsize
            flat = flat[::max(1, -(-len(flat) * item // (1 << 26)))]
            if hasattr(flat, "cpu"):
                flat = flat.cpu().contiguous()
                digest.update(ctypes.string_at(flat.data_ptr(), len(flat) * item) if len(flat) else b"")  # needs no NumPy
            else:
                digest.update(flat.tobytes())
        else:
            digest.update((repr(x) if isinstance(x, (str, int, float, bool, type(None))) else type(x).__name__).encode())

    add(parts)
    return digest.hexdigest()[:32]


class _Torch:
    """A torch module with a batch. Both graphs of the point are kept from one product to the next.

    Products use plain autograd, which every release since 1.13 has: Hv is the gradient of (gradient, v); with J the Jacobian of
    the outputs and H that of the loss by the outputs, the Gauss-Newton product is the gradient of (outputs, H·Jv), where
    Jv is the derivative of Jᵀu, linear in u, along v. Weights are changed in place through p.data, which graphs do not
    count as a change: what they have saved is right again when the bits are back.
    """

    def __init__(self, model: Any, loss_fn: Any, batch: Any, test: Any, rows: bool = True, observed: bool = False) -> None:
        import torch
        loss_fn = getattr(loss_fn, "_orig_mod", getattr(loss_fn, "_torchdynamo_orig_callable", loss_fn))  # what torch.compile compiled
        self.torch, self.loss_fn, self.batch, self.test, self.findings = torch, loss_fn, batch, test, []
        self.given, self.model = model, self._bare(model)
        if any("Uninitialized" in type(p).__name__ for p in self.model.parameters()):
            raise ValueError("the model has lazy modules, whose shapes are not known yet: call model(inputs) once before")
        trained = [(n, p) for n, p in self.model.named_parameters() if p.requires_grad]
        if not trained:
            frozen = ": it is frozen: model.requires_grad_(True)" if any(True for _ in self.model.parameters()) else ""
            raise ValueError("the model has no weights that need a gradient" + frozen)
        self.names, self.params = map(list, zip(*trained))
        if any(p.is_complex() for p in self.params):
            raise TypeError("the model has complex weights")
        self.dtype = torch.float64 if any(p.dtype == torch.float64 for p in self.params) else torch.float32
        self.sizes = [p.numel() for p in self.params]
        self.driven, self.lacks, self.known, self.data = not observed, {}, [], batch
        self.has = ["grad", "update"] if observed else ["grad"] + (["eval"] if test is not None else [])
        self.modules = list(self.model.modules())
        self.pair = isinstance(batch, (tuple, list)) and len(batch) == 2
        self.devices = {p.device.type for p in self.params}
        self.count, self.test_count = _rows(batch), _rows(test)
        self.classes = self.outputs = 0
        kind = getattr(loss_fn, "__name__", type(loss_fn).__name__) if loss_fn is not None else ""
        self.kind = {"<lambda>": "", **dict.fromkeys(("CrossEntropyLoss", "cross_entropy"), "cross-entropy"), **dict.fromkeys(("MSELoss", "mse_loss"), "mean squared error")}.get(kind, kind)
        self.squared, self.final, self.change = False, None, None
        self.loss_of = lambda data: self._evaluate(None, data, False)["loss"]
        self.ignored = getattr(loss_fn, "ignore_index", -100)  # a target that does not count
        self.attention = self._attention()
        self.products = False  # whether what the loss was computed from is kept for them
        self.form: Any = None  # of _FORMS, by which the loss is computed
        self.tried = ""  # the forms by which it can't be, with why
        self.derives = False  # whether the loss has to be evaluated with gradients
        self.linked: Optional[bool] = None  # whether a last function of the model belongs to the loss; None: it is not known
        self.generators: List[Any] = []  # others than torch's own, each with its state
        with suppress(Exception):  # glibc gives memory back after each product, for a tenth of the time of one of 10⁵ weights
            for what, bits in ((-3, 25), (-1, 29)) if not observed else ():  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
                ctypes.CDLL(None).mallopt(what, 1 << bits)
        owners = [id(p) for m in self.modules for p in m._parameters.values()]
        self.padding = [(m.weight, m.padding_idx, m.weight.detach()[m.padding_idx].clone()) for m in self.modules
                        if isinstance(getattr(m, "padding_idx", None), int) and owners.count(id(getattr(m, "weight", None))) == 1]
        self.release()
        self.freeze()
        self._inspect()
        if rows and self.count > 1 and not self.coupled and all(x.shape[:1] == (self.count,) for x in _arrays(batch)):
            self.has.append("rows")

    def _bare(self, model: Any) -> Any:
        """The module below torch.compile and DistributedDataParallel, neither of which differentiates twice."""
        while True:
            if hasattr(model, "_orig_mod"):
                model = model._orig_mod
                self._find("torch.compile", "model", "nothing to do: the module that was compiled is used as it is")
            elif type(model).__name__ in ("DistributedDataParallel", "DataParallel"):
                self._find(type(model).__name__, "model", "nothing to do: the loss is that of this process's batch")
                model = model.module
            else:
                return model

    def _find(self, what: str, where: str, remedy: str, fatal: bool = False) -> None:
        self.findings.append({"what": what, "where": where, "remedy": remedy, **({"fatal": True} if fatal else {})})

    def take(self, data: Any, rows: Any) -> Any:
        return _each(data, lambda x: x.index_select(0, self.torch.tensor(list(rows), device=x.device)))

    def targets(self, data: Any) -> Any:
        """The class numbers or tokens that a loss compares with; None where there are none."""
        found = data.get("labels") if isinstance(data, Mapping) else data[-1] if isinstance(data, (tuple, list)) and len(data) > 1 else None
        return found if isinstance(found, self.torch.Tensor) and found.dim() and not (found.is_floating_point() or found.is_complex()) else None

    def counts(self, data: Any) -> Dict[str, float]:
        """How much a batch has of what its loss may be a mean over, the likeliest first."""
        found, weight, told = self.targets(data), getattr(self.loss_fn, "weight", None), {}
        if found is not None:
            counted = found != self.ignored
            if isinstance(data, Mapping) and found.dim() > 1:
                told["next tokens"] = float(counted[..., 1:].sum())
            if isinstance(weight, self.torch.Tensor):
                told["weighted"] = float(weight[found[counted].long()].sum())
            told["counted"] = float(counted.sum())
        return {**told, "rows": max(1, _rows(data))}

    def _inspect(self) -> None:
        """Walk the modules for what is known to spoil curvature (docs/peer.md, findings)."""
        torch, nn = self.torch, self.torch.nn
        named = [(n or "model", m, {c.__name__ for c in type(m).__mro__}) for n, m in self.model.named_modules()]
        drops = (nn.RNNBase, nn.MultiheadAttention)  # have a probability of their own

        among = lambda is_one: [name for name, m, kinds in named if is_one(m, kinds)]
        spectral = lambda m, kinds: "_SpectralNorm" in kinds or any(type(h).__name__ == "SpectralNorm" for h in m._forward_pre_hooks.values())
        self.iterated = [m for _, m, kinds in named if m.training and spectral(m, kinds)]
        rnn, attention = among(lambda m, _: isinstance(m, nn.RNNBase)), among(lambda m, _: isinstance(m, nn.MultiheadAttention))
        norm = among(lambda m, _: m.training and isinstance(m, nn.modules.batchnorm._BatchNorm))
        compiled = among(lambda m, kinds: "OptimizedModule" in kinds or getattr(m, "_compiled_call_impl", None) is not None)
        self.coupled, self.recurrent, self.attends = bool(norm), bool(rnn), bool(attention)
        self.compiled = bool(compiled) and hasattr(getattr(torch, "compiler", None), "set_stance")
        for what, names, remedy in (
            ("dropout", among(lambda m, _: m.training and (isinstance(m, nn.modules.dropout._DropoutNd) and m.p > 0 or isinstance(m, drops) and m.dropout > 0)),
             "call model.eval(), or leave it: each product draws the same mask"),
            ("batch norm", norm, "call model.eval(), or leave it: the rows are coupled, and the running averages stay as they are"),
            ("attention", attention if self.attention else [], "nothing to do: the fused kernels are switched off, which have no second derivatives"),
            ("rnn", rnn if "cuda" in self.devices else [], "nothing to do: cuDNN is switched off, whose recurrent layers have no second derivatives"),
            ("spectral norm", among(spectral), "nothing to do: the vectors of its power iteration are held"),
            ("max_norm", among(lambda m, _: getattr(m, "max_norm", None) is not None), "leave it out: it changes the weights in the forward pass"),
            ("compiled modules", compiled, "nothing to do: they run as they are written" if self.compiled else "compile after newtop.serve, or give newtop the module itself"),
            ("FSDP", among(lambda _, kinds: kinds & {"FullyShardedDataParallel", "FSDPModule"}),
             "FSDP frees the weights between the two derivatives: give a model that is whole, as DDP's"),
        ):
            if names:
                self._find(what, ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""), remedy, what == "FSDP")
        half = [n for n, p in zip(self.names, self.params) if p.element_size() < 4]
        if half:
            self._find("weights of 16 bits", half[0], "convert the model with model.float(): eigenvalues have two or three digits so")
        if self._autocasts():
            self._find("autocast", "model", "nothing to do: it is switched off in what newtop asks for")

    def try_products(self, sharing: str = "expand") -> None:
        """Ask for each product once, so that only what works is offered."""
        if sharing not in ("expand", "reduce"):
            raise ValueError(f'sharing is {sharing!r}: expected "expand" or "reduce"')
        self.reduces = sharing == "reduce"
        if self.fatal():
            return
        self.products = True
        try:
            loss, outputs = self._kept()
            g = self.grad(None, None)[1]
        except Exception as error:
            traceback.print_exc()
            self._find("the gradient fails", self.tried or _line(error), _remedy(error, "see the traceback of the program"), True)
            return
        self._measure(float(loss.detach()), outputs)
        v = [self.torch.zeros_like(p) if x is None else x for p, x in zip(self.params, g)]
        for op in ("hv", "gnv") if isinstance(outputs, self.torch.Tensor) and outputs.requires_grad else ("hv",):
            try:
                getattr(self, op)(v)
                self._check_cuts(self.second if op == "hv" else self._split()[3])
                self._check_symmetry(op, v)
                self.has.append(op)
            except Exception as error:
                self._find(f"{op} fails", _line(error), _remedy(error))
        self.products = "hv" in self.has or "gnv" in self.has
        if "gnv" in self.has and outputs.numel() <= 256 and outputs.numel() * sum(self.sizes) <= 1 << 24:
            self.has.append("diag")
        if "rows" in self.has:
            self._check_mean()
        if self.driven:
            self.has += ["sample"] if "rows" in self.has else []
            try:
                self._try_factors()
                self.has.append("factors")
            except Exception as error:
                self.lacks["factors"] = _line(error)
        if not self.products:
            self.release()

    def fatal(self) -> str:
        """Why nothing can be done with the model, if that is so."""
        return next((f"{f['what']}: {f['where']}: {f['remedy']}" for f in self.findings if f.get("fatal")), "")

    def _check_symmetry(self, op: str, v: List[Any]) -> None:
        """Refuse products of which uᵀ(Av) and vᵀ(Au) are apart by more than rounding: a layer's second derivative is wrong then.
        Numbers of 16 bits round too much to be asked."""
        torch, generator = self.torch, self.torch.Generator().manual_seed(1)
        if any("16 bits" in f["what"] for f in self.findings):
            return
        u = [torch.randn(p.shape, generator=generator).to(p) for p in self.params]
        pair = [[(torch.zeros_like(p) if x is None else x.detach()).double() for p, x in zip(self.params, _dense(getattr(self, op)(y)))] for y in (u, v)]
        dot = lambda a, b: float(sum((x.double().cpu() * y.cpu()).sum() for x, y in zip(a, b)))
        scale = math.sqrt(max(dot(pair[0], pair[0]) * dot(v, v), dot(pair[1], pair[1]) * dot(u, u)) / sum(self.sizes))
        apart = abs(dot(v, pair[0]) - dot(u, pair[1]))
        if apart > _SYMMETRIC * scale:
            named = [n for n, m in self.model.named_modules() if "_WeightNorm" in type(m).__name__ or any(type(h).__name__ == "WeightNorm" for h in m._forward_pre_hooks.values())]
            raise ArithmeticError(f"the products are not symmetric, by {apart / scale:.0e}: the second derivative of "
                                  f"{'weight_norm (' + ', '.join(named[:3]) + ')' if named else 'some layer'} is wrong in PyTorch {torch.__version__}")

    def _check_cuts(self, gradient: Any) -> None:
        """Refuse what torch.autograd.function.once_differentiable has cut off: asked for some inputs only, torch does not notice."""
        todo, seen = [g.grad_fn for g in gradient if g is not None], set()
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            if node.name().endswith(("DelayedError", "::Error")):
                raise NotImplementedError("a torch.autograd.Function is marked with once_differentiable")
            seen.add(node)
            todo += [n for n, _ in node.next_functions]

    def _measure(self, loss: float, outputs: Any) -> None:
        """Find out what the outputs are: classes, or numbers that the loss compares with the targets by their squares."""
        if not isinstance(outputs, self.torch.Tensor):
            return
        self.outputs = outputs.numel() // max(1, self.count)
        if not self.pair or not isinstance(self.batch[1], self.torch.Tensor):
            return
        targets = self.batch[1]
        dim = _class_dim(outputs, targets)
        if dim is not None:
            self.classes = outputs.shape[dim]
        elif targets.is_floating_point() and targets.shape == outputs.shape:
            mean = float((outputs.detach() - targets).square().mean())
            self.squared = any(abs(loss - c * mean) <= 1e-5 * abs(loss) for c in (1, 0.5))
        elif targets.is_floating_point() and targets.numel() == outputs.numel() < 10_000:
            with suppress(RuntimeError):
                each = float((outputs.detach() - targets).square().mean())
                if abs(loss - each) <= 1e-5 * abs(loss):
                    self._find("targets of another shape", f"{list(targets.shape)}, and outputs of {list(outputs.shape)}",
                               "give targets.view_as(outputs): each output is compared with all targets")

    def _check_mean(self) -> None:
        """Offer rows only if the loss is a mean over them."""
        try:
            mean = _mean_of(self, self.batch)
        except Exception as error:
            self.has.remove("rows")
            self._find("a batch that can't be divided", _line(error), "nothing to do: methods that take some rows at a time have batch=0")
            return
        if mean == "sum":
            self._find("a loss that is a sum", "loss_fn", 'take the mean over the rows, as reduction="mean" does')
        if mean == "sum" or not mean and not self.pair:  # that of a pair may leave rows out
            self.has.remove("rows")

    def about(self) -> Dict[str, Any]:
        torch = self.torch
        device = next(iter(self.devices)).upper() if len(self.devices) == 1 else "several devices"
        random_too = [self.rng[0][1]] if any(f["what"] == "dropout" for f in self.findings) else []
        shapes, threads = [list(p.shape) for p in self.params], torch.get_num_threads()
        return {"program": f"PyTorch {torch.__version__}, {device}, {threads} thread{'s' * (threads != 1)}", "n": sum(self.sizes),
                "dtype": "F64" if self.dtype == torch.float64 else "F32", "has": [] if self.fatal() else self.has, "rows": self.count, "test_rows": self.test_count,
                "classes": self.classes, "outputs": self.outputs, "loss": self.kind, "findings": self.findings,
                "blocks": [{"name": n, "shape": s} for n, s in zip(self.names, shapes)], "lacks": self.lacks,
                **({"factors": {"draws": self.draws, "normal": self.dim is None, "layers": [
                    {"block": self.names[i], "kind": kind, "bias": bias} for i, kind, bias in self.known]}} if "factors" in self.has else {}),
                "digest": _digest(self.names, shapes, [type(m).__name__ for m in self.modules], self.batch, self.test, random_too)}

    # What each evaluation finds, and leaves behind.

    def freeze(self) -> None:
        """Have all evaluations from now on draw the random numbers that come next, and find the buffers as they are."""
        self.rng = _random()
        training = any(m.training for m in self.modules)  # else nothing writes to them
        owned = [(m._buffers, k, b) for m in self.modules for k, b in m._buffers.items() if b is not None and training]
        self.buffers = [(owner, k, b, b.detach().clone()) for owner, k, b in owned]

    def _attention(self) -> Any:
        """What makes a context in which attention has second derivatives; None where torch has no kernels without them."""
        torch = self.torch
        try:
            from torch.nn.attention import SDPBackend, sdpa_kernel  # since 2.3
            return lambda: sdpa_kernel(SDPBackend.MATH)
        except ImportError:
            if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
                return lambda: torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False, enable_math=True)
            return None

    def _autocasts(self) -> List[str]:
        """On which devices autocast is on."""
        torch = self.torch
        try:
            return [d for d in ("cuda", "cpu") if torch.is_autocast_enabled(d)]
        except TypeError:  # before 2.4
            return [d for d, on in (("cuda", torch.is_autocast_enabled()), ("cpu", torch.is_autocast_cpu_enabled())) if on]

    def _settings(self, grad: bool = True) -> ExitStack:
        """What holds while anything is evaluated or differentiated."""
        torch, stack = self.torch, ExitStack()
        stack.enter_context(torch.enable_grad() if grad or self.attends or self.recurrent else torch.no_grad())  # both take other kernels without
        for device in self._autocasts():
            stack.enter_context(torch.autocast(device, enabled=False))
        if self.attention is not None:  # in backward too, where checkpoints compute it again
            stack.enter_context(self.attention())
        if "torch._dynamo" in sys.modules and hasattr(getattr(torch, "compiler", None), "set_stance"):  # what is compiled has one derivative
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        if torch.get_float32_matmul_precision() != "highest":  # TF32 has the digits of 16 bits
            stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
            torch.set_float32_matmul_precision("highest")
        if self.recurrent:  # the kernels of cuDNN and oneDNN have no second derivatives
            stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        if "cuda" in self.devices:
            stack.enter_context(torch.backends.cudnn.flags(enabled=not self.recurrent, benchmark=False, deterministic=True, allow_tf32=False))
        return stack

    @contextmanager
    def _still(self, grad: bool = True, testing: bool = False) -> Any:
        """Evaluate with the random numbers of the point, and leave random numbers, buffers and flags as they were."""
        torch, outer = self.torch, _random([g for g, _ in self.generators])
        flags = [(m, m.training) for m in (self.modules if testing else self.iterated)]
        with self._settings(grad) as stack:
            try:
                _set_random(self.rng + [(g.set_state, state) for g, state in self.generators])
                for m, _ in flags:  # running averages that do not move are no use: batch norm goes on with those of the batch
                    m.training = m.training and m not in self.iterated and isinstance(m, torch.nn.modules.batchnorm._BatchNorm)
                yield stack
            finally:
                for m, training in flags:
                    m.training = training
                for owner, key, buffer, bits in self.buffers:
                    buffer.data.copy_(bits)
                    owner[key] = buffer
                _set_random(outer)

    @contextmanager
    def _weights(self, w: Any) -> Any:
        """Have the model other weights for a while."""
        if w is None:
            yield
            return
        self.bits = self.bits or [p.detach().clone() for p in self.params]
        try:
            self._put(w)
            yield
        finally:
            for p, b in zip(self.params, self.bits):
                p.data.copy_(b)

    def _put(self, w: Any) -> None:
        for p, x in zip(self.params, w.split(self.sizes)):
            p.data.copy_(x.view(p.shape))
        for p, row, bits in self.padding:  # has no gradient, and so stays
            p.data[row] = bits

    def _forward(self, data: Any) -> Tuple[Any, Any]:
        """The loss, and the outputs if they are known."""
        told = self.form(self.model, self.loss_fn, data)
        loss, outputs = told if isinstance(told, tuple) and len(told) == 2 else (told, None)
        if not isinstance(loss, self.torch.Tensor):
            raise TypeError(f"the loss is a {type(loss).__name__}: expected a tensor of one number")
        if loss.numel() != 1:
            raise TypeError(f"the loss has the shape {list(loss.shape)}: expected one number, as of loss.mean()")
        return loss.reshape(()), outputs

    def _formed(self) -> Tuple[Any, Any]:
        """The loss of the batch by the first of _FORMS that it can be computed by, which from then on is the one."""
        many = isinstance(self.batch, (tuple, list)) and len(self.batch)
        kinds = {"pair": many == 2, "many": many > 2, "mapping": isinstance(self.batch, Mapping), "any": True}
        errors = []
        for kind, needs, text, form in _FORMS:
            if not kinds[kind] or needs != (self.loss_fn is not None):
                continue
            self.form = form
            try:
                with self._still() as stack:
                    seen = stack.enter_context(_witness(self.torch))
                    return self._forward(self.batch), seen
            except Exception as error:
                if _is_memory(error):
                    raise
                errors.append((text, error))
        if not errors:
            raise TypeError(f"a batch without a loss_fn is a dict, for model(**batch).loss, or a pair, for outputs, loss = model(*batch): expected newtop.serve(model, loss_fn, batch), and not a {type(self.batch).__name__} alone")
        self.tried = "; ".join(f"{text}: {_line(error)[:90]}" for text, error in errors) + "; list(batch), if these are batches" * (isinstance(self.batch, tuple) and _is_loader(list(self.batch)))
        if not any(isinstance(x, self.torch.Tensor) for x in _arrays(self.batch)):
            self.tried = f"the batch is a {type(self.batch).__name__} without tensors: expected a pair or dict of them, as torch.as_tensor(x), or a DataLoader"
        raise errors[0][1]

    def _figures(self, data: Any, loss: Any, outputs: Any) -> Dict[str, float]:
        told = {"loss": float(loss.detach())}
        if self.classes:
            dim, targets = _class_dim(outputs, data[1]), data[1]
            counted = targets != self.ignored
            wrong = (outputs.detach().argmax(dim) != targets) & counted
            told["error_rate"] = float(wrong.sum()) / max(1, int(counted.sum()))
        elif self.squared:
            told["rmse"] = float((outputs.detach() - data[1]).square().mean().sqrt())
        return told

    # Requests.

    def read(self, view: memoryview) -> Any:
        return self.torch.frombuffer(view, dtype=self.dtype)

    def write(self, tensors: List[Any], view: memoryview) -> None:
        torch, kind = self.torch, {"dtype": self.dtype, "device": "cpu"}
        parts = [torch.zeros(n, **kind) if t is None else t.detach().reshape(-1).to(**kind) for n, t in zip(self.sizes, _dense(tensors))]
        torch.cat(parts, out=self.read(view))

    def release(self) -> None:
        """Forget what is kept for the point."""
        self.forget()
        self.bits = self.scratch = None
        if self.torch.cuda.is_initialized():
            self.torch.cuda.empty_cache()

    def get(self) -> List[Any]:
        return self.params if self.final is None else list(self.final.split(self.sizes))

    def forget(self) -> None:
        """Forget the graphs of the batch."""
        self.graph = self.slope = self.second = self.split = None

    def at(self, w: Any, rows: Any = None) -> None:
        self.forget()
        self.bits = self.final = None
        self.data = self._some(rows)
        self._put(w)

    def set(self, w: Any) -> None:
        self.final = w.clone()

    def finish(self) -> Any:
        """Leave the final weights in the model, and return it."""
        self.release()
        if self.final is not None:
            self._put(self.final)
        return self.given

    def _kept(self) -> Tuple[Any, Any]:
        if self.graph is None:
            if self.linked is None:
                (loss, outputs), seen = self._formed()
            else:
                with self._still() as stack:
                    seen = stack.enter_context(_witness(self.torch)) if self.linked else None
                    loss, outputs = self._forward(self.data)
            if not loss.requires_grad:
                raise ValueError("the loss does not depend on the weights")
            self.inner = self._inner(seen, loss, outputs)
            if self.linked is None:
                self._note(seen)
            self.graph, self.linked = (loss, outputs), self.inner is not outputs
        return self.graph

    def _inner(self, seen: Any, loss: Any, outputs: Any) -> Any:
        """The outputs, or what they were computed from by a last log-softmax, softmax or sigmoid that belongs to the loss: as a function of that the
        loss is cross-entropy, which is convex, and of the outputs it may be linear, which has no Gauss-Newton matrix."""
        def source(x: Any, *names: str) -> Any:
            name, of, _ = seen.links.get(id(x), ("", None, None))
            return of if name in names else None

        if seen is None or not isinstance(outputs, self.torch.Tensor) or not outputs.requires_grad:
            return outputs
        logits = source(outputs, "log_softmax", "logsigmoid")
        if logits is None:
            logits = source(source(outputs, "log"), "softmax", "sigmoid")
        if logits is not None:
            v = self.torch.arange(outputs.numel(), device=outputs.device).remainder(7).to(outputs.dtype).view(outputs.shape)
            return outputs if self._bend(loss, outputs, v).any() else logits
        if any(x is outputs or source(x, "log") is outputs for x in seen.entropies):
            logits = source(outputs, "softmax", "sigmoid")
        return outputs if logits is None else logits

    def _note(self, seen: Any) -> None:
        """Tell what was seen of the functions that the model and the loss call."""
        if seen.half and not any(p.element_size() < 4 for p in self.params):
            self._find("16 bits within the model or the loss", ", ".join(list(seen.half)[:3]), _HALVES)
        if seen.drops and not any(f["what"] == "dropout" for f in self.findings):
            self._find("dropout by function", ", ".join(seen.drops), "pass training=False, or leave it: each product draws the same mask")
        self.generators = list(seen.generators.values())
        for g, state in self.generators:
            g.set_state(state)

    def _some(self, rows: Any) -> Any:
        """The batch, or some of its rows."""
        if rows is None:
            return self.batch
        if min(rows) < 0 or max(rows) >= self.count:
            raise ValueError("there are no such rows")
        return self.take(self.batch, rows)

    def loss(self, w: Any, rows: Any = None) -> Dict[str, float]:
        return self._evaluate(w, self.data if w is None and rows is None else self._some(rows), False)

    def eval(self, w: Any) -> Dict[str, float]:
        return self._evaluate(w, self.test, True)

    def _evaluate(self, w: Any, data: Any, testing: bool) -> Dict[str, float]:
        with self._weights(w):
            if not self.derives:
                try:
                    with self._still(grad=False, testing=testing):
                        return self._figures(data, *self._forward(data))
                except Exception as error:
                    if _is_memory(error):
                        raise
            with self._still(testing=testing):
                told = self._figures(data, *self._forward(data))
            self.derives = True  # the loss differentiates by its inputs, as a PINN's
            return told

    def grad(self, w: Any, rows: Any) -> Tuple[Dict[str, float], List[Any]]:
        derive = self.torch.autograd.grad
        if w is None and rows is None:
            if self.slope is None:
                with self._settings():
                    loss, outputs = self._kept()
                    self.slope = self._figures(self.data, loss, outputs), derive(loss, self.params, retain_graph=self.products, allow_unused=True)
                if not self.products:
                    self.graph = None
            return self.slope
        data = self._some(rows)
        with self._weights(w), self._still():
            loss, _ = self._forward(data)
            return {"loss": float(loss.detach())}, derive(loss, self.params, allow_unused=True)

    def _vectors(self, v: Any) -> List[Any]:
        """A vector of weights as tensors of their shapes, devices and layouts, until the next one. It is copied where it does not lie
        as torch's own do: last bits depend on that."""
        if isinstance(v, list):
            return v
        parts = v.split(self.sizes)
        if self.scratch is None:
            self.scratch = [None if x.data_ptr() % 64 == 0 and p.dtype == x.dtype and p.device == x.device and p.is_contiguous()
                            else self.torch.empty_like(p, requires_grad=False) for p, x in zip(self.params, parts)]
        return [x.view(p.shape) if s is None else s.copy_(x.view(p.shape)) for p, s, x in zip(self.params, self.scratch, parts)]

    def _along(self, gradient: Any, of: Any, v: List[Any]) -> List[Any]:
        """The gradient of (gradient, v): None where it does not depend on the weights."""
        pairs = [(g, x) for g, x in zip(gradient, v) if g is not None and g.requires_grad]
        if not pairs:
            return [None] * len(of)
        return self.torch.autograd.grad([g for g, _ in pairs], of, [x for _, x in pairs], retain_graph=True, allow_unused=True)

    def hv(self, v: Any) -> List[Any]:
        with self._settings():
            if self.second is None:
                self.second = _dense(self.torch.autograd.grad(self._kept()[0], self.params, create_graph=True, allow_unused=True))
            return self._along(self.second, self.params, self._vectors(v))

    def _split(self) -> Tuple[Any, Any, Any, Any]:
        """The outputs, the gradient of the loss by them, u, and Jᵀu."""
        if self.split is None:
            derive = self.torch.autograd.grad
            loss, outputs = self._kept()[0], self.inner
            slope = derive(loss, outputs, create_graph=True)
            u = self.torch.zeros_like(outputs, requires_grad=True)
            self.split = outputs, slope, u, _dense(derive(outputs, self.params, u, create_graph=True, allow_unused=True))
        return self.split

    def gnv(self, v: Any) -> List[Any]:
        with self._settings():
            outputs, slope, u, back = self._split()
            jv = self._along(back, [u], self._vectors(v))[0]
            bent = None if jv is None else self._along(slope, [outputs], [jv])[0]
            if bent is None:
                return [None] * len(self.params)
            return self.torch.autograd.grad(outputs, self.params, bent, retain_graph=True, allow_unused=True)

    def diag(self) -> List[Any]:
        """The diagonal of JᵀHJ by the rows of J, one gradient each, and the columns of H."""
        torch, result = self.torch, []
        with self._settings():
            outputs, slope, _, _ = self._split()
            units = torch.eye(outputs.numel(), dtype=outputs.dtype, device=outputs.device).view(-1, *outputs.shape)
            bent = [self._along(slope, [outputs], [e])[0] for e in units]
            rows = [torch.autograd.grad(outputs, self.params, e, retain_graph=True, allow_unused=True) for e in units]
        h = torch.stack([torch.zeros_like(outputs).reshape(-1) if b is None else b.reshape(-1) for b in bent])
        for p, column in zip(self.params, zip(*rows)):
            j = torch.stack([torch.zeros_like(p).reshape(-1).to(h.dtype) if x is None else x.reshape(-1).to(h.dtype) for x in column])
            result.append((j * (h @ j)).sum(0))
        return result

    # Kronecker factors (Martens & Grosse 2015; Grosse & Martens 2016; Eschenhagen et al. 2023).

    def _try_factors(self) -> None:
        """Find out which weights have factors, and how targets are drawn; raise where K-FAC would say nothing of most."""
        if "gnv" not in self.has:
            raise ValueError("there are no outputs apart from the loss")
        data = self._some(range(min(8, self.count)) if "rows" in self.has else None)
        loss, outputs, seen, layers = self._recorded(data)
        tied = [self.names[i] for i in layers if seen.uses.count(i) > 1]
        if tied:
            raise ValueError(f"{tied[0]} is used by more than one layer")
        covered = sum(self.sizes[i] + bias * len(self.params[i]) for i, (_, bias, *_) in layers.items())
        if 2 * covered < sum(self.sizes):
            rest = [n for i, (n, p) in enumerate(zip(self.names, self.params)) if i not in layers and p.dim() > 1]
            raise ValueError(f"{', '.join(rest[:3])} and other weights, more than half of all, are of no Linear, convolution, Embedding or norm")
        v = self.torch.randn(outputs.shape, generator=self.torch.Generator().manual_seed(1)).to(outputs)
        bent = self._bend(loss, outputs, v)
        for self.dim in [None] + [d for d in (outputs.dim() - 1, 1) if 0 <= d < outputs.dim()]:
            c, p = self._curvature(loss, outputs)
            guess = c * v if p is None else c * p * (v - (p * v).sum(self.dim, keepdim=True))
            if float(c.min()) >= 0 and bent.any() and float((guess - bent).norm()) <= 1e-3 * float(bent.norm()):
                self.draws = (outputs if p is None else c).numel() // _rows(data)
                self.known = sorted((i, layer[0], layer[1]) for i, layer in layers.items())
                return
        raise ValueError("the loss has a curvature by the outputs that is neither that of each by itself nor that of a softmax")

    def _recorded(self, data: Any) -> Tuple[Any, Any, Any, Dict[int, Any]]:
        """The loss, the outputs as _inner has them, what was seen of layers, and what there is of weights by their numbers: the kind,
        whether the next tensor is the biases, the name of the function, its arguments, its result."""
        with self._still() as stack:
            seen = stack.enter_context(_witness(self.torch, {id(p): i for i, p in enumerate(self.params)}))
            loss, outputs = self._forward(data)
        layers: Dict[int, Any] = {}
        for w, b, name, told, out in seen.layers:
            kind = "table" if name == "embedding" else "diagonal" if "norm" in name else "matrix" if told.get("groups", 1) == 1 else ""
            joined = kind == "matrix" and 0 <= w == b - 1
            if w >= 0 and kind:
                layers[w] = kind, joined, name, told, out
            if b >= 0 and not joined:
                layers[b] = "diagonal", False, name, told, out
        return loss, self._inner(seen, loss, outputs) if self.linked else outputs, seen, layers

    def _bend(self, loss: Any, outputs: Any, v: Any) -> Any:
        """The Hessian of the loss by the outputs, times v."""
        with self._settings():
            bent, = self._along(self.torch.autograd.grad(loss, outputs, create_graph=True, allow_unused=True), [outputs], [v])
        return self.torch.zeros_like(outputs) if bent is None else bent

    def _curvature(self, loss: Any, outputs: Any) -> Tuple[Any, Any]:
        """c and None, if that Hessian is diag(c), or c and p, if it is c(diag(p) - ppᵀ) along the dimension, p the softmax there."""
        torch = self.torch
        if self.dim is None:
            return self._bend(loss, outputs, torch.ones_like(outputs)), None
        p = outputs.detach().softmax(self.dim)
        top = torch.zeros_like(p).scatter_(self.dim, p.argmax(self.dim, keepdim=True), 1)
        c = (self._bend(loss, outputs, top) * top).sum(self.dim, keepdim=True) / (p * (1 - p) * top).sum(self.dim, keepdim=True)
        return c.nan_to_num(0, 0, 0), p

    def factors(self, w: Any, rows: Any, draws: memoryview, sizes: List[int]) -> Any:
        """The factors of each layer, that of its inputs first: numbers of the dtype, as bytes."""
        torch, data, parts = self.torch, self._some(rows), []
        with self._weights(w):
            loss, outputs, _, layers = self._recorded(data)
            c, p = self._curvature(loss, outputs)
            u, count = torch.frombuffer(draws, dtype=torch.float64).to(c.device).view(c.shape), _rows(data)
            if p is not None:
                y = (p.double().cumsum(self.dim) <= u).sum(self.dim, keepdim=True).clamp(max=p.shape[self.dim] - 1)
                u = p - torch.zeros_like(p).scatter_(self.dim, y, 1)
            z = (c.clamp(min=0) * count).sqrt() * u.to(c)  # E zzᵀ is the Hessian of the rows' own losses
            with self._settings():
                slopes = torch.autograd.grad(outputs, [layers[i][4] for i, _, _ in self.known], z, allow_unused=True)
            for at, ((i, _, _), g) in enumerate(zip(self.known, slopes)):
                g = torch.zeros_like(layers[i][4]) if g is None else g
                parts += self._pair(*layers[i][:4], self.params[i], g, count, sizes[2 * at:2 * at + 2])
        body = bytearray(sum(x.numel() for x in parts) * (8 if self.dtype == torch.float64 else 4))
        torch.cat([x.detach().reshape(-1).to("cpu", self.dtype) for x in parts], out=self.read(body))
        return body

    def _pair(self, kind: str, bias: bool, name: str, told: Dict[str, Any], weight: Any, g: Any, count: int, sizes: List[int]) -> List[Any]:
        """Both factors of a weight, from the derivatives g by what its layer puts out."""
        torch, x, channels = self.torch, told["input"], name.startswith(("conv", "group", "batch"))

        moment = lambda x, share, size: x.t() @ x * share if size > 1 else x.square().sum() * (share / x.shape[1])

        def by_row(x: Any) -> Any:
            """Rows, positions, numbers; of what has no rows one."""
            x = x.transpose(0, 1) if x.dim() > 2 and x.shape[0] != count and x.shape[1] == count else x
            return x.reshape(1 if x.shape[:-1].numel() % count else count, -1, x.shape[-1])

        if kind == "table":
            seen = x.reshape(-1) != (-1 if told.get("padding_idx") is None else told["padding_idx"])
            often = torch.bincount(x.reshape(-1)[seen], minlength=len(weight)).to(g) / x.numel()
            return [moment(g.reshape(-1, g.shape[-1])[seen], 1 / count, sizes[0]), often]
        if kind == "matrix" and channels or "norm" in name:  # what the weights multiply: of a convolution the patches
            unit = torch.eye(weight[0].numel(), dtype=g.dtype, device=g.device).view(-1, *weight.shape[1:]) if kind == "matrix" else None
            x = getattr(torch.nn.functional, name)(**{**told, **{key: None for key in ("bias",) if key in told}, "weight": unit})
        x, g = (x.movedim(1, -1), g.movedim(1, -1)) if channels else (x, g)
        if kind == "diagonal":
            g = g if told.get("bias") is weight else g * x
            return [by_row(g.flatten(-weight.dim())).sum(1).square().sum(0) / count, torch.ones(1)]
        x, g = by_row(x), by_row(g)
        x, g = (x.mean(1), g.sum(1)) if self.reduces else (x.flatten(0, 1), g.flatten(0, 1))
        return [moment(torch.cat([x, torch.ones_like(x[:, :1])], 1) if bias else x, 1 / len(x), sizes[0]), moment(g, 1 / count, sizes[1])]

    def update(self) -> List[Any]:
        if self.change is None:
            raise NotImplementedError("the last change of the weights is not known")
        return self.change


def _of_dict(model: Any, loss_fn: Any, batch: Any) -> Any:
    out = model(**batch)
    return (out.loss, getattr(out, "logits", None)) if hasattr(out, "loss") else out["loss"]


# How a loss may be computed: of which batches, whether there is a loss_fn, how it is written, and the loss, or the pair of the loss
# and the outputs that it is a function of.
_FORMS: Tuple[Tuple[str, bool, str, Any], ...] = (
    ("pair", True, "loss_fn(model(inputs), targets)", lambda m, f, b: (lambda out: (f(out, b[1]), out))(m(b[0]))),
    ("any", True, "loss_fn(model, batch)", lambda m, f, b: f(m, b)),
    ("pair", True, "loss_fn(model(inputs).logits or [0], targets)", lambda m, f, b: (lambda o: (f(o, b[1]), o))((lambda out: out.logits if hasattr(out, "logits") else out[0])(m(b[0])))),
    ("many", True, "loss_fn(model(*inputs), targets)", lambda m, f, b: (lambda out: (f(out, b[-1]), out))(m(*b[:-1]))),
    ("mapping", False, "model(**batch).loss", _of_dict),
    ("pair", False, "model(inputs, targets), a pair of outputs and loss", lambda m, f, b: m(*b)[::-1]),
)


def _check_arguments(model: Any, loss_fn: Any, batch: Any, test: Any) -> None:
    """Say what was expected in place of arguments that can't be meant."""
    expected = "expected newtop.serve(model, loss_fn, (inputs, targets))"
    for root, text in (
        ("flax.nnx", "has its weights within: graph, params, rest = flax.nnx.split(model, flax.nnx.Param, ...); "
                     "newtop.serve(loss_fn, params, batch, outputs=lambda p, x: flax.nnx.merge(graph, p, rest)(x))"),
        ("flax.linen", "has no weights within: newtop.serve(loss_fn, model.init(key, x), batch, outputs=model.apply)"),
        ("equinox", "has more than weights within: params, rest = equinox.partition(model, equinox.is_inexact_array); "
                    "newtop.serve(loss_fn, params, batch, outputs=lambda p, x: jax.vmap(equinox.combine(p, rest))(x))")):
        if any(c.__module__.startswith(root) for c in type(model).__mro__):
            raise TypeError(f"a module of {root} {text}")
    for x, name in (batch, "batch"), (test, "eval"):
        if isinstance(x, type):
            raise TypeError(f"{name} is the class {x.__name__}: {expected}")
        if type(x).__module__ in _HF or hasattr(x, "__getitem__") and hasattr(x, "__len__") and not hasattr(x, "__iter__"):
            raise TypeError(_no_batches(x))
        if _is_loader(x) and hasattr(x, "__next__"):
            raise TypeError(f"{name} is a {type(x).__name__}, which can be read once: newtop.serve(model, loss_fn, list(batches))")
    weights = [hasattr(x, "named_parameters") and next(iter(x.named_parameters()), None) is not None for x in (model, loss_fn)]
    if weights == [False, True]:
        raise TypeError(f"the model comes first: {expected}, and not a {type(model).__name__} before it")
    if not hasattr(model, "named_parameters"):
        if not callable(model):
            raise TypeError(f"the first argument is a {type(model).__name__}: {expected}, or in JAX newtop.serve(loss_fn, params, batch)")
    elif batch is None:
        raise TypeError(f"there is no batch: {expected}")
    elif loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"loss_fn is a {type(loss_fn).__name__}: {expected}")


def _arrays(data: Any) -> List[Any]:
    """The tensors or arrays of one dimension or more in a batch."""
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, (tuple, list)):
        return [x for part in data for x in _arrays(part)]
    return [data] if len(getattr(data, "shape", ())) else []


def _rows(data: Any) -> int:
    return int(next((x.shape[0] for x in _arrays(data)), 0))


def _is_loader(x: Any) -> bool:
    """Whether x has batches one after the other, and is not one: a list of tensors is one, a list of pairs or dicts is not."""
    if isinstance(x, list):
        return bool(x) and all(isinstance(part, (tuple, list, Mapping)) for part in x)
    return hasattr(x, "__iter__") and not isinstance(x, (tuple, str, Mapping)) and not hasattr(x, "shape") and not hasattr(x, "keys")


_HF = "datasets.arrow_dataset", "datasets.iterable_dataset"  # of which each item is one row


def _no_batches(x: Any) -> str:
    torch = ".with_format('torch')" if type(x).__module__ in _HF else ""
    return f"a {type(x).__name__} has rows one by one, and no batches: give torch.utils.data.DataLoader(data{torch}, batch_size=256)"


def _read(source: Any) -> List[Any]:
    """The batches of a loader, read once, in the order that random numbers give which begin with seed()."""
    outer, batches = _random([g for g in (getattr(x, "generator", None) for x in (source, getattr(source, "sampler", None))) if hasattr(g, "get_state")]), []  # type: Any, List[Any]
    if getattr(source, "_iterator", None) is not None:  # of workers that stay, which the user's own loop may be reading
        source = copy.copy(source)
        source._iterator = None
    try:
        for module, put in ("torch", "manual_seed"), ("random", "seed"), ("numpy.random", "seed"):
            getattr(sys.modules.get(module), put, int)(seed() % (1 << 32))
        for batch in source:
            target = batch[-1] if isinstance(batch, (tuple, list)) and len(batch) == 2 else batch.get("labels", batch.get("label")) if isinstance(batch, Mapping) else None
            if isinstance(target, int) or getattr(target, "shape", None) == () and "int" in str(target.dtype):  # the class of one row
                raise TypeError(_no_batches(source))
            batches.append(batch)
    finally:
        _set_random(outer)
    if not batches:
        raise ValueError("the loader has no batches")
    _say(f"the loader's {len(batches)} batches of {_rows(batches[0])} rows, {sum(map(_rows, batches))} in all, are read once and kept in this order")
    return batches


def _wide(x: Any) -> Any:
    """A number or vector in float64, where its device has that."""
    x = _dense([x.detach()])[0] if hasattr(x, "detach") else x
    return x if isinstance(x, float) or "mps" in str(getattr(x, "device", "")) else x.double() if hasattr(x, "double") else sys.modules["numpy"].asarray(x, "f8")


class _Batches:
    """A model over a loader's batches. What is asked of it is the mean of what each answers, weighted by what the loss is a mean over,
    or the sum if the loss is one. There are graphs of one batch at a time."""

    def __init__(self, what: Any, train: Optional[List[Any]], test: Optional[List[Any]], rows: bool) -> None:
        self.what, self.of, self.train, self.test = what, what.model if isinstance(what, _Plain) else what, train, test
        self.chosen: Any = None  # the numbers of the batches that the point is of; None: all
        self.mean, likely = "", next(iter(self.of.counts((train or test)[0])))
        with suppress(Exception):  # batches that can't be divided
            self.mean = likely if self.of.coupled else _mean_of(self.of, (train or test)[0])
            if not self.mean:
                self.of.findings.append({"what": "a loss that is no mean over rows or targets", "where": "loss_fn", "remedy": "its batches are weighted by their rows"})
        self.mean = self.mean or likely
        self.of.forget()  # the first batch's metrics were not all known yet
        self.own = ["rows", "sample"] if train and rows and self.mean != "sum" else []

    def __getattr__(self, name: str) -> Any:
        found, batches = getattr(self.what, name), self.test if name == "eval" else self.train
        return found if not batches or name not in ("loss", "eval", "grad", "hv", "gnv", "diag") else lambda *args: self._over(batches, name, found, *args)

    def about(self) -> Dict[str, Any]:
        told, sizes = self.what.about(), [[max(1, _rows(x)) for x in batches or []] for batches in (self.train, self.test)]
        if self.train:
            told.update(has=[x for x in told["has"] if x != "factors"] + self.own, lacks={"factors": "a loader's batches have no factors together: give one of them"},
                        rows=sum(sizes[0]), **({"batches": sizes[0]} if self.own else {}))
        return {**told, **({"test_rows": sum(sizes[1])} if self.test else {}), "digest": _digest(told["digest"], self.train, self.test)}

    def at(self, w: Any, rows: Any = None) -> None:
        self.what.at(w, *([] if rows is None or self.train else [rows]))
        self.chosen = rows

    def _over(self, batches: List[Any], name: str, ask: Any, *args: Any) -> Any:
        """What ask() answers, over the batches that come with it, or at the point over the point's, or over all."""
        chosen = None if name == "eval" or name in ("loss", "grad") and args[0] is not None else self.chosen
        if name in ("loss", "grad"):
            chosen, args = args[1] if args[1:] and args[1] is not None else chosen, (args[0], None)[:1 + (name == "grad")]
        if chosen is not None and not 0 <= min(chosen) <= max(chosen) < len(batches):
            raise ValueError("there are no such batches")
        sums, masses = {}, {}  # of metrics, and of vectors by their numbers
        mass = lambda key, of: of.get({"error_rate": "counted", "rmse": "rows"}.get(key, self.mean), 1.0)
        for batch in (b for b in (batches if chosen is None else [batches[k] for k in chosen]) if self.of.counts(b).get(self.mean, 1.0)):  # else 0/0
            if name == "eval":
                self.of.test = batch
            elif self.of.data is not batch:
                self.of.batch, self.of.data, _ = batch, batch, self.of.forget()
            told, counts = ask(*args), self.of.counts(batch)
            metrics, vector = told if name == "grad" else (told, []) if isinstance(told, Mapping) else ({}, told)
            for key, x in [*metrics.items(), *enumerate(vector if isinstance(vector, (tuple, list)) else [vector])]:
                x = None if x is None else (x * x if key == "rmse" else _wide(x)) * mass(key, counts)
                sums[key] = x if sums.get(key) is None else sums[key] if x is None else sums[key] + x
            masses = {key: masses.get(key, 0.0) + x for key, x in counts.items()}
        means = {key: x if x is None else math.sqrt(x / mass(key, masses)) if key == "rmse" else x / mass(key, masses) for key, x in sums.items()}
        vector = [means.pop(key) for key in list(means) if isinstance(key, int)]
        vector = vector if isinstance(self.what, _Torch) else vector[:1] and vector[0]
        return (means, vector) if name == "grad" else means or vector


def _mean_of(of: Any, batch: Any) -> str:
    """Which of its counts(), or "sum", a loss is a mean over: told by every other row and the rest, where some targets do not count
    if that may be. Empty: none of them."""
    def fits(data: Any) -> str:
        halves = [of.take(data, range(k, n, 2)) for k in (0, 1)]
        whole, a, b = map(of.loss_of, (data, *halves))
        p, q = map(of.counts, halves)
        near = lambda x: abs(x - whole) <= 1e-4 * max(abs(whole), abs(a), abs(b))
        found = [key for key in p if near((a * p[key] + b * q[key]) / max(1e-300, p[key] + q[key]))] + ["sum"] * near(a + b)
        return found[0] if found else "" if math.isfinite(whole + a + b) else next(iter(p))

    n, targets = _rows(batch), of.targets(batch)
    if targets is not None and n > 3:
        with suppress(Exception):
            ignored = targets.clone()
            ignored.view(n, -1)[0, 2 * (ignored.dim() > 1):] = of.ignored
            return fits({**batch, "labels": ignored} if isinstance(batch, Mapping) else [*batch[:-1], ignored])
    return fits(batch)


def _random(generators: Any = ()) -> List[Tuple[Any, Any]]:
    """The states of all random numbers, each after what sets it."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    states = [(random.setstate, random.getstate()), *((g.set_state, g.get_state()) for g in generators)]
    if hasattr(torch, "get_rng_state"):
        there = (torch, "", True), (torch.cuda, "_all", torch.cuda.is_initialized()), (getattr(torch, "mps", None), "", torch.backends.mps.is_available())
        states = [(getattr(m, "set_rng_state" + end), getattr(m, "get_rng_state" + end)()) for m, end, on in there if on] + states
    return states + ([(numpy.random.set_state, numpy.random.get_state())] if hasattr(numpy, "random") else [])


def _set_random(states: List[Tuple[Any, Any]]) -> None:
    for put, state in states:
        put(state)


def _each(data: Any, do: Any) -> Any:
    """The data with do(tensor) in place of each of its tensors of one dimension or more."""
    if hasattr(data, "is_floating_point"):
        return do(data) if data.dim() else data
    if isinstance(data, Mapping):
        changed = {k: _each(v, do) for k, v in data.items()}
        return changed if type(data) is dict else type(data)(changed)
    if isinstance(data, (tuple, list)):
        parts = [_each(x, do) for x in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return data


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _dense(tensors: Any) -> List[Any]:
    """Tensors without the sparse ones of an Embedding(sparse=True)."""
    return [t.to_dense() if t is not None and t.is_sparse else t for t in tensors]


# The functions whose weights have Kronecker factors, with their arguments.
_LAYERS = {"linear": "input weight bias", **{f"conv{d}d": "input weight bias stride padding dilation groups" for d in (1, 2, 3)}, "embedding": "input weight padding_idx",
           "layer_norm": "input normalized_shape weight bias eps", "rms_norm": "input normalized_shape weight eps",
           "group_norm": "input num_groups weight bias eps", "batch_norm": "input running_mean running_var weight bias training momentum eps"}


def _witness(torch: Any, weights: Any = None) -> Any:
    """A context that sees the functions that a model and its loss call. With weights, numbers by ids, it keeps what has them."""
    class Witness(torch.overrides.TorchFunctionMode):
        def __init__(self) -> None:
            super().__init__()
            self.links: Dict[int, Any] = {}  # by the id of a result: the function, its input, and the result
            self.entropies: List[Any] = []  # what losses took that are cross-entropies
            self.half, self.drops, self.generators = {}, {}, {}
            self.layers, self.uses = [], []  # numbers of weights and biases, the function, its arguments and result; each use of a weight

        def __torch_function__(self, function: Any, types: Any, args: Any = (), named: Any = None) -> Any:
            named, name = named or {}, getattr(function, "__name__", "")
            own = named.get("generator")
            if isinstance(own, torch.Generator) and id(own) not in self.generators:
                self.generators[id(own)] = own, own.get_state()
            result = self.keep(name, function, args, named)
            first = args[0] if args else named.get("input")
            if name in ("log_softmax", "softmax", "logsigmoid", "sigmoid", "log"):
                self.links[id(result)] = name, first, result
            elif name in ("nll_loss", "kl_div", "binary_cross_entropy"):
                self.entropies.append(first)
            elif "dropout" in name and named.get("training", (args[2:] or [True])[0]) and named.get("p", (args[1:] or [1])[0]):
                self.drops[name] = True
            if isinstance(result, torch.Tensor) and isinstance(first, torch.Tensor) and result.dtype in (torch.bfloat16, torch.float16):
                self.half[name] = True
            return result

        def keep(self, name: str, function: Any, args: Any, named: Any) -> Any:
            if weights is None:
                return function(*args, **named)
            if function is torch.nn.functional.multi_head_attention_forward:  # calls linear, which no mode sees within
                from unittest.mock import patch
                linear = torch.nn.functional.linear
                with patch.object(torch.nn.functional, "linear", lambda *args, **named: self.keep("linear", linear, args, named)):
                    return function(*args, **named)
            result = function(*args, **named)
            if isinstance(result, torch.Tensor) and result.requires_grad:
                for x in (*args, *named.values()):
                    self.uses += [weights[id(y)] for y in (x if isinstance(x, (list, tuple)) else (x,)) if id(y) in weights and y is not result]
                if name in _LAYERS:
                    told = {**dict(zip(_LAYERS[name].split(), args)), **named}
                    self.layers.append((*(weights.get(id(told.get(key)), -1) for key in ("weight", "bias")), name, told, result))
                    return result.clone()  # which may be changed in place
            return result

    return Witness()


def _class_dim(outputs: Any, targets: Any) -> Optional[int]:
    """In which dimension of the outputs the classes are whose numbers the targets have, if they are such numbers."""
    if targets.is_floating_point() or targets.is_complex() or outputs.dim() != targets.dim() + 1:
        return None
    if outputs.shape[:-1] == targets.shape:
        return outputs.dim() - 1
    return 1 if outputs.shape[:1] + outputs.shape[2:] == targets.shape else None


def _remedy(error: BaseException, else_: str = "newtop takes differences of gradients") -> str:
    """What to do about a product that can't be had."""
    text = str(error)
    missing = re.search(r"derivative for '?([\w:.]+)'? is not implemented", text)
    if missing:
        return f"{missing[1]} has no second derivative: use another layer; until then newtop takes differences of gradients"
    if "once_differentiable" in text:
        return "a torch.autograd.Function is marked once_differentiable: newtop takes differences of gradients"
    if "checkpoint" in text.lower():
        return "pass use_reentrant=False to torch.utils.checkpoint"
    return "give a smaller batch" if _is_memory(error) else else_


class _Probe:
    """What probe() returns."""

    said = False  # how a probe is watched

    def __init__(self, model: Any, loss_fn: Any, batch: Any, every: int, optimizer: Any, name: Optional[str], pause: float,
                 listen: Optional[str]) -> None:
        self.calls, self.every, self.told, self.pause = 0, every, (model, loss_fn, batch, optimizer, name), float(pause)
        self.accept = _door(listen) if listen and _rank() == 0 else None
        if (listen or not os.environ.get("NEWTOP_PEER") and not _Probe.said and not hasattr(_connect, "served")) and _rank() == 0:
            _Probe.said = True
            how = f"unix:{listen}" if listen else f"-- python3 {(sys.argv or [''])[0].replace('-c', '') or 'train.py'}"
            _say(f"to see the curvature of this model: newtop watch {how}")
        self.path = os.environ.get("NEWTOP_PEER") if _rank() == 0 and not listen else None  # it stays there for other probes
        self.sock = self.peer = self.before = None  # type: Any

    def step(self, loss: Any = None) -> None:
        """Count a step of the optimizer; at each EVERY-th one answer what newtop asks for."""
        if not self.path and not self.accept:
            return
        self.calls += 1
        try:
            if self.calls % self.every == 0:
                self._look(loss)
            if (self.calls + 1) % self.every == 0 and (self.peer or self.path):
                model = self.told[0]
                self.before = [p.detach().clone() for p in (self.peer.model.params if self.peer else model.parameters()) if p.requires_grad]
        except (_Closed, ConnectionError):
            self._end()
        except Exception as error:
            _say(f"probe: {' '.join(str(error).split()) or repr(error)}: no more of it")
            self._end()

    def _end(self) -> None:
        if self.sock is not None:
            self.sock.close()
        self.path = self.sock = self.peer = self.before = None

    def _look(self, loss: Any) -> None:
        model, loss_fn, batch, optimizer, name = self.told
        if self.peer is None:
            self.sock = self.accept and self.accept(0)
            if self.accept and not self.sock:
                return
            with _told(self.sock) if self.sock else nullcontext():
                what = _model(model, loss_fn, batch, observed=True)
                if what.fatal():
                    raise RuntimeError(what.fatal())
            self.sock = self.sock or _open(self.path)
            self.peer = _Peer(self.sock, what, name, mode="observed")
        what, wire = getattr(self.peer.model, "what", self.peer.model), self.peer.wire
        what.freeze()
        what.release()
        what.change = None if self.before is None else [p.detach() - b for p, b in zip(what.params, self.before)]
        try:
            wire.send({"op": "step", "step": self.calls, "pause": self.pause, **({} if loss is None else {"loss": _plain(loss)}), **_rate(optimizer)})
            while True:
                head = wire.receive()
                if head.get("op") == "on":
                    return
                if not self.peer.answer(head):
                    return self._end()
        finally:
            what.release()
            what.change = self.before = None


def _rate(optimizer: Any) -> Dict[str, Any]:
    """The name of an optimizer, and the length and momentum of its step if that is one along the gradient."""
    if optimizer is None:
        return {}
    told, groups = {"optimizer": type(optimizer).__name__}, optimizer.param_groups
    steps = {(float(g.get("lr", 0)), float(g.get("momentum", 0))) for g in groups}
    if type(optimizer).__name__ == "SGD" and len(steps) == 1 and not any(g.get("nesterov") or g.get("dampening") or g.get("maximize") for g in groups):
        told["rate"], told["momentum"] = steps.pop()
    return told
