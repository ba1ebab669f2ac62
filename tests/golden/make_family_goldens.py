#!/usr/bin/env python3
"""Makes the golden values of the families other than BitNet 2B: small random models, their logits by transformers.

    make_family_goldens.py         write everything in tests/golden/families
    make_family_goldens.py NAME…   only these models

Every model is written as a GGUF file, and some also as a Hugging Face directory (config.json, model.safetensors); both
forms hold the same weights. Logits come from transformers in float32 on the CPU, whole sequences at once. Weights are
rounded to bf16 first, which float16 and float32 hold exactly (they are normal numbers of both).
"""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # plain eager mode needs no compiler

import numpy as np
import torch
from torch.nn.functional import linear
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5DecoderLayer
from transformers.integrations.bitnet import pack_weights, replace_with_bitnet_linear
from transformers.utils.quantization_config import BitNetQuantConfig

DIR = Path(__file__).resolve().parent / "families"
sys.path.insert(0, str(DIR.parent / "bitnet"))
from family_files import as_mxfp4, write_directory, write_gguf  # noqa: E402
from family_specs import ROUTER_MARGIN, SPECS, Spec, experts_used, has_transposed_experts, lacks_one  # noqa: E402

torch.set_num_threads(1)  # sums in one order on every machine

EDGE = 4e-6  # of an int8 activation, relative: several times the error of a float32 forward pass


def as_bf16(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16).to(torch.float32)


def random_state(spec: Spec, network: torch.nn.Module, seed: int) -> dict[str, torch.Tensor]:
    """Gains around 1, matrices that keep the size of what they multiply; ternary codes and scales for BitLinear."""
    generator = torch.Generator().manual_seed(seed)
    state: dict[str, torch.Tensor] = {}
    for name, old in network.state_dict().items():
        if name == "lm_head.weight" and spec.config.tie_word_embeddings:
            continue
        if name.endswith("weight_scale"):
            continue
        if spec.bitlinear and "_proj." in name and old.dim() > 1:
            n_out = old.shape[0] * (4 if old.dtype == torch.uint8 else 1)
            codes = torch.randint(-1, 2, (n_out, old.shape[1]), generator=generator)
            state[name] = codes.to(torch.int8)
            scale = (0.5 + torch.rand(1, generator=generator)) / old.shape[1] ** 0.5
            if spec.bitlinear == "bitlinear":
                scale = 1 / scale
            state[name.replace("weight", "weight_scale")] = as_bf16(scale)
        elif name.endswith("A_log"):  # some heads remember a few tokens, others hundreds
            state[name] = as_bf16((0.02 + 3 * torch.rand(old.shape, generator=generator)).log())
        elif name.endswith("dt_bias"):
            state[name] = as_bf16(5 * torch.rand(old.shape, generator=generator) - 4)
        elif name.endswith("sinks"):
            state[name] = as_bf16(torch.randn(old.shape, generator=generator))
        elif old.dim() == 1 or name.endswith("_bias"):
            around = 0 if name.endswith("bias") or lacks_one(spec, name) else 1
            state[name] = as_bf16(around + 0.2 * torch.randn(old.shape, generator=generator))
        else:
            # A tied head multiplies the embedding with itself: small, so that the layers decide the logits.
            embedding = 0.15 if spec.config.tie_word_embeddings else 1.0
            n_in = old.shape[-2 if old.dim() == 3 and has_transposed_experts(spec) else -1]
            inner = 5 if "experts" in name and spec.architecture == "gpt-oss" else 1.5  # large enough to reach the limit
            size = embedding if "embed" in name else 0.5 if "conv1d" in name else inner / n_in**0.5
            state[name] = as_bf16(size * torch.randn(old.shape, generator=generator))
            if spec.mxfp4 and "experts." in name:
                state[name] = as_mxfp4(state[name])
    return state


class OnEdge(Exception):
    """An activation lies so close to the edge between two int8 values, or an expert's score to another one's, that programs
    may disagree."""


def refuse_edges(_module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    x = inputs[0].double()
    scaled = x * (127 / x.abs().amax(-1, keepdim=True))
    distance = (scaled - scaled.floor() - 0.5).abs()
    if bool((distance < EDGE * scaled.abs()).any()):
        raise OnEdge


def refuse_equal_scores(router: torch.nn.Module, inputs: tuple[torch.Tensor, ...], n_used: int) -> None:
    scores = linear(inputs[0], router.weight, getattr(router, "bias", None)).sort(-1, descending=True).values
    if bool((scores[..., n_used - 1] - scores[..., n_used] < ROUTER_MARGIN).any()):
        raise OnEdge


def build(spec: Spec, seed: int) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    network = spec.network(spec.config)
    for i, layer in enumerate(network.model.layers if spec.layers else []):
        layer.self_attn = type(layer.self_attn)(spec.in_layer(i), i)
        layer.mlp = type(layer.mlp)(spec.in_layer(i))
    if spec.bitlinear:
        quantization = BitNetQuantConfig(linear_class=spec.bitlinear, quantization_mode="offline", use_rms_norm=spec.input_norms,
                                          rms_norm_eps=spec.config.rms_norm_eps)
        replace_with_bitnet_linear(network, modules_to_not_convert=["lm_head"], quantization_config=quantization)
    state = random_state(spec, network, seed)
    loaded = {name: pack_weights(x.clone()) if x.dtype == torch.int8 else x for name, x in state.items()}
    if spec.config.tie_word_embeddings:
        loaded["lm_head.weight"] = loaded["model.embed_tokens.weight"]
    network.load_state_dict(loaded, assign=True)
    for name, module in network.named_modules():
        if spec.bitlinear and name.endswith("_proj"):
            if hasattr(module, "dtype"):
                module.dtype = torch.float32
            module.register_forward_pre_hook(refuse_edges)
        if name.endswith(("mlp.gate", "mlp.router", "router.layer", "router.proj")):
            module.register_forward_pre_hook(partial(refuse_equal_scores, n_used=experts_used(spec.config)))
    return network.eval(), state


def logits_of(network: torch.nn.Module, tokens: list[int]) -> np.ndarray:
    with torch.no_grad():
        return network(torch.tensor([tokens]), use_cache=False).logits[0].float().numpy()


def vectors_of(network: torch.nn.Module, tokens: list[int]) -> np.ndarray:
    """Of length 1: what the last norm gives for the last token, and the mean of that over all tokens."""
    with torch.no_grad():
        rows = network.model(torch.tensor([tokens]), use_cache=False).last_hidden_state[0].double()
    vectors = torch.stack([rows[-1], rows.mean(0)])
    return (vectors / vectors.norm(dim=1, keepdim=True)).float().numpy()


def block_of(spec: Spec, seed: int) -> dict[str, torch.Tensor]:
    """Random tensors of the layer that proposes draft tokens, by their GGUF names without "blk.N.", and as transformers has
    those of a layer."""
    generator = torch.Generator().manual_seed(seed)
    d = spec.config.hidden_size
    layer = Qwen3_5DecoderLayer(spec.config, spec.config.layer_types.index("full_attention"))
    shapes = {name: x.shape for name, x in layer.state_dict().items()} | {
        "nextn.eh_proj": (d, 2 * d), "nextn.enorm": (d,), "nextn.hnorm": (d,), "nextn.shared_head_norm": (d,)}
    return {name: as_bf16(0.2 * torch.randn(shape, generator=generator) if len(shape) == 1 else
                          1.5 / shape[1]**0.5 * torch.randn(shape, generator=generator)) for name, shape in shapes.items()}


def predictions(spec: Spec, network: torch.nn.Module, block: dict[str, torch.Tensor], tokens: list[int]) -> np.ndarray:
    """The block's logits of the tokens after the second, and after each later one."""
    layer = Qwen3_5DecoderLayer(spec.config, spec.config.layer_types.index("full_attention")).eval()
    layer.load_state_dict({name: x for name, x in block.items() if not name.startswith("nextn.")})

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + spec.config.rms_norm_eps) * (1 + block[f"nextn.{name}"])

    with torch.no_grad():
        hidden = network.model(torch.tensor([tokens]), use_cache=False).last_hidden_state[:, :-1]
        after = network.model.embed_tokens(torch.tensor([tokens[1:]]))
        x = linear(torch.cat([norm(after, "enorm"), norm(hidden, "hnorm")], -1), block["nextn.eh_proj"])
        n = x.shape[1]
        mask = torch.full((n, n), float("-inf")).triu(1)[None, None]
        x = layer(x, position_embeddings=network.model.rotary_emb(x, torch.arange(n)[None]), attention_mask=mask)
        x = x[0] if isinstance(x, tuple) else x
        return network.lm_head(norm(x, "shared_head_norm"))[0].float().numpy()


def margins(logits: np.ndarray) -> np.ndarray:
    top = np.partition(logits, -2, axis=-1)[:, -2:]
    return top[:, 1] - top[:, 0]


def choose(spec: Spec, tokens: list[int]) -> tuple[torch.nn.Module, dict[str, torch.Tensor], np.ndarray, int]:
    for seed in range(100000):
        network, state = build(spec, seed)
        try:
            logits = logits_of(network, tokens)
        except OnEdge:
            continue
        if margins(logits).min() > spec.min_margin:
            return network, state, logits, seed
    raise RuntimeError(f"{spec.name}: no seed gives safe margins")

def make(spec: Spec) -> dict[str, Any]:
    rng = np.random.default_rng(len(spec.name))
    vocab = spec.config.vocab_size
    tokens = [0, vocab - 1, 7, 7, *rng.integers(vocab, size=spec.n_tokens - 4).tolist()]
    network, state, logits, seed = choose(spec, tokens)
    block = block_of(spec, seed) if spec.predicts else {}
    write_gguf(spec, state, DIR / f"{spec.name}.gguf", block)
    if block:
        np.save(DIR / f"{spec.name}.next.npy", predictions(spec, network, block, tokens))
    if spec.directory:
        write_directory(spec, state, DIR / spec.name)
    np.save(DIR / f"{spec.name}.npy", logits)
    if spec.embeds:
        np.save(DIR / f"{spec.name}.vectors.npy", vectors_of(network, tokens))
    return {"name": spec.name, "covers": spec.covers, "tokens": tokens, "seed": seed, "directory": spec.directory,
            "ternary": bool(spec.bitlinear), "n_ctx": spec.n_ctx, "embeds": spec.embeds, **({"predicts": True} if spec.predicts else {}), "min_top2_margin": round(float(margins(logits).min()), 3),
            "max_abs_logit": round(float(np.abs(logits).max()), 3)}


def main() -> int:
    DIR.mkdir(exist_ok=True)
    known = {entry["name"]: entry for entry in json.loads((DIR / "goldens.json").read_text())["models"]} if sys.argv[1:] else {}
    entries = []
    for spec in SPECS:
        entries.append(make(spec) if not sys.argv[1:] or spec.name in sys.argv[1:] else known[spec.name])
        print(entries[-1])
    lines = ",\n".join(" " + json.dumps(entry) for entry in entries)
    (DIR / "goldens.json").write_text('{"models": [\n' + lines + "\n]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
