#!/usr/bin/env python3
"""Models with random weights that Tern and llama.cpp both load, small enough for a browser tab, with the vocabulary of the
default model: qwen3-q8_0.gguf (170 MB), qwen3-q4_0.gguf (90 MB) and bitnet-tq2_0.gguf (70 MB). Needs Debian's python3-gguf.

usage: make_models.py FOLDER
"""
import pathlib
import sys

import gguf
import numpy as np

STORIES = pathlib.Path(__file__).resolve().parents[2] / "models/tern-stories.gguf"
D_MODEL, D_FF, HEADS, KV_HEADS, HEAD_DIM, LAYERS, VOCAB, CONTEXT = 1024, 3072, 16, 8, 64, 12, 8192, 512
TYPES = gguf.GGMLQuantizationType
RANDOM = np.random.default_rng(1)

# Bytes of a block, its values, and where in it the f16 scale lies.
BLOCKS = {TYPES.Q8_0: (34, 32, 0), TYPES.Q4_0: (18, 32, 0), TYPES.TQ2_0: (66, 256, 64)}


class Metadata(gguf.GGUFReader):
    """Of a file whose tensors' types (I2_S) gguf does not know."""

    def _build_tensors(self, *_) -> None:
        pass


def matrix(rows: int, cols: int, kind: TYPES) -> np.ndarray:
    size, values, scale_at = BLOCKS[kind]
    blocks = RANDOM.integers(0, 256, (rows * cols // values, size), dtype=np.uint8)
    if kind == TYPES.TQ2_0:
        blocks &= 0xAA  # two-bit codes 0 and 2: 3 is none
    largest = {TYPES.Q8_0: 127, TYPES.Q4_0: 8, TYPES.TQ2_0: 1}[kind]
    scale = np.float16(1.5 / largest / cols**0.5)
    blocks[:, scale_at : scale_at + 2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(rows, cols // values * size)


def write(path: pathlib.Path, architecture: str, kind: TYPES, head: TYPES) -> None:
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name(path.stem)
    writer.add_vocab_size(VOCAB)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(D_MODEL)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(D_FF)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(HEAD_DIM)
    if architecture == "qwen3":
        writer.add_key_length(HEAD_DIM)
        writer.add_value_length(HEAD_DIM)
    metadata = Metadata(STORIES).fields
    for name, field in metadata.items():
        if name.startswith("tokenizer."):
            kinds = field.types
            writer.add_key_value(name, field.contents(), kinds[0], kinds[1] if kinds[0] == gguf.GGUFValueType.ARRAY else None)

    def add_matrix(name: str, rows: int, cols: int, of: TYPES = kind) -> None:
        writer.add_tensor(name, matrix(rows, cols, of), raw_dtype=of)

    def add_norm(name: str, width: int) -> None:
        writer.add_tensor(name, np.ones(width, np.float32))

    embedding = matrix(VOCAB, D_MODEL, head)
    for token, text in enumerate(metadata["tokenizer.ggml.tokens"].contents()):
        if not text.replace("\u0120", "").replace("\u010a", "").isascii():
            embedding[token] = 0  # never the most probable one: wllama stops at text that is not UTF-8
    writer.add_tensor("token_embd.weight", embedding, raw_dtype=head)
    add_norm("output_norm.weight", D_MODEL)
    for i in range(LAYERS):
        blk = f"blk.{i}."
        add_norm(blk + "attn_norm.weight", D_MODEL)
        add_matrix(blk + "attn_q.weight", HEADS * HEAD_DIM, D_MODEL)
        add_matrix(blk + "attn_k.weight", KV_HEADS * HEAD_DIM, D_MODEL)
        add_matrix(blk + "attn_v.weight", KV_HEADS * HEAD_DIM, D_MODEL)
        add_matrix(blk + "attn_output.weight", D_MODEL, HEADS * HEAD_DIM)
        if architecture == "qwen3":
            add_norm(blk + "attn_q_norm.weight", HEAD_DIM)
            add_norm(blk + "attn_k_norm.weight", HEAD_DIM)
        else:
            add_norm(blk + "attn_sub_norm.weight", HEADS * HEAD_DIM)
            add_norm(blk + "ffn_sub_norm.weight", D_FF)
        add_norm(blk + "ffn_norm.weight", D_MODEL)
        add_matrix(blk + "ffn_gate.weight", D_FF, D_MODEL)
        add_matrix(blk + "ffn_up.weight", D_FF, D_MODEL)
        add_matrix(blk + "ffn_down.weight", D_MODEL, D_FF)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "qwen3-q8_0.gguf", "qwen3", TYPES.Q8_0, TYPES.Q8_0)
    write(folder / "qwen3-q4_0.gguf", "qwen3", TYPES.Q4_0, TYPES.Q8_0)
    write(folder / "bitnet-tq2_0.gguf", "bitnet", TYPES.TQ2_0, TYPES.Q8_0)


if __name__ == "__main__":
    main()
