#!/usr/bin/env python3
"""Runs Tern over replicas of published models: files with their metadata, their tensors' names and types, few layers and
experts, a part of their vocabulary, and random weights.

    run_replicas.py TERN HEADERS EXPECTED.json [--backend NAME]... [--only NAME]...

HEADERS is a folder of descriptions (NAME.json) and the script that makes a model from one (make.py). EXPECTED says of each
what must happen: "runs", or a part of the sentence with which it is refused. A model that runs gives
the same logits on every backend, but for rounding. Exit code 77: there is nothing to run them with.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
except ImportError:
    numpy = None  # what make.py needs as well

SKIPPED = 77
TOKENS = "1,5,9,300,7,2000"
EXPERTS = 12  # kept of a mixture: those of gpt-oss must fit into the 128 MB that a software driver binds at once
MOST_ERROR = 1e-3  # NMSE between backends, whose activations are rounded differently


def make(headers: Path, name: str, folder: Path, rows: int = 3072) -> Path:
    description = json.loads((headers / f"{name}.json").read_text())
    kind = description.get("format", "gguf")
    path = folder / (name if kind in ("hf", "mlc") else f"{name}.gguf")
    command = [sys.executable, headers / "make.py", headers / f"{name}.json", path, "--layers", "1", "--scale-down", "--rows", rows]
    if "experts" in description:
        command += ["--experts", EXPERTS]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return path


def logits_of(tern: str, model: Path, backend: str) -> tuple["numpy.ndarray | None", str]:
    """[tokens, vocabulary], or why there are none."""
    out = model.parent / "logits.npy"
    done = subprocess.run([tern, "logits", "-m", str(model), "--tokens", TOKENS, "-b", backend, "-c", "64", "-o", str(out)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, f"exit {done.returncode}: {done.stderr.strip()}"
    return numpy.load(out).astype(numpy.float64), ""


def check(tern: str, model: Path, backends: list[str], expected: str) -> str:
    """What is wrong, or nothing."""
    first = None
    for backend in backends:
        logits, refusal = logits_of(tern, model, backend)
        if expected != "runs":
            if expected not in refusal or not refusal.startswith("exit 1") or "\n" in refusal:
                return f"{backend}: should be refused with {expected!r}, but: {refusal or 'runs'}"
        elif logits is None:
            return f"{backend}: {refusal}"
        elif not numpy.isfinite(logits).all():
            return f"{backend}: logits that are not finite"
        elif first is None:
            first = logits
        elif (error := ((logits - first) ** 2).sum() / (first**2).sum()) > MOST_ERROR:
            return f"{backend} differs from {backends[0]} by an NMSE of {error:.2g}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("tern")
    parser.add_argument("headers", type=Path)
    parser.add_argument("expected", type=Path)
    parser.add_argument("--backend", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    if numpy is None:
        print("SKIPPED: this Python has no NumPy")
        return SKIPPED
    if not options.headers.is_dir():
        print(f"SKIPPED: there is no folder {options.headers}")
        return SKIPPED
    expected = json.loads(options.expected.read_text())
    names = sorted(path.stem for path in options.headers.glob("*.json"))
    wrong = [f"{name}: {options.expected.name} does not say what happens" for name in names if name not in expected]
    for name in names:
        if name not in expected or (options.only and name not in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            problem = check(options.tern, make(options.headers, name, Path(folder)), options.backend or ["cpu"], expected[name])
        print(f"{name}: {problem or 'ok'}", flush=True)
        if problem:
            wrong.append(f"{name}: {problem}")
    print(f"{len(names)} replicas, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
