#!/usr/bin/env python3
"""Writes many texts with the ids that Hugging Face's tokenizers give, for a comparison done by hand:

    compare_tokenizer.py TOKENIZER.json -o cases.json [-n 5000] [--seed 1] [--every-code-point]
    TERN_TOKENIZER_CASES=cases.json text_test --gtest_filter='*CasesFromAFile'

--every-code-point puts each of Unicode's characters into contexts that show its class, instead of random texts.

Characters that are unassigned to the regular expression library behind tokenizers (Oniguruma 6.9.8: newer than Unicode
14) are left out: PCRE2 knows a later Unicode version, and so calls some of them letters that the other calls symbols.
So are some 150 combining marks newer than Unicode 9, such as U+0EBA, that tokenizers' NFC does not put in order.
"""

import argparse
import json
import random
import unicodedata

import tokenizers

RANGES = [(0x20, 0x7E), (0x00, 0x1F), (0x80, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF),
          (0xE00, 0xEFF), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x23FF), (0x2600, 0x27BF), (0x3000, 0x30FF),
          (0x4E00, 0x4FFF), (0xAC00, 0xACFF), (0xFB00, 0xFB4F), (0xFF00, 0xFFEF), (0x1F300, 0x1F64F), (0x1D400, 0x1D7FF), (0, 0x10FFFF)]
SNIPPETS = [" ", "  ", "\n", "\r\n", "\t", "'s", "'LL", "'\u017f", "the", " and", "1234", "<|eot_id|>", "<|im_end|>", "<think>",
            "<|endoftext|>", "<|user|>", "<|end|>", "</s>", "<s>", "\u2581", "\u3000", "\u200d", "\ufe0f", "\u0301", "\u0323\u0307", "...", "://", " '", "a"]


def normalised_alike(c):
    nfc = tokenizers.normalizers.NFC()
    contexts = (f"a\u0315{c}\u0316\u0315", f"a{c}\u0327", f"\u0327{c}")
    return all(nfc.normalize_str(text) == unicodedata.normalize("NFC", text) for text in contexts)


def known_characters():
    replace = tokenizers.normalizers.Replace(tokenizers.Regex(r"\p{Cn}"), "")
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return set(filter(normalised_alike, replace.normalize_str(every)))


def random_text(rng, known):
    parts = []
    for _ in range(rng.randrange(1, 24)):
        if rng.random() < 0.4:
            parts.append(rng.choice(SNIPPETS) * rng.choice([1, 1, 1, 2, 5]))
            continue
        low, high = rng.choice(RANGES)
        for _ in range(rng.randrange(1, 6)):
            c = chr(rng.randint(low, high))
            if c in known:
                parts.append(c)
    return "".join(parts)


def texts(arguments):
    known = known_characters()
    if arguments.every_code_point:
        for c in sorted(known):
            yield f"a{c}b {c}{c}1{c}{c}2 {c} !{c}!\n{c}\n'{c} {c}'s"
        return
    rng = random.Random(arguments.seed)
    for _ in range(arguments.n):
        yield random_text(rng, known)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("-o", required=True)
    parser.add_argument("-n", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-code-point", action="store_true")
    arguments = parser.parse_args()
    tokenizer = tokenizers.Tokenizer.from_file(arguments.tokenizer)
    with open(arguments.o, "w", encoding="utf-8") as out:
        out.write(json.dumps({"tokenizer": arguments.tokenizer}) + "\n")
        for text in texts(arguments):
            tokenizer.encode_special_tokens = True
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            tokenizer.encode_special_tokens = False
            special = tokenizer.encode(text, add_special_tokens=False).ids
            out.write(json.dumps([text, plain, special]) + "\n")


if __name__ == "__main__":
    main()
