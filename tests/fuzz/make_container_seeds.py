#!/usr/bin/env python3
"""Writes the seeds of fuzz_safetensors, fuzz_mlc_index and fuzz_imatrix into corpus/ beside this script."""
import hashlib
import json
import pathlib
import struct

OUT = pathlib.Path(__file__).parent / "corpus"


def safetensors(tensors, metadata=None):
    """`tensors` are (name, dtype, shape, bytes of data)."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, size in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(i * 7 % 256 for i in range(size))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def mlc_index(shards):
    """`shards` are lists of (name, dtype, shape, bytes of data)."""
    records = []
    for number, tensors in enumerate(shards):
        offset, entries = 0, []
        for name, dtype, shape, size in tensors:
            entries.append({"name": name, "shape": shape, "dtype": dtype, "format": "f32-to-bf16", "nbytes": size,
                            "byteOffset": offset})
            offset += size
        records.append({"dataPath": f"params_shard_{number}.bin", "format": "raw-shard", "nbytes": offset,
                        "records": entries, "md5sum": hashlib.md5(b"").hexdigest()})
    return json.dumps({"metadata": {"ParamSize": 2, "ParamBytes": 9.0, "BitsPerParam": 4.5}, "records": records}).encode()


def imatrix(entries, tail=b""):
    """`entries` are (name, calls, values)."""
    data = struct.pack("<i", len(entries))
    for name, calls, values in entries:
        data += struct.pack(f"<i{len(name)}sii{len(values)}f", len(name), name, calls, len(values), *values)
    return data + tail


SEEDS = {
    "imatrix/one": imatrix([(b"output.weight", 0, [1.5])]),
    "imatrix/two": imatrix([(b"blk.0.attn_q.weight", 4, [4, 0, 10]), (b"w", 1, [2])],
                           struct.pack("<ii3s", 4, 3, b"txt")),
    "safetensors/empty": safetensors([]),
    "safetensors/two": safetensors([("w", "BF16", [2, 3], 12), ("s", "F32", [], 4)], {"format": "pt"}),
    "safetensors/packed": safetensors([("w", "U8", [2, 4], 8), ("n", "U8", [0, 4], 0), ("f", "F4", [4], 2), ("x", "X", [9], 3)]),
    "safetensors/index": json.dumps({"metadata": {"total_size": 9}, "weight_map": {"a": "s1", "b": "s2"}}).encode(),
    "mlc_index/quantized": mlc_index([[("w.q_weight", "uint32", [4, 4], 64), ("w.q_scale", "float16", [4, 1], 8)]]),
    "mlc_index/two_shards": mlc_index([[("a", "float32", [3], 6), ("b", "float8", [3], 5)], [("c", "uint8", [2, 0], 0)]]),
}

for name, data in SEEDS.items():
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
