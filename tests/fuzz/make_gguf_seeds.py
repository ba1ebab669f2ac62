#!/usr/bin/env python3
"""Writes the seeds of fuzz_gguf into corpus/gguf beside this script: small files that together use every part of GGUF."""
import pathlib
import struct

OUT = pathlib.Path(__file__).parent / "corpus" / "gguf"
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    return text(content) if kind == 8 else struct.pack("<" + SCALARS[kind], content)


def entry(key, kind, content):
    return text(key) + struct.pack("<I", kind) + value(kind, content)


def array(key, kind, contents):
    head = text(key) + struct.pack("<IIQ", 9, kind, len(contents))
    return head + b"".join(value(kind, content) for content in contents)


def pad(data, to):
    return data + bytes(-len(data) % to)


def gguf(entries, tensors, version=3, alignment=32, pad_last=True):
    """`tensors` are (name, ne with the fastest dimension first, type, bytes of data)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries)) + b"".join(entries)
    offset = 0
    for name, ne, kind, size in tensors:
        out += text(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne), *ne, kind, offset)
        offset += size + -size % alignment
    out = pad(out, alignment)
    for i, (_, _, _, size) in enumerate(tensors):
        out += bytes(j * 7 % 256 for j in range(size))
        if pad_last or i + 1 < len(tensors):
            out = pad(out, alignment)
    return out


SEEDS = {
    "empty_v2": gguf([], [], version=2),
    "scalars": gguf([entry(f"k{kind}", kind, "text" if kind == 8 else 3) for kind in [*SCALARS, 8]], []),
    "arrays": gguf([array("s", 8, ["a", "", "bc"]), array("i", 5, [-1, 2]), array("f", 6, [0.5]), array("b", 7, [0, 9]),
                    array("q", 10, [1, 2]), array("none", 8, [])], []),
    "plain_tensors": gguf([], [("a", [3, 2], 0, 24), ("b", [5], 1, 10), ("c", [2, 2, 2], 30, 16)], pad_last=False),
    "ternary_tensors": gguf([entry("general.architecture", 8, "bitnet")],
                            [("w", [128, 2], 36, 96), ("x", [256], 34, 54), ("y", [256], 35, 66)]),
    "block_tensors": gguf([], [("q4", [32], 2, 18), ("q8", [32, 2], 8, 68), ("q6", [256], 14, 210)]),
    "alignment_64": gguf([entry("general.alignment", 4, 64)], [("a", [1], 0, 4), ("b", [1], 0, 4)], alignment=64),
    "split": gguf([entry("split.no", 2, 0), entry("split.count", 2, 2)], []),
    "override_int": b"llama.context_length=int:-512",
    "override_float": b"llama.rope.freq_base=float:1e4",
    "override_bool": b"tokenizer.ggml.add_bos_token=bool:false",
    "override_str": b"general.name=str:a=b:c",
}

OUT.mkdir(parents=True, exist_ok=True)
for name, data in SEEDS.items():
    (OUT / name).write_bytes(data)
