#!/usr/bin/env python3
"""Gives a `tern synth --preset bitnet-2b-4t` file the metadata of microsoft/bitnet-b1.58-2B-4T-gguf.

The result has random weights, but the published file's tokenizer and its quirks: no tokenizer.ggml.pre, a placeholder chat
template, <|eot_id|> not declared as a stop token. So loading, memory and `tern chat` can be measured without a download.
Needs Llama 3's tokenizer.json, whose vocabulary the model uses.

usage: make_published_like.py IN.gguf TOKENIZER.json OUT.gguf
"""
import json
import mmap
import shutil
import struct
import sys

PLACEHOLDER = (
    "{% for message in messages %}{% if loop.first %}{{ bos_token }}{% endif %}{% if message['role'] == 'user' %}"
    "{{ 'Human: ' + message['content'] + '\\n\\nBITNETAssistant: ' + eos_token }}{% else %}"
    "{{ message['content'] + eos_token }}{% endif %}{% endfor %}"
)
U32, I32, BOOL, STRING, ARRAY = 4, 5, 7, 8, 9
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key: str, kind: int, payload: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + payload


def tokenizer_entries(path: str) -> list[bytes]:
    with open(path, encoding="utf-8") as file:
        tokenizer = json.load(file)
    tokens = {index: text for text, index in tokenizer["model"]["vocab"].items()}
    types = dict.fromkeys(tokens, 1)
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]] = added["content"]
        types[added["id"]] = 3
    merges = [m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]]
    n = len(tokens)
    return [
        entry("tokenizer.ggml.model", STRING, string("gpt2")),
        entry("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, n) + b"".join(string(tokens[i]) for i in range(n))),
        entry("tokenizer.ggml.token_type", ARRAY, struct.pack(f"<IQ{n}i", I32, n, *(types[i] for i in range(n)))),
        entry("tokenizer.ggml.merges", ARRAY, struct.pack("<IQ", STRING, len(merges)) + b"".join(map(string, merges))),
        entry("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 128000)),
        entry("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 128001)),
        entry("tokenizer.ggml.add_bos_token", BOOL, b"\x01"),
        entry("tokenizer.chat_template", STRING, string(PLACEHOLDER)),
    ]


class Reader:
    """Walks over a GGUF header."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 24

    def number(self, layout: str) -> int:
        (value,) = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return value

    def skip_string(self) -> None:
        length = self.number("<Q")
        self.at += length

    def skip_value(self, kind: int) -> None:
        if kind == STRING:
            self.skip_string()
        elif kind == ARRAY:
            element, count = self.number("<I"), self.number("<Q")
            for _ in range(count):
                self.skip_value(element)
        else:
            self.at += SCALAR_BYTES[kind]


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as source, open(sys.argv[3], "wb") as out:
        data = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        n_tensors, n_entries = struct.unpack_from("<QQ", data, 8)
        reader = Reader(data)
        for _ in range(n_entries):
            reader.skip_string()
            reader.skip_value(reader.number("<I"))
        entries_end = reader.at
        for _ in range(n_tensors):
            reader.skip_string()
            n_dims = reader.number("<I")
            reader.at += 8 * n_dims + 12
        added = tokenizer_entries(sys.argv[2])
        out.write(data[:8] + struct.pack("<QQ", n_tensors, n_entries + len(added)) + data[24:entries_end])
        out.write(b"".join(added) + data[entries_end : reader.at])
        out.write(bytes(-out.tell() % 32))
        source.seek(-(-reader.at // 32) * 32)
        shutil.copyfileobj(source, out, 1 << 24)


if __name__ == "__main__":
    main()
