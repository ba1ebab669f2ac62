#!/usr/bin/env python3
"""Fills the disk under writers at random moments, and checks that they say so in a line and that nothing is lost.

disk_full.py TERN [--n N] [--writer NAME] [--seed N]

Each of the N runs goes to the next of the writers of kills.py, in a folder that is a file system of its own with some
bytes left, fewer or more than the run needs. It must succeed, or end with exit code 1 and one line that names the file.
What is under the final name must be whole or what was there before, and no draft may stay. Then the disk has room
again, and the same command must leave what it leaves otherwise. Needs root, for the file systems. Exit 77: not there.
"""
import argparse
import http.server
import os
import random
import signal
import subprocess
import sys
import threading
import urllib.error

from kills import COMPLETION, UPLOAD, UPLOAD_KIND, Hub, Server, writers
from program import Program

SIZE = 64 << 20  # of a file system
FILLER = "filler"


def fill(folder, left):
    """Leaves about `left` bytes."""
    state = os.statvfs(folder)
    with open(os.path.join(folder, FILLER), "wb") as file:
        size = state.f_bavail * state.f_frsize - left
        if size > 0:
            os.posix_fallocate(file.fileno(), 0, size)


def empty(folder):
    os.remove(os.path.join(folder, FILLER))


def serve_once(writer, left):
    """A server answers with an error while the disk is full, and goes on when it is not. Returns as run_once()."""
    process = writer.begin()

    def ask(path, body, kind="application/json"):
        try:
            writer.ask(path, body, kind)
            return 200
        except urllib.error.HTTPError as error:
            error.read()
            return error.code
    try:
        writer.wait(process)
        fill(writer.folder, left)
        statuses = [ask("/completion", COMPLETION), ask("/slots/0?action=save", b'{"filename":"kept"}'),
                    ask("/v1/files", UPLOAD, UPLOAD_KIND)]
        empty(writer.folder)
        after = [ask("/slots/0?action=save", b'{"filename":"kept"}'), ask("/v1/files", UPLOAD, UPLOAD_KIND)]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    if statuses[0] != 200 or not set(statuses) <= {200, 500, 503, 507} or set(after) != {200} or process.returncode != 0:
        return f"serve: {left} bytes left: {statuses}, then {after}, ended with {process.returncode}", True
    code, errors = writer.finish()
    if code != 0 or writer.left():
        return f"serve: {left} bytes left: {code}: {errors[-300:]}, {writer.left()}", True
    return None, set(statuses) != {200}


def run_once(writer, left, fresh):
    """Returns what is wrong, or nothing; and whether the disk was full."""
    if fresh:
        writer.clear()
    fill(writer.folder, left)
    code, errors = writer.finish()
    empty(writer.folder)
    lines = [line for line in errors.split("\n") if line.startswith("tern: ")]
    where = f"{writer.name}: {left} bytes left"
    if code not in (0, 1) or (code == 1 and (len(lines) != 1 or "/" not in lines[0])):
        return f"{where}: ended with {code}: {errors[-300:]}", True
    if not writer.is_whole():
        return f"{where}: a half file is under the final name", True
    drafts = [name for name in writer.names() if name.endswith(".partial") and writer.name != "pull"]
    if drafts:
        return f"{where}: left {drafts}", True
    again, errors = writer.finish()
    if again != 0 or not writer.is_whole() or (writer.name != "batch" and writer.left()):
        return f"{where}: with room again: {again}: {errors[-300:]}, {writer.left()}", True
    return None, code == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tern")
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--writer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if os.environ.get("TERN_OWN_MOUNTS") is None:
        if os.geteuid() != 0:
            return 77
        os.execvpe("unshare", ["unshare", "-m", sys.executable, *sys.argv], dict(os.environ, TERN_OWN_MOUNTS="1"))
    random_ = random.Random(options.seed)
    faults, full = [], 0
    with Program(options.tern) as program:
        Hub.content = open(program.model, "rb").read()
        hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        hub.handle_error = lambda *_: None
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        some = [one for one in writers(program, f"http://127.0.0.1:{hub.server_port}") if options.writer in (None, one.name)]
        for writer in some:
            os.makedirs(writer.folder)
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", writer.folder], check=True)
            writer.prepare()
            writer.need = sum(os.path.getsize(os.path.join(writer.folder, name)) for name in writer.files) or 200000
        for i in range(options.n):
            writer = some[i % len(some)]
            left = int(random_.random() * 1.2 * writer.need)
            if isinstance(writer, Server):
                fault, was_full = serve_once(writer, left)
            else:
                fault, was_full = run_once(writer, left, random_.random() < 0.5)
            full += was_full
            if fault:
                faults.append(fault)
                print(fault, flush=True)
        hub.shutdown()
        for writer in some:
            subprocess.run(["umount", "-l", writer.folder], check=False)
    print(f"{options.n} runs, {full} with a full disk, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
