#!/usr/bin/env python3
"""Writes tests/golden/tokenizer/sentence-piece.json: a small SentencePiece vocabulary with added tokens of every kind,
and the ids that Hugging Face's tokenizers give for each way of putting spaces in front that a tokenizer.json can state.
And gemma.json: the same for a vocabulary of Gemma's kind, which has runs of spaces and of line breaks as added tokens;
gemma.gguf is that vocabulary as GGUF files have it.

    make_sentence_piece_goldens.py

Debian: python3-tokenizers. The vocabulary is trained here, on the corpus.
"""

import json
import pathlib
import re
import sys

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from chat_templates import TEMPLATES
from tokenizer_corpus import CORPUS

sys.path.append(str(pathlib.Path(__file__).parent / "bitnet"))
from gguf_file import Kind, Value, write_gguf  # noqa: E402

HERE = pathlib.Path(__file__).parent / "tokenizer"
MARK = "\u2581"

TEXTS = ["", " ", "  ", "a", " a", "the cat  sat \n on the mat", "lighthouse\u2581keeper \u2581", "\u2581\u2581", "<s>", "<s> the", "the<s>the <s> the", "x<r>  \u3000\n the",
         "the \t<l> the", "the <b> \u00a0 <b>the", "a<w> <w> <w>a _<w>\u00e9 (<w>)", "the<n>the <n> the", "<n>", " <n>", "<n>a", "<s><n>a <r> <n>", "caf\u00e9 \u65e5\u672c\U0001f600 \u00bd",
         "\ta\r\n", "<0x41> <unk> </s>", "def fib(n: int) -> list[int]:\n    a, b = 0, 1\n", "<s><s>the</s><r><r> a", "\u2581<s>\u2581the", "the the the  the   the" * 12]


def added(id, content, special, **flags):
    keys = ("single_word", "lstrip", "rstrip", "normalized")
    return {"id": id, "content": content, "special": special, **{key: flags.get(key, False) for key in keys}}


def small_vocabulary():
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(CORPUS[:6] + CORPUS[12:20], trainers.BpeTrainer(vocab_size=420, limit_alphabet=110, show_progress=False))
    trained = json.loads(tokenizer.to_str())["model"]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += sorted(trained["vocab"], key=trained["vocab"].get)
    n = len(tokens)
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added(0, "<unk>", True), added(1, "<s>", True), added(2, "</s>", True), added(n, "<r>", False, rstrip=True),
                         added(n + 1, "<l>", True, lstrip=True), added(n + 2, "<b>", False, lstrip=True, rstrip=True),
                         added(n + 3, "<w>", False, single_word=True), added(n + 4, "<n>", False, normalized=True)],
        "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": {token: id for id, token in enumerate(tokens)}, "merges": trained["merges"]}}


def variants():
    prepend = {"type": "Prepend", "prepend": MARK}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    back = [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]
    strip = back + [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    yield {"name": "prepend", "normalizer": {"type": "Sequence", "normalizers": [prepend, replace]}, "decoder": {"type": "Sequence", "decoders": strip}}
    yield {"name": "replace", "normalizer": replace, "decoder": {"type": "Sequence", "decoders": back}}
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}
            decoders = back if scheme == "never" else strip
            yield {"name": f"{scheme}{'-split' if split else ''}", "pre_tokenizer": metaspace, "decoder": {"type": "Sequence", "decoders": decoders}}
    yield {"name": "unknown", "normalizer": {"type": "Sequence", "normalizers": [prepend, replace]}, "byte_fallback": False}


GEMMA_TEXTS = TEXTS + [f"a{' ' * n}b{MARK * n}c{' ' * n}\n{' ' * n}x" for n in range(1, 5)] + ["\n" * n + "a" for n in range(1, 8)] + [
    "<i>the</s> cat", "<bos>the", "<start_of_turn>user\nthe cat<end_of_turn>\n<start_of_turn>model\n", "a <end_of_turn> b", " <unused0>the"]


def gemma():
    """Gemma 3's make-up in small. Runs of spaces are found in the text only where it is written with U+2581; spelled as
    spaces they are merged. </s> is a tag of HTML."""
    whole = small_vocabulary()
    model = whole["model"]
    spaces = [MARK * length for length in range(2, 5)]
    breaks = ["\n" * length for length in range(1, 4)]
    control = ["<pad>", "<eos>", "<bos>", "<unk>", "<unused0>", "<start_of_turn>", "<end_of_turn>"]
    own = spaces + breaks + ["<i>", "</s>"]
    pieces = [token for token in model["vocab"] if token not in ("<unk>", "<s>", "</s>", *own)]
    model["vocab"] = {token: id for id, token in enumerate(control + own + pieces)}
    whole["added_tokens"] = [added(id, token, token in control) for token, id in model["vocab"].items() if token in control or token in own]
    runs = [[run[:cut], run[cut:]] for group in (spaces, breaks) for run in group for cut in range(1, len(run))]
    model["merges"] = runs + [merge for merge in model["merges"] if merge not in runs]
    whole["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    whole["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    whole["decoder"] = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    bos = {"id": "<bos>", "ids": [model["vocab"]["<bos>"]], "tokens": ["<bos>"]}
    whole["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<bos>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"<bos>": bos}}
    return whole


def write_gemma_gguf(whole, path):
    """As llama.cpp's converter makes it of a SentencePiece model: scores in place of merges, runs spelled with spaces."""
    vocab = whole["model"]["vocab"]
    kinds = {token["content"]: 3 if token["special"] else 4 for token in whole["added_tokens"]}
    scores = dict.fromkeys(vocab, 0.0)
    for rank, (left, right) in enumerate(whole["model"]["merges"]):
        scores[left + right] = -float(rank)
    for token in kinds:
        scores[token] = -1000.0
    kind_of = lambda token: kinds.get(token, 6 if re.fullmatch("<0x..>", token) else 1)
    tokens = sorted(vocab, key=vocab.get)
    key = "tokenizer.ggml."
    write_gguf(path, {
        "general.architecture": Value(Kind.STRING, "gemma3"), key + "model": Value(Kind.STRING, "llama"), key + "pre": Value(Kind.STRING, "default"),
        key + "tokens": Value(Kind.STRING, [token.replace(MARK, " ") if kind_of(token) == 4 else token for token in tokens]),
        key + "scores": Value(Kind.F32, [scores[token] for token in tokens]),
        key + "token_type": Value(Kind.I32, [2 if token == "<unk>" else kind_of(token) for token in tokens]),
        key + "bos_token_id": Value(Kind.U32, vocab["<bos>"]), key + "eos_token_id": Value(Kind.U32, vocab["<eos>"]),
        key + "unknown_token_id": Value(Kind.U32, vocab["<unk>"]), key + "padding_token_id": Value(Kind.U32, vocab["<pad>"]),
        key + "add_bos_token": Value(Kind.BOOL, True), key + "add_sep_token": Value(Kind.BOOL, False), key + "add_eos_token": Value(Kind.BOOL, False),
        key + "add_space_prefix": Value(Kind.BOOL, False), "tokenizer.chat_template": Value(Kind.STRING, TEMPLATES["gemma"])}, {})


def encode(tokenizer, text):
    tokenizer.encode_special_tokens = True  # control tokens are read as text …
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = False  # … and as what they are
    special = tokenizer.encode(text, add_special_tokens=False).ids
    return [plain, special, tokenizer.decode(special, skip_special_tokens=True)]


def main():
    base = small_vocabulary()
    out = {"tokenizer": base, "texts": TEXTS, "variants": []}
    for variant in variants():
        whole = json.loads(json.dumps(base))
        for key in ("normalizer", "pre_tokenizer", "decoder"):
            whole[key] = variant.get(key)
        whole["model"]["byte_fallback"] = variant.get("byte_fallback", True)
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(whole))
        out["variants"].append({**variant, "rows": [encode(tokenizer, text) for text in TEXTS]})
    text = json.dumps(out, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('"texts"', '\n"texts"')
    (HERE / "sentence-piece.json").write_text(text + "\n")
    whole = gemma()
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(whole))
    out = {"tokenizer": whole, "texts": GEMMA_TEXTS, "rows": [encode(tokenizer, text) for text in GEMMA_TEXTS]}
    text = json.dumps(out, separators=(",", ":")).replace('"rows"', '\n"rows"').replace('"texts"', '\n"texts"')
    (HERE / "gemma.json").write_text(text + "\n")
    write_gemma_gguf(whole, HERE / "gemma.gguf")


if __name__ == "__main__":
    main()
