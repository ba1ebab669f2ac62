#!/usr/bin/env python3
"""Turns a folder of text files into a tokenizer and token files for train.py.

Input: UTF-8 files *.txt whose documents are separated by <|endoftext|>. Files are of three kinds, told by name:
  tinystories.txt, open_storybooks.txt   simple stories
  tinystories_valid.txt                  simple stories that are held out from training
  every other                            books
Output: tokenizer.json (byte-level BPE, Hugging Face form), and per kind uint16 token ids, each document led by id 0:
books.bin and simple.bin to train on, val_books.bin and val_simple.bin to measure the loss on.
"""

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from model import ModelConfig

END_OF_TEXT = "<|endoftext|>"
END_OF_TEXT_ID = 0
SIMPLE_FILES = {"tinystories.txt", "open_storybooks.txt"}
HELD_OUT_FILE = "tinystories_valid.txt"
MIN_CHARACTERS = 200  # shorter documents are headings, lists and other leftovers
ONE_IN_HELD_OUT = 200  # of the documents outside HELD_OUT_FILE
ENCODE_BATCH = 4096

# How text is cut before merging; GGUF files call it "llama-bpe".
LLAMA_BPE = "|".join(
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)",
        r"[^\r\n\p{L}\p{N}]?\p{L}+",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


@dataclass(frozen=True)
class Document:
    file: str
    text: str

    @property
    def is_simple(self) -> bool:
        return self.file in SIMPLE_FILES


def read_documents(folder: Path) -> list[Document]:
    """All documents worth training on, in a random but fixed order."""
    documents = []
    for path in sorted(folder.glob("*.txt")):
        texts = [text.strip() for text in path.read_text(encoding="utf-8").split(END_OF_TEXT)]
        kept = [Document(path.name, text) for text in texts if len(text) > MIN_CHARACTERS]
        print(f"{path.name}: {len(kept)} documents, {sum(len(d.text) for d in kept):,} characters")
        documents += kept
    if not documents:
        raise SystemExit(f"{folder}: no documents of more than {MIN_CHARACTERS} characters in *.txt")
    random.Random(0).shuffle(documents)
    return documents


def split_documents(documents: list[Document]) -> dict[str, list[Document]]:
    """The documents of every output file, by its name; training documents are those not in val_*."""
    held_out = [d for d in documents if d.file == HELD_OUT_FILE]
    rest = [d for d in documents if d.file != HELD_OUT_FILE]
    n_held_out = len(rest) // ONE_IN_HELD_OUT
    train = rest[n_held_out:]
    return {
        "books": [d for d in train if not d.is_simple],
        "simple": [d for d in train if d.is_simple],
        "val_books": [d for d in rest[:n_held_out] if not d.is_simple],
        "val_simple": held_out,
    }


def train_tokenizer(documents: list[Document], vocab: int) -> Tokenizer:
    """Byte-level BPE of at most `vocab` tokens; <|endoftext|> gets id 0."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA_BPE), "isolated"), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        min_frequency=2,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((d.text for d in documents), trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, documents: list[Document]) -> np.ndarray:
    """All documents in a row, uint16 [n_tokens]."""
    ids: list[np.ndarray] = []
    for start in range(0, len(documents), ENCODE_BATCH):
        batch = tokenizer.encode_batch([d.text for d in documents[start : start + ENCODE_BATCH]])
        ids += [np.array([END_OF_TEXT_ID, *encoding.ids], np.uint16) for encoding in batch]
    return np.concatenate(ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, metavar="DIR", help="the folder with *.txt")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the results go")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("config.json"), help="default: %(default)s")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    parts = split_documents(read_documents(args.text))
    for name, documents in parts.items():
        if not documents:
            raise SystemExit(f"{args.text}: nothing for {name}.bin; see --help for the files that are expected")
    tokenizer = train_tokenizer(parts["books"] + parts["simple"], ModelConfig.load(args.config).vocab)
    tokenizer.save(str(args.out / "tokenizer.json"))
    print(f"tokenizer.json: {tokenizer.get_vocab_size()} tokens")
    for name, documents in parts.items():
        ids = encode(tokenizer, documents)
        ids.tofile(args.out / f"{name}.bin")
        print(f"{name}.bin: {len(ids):,} tokens")


if __name__ == "__main__":
    main()
