"""Log a training run from any loop, in one line, and watch it with newtop.

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
