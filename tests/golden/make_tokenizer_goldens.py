#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/*.json: ids by Hugging Face's tokenizers, conversations rendered by Jinja.

    make_tokenizer_goldens.py --tokenizers DIR --templates DIR

DIR/llama3/tokenizer.json, DIR/qwen3/tokenizer.json: as published. DIR/*.jinja: published chat templates. The default
model's tokenizer lies beside the goldens. Debian: python3-tokenizers, python3-jinja2.
"""

import argparse
import json
import pathlib

import jinja2
import jinja2.sandbox
import tokenizers

from tokenizer_corpus import CORPUS

HERE = pathlib.Path(__file__).parent / "tokenizer"

CONVERSATIONS = [
    [("system", "You are helpful."), ("user", "Hi")],
    [("user", "  What is 2+2?\n")],
    [("user", "a"), ("assistant", "<think>\nhm\n</think>\n\nb"), ("user", "c {{ d }} <|im_end|>")],
    [("system", "\u00dcber\n\nlang "), ("user", "x"), ("assistant", " y "), ("user", "\U0001f600"), ("assistant", "z")],
]


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


def render_all(directory):
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    for path in sorted(directory.glob("*.jinja")):
        template = environment.from_string(path.read_text())
        for conversation in CONVERSATIONS:
            messages = [{"role": role, "content": content} for role, content in conversation]
            for prompt in (True, False):
                text = template.render(messages=messages, add_generation_prompt=prompt, tools=None, bos_token="<BOS>",
                                       eos_token="<EOS>")
                yield {"template": path.name, "messages": messages, "add_generation_prompt": prompt, "text": text}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    parser.add_argument("--templates", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    write_rows(HERE / "corpus.json", CORPUS)
    write_rows(HERE / "tern-stories.json", encode_all(HERE / "tern-stories-tokenizer.json"))
    for name in ("llama3", "qwen3"):
        write_rows(HERE / f"{name}.json", encode_all(arguments.tokenizers / name / "tokenizer.json"))
    write_rows(HERE / "chat.json", list(render_all(arguments.templates)))


if __name__ == "__main__":
    main()
