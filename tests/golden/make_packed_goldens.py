#!/usr/bin/env python3
"""Makes one small Qwen3 model in every packed format, as llama.cpp's own llama-quantize writes it, with its logits.

    make_packed_goldens.py         write everything in tests/golden/packed

NAME.npy      logits by transformers in float32 from the weights that the file's bytes stand for: what a backend that
              does not quantize activations must give
NAME.llama.npy  logits by llama.cpp, which quantizes activations to int8 (Q8_0 blocks, or Q8_K for some types)

Needs llama.cpp's tools and library (./setup --oracle) and a C compiler.
"""

import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")

import numpy as np
import torch
from gguf import GGUFReader, GGUFWriter

import make_family_goldens as families
from family_files import gguf_name, write_gguf
from family_specs import Spec, common, rope
from transformers import Qwen3Config, Qwen3ForCausalLM

DIR = Path(__file__).resolve().parent / "packed"
TYPES = ("Q8_0", "Q4_0", "Q6_K", "Q1_0", "Q2_0", "TQ1_0", "TQ2_0")
SPEC = Spec(
    "packed", "", Qwen3Config(**common(hidden_size=256, intermediate_size=256, num_hidden_layers=1, vocab_size=128, head_dim=64,
                                                rope_parameters=rope(1e6), tie_word_embeddings=True)), Qwen3ForCausalLM, "qwen3")
TOKENS = [0, 127, 5, 5, 93, 14, 62, 101, 33, 2, 70, 48]


def write_f32(state: dict[str, torch.Tensor], path: Path) -> None:
    """As write_gguf, with what llama.cpp needs to load a model without a tokenizer."""
    original = GGUFWriter.write_header_to_file

    def with_tokenizer(self: GGUFWriter) -> None:
        self.add_tokenizer_model("none")
        self.add_uint32("qwen3.vocab_size", SPEC.config.vocab_size)
        original(self)

    GGUFWriter.write_header_to_file = with_tokenizer
    write_gguf(SPEC, state, path)
    GGUFWriter.write_header_to_file = original


def dequantized(tensor, ggml: ctypes.CDLL) -> torch.Tensor:
    name = tensor.tensor_type.name if hasattr(tensor.tensor_type, "name") else str(tensor.tensor_type)
    shape = [int(n) for n in reversed(tensor.shape)]
    if name == "F32":
        return torch.from_numpy(np.array(tensor.data, dtype=np.float32).reshape(shape))
    data = np.ascontiguousarray(tensor.data).view(np.uint8).reshape(-1)
    values = np.zeros(int(np.prod(shape)), dtype=np.float32)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    getattr(ggml, "dequantize_row_" + name.lower().replace("_k", "_K"))(pointer(data), pointer(values), ctypes.c_int64(values.size))
    return torch.from_numpy(values.reshape(shape))


def exact_logits(path: Path) -> np.ndarray:
    ggml = ctypes.CDLL(ctypes.util.find_library("ggml-base") or "libggml-base.so.0")
    tensors = {t.name: t for t in GGUFReader(path).tensors}
    network = Qwen3ForCausalLM(SPEC.config)
    state = {name: dequantized(tensors[gguf_name(name)], ggml)
             for name in network.state_dict() if name != "lm_head.weight"}
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    network.load_state_dict(state, assign=True)
    return families.logits_of(network.eval(), TOKENS)


def main() -> int:
    DIR.mkdir(exist_ok=True)
    entries = []
    with tempfile.TemporaryDirectory() as work:
        tool = Path(work) / "llama_logits"
        subprocess.run(["cc", str(DIR.parent / "llama_logits.c"), "-o", str(tool), "-lllama", "-lggml", "-lggml-base"], check=True)
        network, state = families.build(SPEC, 3)
        plain = Path(work) / "plain.gguf"
        write_f32(state, plain)
        for kind in TYPES:
            name = f"qwen3_{kind.lower()}"
            path = DIR / f"{name}.gguf"
            subprocess.run(["llama-quantize", "--pure", str(plain), str(path), kind], check=True, capture_output=True)
            exact = exact_logits(path)
            raw = Path(work) / "logits.f32"
            subprocess.run([str(tool), str(path), str(raw), *map(str, TOKENS)], check=True)
            llama = np.fromfile(raw, np.float32).reshape(exact.shape)
            np.save(DIR / f"{name}.npy", exact)
            np.save(DIR / f"{name}.llama.npy", llama)
            error = float(((llama - exact) ** 2).sum() / (exact**2).sum())
            entries.append({"name": name, "tokens": TOKENS, "ternary": False, "llama_nmse": float(f"{error:.3g}"),
                            "same_top1": int((llama.argmax(-1) == exact.argmax(-1)).sum())})
            print(entries[-1], float(families.margins(exact).min()))
    lines = ",\n".join(" " + json.dumps(entry) for entry in entries)
    (DIR / "goldens.json").write_text('{"models": [\n' + lines + "\n]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
