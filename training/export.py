#!/usr/bin/env python3
"""Writes a trained checkpoint and its tokenizer as one GGUF file that Tern runs.

Linear layers become I2_S: per 128 values 32 bytes of 2-bit codes in four planes, and one float scale a tensor. The
embedding, which is also the output matrix, becomes F16; norms stay F32. docs/formats.md describes the bytes.
"""

import argparse
import json
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from model import BitNet, ModelConfig, load_checkpoint, ternary_codes, weight_scale

ARCHITECTURE = "bitnet-b1.58"
FILE_TYPE_I2S = 40  # general.file_type of bitnet.cpp
GGUF_VERSION = 3
ALIGNMENT = 32
# What reads best. Tern and llama.cpp take it where the user asks for nothing else.
SAMPLING = {"temp": 0.6, "min_p": 0.1}
END_OF_TEXT = "<|endoftext|>"
END_OF_TURN = "<|end|>"
CHAT_TEMPLATE = (  # every document of the training text begins with the BOS token
    "{{- bos_token -}}"
    "{%- for message in messages -%}"
    "{{ '<|' + message['role'] + '|>\n' + (message['content'] | trim) + '<|end|>\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '<|assistant|>\n' }}{%- endif -%}"
)
I2S_TAIL = struct.Struct("<f28x")

LINEARS = {
    "attn_q": "attn.q",
    "attn_k": "attn.k",
    "attn_v": "attn.v",
    "attn_output": "attn.output",
    "ffn_gate": "ffn.gate",
    "ffn_up": "ffn.up",
    "ffn_down": "ffn.down",
}
NORMS = {"attn_norm": "attn_norm", "attn_sub_norm": "attn.sub_norm", "ffn_norm": "ffn_norm", "ffn_sub_norm": "ffn.sub_norm"}


class Kind(IntEnum):
    """Types of metadata values."""

    U32 = 4
    I32 = 5
    F32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9


class TensorType(IntEnum):
    F32 = 0
    F16 = 1
    I2_S = 36


class TokenType(IntEnum):
    NORMAL = 1
    CONTROL = 3
    UNUSED = 5


@dataclass(frozen=True)
class OutputTensor:
    name: str
    type: TensorType
    shape: tuple[int, ...]  # rows first
    data: bytes


def pack_string(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return struct.pack("<Q", len(encoded)) + encoded


def pack_scalar(kind: Kind, value: Any) -> bytes:
    if kind == Kind.STRING:
        return pack_string(value)
    letter = {Kind.U32: "I", Kind.I32: "i", Kind.F32: "f", Kind.BOOL: "?"}[kind]
    return struct.pack("<" + letter, value)


def pack_entry(key: str, kind: Kind, value: Any) -> bytes:
    """One metadata entry; a list becomes an array of `kind`."""
    head = pack_string(key)
    if not isinstance(value, list):
        return head + struct.pack("<I", kind) + pack_scalar(kind, value)
    elements = b"".join(pack_scalar(kind, element) for element in value)
    return head + struct.pack("<IIQ", Kind.ARRAY, kind, len(value)) + elements


def model_metadata(config: ModelConfig, name: str) -> list[bytes]:
    integers = {
        "vocab_size": config.vocab,
        "context_length": config.context,
        "embedding_length": config.dim,
        "block_count": config.layers,
        "feed_forward_length": config.ffn,
        "rope.dimension_count": config.head_dim,
        "attention.head_count": config.heads,
        "attention.head_count_kv": config.kv_heads,
    }
    floats = {"attention.layer_norm_rms_epsilon": config.eps, "rope.freq_base": config.rope_theta}
    return [
        pack_entry("general.architecture", Kind.STRING, ARCHITECTURE),
        pack_entry("general.name", Kind.STRING, name),
        pack_entry("general.license", Kind.STRING, "Apache-2.0"),
        pack_entry("general.file_type", Kind.U32, FILE_TYPE_I2S),
        pack_entry("general.quantization_version", Kind.U32, 2),
        *(pack_entry(f"{ARCHITECTURE}.{key}", Kind.U32, value) for key, value in integers.items()),
        *(pack_entry(f"{ARCHITECTURE}.{key}", Kind.F32, value) for key, value in floats.items()),
        *(pack_entry(f"general.sampling.{key}", Kind.F32, value) for key, value in SAMPLING.items()),
    ]


def tokenizer_metadata(path: Path, vocab: int) -> list[bytes]:
    """The tokenizer of a tokenizer.json. Ids that the tokenizer leaves free up to `vocab` get names that never match."""
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    names = {i: token for token, i in tokenizer["model"]["vocab"].items()}
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    names |= {i: token for token, i in special.items()}
    if max(names) >= vocab:
        raise SystemExit(f"{path}: token id {max(names)} is outside the model's vocabulary of {vocab}")
    types = [TokenType.NORMAL if i in names else TokenType.UNUSED for i in range(vocab)]
    for i in special.values():
        types[i] = TokenType.CONTROL
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]]
    return [
        pack_entry("tokenizer.ggml.model", Kind.STRING, "gpt2"),
        pack_entry("tokenizer.ggml.pre", Kind.STRING, "llama-bpe"),
        pack_entry("tokenizer.ggml.tokens", Kind.STRING, [names.get(i, f"[PAD{i}]") for i in range(vocab)]),
        pack_entry("tokenizer.ggml.token_type", Kind.I32, types),
        pack_entry("tokenizer.ggml.merges", Kind.STRING, merges),
        pack_entry("tokenizer.ggml.bos_token_id", Kind.U32, special[END_OF_TEXT]),
        pack_entry("tokenizer.ggml.eos_token_id", Kind.U32, special[END_OF_TEXT]),
        pack_entry("tokenizer.ggml.add_bos_token", Kind.BOOL, True),
        pack_entry("tokenizer.ggml.eot_token_id", Kind.U32, special[END_OF_TURN]),
        pack_entry("tokenizer.chat_template", Kind.STRING, CHAT_TEMPLATE),
    ]


def pack_i2s(weight: Tensor) -> bytes:
    """Master weights float [n_out, n_in], n_in a multiple of 128, → I2_S bytes: value p of a block in byte p % 32, the
    first 32 values in the highest two bits; code 0, 1, 2 for −1, 0, +1."""
    if weight.shape[1] % 128:
        raise SystemExit(f"a linear layer of {weight.shape[1]} inputs is not whole I2_S blocks of 128")
    planes = (ternary_codes(weight).numpy().astype(np.int8) + 1).astype(np.uint8).reshape(-1, 4, 32)
    weights_of_planes = np.array([64, 16, 4, 1], np.uint8).reshape(1, 4, 1)
    blocks = (planes * weights_of_planes).sum(axis=1, dtype=np.uint8)
    return blocks.tobytes() + I2S_TAIL.pack(weight_scale(weight).item())


def output_tensors(model: BitNet) -> list[OutputTensor]:
    weights = {name: tensor.float() for name, tensor in model.state_dict().items()}

    def plain(name: str, source: str, type_: TensorType) -> OutputTensor:
        values = weights[f"{source}.weight"].numpy()
        dtype = "<f2" if type_ == TensorType.F16 else "<f4"
        return OutputTensor(f"{name}.weight", type_, values.shape, values.astype(dtype).tobytes())

    tensors = [plain("token_embd", "embedding", TensorType.F16), plain("output_norm", "norm", TensorType.F32)]
    for i in range(model.config.layers):
        tensors += [plain(f"blk.{i}.{name}", f"blocks.{i}.{source}", TensorType.F32) for name, source in NORMS.items()]
        for name, source in LINEARS.items():
            weight = weights[f"blocks.{i}.{source}.weight"]
            tensors.append(OutputTensor(f"blk.{i}.{name}.weight", TensorType.I2_S, tuple(weight.shape), pack_i2s(weight)))
    return tensors


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)


def gguf_bytes(metadata: list[bytes], tensors: list[OutputTensor]) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", GGUF_VERSION, len(tensors), len(metadata)) + b"".join(metadata)
    offset = 0
    for tensor in tensors:
        dims = tensor.shape[::-1]
        head += pack_string(tensor.name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, tensor.type, offset)
        offset += len(padded(tensor.data))
    return padded(head) + b"".join(padded(tensor.data) for tensor in tensors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True, help="train.py's checkpoint.pt")
    parser.add_argument("--tokenizer", type=Path, required=True, help="prepare.py's tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the GGUF file to write")
    parser.add_argument("--name", default="Tern Stories 34M", help="general.name in the file; default: %(default)s")
    args = parser.parse_args()

    model = load_checkpoint(args.checkpoint, "cpu")
    metadata = model_metadata(model.config, args.name) + tokenizer_metadata(args.tokenizer, model.config.vocab)
    data = gguf_bytes(metadata, output_tensors(model))
    args.out.write_bytes(data)
    print(f"{args.out}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
