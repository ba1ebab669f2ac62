#!/usr/bin/env python3
"""Runs the whole recipe on a small corpus and a tiny model, on the CPU: make the corpus, prepare, train, export, sample.

The exported file is read back by the independent GGUF reader of tests/golden/bitnet and its logits, computed there in
numpy, are compared with those of the checkpoint. Run it by hand after a change here: python3 training/test_training.py
"""

import json
import math
import os
import random
import re
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
import train  # noqa: E402
from bitnet_model import LINEARS, load_model  # noqa: E402
from gguf_file import read_gguf  # noqa: E402
from export import CHAT_TEMPLATE  # noqa: E402
from model import load_checkpoint  # noqa: E402
from prepare import SPECIAL_TOKENS  # noqa: E402
from questions import ask  # noqa: E402
from skeletons import expand, faults, load, parse  # noqa: E402
from tiny_tokenizer import tokenizer_from_metadata  # noqa: E402

CONFIG = {
    "vocab": 512,
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
N_DOCUMENTS = 300
STEPS = 40
PROMPT = "Once there was a little fox"
TURN = re.compile(r"<\|(user|assistant|system)\|>\n((?:(?!<\|)[^\x00])+)<\|end\|>\n")


def write_sources(folder: Path) -> None:
    """A few stories in place of TinyStories."""
    rng = random.Random(0)
    folder.mkdir()
    skeletons = load(HERE / "stories")
    for name, n in (("stories.jsonl", 60), ("held_out.jsonl", 20)):
        lines = [json.dumps(["tinystories", expand(rng.choice(skeletons), rng).text]) + "\n" for _ in range(n)]
        (folder / name).write_text("".join(lines))


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
        write_sources(root / "sources")
        cls.text = root / "text"
        run_script("make_corpus.py", "-n", N_DOCUMENTS, "--sources", root / "sources", "--out", cls.text, "--processes", 2)
        run_script("prepare.py", "--text", cls.text, "--out", cls.data, "--config", config, "--processes", 2)
        run_script(
            *("train.py", "--data", cls.data, "--out", cls.out, "--config", config, "--device", "cpu"),
            *("--steps", STEPS, "--batch", 16, "--log-every", STEPS // 2, "--learning-rate", "2e-2"),
        )
        cls.checkpoint, cls.tokenizer_file = cls.out / "checkpoint.pt", cls.data / "tokenizer.json"
        run_script("export.py", "--checkpoint", cls.checkpoint, "--tokenizer", cls.tokenizer_file, "--out", cls.gguf)
        cls.tokenizer = Tokenizer.from_file(str(cls.tokenizer_file))
        cls.ids = [0, *cls.tokenizer.encode(PROMPT + ". The bear gave the owl a boat.").ids]

    def documents(self, part: str) -> list[str]:
        return [json.loads(line) for line in (self.text / f"{part}.jsonl").read_text().splitlines()]

    def test_conversations_have_the_form_of_the_chat_template(self) -> None:
        documents = self.documents("synth")
        self.assertEqual(len(documents), N_DOCUMENTS)
        conversations = [text for text in documents if text.startswith("<|")]
        self.assertGreater(len(conversations), N_DOCUMENTS / 2)
        self.assertLess(len(conversations), N_DOCUMENTS)
        for text in conversations:
            turns = TURN.findall(text)
            self.assertEqual("".join(f"<|{role}|>\n{said}<|end|>\n" for role, said in turns), text)
            roles = [role for role, _ in turns]
            self.assertEqual([role for role in roles if role != "system"], ["user", "assistant"] * (len(roles) // 2))
            self.assertNotIn("system", roles[1:])
            self.assertTrue(all(said == said.strip() for _, said in turns), text)
        for text in set(documents) - set(conversations):
            self.assertNotRegex(text, r"<\||[\[\]{}]")

    def test_documents_begin_with_end_of_text_and_decode_to_themselves(self) -> None:
        ids = np.fromfile(self.data / "synth.bin", np.uint16)
        starts = np.flatnonzero(ids == 0)
        self.assertEqual(starts[0], 0)
        self.assertEqual(len(starts), N_DOCUMENTS)
        first = ids[1 : starts[1]].tolist()
        self.assertEqual(self.tokenizer.decode(first, skip_special_tokens=False), self.documents("synth")[0])
        self.assertEqual([self.tokenizer.token_to_id(token) for token in SPECIAL_TOKENS], [0, 1, 2, 3, 4])

    def test_training_learns(self) -> None:
        log = json.loads((self.out / "training_log.json").read_text())
        self.assertEqual([step for step, _, _ in log], [STEPS // 2, STEPS])
        for loss in log[-1][2]:
            self.assertLess(loss, 0.85 * math.log(CONFIG["vocab"]))

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

    def test_exported_file_has_the_template_and_the_ends(self) -> None:
        metadata, _ = read_gguf(self.gguf)
        self.assertEqual(metadata["tokenizer.chat_template"], CHAT_TEMPLATE)
        self.assertTrue(CHAT_TEMPLATE.startswith("{{- bos_token -}}"), "prompts begin as documents do")
        self.assertEqual(metadata["tokenizer.ggml.eos_token_id"], 0)
        self.assertEqual(metadata["tokenizer.ggml.eot_token_id"], 1)
        types = list(metadata["tokenizer.ggml.token_type"])
        self.assertEqual(types[:6], [3, 3, 3, 3, 3, 1])
        self.assertNotIn(3, types[5:])

    def test_sample_continues_the_prompt(self) -> None:
        arguments = ("--checkpoint", self.checkpoint, "--tokenizer", self.tokenizer_file, "--device", "cpu", "-n", 20)
        self.assertEqual(run_script("sample.py", *arguments, "-p", PROMPT).count(PROMPT), 2)


class Skeletons(unittest.TestCase):
    def test_every_skeleton_is_sound(self) -> None:
        for skeleton in load(HERE / "stories"):
            self.assertEqual(faults(skeleton), [], skeleton.where)

    def test_names_are_unique(self) -> None:
        places: dict[str, str] = {}
        for skeleton in load(HERE / "stories"):
            self.assertNotIn(skeleton.id, places, skeleton.where)
            places[skeleton.id] = skeleton.where

    def test_faults_are_found(self) -> None:
        path = HERE / "stories" / "h1.story"
        with tempfile.TemporaryDirectory() as folder:
            for name, (old, new) in enumerate((("{thing.the}", "{thing.thr}"), ("\nlesson:", "\n# lesson:"), ("{spot.where}", "[a|b"))):
                broken = Path(folder) / f"{name}.story"
                broken.write_text(path.read_text().replace(old, new, 1 if old == "\nlesson:" else -1))
                self.assertTrue(any(faults(skeleton) for skeleton in parse(broken)), new)
            unknown = Path(folder) / "unknown.story"
            unknown.write_text("# id: x\ncast hero dragonfly\n")
            with self.assertRaisesRegex(SystemExit, "unknown.story:2: 'dragonfly' is none of"):
                parse(unknown)

    def test_short_answers_count_more(self) -> None:
        story, answer, user = [8] * (train.LONGEST_ANSWER + 1), [9, 9], [7, 7, 7]
        ids = [0, train.USER_ID, *user, 1, train.ASSISTANT_ID, *story, 1, train.USER_ID, *user, 1, train.ASSISTANT_ID, *answer, 1]
        weights = dict(zip(ids, train.token_weights(torch.tensor(ids)).tolist(), strict=True))
        self.assertEqual(weights[8], 1)
        self.assertEqual(weights[9], train.ANSWER_WEIGHT)
        self.assertEqual(weights[7], train.USER_WEIGHT)

    def test_answers_are_of_the_story(self) -> None:
        rng = random.Random(3)
        for skeleton in load(HERE / "stories"):
            story = expand(skeleton, rng)
            for question, answer in ask(story, 8, rng):
                self.assertNotRegex(question + answer, r"[\[\]{}|]", skeleton.where)
                if answer.startswith("There is no "):
                    self.assertNotRegex(story.text, rf"\b{answer.split()[3]}\b")
                if question.startswith(("What kind of animal", "What animal")):
                    self.assertIn(question.split()[-1].rstrip("?"), story.text)


if __name__ == "__main__":
    unittest.main()
