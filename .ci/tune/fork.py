"""Runs a script in a process forked from one that has imported what takes long: fork.py serve SOCKET MODULE…, then fork.py SOCKET SCRIPT ARGUMENT…
The script sees its own arguments and this console, and ends when this process is killed."""
import os, socket, sys


def serve(path, modules):
    import gc, importlib, runpy, signal, threading
    for m in modules:
        importlib.import_module(m)
    gc.disable()  # so that pages stay shared
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen()
    while True:
        c = s.accept()[0]
        if os.fork():
            c.close()
            continue
        text, fds, _, _ = socket.recv_fds(c, 1 << 16, 2)
        for to, fd in zip((1, 2), fds):
            os.dup2(fd, to)
        folder, *sys.argv = text.decode().split("\0")
        os.chdir(folder)
        sys.stdout, sys.stderr = os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        threading.Thread(target=lambda: (c.recv(1), os._exit(143)), daemon=True).start()
        code = 0
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 1 if e.code else 0
        except BaseException:
            import traceback
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        c.send(bytes([code]))
        os._exit(0)


if sys.argv[1] == "serve":
    serve(sys.argv[2], sys.argv[3:])
c = socket.socket(socket.AF_UNIX)
c.connect(sys.argv[1])
socket.send_fds(c, ["\0".join([os.getcwd(), *sys.argv[2:]]).encode()], [1, 2])
said = c.recv(1)
os._exit(said[0] if said else 1)
