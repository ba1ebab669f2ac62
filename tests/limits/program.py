"""Runs `tern` with small models, for the scripts of this folder."""
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

CLEAN = {0, 1, 2, 130}  # what the program may end with when no signal ends it


class Program:
    """A `tern`, and models in a folder that goes at the end."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.folder = tempfile.mkdtemp(prefix="tern_limits_")
        os.chmod(self.folder, 0o777)
        self.env = dict(os.environ, HOME=self.folder, XDG_CACHE_HOME=self.folder + "/cache",
                        XDG_STATE_HOME=self.folder + "/state", HF_ENDPOINT="http://127.0.0.1:9",
                        NO_COLOR="1")
        for name in ("cache", "state", "out"):
            os.mkdir(self.file(name))
            os.chmod(self.file(name), 0o777)
        with open(self.file("text.txt"), "w", encoding="utf-8") as text:
            text.write("Once upon a time there was a small dog. " * 40)
        with open(self.file("batch.jsonl"), "w", encoding="utf-8") as batch:
            for i in range(40):
                batch.write('{"custom_id":"%d","method":"POST","url":"/v1/completions",'
                            '"body":{"prompt":"Once %d","max_tokens":20}}\n' % (i, i))
        self.model = self.synth("model.gguf", "tiny-qwen3")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def synth(self, name, preset, *more):
        path = self.file(name)
        subprocess.run([self.path, "synth", "--preset", preset, "--tokenizer", "bytes", "-o", path, *more], check=True,
                       env=self.env, stdout=subprocess.DEVNULL)
        return path

    def commands(self, gpu=False):
        """A run of every command, which ends by itself or serves."""
        m = self.model
        out = self.file("out/")
        all_of_them = [
            ["run", "-m", m, "-p", "hi", "-n", "4"], ["inspect", m], ["tokenize", "-m", m, "hi"],
            ["detokenize", "-m", m, "1", "2"], ["logits", "-m", m, "-p", "hi", "-o", out + "logits.npy"],
            ["embed", "-m", m, "hi"], ["eval", "-m", m, "-f", self.file("text.txt"), "--ctx", "64"],
            ["bench", "-m", m, "-p", "8", "-n", "4", "-r", "1"], ["validate", "-m", m],
            ["synth", "--preset", "tiny-qwen3", "-o", out + "synth.gguf"],
            ["convert", m, out + "convert.gguf", "--type", "q8_0"], ["pull", "nosuch/model"], ["models"], ["list"],
            ["rm", "nosuch/model"], ["devices"], ["chat", "-m", m], ["serve", "-m", m, "--port", "0"],
            ["batch", self.file("batch.jsonl"), out + "answers.jsonl", "-m", m],
            ["route", "-m", m], ["--version"], ["run", "--help"],
        ]
        if gpu:
            all_of_them += [["run", "-m", m, "-p", "hi", "-n", "4", "-b", "webgpu"], ["tune", "-m", m]]
        return all_of_them


def run(program, arguments, limits=(), seconds=60, serve_seconds=3):
    """Returns (exit code, standard error). A server is asked to end after a while."""
    def prepare():
        for which, value in limits:
            resource.setrlimit(which, (value, value))
    words = [program.path, *arguments]
    if os.geteuid() == 0 and any(which == resource.RLIMIT_NPROC for which, _ in limits):
        # The limit does not hold for root. Another user may still read what only root may, as a private toolchain.
        user = str(4_000_000 + os.getpid())
        words = ["setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--inh-caps=+dac_read_search",
                 "--ambient-caps=+dac_read_search"] + words
    process = subprocess.Popen(words, env=program.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=prepare, cwd=program.folder)
    end = time.monotonic() + seconds
    try:
        if arguments[0] == "serve":
            process.wait(serve_seconds)
        _, errors = process.communicate(timeout=max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        if arguments[0] != "serve":
            process.kill()
            process.communicate()
            return "hangs", ""
        process.send_signal(signal.SIGTERM)
        try:
            _, errors = process.communicate(timeout=max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "hangs", ""
    return process.returncode, errors.decode(errors="replace")
