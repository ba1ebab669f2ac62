#!/usr/bin/env python3
"""Makes all golden values that depend on the default model, models/tern-stories.gguf: run it when that file is replaced.

    make_default_model_goldens.py            write them
    make_default_model_goldens.py --check    compare the committed greedy text with a float64 numpy forward pass

They are its tokenizer in Hugging Face's form and the ids that Hugging Face's tokenizers give a corpus
(tokenizer/tern-stories*.json), its greedy text by Hugging Face transformers in float32, as continuations and as replies
in conversations (bitnet/tern_stories_greedy.json), and the example that the page shows (apps/web/page/base/example.js).
Debian: `./setup --oracle`. It takes some minutes.
"""

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from make_bitnet_goldens import GOLDEN_DIR, ROOT, margins, versions, write_json
from bitnet_model import Model, load_model
from gguf_file import read_gguf
from tiny_tokenizer import tokenizer_from_metadata

DEFAULT_MODEL = ROOT / "models/tern-stories.gguf"
GREEDY = GOLDEN_DIR / "tern_stories_greedy.json"
EXAMPLE = ROOT / "apps/web/page/base/example.js"
TOKENIZER_DIR = ROOT / "tests/golden/tokenizer"
NEAR_TIE = 0.25  # the model has activations on edges: its logits may move by this much
PROMPTS = ("One day, Lily and her mom", "Once upon a time", "The little fox", "Long ago, in a small village by the sea,")
CONVERSATION = ("Tell me a story about a hedgehog and a key.", "Who found it?")
# The one of these whose answer is the surest is asked where backends are to say the same.
QUESTIONS = ("Who are you?", "What can you do?", "What is the capital of France?", "Do you know any stories?")
N_GREEDY = 200
N_REPLY = 400  # at most
N_TOP = 16
N_EXAMPLE = 400  # characters


class Oracle:
    """The default model in transformers, and its tokenizer and template in Hugging Face's libraries."""

    def __init__(self) -> None:
        import transformers_forward

        metadata = read_gguf(DEFAULT_MODEL)[0]
        self.forward = transformers_forward
        self.network = transformers_forward.build(load_model(DEFAULT_MODEL))
        self.tokenizer = tokenizer_from_metadata(metadata)
        self.template = metadata["tokenizer.chat_template"]
        self.bos = self.tokenizer.id_to_token(metadata["tokenizer.ggml.bos_token_id"])
        self.ends = (0, metadata["tokenizer.ggml.eot_token_id"])  # of texts and of turns

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    def render(self, messages: list[dict[str, str]]) -> str:
        from transformers.utils.chat_template_utils import render_jinja_template

        texts, _ = render_jinja_template(
            conversations=[messages], chat_template=self.template, add_generation_prompt=True, bos_token=self.bos
        )
        return texts[0]

    def greedy(self, prompt: str, prompt_ids: list[int], n: int, stop: tuple[int, ...] = ()) -> dict[str, Any]:
        """Greedy decoding with the KV cache, through one of `stop` or for n tokens, checked by one full forward pass."""
        ids, rows = self.forward.greedy(self.network, prompt_ids, n, stop)
        full = self.forward.logits(self.network, prompt_ids + ids)[len(prompt_ids) - 1 : -1]
        gaps = margins(rows)
        top = np.argsort(-rows[0])[:N_TOP]
        run = {
            "prompt": prompt,
            "prompt_ids": prompt_ids,
            "ids": ids,
            "text": self.tokenizer.decode(ids, skip_special_tokens=False),
            "first_near_tie": int(np.argmax(gaps < NEAR_TIE)) if (gaps < NEAR_TIE).any() else len(ids),
            "margins": [round(float(gap), 4) for gap in gaps],
            "end_of_text_at": [i for i, token in enumerate(ids) if token in self.ends],
            "full_forward_differs_at": np.flatnonzero(full.argmax(-1) != ids).tolist(),
            "full_forward_max_change": round(float(np.abs(full - rows).max()), 4),
            "first_step_top": [[int(i), round(float(rows[0, i]), 4)] for i in top],
        }
        print(f"{prompt[-60:]!r}: {len(ids)} tokens, smallest margins {sorted(run['margins'])[:4]}, first near tie"
              f" {run['first_near_tie']}, ends {run['end_of_text_at']}, full forward differs at"
              f" {run['full_forward_differs_at']} (≤ {run['full_forward_max_change']})", flush=True)
        return run

    def chat(self, said: tuple[str, ...]) -> list[dict[str, Any]]:
        """The replies to what is said in one conversation, one after another."""
        messages, runs = [], []
        for text in said:
            messages.append({"role": "user", "content": text})
            prompt = self.render(messages)
            run = self.greedy(prompt, self.encode(prompt), N_REPLY, self.ends)
            runs.append({"messages": list(messages), **run})
            messages.append({"role": "assistant", "content": self.tokenizer.decode(run["ids"]).strip()})
        return runs


def without_ties(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The longest stretch of any run without a near tie: every backend chooses these tokens after what came before."""
    best = ([], [])
    for run in runs:
        begin = 0
        for i, margin in enumerate([*run["margins"], 0.0]):
            if margin >= NEAR_TIE:
                continue
            if i - begin > len(best[1]):
                best = (run["prompt_ids"] + run["ids"][:begin], run["ids"][begin:i])
            begin = i + 1
    print(f"the longest stretch without a near tie: {len(best[1])} tokens after {len(best[0])}")
    return {"prompt_ids": best[0], "ids": best[1]}


def surest_answer(oracle: Oracle) -> dict[str, Any]:
    """The first answer in a conversation whose smallest lead is the largest."""
    runs = [oracle.chat((question,))[0] for question in QUESTIONS]
    best = max(runs, key=lambda run: min(run["margins"]))
    if min(best["margins"]) < NEAR_TIE:
        raise RuntimeError("every answer comes to a near tie: give QUESTIONS others")
    return best


def write_example(run: dict[str, Any]) -> None:
    """Writes what the page shows until a first message has been sent: some sentences of a story."""
    text = run["text"].removesuffix("<|end|>").removesuffix("<|endoftext|>").strip()
    shown = text if len(text) < N_EXAMPLE else text[: text.rindex(".", 0, N_EXAMPLE) + 1] + " …"
    pieces = textwrap.wrap(shown, 90, drop_whitespace=False, replace_whitespace=False)
    literals = [json.dumps(piece, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'") for piece in pieces]
    quoted = " +\n    ".join(f"'{literal}'" for literal in literals)
    EXAMPLE.write_text(
        "// The page shows this until a first message has been sent: how the page's own model answers. Written by\n"
        "// tests/golden/make_default_model_goldens.py.\n\n"
        f"export const kExample = {{\n  asked: '{CONVERSATION[0]}',\n  reply: {quoted},\n}};\n"
    )


def make_all() -> None:
    from make_tokenizer_goldens import encode_all, write_rows

    oracle = Oracle()
    path = TOKENIZER_DIR / "tern-stories-tokenizer.json"
    oracle.tokenizer.save(str(path), pretty=True)
    write_rows(TOKENIZER_DIR / "tern-stories.json", encode_all(path))
    prompts = [oracle.greedy(prompt, [0, *oracle.encode(prompt)], N_GREEDY) for prompt in PROMPTS]
    chat = oracle.chat(CONVERSATION)
    write_json(GREEDY, {
        "made_with": versions(),
        "model": str(DEFAULT_MODEL.relative_to(ROOT)),
        "prompts": prompts,
        "chat": chat,
        "surest_answer": surest_answer(oracle),
        "without_ties": without_ties([*prompts, *chat]),
    })
    write_example(chat[0])


def check_run(model: Model, run: dict[str, Any]) -> bool:
    """Every token is also the numpy forward pass's, unless its lead is a near tie."""
    import numpy_forward

    logits = numpy_forward.forward(model, run["prompt_ids"] + run["ids"])[len(run["prompt_ids"]) - 1 : -1]
    other = np.flatnonzero(logits.argmax(-1) != run["ids"])
    near_ties = [run["margins"][i] for i in other]
    print(f"{run['prompt'][-60:]!r}: {len(other)} of {len(run['ids'])} tokens differ, at margins {near_ties}", flush=True)
    return all(margin < NEAR_TIE for margin in near_ties)


def check_all() -> bool:
    goldens = json.loads(GREEDY.read_text())
    model = load_model(DEFAULT_MODEL)
    return all([check_run(model, run) for run in [*goldens["prompts"], *goldens["chat"], goldens["surest_answer"]]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="verify the committed files instead of writing them")
    if not parser.parse_args().check:
        make_all()
    return 0 if check_all() else 1


if __name__ == "__main__":
    sys.exit(main())
