"""`tern serve` for a test: `with TernServer(...) as server`, and what tests of several processes share."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "tern-stories.gguf"
SKIPPED = 77  # what CTest takes for a test that was not run


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


class TernServer:
    """A server on a free port, or on `port`. Its log is read all the time, so that it never waits for a reader."""

    def __init__(self, program, *arguments, port=0):
        model = [] if "--models" in arguments else ["-m", MODEL]
        self._command = [program, "serve", *model, "-b", "cpu", "--threads", "1", "--port", str(port), *arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TERN_")}
        self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        errors="backslashreplace", env=environment)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/v1 until", line)
            if found:
                self.port = int(found[1])
                break
        else:
            raise RuntimeError("tern serve did not start: " + "".join(self.log))
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        self.log.extend(self.process.stderr)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Tells it to end, as a service manager does, and does not wait."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        """Its exit code."""
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        self._reader.join()
        self.process.stderr.close()
