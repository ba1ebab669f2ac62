#!/usr/bin/env python3
"""Lets a checkpoint continue story beginnings and answer, greedily and at a temperature: a look at it before it is exported."""

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer

from model import BitNet, load_checkpoint

END_OF_TEXT_ID, END_OF_TURN_ID = 0, 1
ASKED = "<|user|>\n{}<|end|>\n<|assistant|>\n"
PROMPTS = (
    "Once upon a time",
    "The little fox",
    "The old king said to his three sons:",
    ASKED.format("Hello!"),
    ASKED.format("Tell me a story about a fox and a lantern"),
    ASKED.format("What is the capital of France?"),
    ASKED.format("Who found it?"),
)


def next_token(logits: torch.Tensor, temperature: float, top_k: int) -> int:
    """Picks from logits [vocab]: the largest at temperature 0, else at random among the top_k."""
    if temperature == 0:
        return int(logits.argmax())
    values, ids = logits.topk(min(top_k, len(logits)))
    return int(ids[torch.multinomial((values / temperature).softmax(dim=-1), 1)])


@torch.no_grad()
def continue_text(model: BitNet, prompt_ids: list[int], n: int, temperature: float, top_k: int) -> list[int]:
    """The prompt and up to n more ids. Every step runs the whole text again: slow, but there is no cache to get wrong."""
    ids = list(prompt_ids)
    device = model.embedding.weight.device
    for _ in range(n):
        window = torch.tensor([ids[-model.config.context :]], device=device)
        token = next_token(model(window)[0, -1].float(), temperature, top_k)
        if token in (END_OF_TEXT_ID, END_OF_TURN_ID):
            break
        ids.append(token)
    return ids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True, help="train.py's checkpoint.pt")
    parser.add_argument("--tokenizer", type=Path, required=True, help="prepare.py's tokenizer.json")
    parser.add_argument("--device", default="cuda", help="default: %(default)s")
    parser.add_argument("-p", "--prompt", action="append", help="may be repeated; default: beginnings and questions")
    parser.add_argument("-n", type=int, default=300, help="tokens at most; default: %(default)s")
    parser.add_argument("--temperature", type=float, default=0.6, help="besides greedy; default: %(default)s")
    parser.add_argument("--top-k", type=int, default=40, help="default: %(default)s")
    args = parser.parse_args()

    torch.manual_seed(0)
    model = load_checkpoint(args.checkpoint, args.device)
    tokenizer = Tokenizer.from_file(str(args.tokenizer))
    for prompt in args.prompt or PROMPTS:
        prompt_ids = [END_OF_TEXT_ID, *tokenizer.encode(prompt).ids]
        for temperature in (0.0, args.temperature):
            ids = continue_text(model, prompt_ids, args.n, temperature, args.top_k)
            print(f"--- temperature {temperature}\n{tokenizer.decode(ids[1:])}\n", flush=True)


if __name__ == "__main__":
    main()
