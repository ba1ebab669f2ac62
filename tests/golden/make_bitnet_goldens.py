#!/usr/bin/env python3
"""Makes the BitNet golden values: small random models with their logits.

The values come from Hugging Face transformers in float32. A second forward pass, in float64 numpy, checks them.

    make_bitnet_goldens.py            write everything in tests/golden/bitnet
    make_bitnet_goldens.py --check    recompute the committed values with numpy alone; also show that a wrong weight is seen
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDEN_DIR = ROOT / "tests/golden/bitnet"
sys.path.insert(0, str(GOLDEN_DIR))

import numpy_forward  # noqa: E402
from bitnet_model import FileOptions, Linear, Model, Shape, load_model, random_model, save_model  # noqa: E402
from gguf_file import i2s_tensor  # noqa: E402
from tiny_tokenizer import tiny_tokenizer_metadata  # noqa: E402

N_TOKENS = 16
EDGE = 4e-6  # relative; see numpy_forward.RefuseEdges: several times the error of a float32 forward pass
MIN_MARGIN = 0.25  # of top-1 over top-2, at every position
TOLERANCE = 1e-3  # of a logit, where no activation can round differently
N_FLIPS = 200


@dataclass(frozen=True)
class Spec:
    """One small model: what it is there for, its shape, and how its file differs from the plain one."""

    name: str
    covers: str
    shape: Shape
    options: FileOptions = field(default_factory=FileOptions)
    untied: bool = False


SPECS = (
    Spec(
        "a_v2_tokenizer",
        "GGUF version 2; a byte-level tokenizer; one KV head",
        Shape("bitnet-b1.58", vocab=320, dim=128, layers=2, heads=2, kv_heads=1, ffn=256, rope_theta=10000.0),
        FileOptions(version=2, metadata=tiny_tokenizer_metadata(320)),
    ),
    Spec(
        "b_alignment",
        "general.alignment 128, RoPE theta 500000, ffn of five blocks",
        Shape("bitnet-b1.58", vocab=320, dim=256, layers=2, heads=4, kv_heads=2, ffn=640, rope_theta=500000.0),
        FileOptions(alignment=128),
    ),
    Spec(
        "c_untied_mha",
        "architecture bitnet-25, an output.weight of its own, as many KV heads as heads, head_dim 128",
        Shape("bitnet-25", vocab=256, dim=256, layers=2, heads=2, kv_heads=2, ffn=384, rope_theta=10000.0),
        untied=True,
    ),
    Spec(
        "d_scale_tensors",
        "architecture bitnet, scales in blk.N.<linear>.scale, no vocab_size key, widths that are no powers of two",
        Shape("bitnet", vocab=256, dim=384, layers=1, heads=6, kv_heads=3, ffn=1152, rope_theta=500000.0),
        FileOptions(scale_tensors=True, vocab_size_key=False),
    ),
)


def example_tokens(vocab: int) -> list[int]:
    """The first and last id, runs of one id, and random ones."""
    fixed = [0, vocab - 1, vocab - 1, 1, 7, 7, 7, 0]
    rng = np.random.default_rng(vocab)
    return fixed + rng.integers(vocab, size=N_TOKENS - len(fixed)).tolist()


def margins(logits: np.ndarray) -> np.ndarray:
    """Largest minus second-largest logit of every row of [n, vocab]."""
    top = np.partition(logits, -2, axis=-1)[:, -2:]
    return top[:, 1] - top[:, 0]


def flip_effect(model: Model, tokens: list[int], exact: np.ndarray) -> tuple[float, float]:
    """Median and maximum of the largest change of any logit when one random int8 activation is one step off."""
    rng = np.random.default_rng(1)
    n_calls = 4 * model.shape.layers
    runs = (numpy_forward.forward(model, tokens, numpy_forward.FlipOne(rng, n_calls)) for _ in range(N_FLIPS))
    changes = [float(np.abs(run - exact).max()) for run in runs]
    return float(np.median(changes)), max(changes)


def choose_model(spec: Spec, tokens: list[int]) -> tuple[Model, int, np.ndarray]:
    """The first seed that leaves no doubt about any int8 activation or any top-1 token; with it, the float64 logits."""
    for seed in range(100000):
        model = random_model(spec.shape, spec.untied, seed)
        try:
            exact = numpy_forward.forward(model, tokens, numpy_forward.RefuseEdges(EDGE))
        except numpy_forward.OnEdge:
            continue
        if margins(exact).min() > MIN_MARGIN:
            return model, seed, exact
    raise RuntimeError(f"{spec.name}: no seed gives safe margins")


def make_model(spec: Spec) -> dict[str, Any]:
    """Writes one model and its logits; returns its entry of goldens.json."""
    import transformers_forward

    tokens = example_tokens(spec.shape.vocab)
    model, seed, exact = choose_model(spec, tokens)
    model_path, logits_path = GOLDEN_DIR / f"{spec.name}.gguf", GOLDEN_DIR / f"{spec.name}.npy"
    save_model(model_path, model, spec.options)
    loaded = load_model(model_path)
    if loaded.shape != spec.shape:
        raise RuntimeError(f"{model_path}: reads back as {loaded.shape}")
    logits = transformers_forward.logits(transformers_forward.build(loaded), tokens)
    np.save(logits_path, logits)
    error = float(np.abs(exact - logits).max())
    if error > TOLERANCE / 4:
        raise RuntimeError(f"{spec.name}: transformers and numpy differ by {error}")
    flip_median, flip_max = flip_effect(model, tokens, exact)
    return {
        "name": spec.name,
        "covers": spec.covers,
        "model": model_path.name,
        "logits": logits_path.name,
        "tokens": tokens,
        "seed": seed,
        "max_abs_logit": round(float(np.abs(logits).max()), 3),
        "min_top2_margin": round(float(margins(logits).min()), 3),
        "float64_max_abs_error": float(f"{error:.2g}"),
        "tolerance": TOLERANCE,
        "one_flip_median_change": round(flip_median, 3),
        "one_flip_max_change": round(flip_max, 3),
    }


def make_all() -> None:
    import transformers_forward

    models = [make_model(spec) for spec in SPECS]
    for entry in models:
        print(json.dumps(entry))
    write_json(GOLDEN_DIR / "goldens.json", {"made_with": versions(), "models": models})


def check_layout() -> None:
    """The worked example of the I2_S layout: values 0: +1, 1: −1, 32: +1, 127: −1, the rest 0; scale 1.5."""
    codes = np.zeros((1, 128), np.int8)
    codes[0, [0, 1, 32, 127]] = [1, -1, 1, -1]
    expected = bytes.fromhex("a515" + "55" * 29 + "54" + "0000c03f" + "00" * 28)
    if i2s_tensor(codes, 1.5).data != expected:
        raise RuntimeError("the I2_S encoder does not reproduce the worked example")


def check_model(entry: dict[str, Any]) -> bool:
    """Compares the committed logits with the numpy forward pass, then with that of a model with permuted columns."""
    model = load_model(GOLDEN_DIR / entry["model"])
    golden = np.load(GOLDEN_DIR / entry["logits"])
    error = float(np.abs(numpy_forward.forward(model, entry["tokens"]) - golden).max())
    wrong_error = float(np.abs(numpy_forward.forward(exchange_columns(model), entry["tokens"]) - golden).max())
    print(f"{entry['name']}: error {error:.2g}, tolerance {TOLERANCE}; with a permuted weight {wrong_error:.2g}")
    return error < TOLERANCE < 1 < wrong_error


def exchange_columns(model: Model) -> Model:
    """The model with every two neighboring columns of layer 0's attn_v exchanged: what a layout mistake would do."""
    old = model.layers[0].linears["attn_v"]
    order = np.arange(old.codes.shape[1]) ^ 1
    return model.with_linear(0, "attn_v", Linear(old.codes[:, order], old.scale))


def check_all() -> bool:
    check_layout()
    models = json.loads((GOLDEN_DIR / "goldens.json").read_text())["models"]
    return all(list(map(check_model, models)))


def versions() -> dict[str, str]:
    import tokenizers
    import torch
    import transformers

    return {module.__name__: module.__version__ for module in (transformers, torch, tokenizers, np)}


def write_json(path: Path, value: Any) -> None:
    """A list of numbers takes one line, so that differences stay readable."""
    indented = json.dumps(value, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[-\d.,\s]*\]", lambda numbers: " ".join(numbers[0].split()), indented)
    path.write_text(text + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="verify the committed files instead of writing them")
    if not parser.parse_args().check:
        check_layout()
        make_all()
    return 0 if check_all() else 1


if __name__ == "__main__":
    sys.exit(main())
