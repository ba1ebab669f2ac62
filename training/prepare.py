#!/usr/bin/env python3
"""Turns make_corpus.py's text into a tokenizer and token files for train.py.

Input: synth.jsonl, tiny.jsonl and val.jsonl, each a JSON string a line.
Output: tokenizer.json (byte-level BPE, Hugging Face form), and synth.bin, tiny.bin and val.bin: uint16 token ids, each
document led by id 0. The markers of the chat template are tokens of their own, ids 1 to 4.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator
from itertools import batched, islice
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from model import ModelConfig

END_OF_TEXT_ID = 0
SPECIAL_TOKENS = ["<|endoftext|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]  # ids 0 to 4
PARTS = ("synth", "tiny", "val")
TOKENIZER_DOCUMENTS = 40_000  # of synth.jsonl; more of the same skeletons have no new words
ENCODE_BATCH = 2048

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


def documents(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def train_tokenizer(folder: Path, vocab: int) -> Tokenizer:
    """Byte-level BPE of at most `vocab` tokens, with SPECIAL_TOKENS first."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA_BPE), "isolated"), byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        min_frequency=2,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tiny = list(documents(folder / "tiny.jsonl"))
    texts = [*tiny, *tiny, *islice(documents(folder / "synth.jsonl"), TOKENIZER_DOCUMENTS)]
    markers = "|".join(map(re.escape, SPECIAL_TOKENS))
    tokenizer.train_from_iterator((re.sub(markers, "", text) for text in texts), trainer)
    return tokenizer


def start_worker(tokenizer_file: Path) -> None:
    global worker_tokenizer
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    worker_tokenizer = Tokenizer.from_file(str(tokenizer_file))


def encode(texts: tuple[str, ...]) -> np.ndarray:
    """All documents in a row, uint16 [n_tokens]."""
    ids: list[int] = []
    for encoding in worker_tokenizer.encode_batch(list(texts)):
        ids += [END_OF_TEXT_ID, *encoding.ids]
    return np.array(ids, np.uint16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, metavar="DIR", help="make_corpus.py's output")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the results go")
    parser.add_argument("--tokenizer", type=Path, metavar="FILE", help="a tokenizer.json to use instead of training one")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("config.json"), help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="default: %(default)s")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer_file = args.out / "tokenizer.json"
    if args.tokenizer:
        tokenizer_file.write_bytes(args.tokenizer.read_bytes())
    else:
        tokenizer = train_tokenizer(args.text, ModelConfig.load(args.config).vocab)
        tokenizer.save(str(tokenizer_file))
        print(f"tokenizer.json: {tokenizer.get_vocab_size()} tokens", flush=True)
    with Pool(args.processes, start_worker, (tokenizer_file,)) as pool:
        for part in PARTS:
            n_tokens = 0
            with (args.out / f"{part}.bin").open("wb") as file:
                for ids in pool.imap(encode, batched(documents(args.text / f"{part}.jsonl"), ENCODE_BATCH)):
                    ids.tofile(file)
                    n_tokens += len(ids)
            print(f"{part}.bin: {n_tokens:,} tokens", flush=True)


if __name__ == "__main__":
    main()
