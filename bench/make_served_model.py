#!/usr/bin/env python3
"""Gives a `tern synth --preset bonsai-1.7b` file a tokenizer, so that servers of others can serve it beside Tern's.

Each byte is a token, as in GPT-2's tokenizer; the rest of the vocabulary are made words that no text is split into, but that a
model with random weights writes. Needs Debian's python3-gguf (./setup --oracle).

usage: make_served_model.py IN.gguf OUT.gguf
"""
import sys

import gguf


def byte_letters() -> list[str]:
    """The letters that stand for the bytes 0 to 255 in GPT-2's tokenizer."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (b for b in range(256) if b not in plain)
    letter_of = {b: chr(b) for b in plain} | {b: chr(0x100 + i) for i, b in enumerate(others)}
    return [letter_of[b] for b in range(256)]


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    reader = gguf.GGUFReader(sys.argv[1])
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(sys.argv[2], architecture)
    n_words = next(int(tensor.shape[1]) for tensor in reader.tensors if tensor.name == "token_embd.weight")
    for name, field in reader.fields.items():
        is_kept = name.startswith(architecture + ".") or name == "general.name"
        if is_kept and len(field.types) == 1:
            writer.add_key_value(name, field.contents(), field.types[0])
    words = byte_letters()
    words += ["Ġw", *(f"Ġw{i}" for i in range(n_words - len(words) - 2)), "<|endoftext|>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(words)
    writer.add_token_types([1] * (n_words - 1) + [3])
    writer.add_token_merges(["Ġ w"])
    writer.add_eos_token_id(n_words - 1)
    writer.add_bos_token_id(n_words - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}{% endfor %}")
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
