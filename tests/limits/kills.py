#!/usr/bin/env python3
"""Kills writers at random moments, and checks that no half file is ever found and nothing stays behind.

kills.py TERN [--n N] [--writer NAME] [--seed N] [--without-proc]

Each of the N kills goes to the next of the writers, as SIGKILL, SIGTERM, SIGHUP, SIGQUIT or SIGINT in turns. After it,
what is under the final name must be whole or what was there before. In the end every writer runs undisturbed, and its
folder must have what it has after a run without kills. --without-proc (as root) hides /proc, without which the system
has no files without a name, so that drafts have names as on other systems.
"""
import argparse
import filecmp
import hashlib
import http.server
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from program import Program

LONG = "Once upon a time " * 13  # more than a KV block, of which slots and caches keep whole ones
COMPLETION = json.dumps({"prompt": LONG, "n_predict": 8, "id_slot": 0}).encode()
UPLOAD = (b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x\r\nContent-Disposition: '
          b'form-data; name="file"; filename="b.jsonl"\r\n\r\n' + b"{}\n" * 20000 + b"\r\n--x--\r\n")
UPLOAD_KIND = "multipart/form-data; boundary=x"
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT]


class Hub(http.server.BaseHTTPRequestHandler):
    """The part of a hub's protocol that `tern pull` uses, for one file."""
    protocol_version = "HTTP/1.1"
    content = b""
    commit = "0123456789abcdef0123456789abcdef01234567"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            try:
                for at in range(0, len(body), 1 << 20):
                    self.wfile.write(body[at:at + (1 << 20)])
                    time.sleep(0.002)
            except OSError:
                self.close_connection = True

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        digest = hashlib.sha256(self.content).hexdigest()
        if self.path.startswith("/api/models/owner/model/"):
            file = {"rfilename": "model.gguf", "size": len(self.content), "blobId": "0" * 40,
                    "lfs": {"sha256": digest, "size": len(self.content), "pointerSize": 135}}
            text = json.dumps({"id": "owner/model", "sha": self.commit, "siblings": [file]})
            return self.answer(200, text.encode(), {"Content-Type": "application/json"})
        headers = {"X-Repo-Commit": self.commit, "ETag": f'"{digest}"', "X-Linked-Etag": f'"{digest}"',
                   "X-Linked-Size": str(len(self.content))}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted:
            return self.answer(200, self.content, headers)
        first, last = int(wanted[1]), min(int(wanted[2]), len(self.content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(self.content)}"
        return self.answer(206, self.content[first:last + 1], headers)


class Writer:
    """One way to write files, in a folder of its own."""

    def __init__(self, program, name, words, out, same=True):
        self.program, self.name, self.out, self.same = program, name, out, same
        self.folder = program.file(name)
        self.words = [word.replace("FOLDER", self.folder) for word in words]
        self.env = dict(program.env)

    def begin(self, wrap=()):
        return subprocess.Popen([*wrap, self.program.path, *self.words], env=self.env, cwd=self.program.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self):
        process = self.begin()
        errors = process.communicate(timeout=300)[1].decode(errors="replace")
        return process.returncode, errors

    def prepare(self):
        """Learns how long a run takes and what it leaves."""
        os.makedirs(self.folder, exist_ok=True)
        start = time.monotonic()
        code, errors = self.finish()
        assert code == 0, (self.name, code, errors)
        self.seconds = time.monotonic() - start
        self.files = sorted(self.names())
        self.reference = self.folder + ".reference"
        shutil.copytree(self.folder, self.reference, symlinks=True)

    def names(self):
        for folder, _, files in os.walk(self.folder):
            for file in files:
                name = os.path.relpath(os.path.join(folder, file), self.folder)
                if not name.startswith("hub/.locks"):
                    yield name

    def is_whole(self):
        out = os.path.join(self.folder, self.out)
        if not os.path.exists(out):
            return True
        return not self.same or filecmp.cmp(out, os.path.join(self.reference, self.out), shallow=False)

    def clear(self):
        """Now and then the file is not there before a run."""
        out = os.path.join(self.folder, self.out)
        if os.path.exists(out):
            os.remove(out)

    def disturb(self, process, delay):
        time.sleep(delay)

    def left(self):
        return sorted(set(self.names()) - set(self.files))


class Batch(Writer):
    """Answers are appended, and the next run goes on."""

    def is_whole(self):
        out = os.path.join(self.folder, self.out)
        if not os.path.exists(out):
            return True
        lines = open(out, encoding="utf-8").read().split("\n")
        ids = [json.loads(line)["custom_id"] for line in lines[:-1]]
        return len(ids) == len(set(ids))


class Server(Writer):
    """A server that saves slots and takes uploads while it is killed."""

    def prepare(self):
        os.makedirs(self.folder + "/slots")
        os.makedirs(self.folder + "/files")
        self.seconds = 1.0
        self.files, self.refused = [], ""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.words = [word.replace("PORT", str(self.port)) for word in self.words]

    def ask(self, path, body, kind="application/json"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, {"Content-Type": kind})
        return urllib.request.urlopen(request, timeout=20).read()

    def wait(self, process):
        for _ in range(600):
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=5).read()
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(process.stderr.read().decode()) from None
                time.sleep(0.05)
        raise RuntimeError("the server does not start")

    def work(self):
        try:
            while True:
                self.ask("/completion", COMPLETION)
                self.ask("/slots/0?action=save", b'{"filename":"kept"}')
                self.ask("/v1/files", UPLOAD, UPLOAD_KIND)
        except urllib.error.HTTPError as error:
            if error.code != 503:  # it is ending
                self.refused = error.read().decode()
        except (OSError, http.client.HTTPException):
            pass

    def disturb(self, process, delay):
        self.wait(process)
        workers = [threading.Thread(target=self.work) for _ in range(3)]
        for worker in workers:
            worker.start()
        time.sleep(delay)
        self.workers = workers

    def is_whole(self):
        for worker in getattr(self, "workers", []):
            worker.join()
        assert not self.refused, self.refused
        return True  # finish() restores the slot and reads the files

    def finish(self):
        process = self.begin()
        try:
            self.wait(process)
            if os.path.exists(self.folder + "/slots/kept"):
                self.ask("/slots/0?action=restore", b'{"filename":"kept"}')
            files = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/files?limit=10000").read())["data"]
            for file in files[:50]:
                path = f"http://127.0.0.1:{self.port}/v1/files/{file['id']}/content"
                assert len(urllib.request.urlopen(path).read()) == file["bytes"], file
            self.known = {name for file in files for name in
                          (f"files/files/{file['id']}.data", f"files/files/{file['id']}.json")}
        finally:
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1].decode(errors="replace")
        return process.returncode, errors

    def clear(self):
        pass

    def left(self):
        mine = self.known | {"slots/kept", "files/lock"}
        return sorted(set(self.names()) - mine)


def writers(program, hub):
    m = program.model
    pull = Writer(program, "pull", ["pull", "owner/model"], f"hub/models--owner--model/snapshots/{Hub.commit}/model.gguf")
    pull.env.update(HF_ENDPOINT=hub, HF_HUB_CACHE=pull.folder + "/hub")
    pull.clear = lambda: shutil.rmtree(pull.folder + "/hub", ignore_errors=True)
    return [
        Writer(program, "convert", ["convert", m, "FOLDER/out.gguf", "--type", "q8_0", "-q"], "out.gguf"),
        Writer(program, "synth", ["synth", "--preset", "tiny-qwen3", "-o", "FOLDER/out.gguf"], "out.gguf"),
        Writer(program, "logits", ["logits", "-m", m, "-p", LONG, "-o", "FOLDER/out.npy", "-b", "cpu"], "out.npy"),
        Writer(program, "prompt-cache", ["run", "-m", m, "-p", LONG, "-n", "4", "--temp", "0", "-b", "cpu",
                                         "--prompt-cache", "FOLDER/cache"], "cache", same=False),
        Batch(program, "batch", ["batch", program.file("batch.jsonl"), "FOLDER/answers.jsonl", "-m", m, "-b", "cpu"],
              "answers.jsonl", same=False),
        Server(program, "serve", ["serve", "-m", m, "--port", "PORT", "-b", "cpu", "--slot-save-path", "FOLDER/slots",
                                  "--files", "FOLDER/files"], "none"),
        pull,
    ]


def kill_once(writer, which, random_, wrap):
    """Returns what is wrong, or nothing."""
    if random_.random() < 0.5:
        writer.clear()
    process = writer.begin(wrap)
    try:
        writer.disturb(process, random_.random() * writer.seconds * 1.1)
    finally:
        process.send_signal(which)
    try:
        errors = process.communicate(timeout=60)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"{writer.name}: {which.name}: does not end"
    if process.returncode not in (0, 1, 130, -which):
        return f"{writer.name}: {which.name}: ended with {process.returncode}: {errors[-300:]}"
    if not writer.is_whole():
        return f"{writer.name}: {which.name}: a half file is under the final name"
    if which == signal.SIGKILL:
        return None  # the next run removes what it left
    stay = [name for name in writer.names() if f".{process.pid}-" in name]
    return f"{writer.name}: {which.name}: left {stay}" if stay else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tern")
    parser.add_argument("--n", type=int, default=35)
    parser.add_argument("--writer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-proc", action="store_true")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    wrap = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"'] if options.without_proc else []
    faults = []
    with Program(options.tern) as program:
        Hub.content = open(program.model, "rb").read()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        server.handle_error = lambda *_: None  # killed clients
        threading.Thread(target=server.serve_forever, daemon=True).start()
        all_writers = [one for one in writers(program, f"http://127.0.0.1:{server.server_port}")
                       if options.writer in (None, one.name)]
        for writer in all_writers:
            writer.prepare()
        counts = {writer.name: 0 for writer in all_writers}
        for i in range(options.n):
            writer = all_writers[i % len(all_writers)]
            fault = kill_once(writer, SIGNALS[i // len(all_writers) % len(SIGNALS)], random_, wrap)
            counts[writer.name] += 1
            if fault:
                faults.append(fault)
                print(fault, flush=True)
        for writer in all_writers:
            code, errors = writer.finish()
            if code != 0 or not writer.is_whole():
                faults.append(f"{writer.name}: the last run: {code}: {errors[-300:]}")
            elif writer.left():
                faults.append(f"{writer.name}: stay behind: {writer.left()}")
            else:
                continue
            print(faults[-1], flush=True)
        server.shutdown()
    told = ", ".join(f"{name} {n}" for name, n in counts.items())
    print(f"{options.n} kills ({told}), {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
