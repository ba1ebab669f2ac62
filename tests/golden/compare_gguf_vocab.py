#!/usr/bin/env python3
"""Compares the ids that llama.cpp reads out of a GGUF file's vocabulary with those of compare_tokenizer.py, by hand:

    TERN_TOKENIZER_JSON=TOKENIZER.json TERN_VOCAB_GGUF=vocab.gguf model_test --gtest_filter='*WritesAFileForComparison'
    compare_gguf_vocab.py vocab.gguf cases.json [libllama.so.0]

llama.cpp differs from Hugging Face where it does not know what a tokenizer.json says: NFC; white space swallowed by
special tokens; control tokens inside each other. The texts with such things are counted apart.
"""

import ctypes
import json
import sys
import unicodedata

PARAMS_BYTES = 512  # more than llama_model_params has
VOCAB_ONLY_AT = 72  # of it, in libllama 0.7: 2 pointers, 5 ints, 4 pointers come before


class Params(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * PARAMS_BYTES)]


def load(path, library):
    llama = ctypes.CDLL(library)
    ctypes.CDLL("libggml.so.0").ggml_backend_load_all()
    llama.llama_model_default_params.restype = Params
    llama.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Params]
    for function in (llama.llama_model_load_from_file, llama.llama_model_get_vocab):
        function.restype = ctypes.c_void_p
    llama.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
    llama.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32,
                                     ctypes.c_bool, ctypes.c_bool]
    params = llama.llama_model_default_params()
    params.bytes[VOCAB_ONLY_AT] = 1
    model = llama.llama_model_load_from_file(path.encode(), params)
    if not model:
        sys.exit(f"{path}: llama.cpp does not load it")
    vocab = llama.llama_model_get_vocab(model)

    def tokenize(text, parse_special):
        data = text.encode()
        out = (ctypes.c_int32 * (len(data) + 8))()
        n = llama.llama_tokenize(vocab, data, len(data), out, len(out), False, parse_special)
        return list(out[:n])

    return tokenize


def known_difference(text):
    return unicodedata.normalize("NFC", text) != text or "<|" in text or "</s>" in text or "<s>" in text or "\0" in text


def main():
    gguf, cases = sys.argv[1:3]
    tokenize = load(gguf, sys.argv[3] if len(sys.argv) > 3 else "libllama.so.0")
    same = expected = different = 0
    with open(cases, encoding="utf-8") as rows:
        next(rows)
        for row in rows:
            text, plain, special = json.loads(row)
            if tokenize(text, False) == plain and tokenize(text, True) == special:
                same += 1
            elif known_difference(text):
                expected += 1
            else:
                different += 1
                if different <= 5:
                    print(ascii(text), plain, tokenize(text, False), special, tokenize(text, True), sep="\n")
    print(f"{same} texts alike, {expected} different for a known reason, {different} different otherwise")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
