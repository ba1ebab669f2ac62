#!/usr/bin/env python3
"""Writes quant_blocks.txt: blocks of every weight format with their values, as llama.cpp's own code reads and writes them.

    python3 make_quant_goldens.py > quant_blocks.txt

Needs the `gguf` package (Debian: python3-gguf, made from llama.cpp's sources); the Q6_K encodings and the types that it lacks also need libggml-base.so.
The output does not depend on the machine: seeds are fixed and everything is compared bit for bit.

Lines:
    decode FORMAT BYTES VALUES     these bytes mean these values
    encode FORMAT VALUES BYTES     the reference quantizer turns these values into these bytes
    search FORMAT VALUES BYTES     the same for a quantizer that is a search, where another one may find other bytes
    hash FORMAT BLOCKS HASH        so many blocks of random bytes (random_bytes) mean values with this hash (hash_of)
BYTES are in file order; a value is the eight hex digits of its binary32 bits. There is a hash of every type that ggml can
read, whether Tern can or not, so that a new format needs no change here.
"""

import ctypes
import ctypes.util
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize, quantize

F16_PATTERNS = [0x3C00, 0x0001, 0x83FF, 0x7BFF, 0xC1A3, 0x0400]  # one, subnormals, the greatest, a negative, least normal
SCALE_AT = {"Q8_0": 0, "Q4_0": 0, "Q6_K": 208, "TQ1_0": 52, "TQ2_0": 64}  # byte offset of a block's f16 scale


def hex_values(values):
    return "".join(f"{bits:08x}" for bits in np.ascontiguousarray(values, dtype=np.float32).reshape(-1).view(np.uint32))


def emit(kind, name, *fields):
    print(kind, name, *fields)


def decode_lines(rng):
    for name, scale_at in SCALE_AT.items():
        kind = GGMLQuantizationType[name]
        _, block_bytes = GGML_QUANT_SIZES[kind]
        for scale in F16_PATTERNS:
            block = rng.integers(0, 256, block_bytes, dtype=np.uint8)
            block[scale_at : scale_at + 2] = (scale & 255, scale >> 8)
            emit("decode", name, block.tobytes().hex(), hex_values(dequantize(block.reshape(1, -1), kind)))
    for name, dtype in (("BF16", GGMLQuantizationType.BF16), ("F16", GGMLQuantizationType.F16)):
        bits = rng.integers(0, 1 << 16, 256, dtype=np.uint16)
        mask = 0x7F80 if name == "BF16" else 0x7C00
        bits[(bits & mask) == mask] ^= 0x0400 if name == "F16" else 0x0080  # NaN payloads differ between converters
        values = dequantize(bits.view(np.uint8), dtype) if name == "BF16" else bits.view(np.float16).astype(np.float32)
        emit("decode", name, bits.tobytes().hex(), hex_values(values))


def sample_rows(rng, n):
    yield rng.standard_normal(n).astype(np.float32)
    yield (rng.standard_normal(n) * 1e-3).astype(np.float32)
    yield (rng.standard_t(2, n) * 40).astype(np.float32)  # outliers
    yield ((rng.integers(0, 3, n) - 1) * np.float32(0.37)).astype(np.float32)
    yield np.zeros(n, dtype=np.float32)
    yield (np.round(rng.standard_normal(n) * 4) / 2).astype(np.float32)  # ties


def encode_lines(rng):
    for name in ("Q8_0", "Q4_0", "TQ1_0", "TQ2_0", "BF16"):
        kind = GGMLQuantizationType[name]
        block, _ = GGML_QUANT_SIZES[kind]
        for row in sample_rows(rng, max(block, 32)):
            emit("encode", name, hex_values(row), quantize(row.reshape(1, -1), kind).tobytes().hex())


def ggml_lines(rng):
    """Types that the gguf package does not know: through ggml itself."""
    ggml = ctypes.CDLL(ctypes.util.find_library("ggml-base") or "libggml-base.so.0")
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    for name, n, block_bytes in (("Q1_0", 128, 18), ("Q2_0", 64, 18)):
        for scale in F16_PATTERNS:
            block = rng.integers(0, 256, block_bytes, dtype=np.uint8)
            block[:2] = (scale & 255, scale >> 8)
            values = np.zeros(n, dtype=np.float32)
            getattr(ggml, f"dequantize_row_{name.lower()}")(pointer(block), pointer(values), ctypes.c_int64(n))
            emit("decode", name, block.tobytes().hex(), hex_values(values))
        for row in sample_rows(rng, n):
            block = np.zeros(block_bytes, dtype=np.uint8)
            getattr(ggml, f"quantize_row_{name.lower()}_ref")(pointer(row), pointer(block), ctypes.c_int64(n))
            emit("encode", name, hex_values(row), block.tobytes().hex())


def search_lines(rng, names):
    ggml = ctypes.CDLL(ctypes.util.find_library("ggml-base") or "libggml-base.so.0")
    for name in names:
        n, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
        quantize_row = getattr(ggml, f"quantize_row_{function_suffix(name)}_ref")
        for row in sample_rows(rng, n):
            block = np.zeros(block_bytes, dtype=np.uint8)
            quantize_row(row.ctypes.data_as(ctypes.c_void_p), block.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n))
            emit("search", name, hex_values(row), block.tobytes().hex())


def function_suffix(name):
    return name.lower().replace("_k", "_K")


def random_bytes(n):
    """The upper bytes of Knuth's linear congruential generator, from state 1 on."""
    state, out = 1, bytearray(n)
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[i] = state >> 56
    return np.frombuffer(out, dtype=np.uint8)


def hash_of(values):
    """FNV-1a over the values' words, each NaN as 7fc00000."""
    words = values.view(np.uint32).copy()
    words[np.isnan(values)] = 0x7FC00000
    hashed = 0xCBF29CE484222325
    for word in words.tolist():
        hashed = (hashed ^ word) * 0x100000001B3 % 2**64
    return f"{hashed:016x}"


def hash_lines():
    ggml = ctypes.CDLL(ctypes.util.find_library("ggml-base") or "libggml-base.so.0")
    n_blocks = 512
    for kind, (n, block_bytes) in GGML_QUANT_SIZES.items():
        dequantize_row = getattr(ggml, f"dequantize_row_{function_suffix(kind.name)}", None)
        if n == 1 or dequantize_row is None:
            continue
        blocks = random_bytes(n_blocks * block_bytes)
        values = np.zeros(n_blocks * n, dtype=np.float32)
        count = ctypes.c_int64(values.size)
        dequantize_row(blocks.ctypes.data_as(ctypes.c_void_p), values.ctypes.data_as(ctypes.c_void_p), count)
        emit("hash", kind.name, n_blocks, hash_of(values))


def main():
    rng = np.random.Generator(np.random.PCG64(20260913))
    print("# Made by make_quant_goldens.py, which says what the lines mean.")
    decode_lines(rng)
    encode_lines(rng)
    search_lines(rng, ["Q6_K"])
    ggml_lines(rng)
    search_lines(rng, ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "IQ4_XS"])
    hash_lines()
    return 0


if __name__ == "__main__":
    sys.exit(main())
