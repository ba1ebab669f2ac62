#!/usr/bin/env python3
"""Runs the whole recipe on a made-up corpus and a tiny model, on the CPU, in about a minute: prepare, train, export, sample.

The exported file is read back by the independent GGUF reader of tests/golden/bitnet and its logits, computed there in
numpy, are compared with those of the checkpoint. Run it by hand after a change here: python3 training/test_training.py
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/golden/bitnet")]

import numpy_forward  # noqa: E402
from bitnet_model import LINEARS, load_model  # noqa: E402
from gguf_file import read_gguf  # noqa: E402
from model import load_checkpoint  # noqa: E402
from tiny_tokenizer import tokenizer_from_metadata  # noqa: E402

CONFIG = {
    "vocab": 384,
    "dim": 128,
    "layers": 2,
    "heads": 2,
    "kv_heads": 1,
    "head_dim": 64,
    "ffn": 256,
    "context": 64,
    "eps": 1e-5,
    "rope_theta": 10000.0,
}
N_DOCUMENTS = {"a_book.txt": 400, "tinystories.txt": 100, "tinystories_valid.txt": 20}
STEPS = 80
PROMPT = "Once there was a little fox"


def made_up_story(rng: random.Random) -> str:
    animals, things = ("fox", "bear", "hen", "mouse", "owl"), ("apple", "boat", "song", "lamp")
    sentences = [f"Once there was a little {rng.choice(animals)}."]
    sentences += [f"The {rng.choice(animals)} gave the {rng.choice(animals)} a {rng.choice(things)}." for _ in range(8)]
    return " ".join(sentences)


def write_corpus(folder: Path) -> None:
    rng = random.Random(0)
    folder.mkdir()
    for name, n in N_DOCUMENTS.items():
        (folder / name).write_text("\n<|endoftext|>\n".join(made_up_story(rng) for _ in range(n)))


def run_script(name: str, *arguments: object) -> str:
    """What the script prints; a failure shows what it complained about."""
    command = [sys.executable, str(HERE / name), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if result.returncode:
        raise AssertionError(f"{name} failed:\n{result.stderr}")
    return result.stdout


class TrainingRecipe(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = Path(cls.folder.name)
        cls.data, cls.out, cls.gguf = root / "data", root / "out", root / "tiny.gguf"
        config = root / "config.json"
        config.write_text(json.dumps(CONFIG))
        write_corpus(root / "text")
        run_script("prepare.py", "--text", root / "text", "--out", cls.data, "--config", config)
        run_script(
            *("train.py", "--data", cls.data, "--out", cls.out, "--config", config, "--device", "cpu"),
            *("--steps", STEPS, "--batch", 16, "--log-every", STEPS // 2, "--learning-rate", "2e-2"),
        )
        cls.checkpoint, cls.tokenizer_file = cls.out / "checkpoint.pt", cls.data / "tokenizer.json"
        run_script("export.py", "--checkpoint", cls.checkpoint, "--tokenizer", cls.tokenizer_file, "--out", cls.gguf)
        cls.tokenizer = Tokenizer.from_file(str(cls.tokenizer_file))
        cls.ids = [0, *cls.tokenizer.encode(PROMPT + ". The bear gave the owl a boat.").ids]

    def test_documents_begin_with_end_of_text_and_decode_to_themselves(self) -> None:
        ids = np.fromfile(self.data / "simple.bin", np.uint16)
        starts = np.flatnonzero(ids == 0)
        self.assertEqual(starts[0], 0)
        self.assertLessEqual(abs(len(starts) - N_DOCUMENTS["tinystories.txt"]), 2)  # 1 in 200 documents is held out
        self.assertTrue(self.tokenizer.decode(ids[1 : starts[1]].tolist()).startswith("Once there was a little "))

    def test_training_learns(self) -> None:
        log = json.loads((self.out / "training_log.json").read_text())
        self.assertEqual([step for step, _, _ in log], [STEPS // 2, STEPS])
        for held_out in log[-1][2]:
            self.assertLess(held_out, 0.5 * math.log(CONFIG["vocab"]))

    def test_exported_file_computes_what_the_checkpoint_does(self) -> None:
        exported = load_model(self.gguf)
        model = load_checkpoint(self.checkpoint, "cpu", compute_type=torch.float32)
        with torch.no_grad():
            expected = model(torch.tensor([self.ids]))[0].numpy()
        error = np.abs(numpy_forward.forward(exported, self.ids) - expected).max()
        # The embedding loses bits to float16, and an int8 activation may round differently for it.
        self.assertLess(error, 0.1 * expected.std())
        wrong = exported.with_linear(0, "attn_v", exported.layers[1].linears["attn_v"])
        self.assertGreater(np.abs(numpy_forward.forward(wrong, self.ids) - expected).max(), expected.std())

    def test_exported_codes_are_ternary_and_of_every_kind(self) -> None:
        for layer in load_model(self.gguf).layers:
            for name in LINEARS:
                self.assertEqual(set(np.unique(layer.linears[name].codes)), {-1, 0, 1})

    def test_exported_tokenizer_is_the_trained_one(self) -> None:
        metadata, _ = read_gguf(self.gguf)
        self.assertEqual(len(metadata["tokenizer.ggml.tokens"]), CONFIG["vocab"])
        exported = tokenizer_from_metadata(metadata)
        for text in (PROMPT, "  A hen's 1234 songs…\n\nnaïve 狐"):
            self.assertEqual(exported.encode(text).ids, self.tokenizer.encode(text).ids)

    def test_sample_continues_the_prompt(self) -> None:
        arguments = ("--checkpoint", self.checkpoint, "--tokenizer", self.tokenizer_file, "--device", "cpu", "-n", 20)
        text = run_script("sample.py", *arguments, "-p", PROMPT)
        self.assertEqual(text.count(PROMPT), 2)
        self.assertIn("gave the", text)


if __name__ == "__main__":
    unittest.main()
