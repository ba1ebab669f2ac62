#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/words.json: the ids that Hugging Face's tokenizers give for every way of cutting text into
words that Tern knows, as a tokenizer.json of the model family states it.

    make_word_goldens.py

Debian: python3-tokenizers. Most of those vocabularies cannot be had here, so all ways share a small one that is trained
here on whole texts: many of its tokens reach from one word into the next, and a cut in another place gives other ids.
"""

import json
import pathlib

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from tokenizer_corpus import CORPUS

HERE = pathlib.Path(__file__).parent / "tokenizer"

# Where words change between small and capital letters, digits, marks and white space.
TEXTS = ["HTMLParser fooBar iPhone XMLHttpRequest aBcD ABc aBC ABC abc A a", "It'S IT'S it's ITs'M x'Re O'Neill 'Tis don'T'LL",
         "\u01c5\u01c8 \u01c5a a\u01c5 \u02b0A\u02b0a \u00aaB \u00baC \u65e5\u672cABC\u65e5abc \u0301a A\u0301b\u0301C \u0301\u0301", "a/b//c/\n//\n/ \\/ !/\r\n ./..//\n\n/",
         "a1 a 1 a  1 a   12 1a  \t1\n2 \n3  4\r\n5 \u00a06\u2003 7", "1234567 12 3456 a1234b \u0661\u0662\u0663\u0664 \u00bd\u2163\u00b2 1,234.5", "  1", " 1", "1 ", "1  ", "\t1\t", "1\n\n2",
         "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902 \u0928\u092e\u0938\u094d\u0924\u0947, \u0926\u0941\u0928\u093f\u092f\u093e! \u0967\u0968 \u0915\u093f\u0924\u093e\u092c\u0947\u0902",
         "\u0e1b\u0e35\u0e48\u0e19\u0e35\u0e49 \u0e09\u0e31\u0e19\u0e2d\u0e22\u0e39\u0e48\u0e17\u0e35\u0e48\u0e1a\u0e49\u0e32\u0e19 (\u0e19\u0e49\u0e33) \u0e52\u0e55\u0e56\u0e57 \u0e01\u0e47\u0e44\u0e14\u0e49",
         "\u0627\u0644\u0633\u0651\u064e\u0644\u064e\u0627\u0645\u064f \u0639\u064e\u0644\u064e\u064a\u0652\u0643\u064f\u0645\u0652\u060c \u0643\u0650\u062a\u064e\u0627\u0628\u064c 12\u066b5 \u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f", "!\u0301 'S\u0301 \u0301\n \u064e\u0651 .\u0e48\u0e49",
         "-a -A -1 -\u0301 --a '-' \u20aca \u20acA _x_X __init__ $HOME", "\u00c9COLE \u00e9cole \u00c9cole \u0130I \u0131i \u1e9e\u00df \u03a3\u03c3\u03c2 \u10d0\u10a0 \u13a0\uab70",
         "\u65e5\u672c \u8a9e12 \u3042a \u30a2\u30fb\u30fc! \u309bx a\u65e5 \u3099b \u9fa6 \u4e00\u9fa5.a .\u65e5 \n\u65e5",
         "\u30a2\u30a4\u30fb\u30a6\u30a8\u30aa\u30fb\u30ab \u30fb\u30fb \u65e5\u309b\u672c\u309b\u65e5\u309b\u672c \u3040\u65e5\u3040\u3040 \u3099\u65e5\u3040a",
         "\u200d\u200da \u0001\u0002 \u0001b\u200d\u65e5 \u200d1 \u0003\u0003! #a $b (c \u20aca @@x _y\u00e9 ^1"]

LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
MARKS = LLAMA.replace("{1,3}", "").replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"\s\p{L}", r"\s\p{L}\p{M}")  # as letters
CAPITALS, SMALLS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def by_case(ending, digits):
    start = r"[^\r\n\p{L}\p{N}]?"
    return (f"{start}{CAPITALS}*{SMALLS}+{ending}|{start}{CAPITALS}+{SMALLS}*{ending}|{digits}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def split(expression, behavior="Isolated"):
    parts = [{"type": "Split", "pattern": {"Regex": expression}, "behavior": behavior, "invert": behavior == "Removed"},
             {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
    return {"type": "Sequence", "pretokenizers": parts}


def byte_level():
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def splits(*expressions):
    parts = [{"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False} for expression in expressions]
    return {"type": "Sequence", "pretokenizers": [*parts, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
                                                            "use_regex": False}]}


HUNYUAN = (r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
           "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
           "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+")

VARIANTS = {
    "gpt-2": (byte_level(), False),
    "llama-bpe": (split(LLAMA), True),
    "qwen2": (split(LLAMA.replace("{1,3}", "")), False),
    "qwen35": (split(MARKS), False),
    "smollm": ({"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level()]}, False),
    "tekken": (split(by_case("", r"\p{N}")), True),
    "gpt-4o": (split(by_case("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}"), "Removed"), False),
    "hunyuan-dense": (splits(*HUNYUAN), False),
}


def small_vocabulary():
    """Of 256 bytes and 400 merges, made without regard to words."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=656, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(CORPUS + TEXTS * 2, trainer)
    return json.loads(tokenizer.to_str())


def main():
    base = small_vocabulary()
    out = {"tokenizer": base, "texts": TEXTS, "variants": []}
    for name, (pre_tokenizer, ignore_merges) in VARIANTS.items():
        base["pre_tokenizer"] = pre_tokenizer
        base["model"]["ignore_merges"] = ignore_merges
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(base))
        rows = [tokenizer.encode(text, add_special_tokens=False).ids for text in CORPUS + TEXTS]
        out["variants"].append({"name": name, "pre_tokenizer": pre_tokenizer, "ignore_merges": ignore_merges, "rows": rows})
    base["pre_tokenizer"], base["model"]["ignore_merges"] = None, False
    text = json.dumps(out, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('"texts"', '\n"texts"')
    (HERE / "words.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
