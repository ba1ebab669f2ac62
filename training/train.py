#!/usr/bin/env python3
"""Trains a BitNet b1.58 model from scratch on the token files that prepare.py makes.

The budget is time or steps. Its first half trains at a high rate with weight decay, its second lets the rate fall to zero
without decay (the two-stage schedule of the BitNet b1.58 report).
Output: OUT/checkpoint.pt with float32 master weights, and OUT/training_log.json, a list of
[step, training loss, [loss on synth, on tiny, on val]] in nats a token; only val is held out.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from model import BitNet, ModelConfig, save_checkpoint

WARMUP_STEPS = 300
STAGE_TWO = 0.5  # fraction of the budget at which it starts
WEIGHT_DECAY = 0.1
FINAL_RATE = 1e-5
MAX_GRADIENT_NORM = 1.0
TINY_SHARES = (0.05, 0.02)  # of tiny.bin in a batch, before LATE and after
LATE = 0.6  # fraction of the budget
VALIDATION_BATCHES = 2
TRAIN_PARTS = ("synth", "tiny")
VALIDATION_PARTS = ("synth", "tiny", "val")
END_OF_TEXT_ID, END_OF_TURN_ID, USER_ID, ASSISTANT_ID = 0, 1, 2, 3
LONGEST_ANSWER = 48  # tokens; longer turns are stories
ANSWER_WEIGHT = 4.0  # of a token of an answer, where one of a story counts 1
USER_WEIGHT = 0.25

Batch = tuple[Tensor, Tensor, Tensor]  # ids, their successors (int64) and what these count (float), [batch, context] each


@dataclass(frozen=True)
class Settings:
    batch: int
    learning_rate: float
    log_every: int  # steps


class Budget:
    """How much of the training is done: by the clock, or by steps where these are given."""

    def __init__(self, minutes: float, steps: int | None):
        self.seconds = minutes * 60
        self.steps = steps
        self.start = time.monotonic()

    def spent(self, step: int) -> float:
        """0 at the start, 1 or more when it is over."""
        return step / self.steps if self.steps else self.elapsed() / self.seconds

    def elapsed(self) -> float:
        return time.monotonic() - self.start


class TokenFiles:
    """The token files of a folder, on the device, and random windows of them."""

    def __init__(self, folder: Path, context: int, device: str):
        self.context = context
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(1234)
        self.parts = {name: self._load(folder / f"{name}.bin") for name in VALIDATION_PARTS}
        self.starts = {name: self._starts(ids) for name, ids in self.parts.items()}
        self.weights = {name: token_weights(ids) for name, ids in self.parts.items()}

    def sample(self, part: str, n: int) -> Batch:
        """n windows that begin where a document does, so that all that a question is about is in sight of it."""
        ids, starts = self.parts[part], self.starts[part]
        chosen = torch.randint(0, len(starts), (n, 1), generator=self.generator, device=self.device)
        places = starts[chosen] + torch.arange(self.context + 1, device=self.device)
        windows = ids[places].long()
        return windows[:, :-1], windows[:, 1:], self.weights[part][places[:, 1:]].float()

    def mixed(self, n: int, tiny_share: float) -> Batch:
        n_tiny = round(n * tiny_share)
        synth, tiny = self.sample("synth", n - n_tiny), self.sample("tiny", n_tiny)
        return torch.cat([synth[0], tiny[0]]), torch.cat([synth[1], tiny[1]]), torch.cat([synth[2], tiny[2]])

    def _starts(self, ids: Tensor) -> Tensor:
        starts = (ids == END_OF_TEXT_ID).nonzero().flatten()
        return starts[starts < len(ids) - self.context]

    def _load(self, path: Path) -> Tensor:
        ids = np.fromfile(path, np.uint16).astype(np.int32)
        if len(ids) < self.context + 2:
            raise SystemExit(f"{path}: {len(ids)} tokens, fewer than a context of {self.context}")
        return torch.from_numpy(ids).to(self.device)


def token_weights(ids: Tensor) -> Tensor:
    """What a token's loss counts, float16 [n]: 1 in stories; more in short answers, which are few beside the stories and
    must be right to the letter; less in what users say, which the model never has to write."""
    ends = (ids == END_OF_TURN_ID).nonzero().flatten()
    weights = torch.ones(len(ids), dtype=torch.float16, device=ids.device)
    if len(ends) == 0:
        return weights
    for role, weight, longest in ((USER_ID, USER_WEIGHT, len(ids)), (ASSISTANT_ID, ANSWER_WEIGHT, LONGEST_ANSWER)):
        begins = (ids == role).nonzero().flatten()
        begins = begins[begins < ends[-1]]
        stops = ends[torch.searchsorted(ends, begins)]
        short = stops - begins <= longest
        inside = torch.zeros(len(ids) + 1, dtype=torch.int8, device=ids.device)
        inside[begins[short] + 1] += 1
        inside[stops[short] + 1] -= 1
        weights[inside[:-1].cumsum(0, dtype=torch.int8) > 0] = weight
    return weights


def learning_rate(step: int, spent: float, peak: float) -> float:
    """Linear warm-up by steps; then from the peak down to 3/4 of it, and from there to almost zero, by the budget."""
    if step < WARMUP_STEPS:
        return peak * (step + 1) / WARMUP_STEPS
    if spent < STAGE_TWO:
        return peak * (1 - 0.5 * spent)
    remaining = max(0.0, (1 - spent) / (1 - STAGE_TWO))
    return 0.75 * peak * remaining + FINAL_RATE


def make_optimizer(model: BitNet, peak_rate: float, fused: bool) -> torch.optim.Optimizer:
    """AdamW in two groups: matrices, which get weight decay, and norms, which never do."""
    matrices = [p for p in model.parameters() if p.ndim == 2]
    norms = [p for p in model.parameters() if p.ndim < 2]
    return torch.optim.AdamW([{"params": matrices}, {"params": norms}], lr=peak_rate, betas=(0.9, 0.95), fused=fused)


def set_schedule(optimizer: torch.optim.Optimizer, rate: float, stage_two: bool) -> None:
    matrices, norms = optimizer.param_groups
    matrices["lr"] = norms["lr"] = rate
    matrices["weight_decay"] = 0.0 if stage_two else WEIGHT_DECAY
    norms["weight_decay"] = 0.0


@torch.no_grad()
def validation_losses(model: nn.Module, data: TokenFiles, batch: int) -> list[float]:
    model.eval()
    losses = []
    for part in VALIDATION_PARTS:
        runs = [model(*data.sample(part, batch)[:2]).item() for _ in range(VALIDATION_BATCHES)]
        losses.append(sum(runs) / len(runs))
    model.train()
    return losses


def train(
    model: BitNet, data: TokenFiles, settings: Settings, start_budget: Callable[[], Budget]
) -> list[tuple[int, float, list[float]]]:
    """Trains until the budget is spent; returns the log. The budget starts once the model is compiled."""
    on_gpu = data.device.startswith("cuda")
    optimizer = make_optimizer(model, settings.learning_rate, fused=on_gpu)
    run = torch.compile(model) if on_gpu else model
    run.train()
    run(*data.mixed(settings.batch, TINY_SHARES[0])).backward()
    optimizer.zero_grad(set_to_none=True)
    if on_gpu:
        torch.cuda.synchronize()

    budget = start_budget()
    log = []
    step = 0
    while (spent := budget.spent(step)) < 1:
        stage_two = spent >= STAGE_TWO
        rate = learning_rate(step, spent, settings.learning_rate)
        set_schedule(optimizer, rate, stage_two)
        loss = run(*data.mixed(settings.batch, TINY_SHARES[spent >= LATE]))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        if step % settings.log_every == 0:
            log.append((step, loss.item(), validation_losses(run, data, settings.batch)))
            report(log[-1], rate, step * settings.batch * data.context / budget.elapsed())
    tokens = step * settings.batch * data.context
    print(f"{step} steps, {tokens / 1e6:.1f} M tokens, {budget.elapsed() / 60:.1f} minutes")
    return log


def report(entry: tuple[int, float, list[float]], rate: float, tokens_per_second: float) -> None:
    step, loss, losses = entry
    parts = ", ".join(f"{part} {value:.4f}" for part, value in zip(VALIDATION_PARTS, losses, strict=True))
    print(
        f"step {step}: loss {loss:.4f}, {parts};"
        f" rate {rate:.2e}, {tokens_per_second:.0f} tokens/s",
        flush=True,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="prepare.py's output")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where checkpoint and log go")
    parser.add_argument("--config", type=Path, default=Path(__file__).with_name("config.json"), help="default: %(default)s")
    parser.add_argument("--device", default="cuda", help="cuda (compiled) or cpu; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=7.0, help="the budget; default: %(default)s")
    parser.add_argument("--steps", type=int, help="a budget in steps instead, for runs that repeat exactly")
    parser.add_argument("--batch", type=int, default=96, help="sequences a step; default: %(default)s")
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="the peak; default: %(default)s")
    parser.add_argument("--log-every", type=int, default=500, metavar="STEPS", help="default: %(default)s")
    return parser.parse_args()


def main() -> None:
    args = parse_arguments()
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    config = ModelConfig.load(args.config)
    model = BitNet(config).to(args.device)
    data = TokenFiles(args.data, config.context, args.device)
    n_parameters = sum(p.numel() for p in model.parameters())
    n_tokens = sum(len(data.parts[name]) for name in TRAIN_PARTS)
    print(f"{n_parameters / 1e6:.1f} M parameters, {n_tokens / 1e6:.1f} M tokens to train on", flush=True)

    settings = Settings(args.batch, args.learning_rate, args.log_every)
    log = train(model, data, settings, lambda: Budget(args.minutes, args.steps))
    args.out.mkdir(parents=True, exist_ok=True)
    save_checkpoint(args.out / "checkpoint.pt", model)
    (args.out / "training_log.json").write_text(json.dumps(log))


if __name__ == "__main__":
    main()
