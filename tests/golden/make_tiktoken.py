#!/usr/bin/env python3
"""Writes a tiktoken tokenizer.model, as Llama 3's is published, from the tokenizer.json of the same model:

    make_tiktoken.py TOKENIZER.json tokenizer.model
"""

import base64
import json
import sys


def bytes_of_alphabet():
    """GPT-2's characters for the 256 bytes, backwards."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        vocab = json.load(file)["model"]["vocab"]
    alphabet = bytes_of_alphabet()
    with open(target, "wb") as out:
        for token, rank in sorted(vocab.items(), key=lambda item: item[1]):
            out.write(base64.b64encode(bytes(alphabet[c] for c in token)) + f" {rank}\n".encode())


if __name__ == "__main__":
    main()
