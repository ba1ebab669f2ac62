"""Byte-level BPE in GGUF metadata: a tiny tokenizer to put into a golden model, and the tokenizer of any file."""

from typing import Any

from gguf_file import Kind, Value

END_OF_TEXT = "<|endoftext|>"
WORDS = (
    "Ġthe Ġand Ġlittle Ġonce Ġupon Ġtime Ġfox Ġsaid Ġforest Ġstory "
    "Ġwas Ġthere Ġhouse Ġvillage Ġking Ġmother"
).split()
TYPE_NORMAL, TYPE_CONTROL = 1, 3

LLAMA_BPE = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_characters() -> list[str]:
    """The character that stands for each byte in a byte-level vocabulary: itself if printable, else from U+0100 up."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def tiny_tokenizer_metadata(vocab: int) -> dict[str, Value]:
    """`vocab` tokens: <|endoftext|> as id 0, the 256 bytes, then beginnings of WORDS, each with the merge that makes it."""
    tokens = [END_OF_TEXT, *byte_characters()]
    merges = []
    for word in WORDS:
        for end in range(2, len(word) + 1):
            if word[:end] not in tokens and len(tokens) < vocab:
                tokens.append(word[:end])
                merges.append(f"{word[: end - 1]} {word[end - 1]}")
    if len(tokens) != vocab:
        raise ValueError(f"WORDS give {len(tokens)} tokens, not {vocab}")
    return {
        "tokenizer.ggml.model": Value(Kind.STRING, "gpt2"),
        "tokenizer.ggml.pre": Value(Kind.STRING, "llama-bpe"),
        "tokenizer.ggml.tokens": Value(Kind.STRING, tokens),
        "tokenizer.ggml.token_type": Value(Kind.I32, [TYPE_CONTROL, *[TYPE_NORMAL] * (vocab - 1)]),
        "tokenizer.ggml.merges": Value(Kind.STRING, merges),
        "tokenizer.ggml.bos_token_id": Value(Kind.U32, 0),
        "tokenizer.ggml.eos_token_id": Value(Kind.U32, 0),
        "tokenizer.ggml.add_bos_token": Value(Kind.BOOL, True),
    }


def tokenizer_from_metadata(metadata: dict[str, Any]) -> Any:
    """A Hugging Face tokenizer with the vocabulary and merges of a GGUF file whose pre-tokenizer is llama-bpe."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

    if metadata["tokenizer.ggml.pre"] != "llama-bpe":
        raise ValueError(f"pre-tokenizer {metadata['tokenizer.ggml.pre']} is not llama-bpe")
    vocab = {token: i for i, token in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=True))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA_BPE), "isolated"), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    types = zip(metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"], strict=True)
    tokenizer.add_special_tokens([token for token, kind in types if kind == TYPE_CONTROL])
    return tokenizer
