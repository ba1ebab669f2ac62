#!/usr/bin/env python3
"""Changes one thing at a time in replicas of published models: nothing may be left out of the computation in silence.

    run_mutations.py TERN HEADERS [--only NAME]... [--verbose]

HEADERS is as for run_replicas.py. Each change of mutations.py must either be refused, in one line that names it, or change what
the model computes, unless it is known to be harmless. Exit code 77: there is nothing to run this with.

Weights are written once: a GGUF replica is split into a part with its metadata, which is changed, and one with its tensors; the
files of a directory are linked.
"""

import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from mutations import CONFIG, GGUF, MLC, Model, Mutation
from run_replicas import SKIPPED, make, numpy

LEAST = 40  # mutations of GGUF
# Of attention. Random weights may have each position look at itself alone, or at all alike, which hides other changes.
SCALES = (1e-3, 1e-6)
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
KINDS = {"u32": 4, "f32": 6, "bool": 7, "str": 8}
STRING, ARRAY = 8, 9


class Gguf:
    """A file's metadata, as it stands, and what follows it."""

    def __init__(self, path: Path):
        self.data = path.read_bytes()
        _, self.n_tensors, n_values = struct.unpack_from("<IQQ", self.data, 4)
        self.at = 24
        self.entries = {}  # key: (kind and value as bytes, the value)
        for _ in range(n_values):
            key = self.string().decode()
            begin = self.at
            value = self.value(self.take("I"))
            self.entries[key] = (self.data[begin : self.at], value)
        infos = self.at
        for _ in range(self.n_tensors):
            self.string()
            n_dims = self.take("I")
            self.at += 8 * n_dims + 12
        self.infos = self.data[infos : self.at]
        self.tensors = self.data[-(-self.at // 32) * 32 :]

    def take(self, code):
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return value

    def string(self):
        length = self.take("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            return self.take(SCALARS[kind])
        of, count = self.take("I"), self.take("Q")
        if of != STRING:
            self.at += count * struct.calcsize("<" + SCALARS[of])
        for _ in range(count if of == STRING else 0):
            self.string()
        return count


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def encoded(kind: str, value) -> bytes:
    if kind == "arr":
        return struct.pack(f"<IIQ{len(value)}i", ARRAY, 5, len(value), *value)
    if kind == "str":
        return struct.pack("<I", STRING) + text(value)
    return struct.pack("<I" + SCALARS[KINDS[kind]], KINDS[kind], value)


def write_part(path: Path, number: int, n_all: int, entries: dict[str, bytes], n_tensors: int, infos: bytes, tensors: bytes):
    split = {"split.no": struct.pack("<IH", 2, number), "split.count": struct.pack("<IH", 2, 2),
             "split.tensors.count": struct.pack("<Ii", 5, n_all)}
    head = b"GGUF" + struct.pack("<IQQ", 3, n_tensors, len(entries) + len(split))
    head += b"".join(text(key) + value for key, value in {**entries, **split}.items()) + infos
    path.write_bytes(head + bytes(-len(head) % 32) + tensors)


class GgufReplica:
    """A replica in two parts. The first has a tensor that changes nothing, in whose place another can be put."""

    mutations = GGUF

    def __init__(self, path: Path):
        self.file = Gguf(path)
        self.path = path.with_name("model-00001-of-00002.gguf")
        file = self.file
        write_part(path.with_name("model-00002-of-00002.gguf"), 1, file.n_tensors + 1, {}, file.n_tensors, file.infos, file.tensors)
        path.unlink()
        values = {key: value for key, (_, value) in self.file.entries.items()}
        self.architecture = values["general.architecture"].decode()
        prefix = self.architecture + "."
        own = {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}
        self.model = Model(self.architecture, values.get("tokenizer.ggml.model") == b"gpt2",
                           {key: value for key, value in own.items() if isinstance(value, (int, float))})

    def write(self, mutation: Mutation | None, scale: float) -> None:
        entries = {key: data for key, (data, _) in self.file.entries.items()}
        entries[f"{self.architecture}.attention.scale"] = encoded("f32", scale)
        name, n, value = "blk.0.attn_rot_embd.weight", 8, 1.0
        if mutation and mutation.tensor:
            name, n, value = mutation.tensor, mutation.size(self.model), mutation.value
        elif mutation:
            changed = mutation.value(self.model) if callable(mutation.value) else mutation.value
            entries[mutation.key.replace("{a}", self.architecture)] = encoded(mutation.kind, changed)
        data = struct.pack("<f", value) * n
        infos = text(name) + struct.pack("<IQIQ", 1, n, 0, 0)
        write_part(self.path, 0, self.file.n_tensors + 1, entries, 1, infos, data + bytes(-len(data) % 32))


class DirectoryReplica:
    """A Hugging Face or MLC directory: its files are linked, but for those that a mutation changes."""

    def __init__(self, path: Path):
        self.files = path
        self.path = path.with_name("model")
        self.is_mlc = (path / "mlc-chat-config.json").exists()
        self.mutations = MLC if self.is_mlc else CONFIG
        self.config_name = "mlc-chat-config.json" if self.is_mlc else "config.json"
        self.config = json.loads((path / self.config_name).read_text())
        inner = self.inner(self.config)
        numbers = {"embedding_length": inner["hidden_size"], "attention.head_count": inner["num_attention_heads"],
                   "attention.head_count_kv": inner["num_key_value_heads"], "feed_forward_length": inner["intermediate_size"],
                   "tied": int(inner.get("tie_word_embeddings", False))}
        if "head_dim" in inner:
            numbers["attention.key_length"] = inner["head_dim"]
        self.model = Model(self.config["model_type"], True, numbers)

    def inner(self, config: dict) -> dict:
        return config["model_config"] if self.is_mlc else config

    def write(self, mutation: Mutation | None, _scale: float) -> None:
        self.path.mkdir(exist_ok=True)
        for old in self.path.iterdir():
            old.unlink()
        for file in self.files.iterdir():
            (self.path / file.name).symlink_to(file)
        if mutation and mutation.tensor:
            self.add_tensor(mutation.tensor, mutation.size(self.model), mutation.value)
        elif mutation:
            config = json.loads(json.dumps(self.config))
            value = mutation.value(self.model) if callable(mutation.value) else mutation.value
            (config if mutation.key in config and self.is_mlc else self.inner(config))[mutation.key] = value
            self.replace(self.config_name, json.dumps(config).encode())

    def replace(self, name: str, data: bytes) -> None:
        (self.path / name).unlink(missing_ok=True)
        (self.path / name).write_bytes(data)

    def add_tensor(self, name: str, n: int, value: float) -> None:
        data = struct.pack("<f", value) * n
        if self.is_mlc:
            index = json.loads((self.path / "ndarray-cache.json").read_text())
            record = {"name": name, "shape": [n], "dtype": "float32", "format": "raw", "nbytes": len(data), "byteOffset": 0}
            index["records"].append({"dataPath": "params_shard_9.bin", "format": "raw-shard", "nbytes": len(data), "records": [record],
                                     "md5sum": hashlib.md5(data).hexdigest()})
            self.replace("params_shard_9.bin", data)
            self.replace("ndarray-cache.json", json.dumps(index).encode())
            return
        with open(self.files / "model.safetensors", "rb") as file:
            names = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        (self.path / "model.safetensors").rename(self.path / "one.safetensors")
        header = json.dumps({name: {"dtype": "F32", "shape": [n], "data_offsets": [0, len(data)]}}).encode()
        self.replace("two.safetensors", struct.pack("<Q", len(header)) + header + data)
        places = {**{each: "one.safetensors" for each in names if each != "__metadata__"}, name: "two.safetensors"}
        self.replace("model.safetensors.index.json", json.dumps({"weight_map": places}).encode())


def run(tern: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([tern, *arguments], capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})


def outcome(tern: str, path: Path, with_tokens: bool) -> tuple[str, bytes]:
    """Why the model is refused, or what it computes."""
    out = path.with_name("logits.npy")
    done = run(tern, "logits", "-m", str(path), "--tokens", "1,5,9,300,7,200", "-b", "cpu", "-c", "64", "-o", str(out))
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.decode().strip()}", b""
    tokens = run(tern, "tokenize", "-m", str(path), " the cat\nsat  Down ").stdout if with_tokens else b""
    return "", out.read_bytes() + tokens


class Observer:
    """What a replica computes, and what becomes of its mutations."""

    def __init__(self, tern: str, replica):
        self.tern, self.replica, self.unchanged = tern, replica, {}

    def outcome(self, mutation: Mutation | None, scale: float, with_tokens: bool) -> tuple[str, bytes]:
        self.replica.write(mutation, scale)
        return outcome(self.tern, self.replica.path, with_tokens)

    def changes(self, computed: bytes, scale: float, with_tokens: bool) -> bool:
        if (scale, with_tokens) not in self.unchanged:
            self.unchanged[scale, with_tokens] = self.outcome(None, scale, with_tokens)[1]
        return computed != self.unchanged[scale, with_tokens]

    def check(self, mutation: Mutation) -> tuple[str, str]:
        """What became of the mutation, and what is wrong with that, or nothing."""
        with_tokens = "tokenizer." in mutation.key
        for scale in SCALES:
            refusal, computed = self.outcome(mutation, scale, with_tokens)
            if refusal:
                good = refusal.startswith("exit 1: ") and "\n" not in refusal and mutation.hint in refusal
                return "refused", "" if good else f"refused without naming {mutation.hint!r} in one line: {refusal}"
            if self.changes(computed, scale, with_tokens):
                return "computed", ""
            if mutation.harmless(self.replica.model):
                return "harmless", ""
        return "ignored", "the model runs, and computes the same"


def walk(tern: str, made: Path, verbose: bool) -> tuple[Counter, list[str]]:
    replica = DirectoryReplica(made) if made.is_dir() else GgufReplica(made)
    observer = Observer(tern, replica)
    if observer.outcome(None, SCALES[0], False)[0]:
        return Counter(unusable=1), []  # run_replicas.py says how
    counts, wrong = Counter(), []
    for mutation in replica.mutations:
        what, problem = observer.check(mutation)
        counts[what] += 1
        name = mutation.tensor or f"{mutation.key} = {mutation.value if not callable(mutation.value) else '…'}"
        if problem:
            wrong.append(f"{name}: {what}: {problem}")
        if verbose:
            print(f"    {what}: {name}")
    return counts, wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("tern")
    parser.add_argument("headers", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    assert len(GGUF) >= LEAST
    if numpy is None:
        print("SKIPPED: this Python has no NumPy")
        return SKIPPED
    if not options.headers.is_dir():
        print(f"SKIPPED: there is no folder {options.headers}")
        return SKIPPED
    names = sorted(path.stem for path in options.headers.glob("*.json"))
    n_wrong = 0
    for name in names:
        if options.only and name not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            counts, wrong = walk(options.tern, make(options.headers, name, Path(folder), rows=512), options.verbose)
        print(f"{name}: {', '.join(f'{n} {what}' for what, n in sorted(counts.items()))}", flush=True)
        for problem in wrong:
            print(f"    {problem}", flush=True)
        n_wrong += len(wrong)
    print(f"{len(names)} replicas, {n_wrong} wrong")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
