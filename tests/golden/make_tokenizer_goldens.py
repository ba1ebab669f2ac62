#!/usr/bin/env python3
"""Writes the ids of Hugging Face's tokenizers to tests/golden/tokenizer/: corpus.json and a file for each tokenizer.

    make_tokenizer_goldens.py --tokenizers DIR

DIR/{llama3,qwen3,phi3}/tokenizer.json: as published. make_default_model_goldens.py writes those of the default model.
Debian: python3-tokenizers.
"""

import argparse
import json
import pathlib

import tokenizers

from tokenizer_corpus import CORPUS

HERE = pathlib.Path(__file__).parent / "tokenizer"

def encode_all(path):
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    rows = []
    for text in CORPUS:
        tokenizer.encode_special_tokens = True  # control tokens are read as text …
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = False  # … and as what they are
        special = tokenizer.encode(text, add_special_tokens=False).ids
        rows.append([plain] if plain == special else [plain, special])
    return rows


def write_rows(path, rows):
    path.write_text("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    write_rows(HERE / "corpus.json", CORPUS)
    for name in ("llama3", "qwen3", "phi3"):
        write_rows(HERE / f"{name}.json", encode_all(arguments.tokenizers / name / "tokenizer.json"))


if __name__ == "__main__":
    main()
