#!/usr/bin/env python3
"""Makes the golden values of the families other than BitNet 2B: small random models, their logits by transformers.

    make_family_goldens.py         write everything in tests/golden/families
    make_family_goldens.py NAME…   only these models

Every model is written as a GGUF file, and some also as a Hugging Face directory (config.json, model.safetensors); both
forms hold the same weights. Logits come from transformers in float32 on the CPU, whole sequences at once. Weights are
rounded to bf16 first, which float16 and float32 hold exactly (they are normal numbers of both).
"""

import copy
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # plain eager mode needs no compiler

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFWriter
from safetensors.torch import save_file
from transformers import (BitNetConfig, BitNetForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, Gemma4ForCausalLM, Gemma4TextConfig, GraniteConfig, GraniteForCausalLM,
                          HunYuanDenseV1Config, HunYuanDenseV1ForCausalLM, LlamaConfig, LlamaForCausalLM, Phi3Config,
                          Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3_5ForCausalLM, Qwen3_5TextConfig, Qwen3Config,
                          Qwen3ForCausalLM)
from transformers.integrations.bitnet import pack_weights, replace_with_bitnet_linear
from transformers.utils.quantization_config import BitNetQuantConfig

DIR = Path(__file__).resolve().parent / "families"
sys.path.insert(0, str(DIR.parent / "bitnet"))
from gguf_file import i2s_tensor  # noqa: E402

torch.set_num_threads(1)  # sums in one order on every machine

N_TOKENS = 24
EDGE = 4e-6  # of an int8 activation, relative: several times the error of a float32 forward pass
MIN_MARGIN = 0.05  # of top-1 over top-2, at every position


@dataclass
class Spec:
    name: str
    covers: str
    config: Any
    network: Callable[[Any], torch.nn.Module]
    architecture: str  # of the GGUF file
    n_tokens: int = N_TOKENS
    min_margin: float = MIN_MARGIN  # long texts have no seed with the usual one
    bitlinear: str = ""  # "bitlinear" or "autobitlinear": ternary weights, and what weight_scale means
    input_norms: bool = False  # of every BitLinear layer
    embeds: bool = False  # also the vectors of the text
    directory: bool = False  # also as a Hugging Face directory
    with_images: bool = False  # the directory has the form of a model for text and images
    n_ctx: int = 0  # room of the session, where that is not the model's own
    metadata: dict[str, Any] = field(default_factory=dict)
    vectors: dict[str, list[float]] = field(default_factory=dict)  # of the GGUF file alone
    layers: dict[str, list[int]] = field(default_factory=dict)  # of the config's values, what each layer has instead
    recurrent_list: bool = False  # the GGUF file also lists the recurrent layers, as files of newer converters do

    def in_layer(self, layer: int) -> Any:
        config = copy.deepcopy(self.config)
        for key, values in self.layers.items():
            setattr(config, key, values[layer])
        return config


def common(**more: Any) -> dict[str, Any]:
    return dict(vocab_size=128, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=64, rms_norm_eps=1e-6, attn_implementation="eager",
                bos_token_id=0, eos_token_id=1, pad_token_id=None) | more


def rope(theta: float) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": theta}


def scaled(kind: str, **more: Any) -> dict[str, Any]:
    return {"rope_type": kind, "rope_theta": 1e4} | more


def tiny(**more: Any) -> dict[str, Any]:
    """Small, for what only differs in RoPE: its original context is 16 positions, its own 64."""
    return common(**(dict(vocab_size=64, hidden_size=32, intermediate_size=64, num_attention_heads=2, num_key_value_heads=1) | more))


def llama3_divisors(head_dim: int, theta: float, factor: float, low: float, high: float, original: int) -> list[float]:
    """As llama.cpp's converter computes rope_freqs.weight."""
    divisors = []
    for i in range(head_dim // 2):
        wave = 2 * np.pi * theta ** (2 * i / head_dim)
        smooth = (original / wave - low) / (high - low)
        divisors.append(1.0 if wave < original / high else factor if wave > original / low else
                        1 / ((1 - smooth) / factor + smooth))
    return divisors


ORIGINAL = 16
YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": ORIGINAL}
LLAMA3 = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=ORIGINAL)
SHORT, LONG = [1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6], [1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]
LONGROPE = dict(hidden_size=32, num_key_value_heads=2, tie_word_embeddings=False, original_max_position_embeddings=ORIGINAL,
                sliding_window=None,
                rope_parameters=scaled("longrope", short_factor=SHORT, long_factor=LONG,
                                       original_max_position_embeddings=ORIGINAL))
LONGROPE_GGUF = dict(metadata={"rope.scaling.original_context_length": ORIGINAL,
                               "rope.scaling.attn_factor": float(np.sqrt(1 + np.log(4) / np.log(ORIGINAL)))},
                     vectors={"rope_factors_short.weight": SHORT, "rope_factors_long.weight": LONG})

def delta(theta: float, sections: list[int], **more: Any) -> dict[str, Any]:
    """Of Qwen3.5. Texts of more than 64 tokens make transformers carry a state from chunk to chunk."""
    rope_parameters = rope(theta) | {"partial_rotary_factor": 0.25, "mrope_section": sections, "mrope_interleaved": True}
    return tiny(**(dict(max_position_embeddings=128, linear_key_head_dim=16, linear_value_head_dim=16,
                        linear_num_key_heads=2, rope_parameters=rope_parameters) | more))


def gemma4(layers: str, **more: Any) -> dict[str, Any]:
    """Of Gemma 4. `layers`: one letter each, l if it has a window. Heads of 16 dimensions there, of 32 elsewhere."""
    types = ["sliding_attention" if layer == "l" else "full_attention" for layer in layers]
    return tiny(**(dict(num_hidden_layers=len(layers), layer_types=types, head_dim=16, global_head_dim=32, sliding_window=7,
                        final_logit_softcapping=8.0, vocab_size_per_layer_input=64,
                        rope_parameters={"full_attention": rope(1e5) | {"rope_type": "proportional", "partial_rotary_factor": 0.25},
                                         "sliding_attention": rope(1e4)}) | more))


TERNARY = dict(vocab_size=160, hidden_size=128, intermediate_size=256, num_hidden_layers=1, num_attention_heads=2,
               num_key_value_heads=1, rms_norm_eps=1e-5)

SPECS = (
    Spec("qwen3_tied", "head_dim that is not d_model / n_heads, grouped heads, a tied head",
         Qwen3Config(**common(head_dim=32, rope_parameters=rope(1e6), tie_word_embeddings=True)), Qwen3ForCausalLM, "qwen3",
         embeds=True, directory=True),
    Spec("qwen3_untied", "a head of its own, as many KV heads as heads",
         Qwen3Config(**common(head_dim=16, num_key_value_heads=4, rope_parameters=rope(1e4), tie_word_embeddings=False)),
         Qwen3ForCausalLM, "qwen3"),
    Spec("phi3", "fused matrices, head_dim 96, a sliding window of 7 positions",
         Phi3Config(**common(hidden_size=192, num_attention_heads=2, num_key_value_heads=2, num_hidden_layers=1,
                             rope_parameters=rope(1e4), sliding_window=7, tie_word_embeddings=False, rms_norm_eps=1e-5)),
         Phi3ForCausalLM, "phi3", directory=True),
    Spec("llama", "interleaved RoPE in the GGUF file, halves in the directory",
         LlamaConfig(**common(rope_parameters=rope(1e4), tie_word_embeddings=False)), LlamaForCausalLM, "llama", directory=True),
    Spec("llama_bitlinear", "ternary layers whose weight_scale divides; an f16 head",
         LlamaConfig(**common(**TERNARY, rope_parameters=rope(5e5), tie_word_embeddings=False)), LlamaForCausalLM, "llama",
         n_tokens=8, bitlinear="bitlinear", directory=True),
    Spec("bitnet_autobitlinear", "ternary layers whose weight_scale multiplies",
         BitNetConfig(**common(**TERNARY, rope_parameters=rope(5e5), tie_word_embeddings=True)), BitNetForCausalLM,
         "bitnet-b1.58", n_tokens=8, bitlinear="autobitlinear", directory=True),
    Spec("bitnet_large", "BitNet with a SiLU gate",
         BitNetConfig(**common(**TERNARY, rope_parameters=rope(1e4), tie_word_embeddings=True, hidden_act="silu")),
         BitNetForCausalLM, "bitnet", n_tokens=8, bitlinear="autobitlinear",
         metadata={"feed_forward.activation": "silu"}),
    Spec("bitnet_odd_rows", "ternary rows that are no whole blocks of I2_S, heads of 20 dimensions",
         BitNetConfig(**common(**TERNARY | dict(hidden_size=160, intermediate_size=224, num_attention_heads=8),
                               rope_parameters=rope(1e4), tie_word_embeddings=True)), BitNetForCausalLM, "bitnet-b1.58",
         n_tokens=8, bitlinear="autobitlinear", directory=True),
    Spec("qwen3_yarn", "YaRN, beyond the original context",
         Qwen3Config(**tiny(head_dim=16, tie_word_embeddings=True,
                            rope_parameters=scaled("yarn", factor=4.0, original_max_position_embeddings=ORIGINAL))),
         Qwen3ForCausalLM, "qwen3", n_tokens=40, directory=True, metadata=YARN),
    Spec("llama_yarn_factor", "YaRN with betas and an attention factor of its own",
         LlamaConfig(**tiny(tie_word_embeddings=False,
                            rope_parameters=scaled("yarn", factor=4.0, original_max_position_embeddings=ORIGINAL, beta_fast=8.0,
                                                   beta_slow=2.0, attention_factor=1.5))),
         LlamaForCausalLM, "llama", n_tokens=40, directory=True,
         metadata=YARN | {"rope.scaling.yarn_beta_fast": 8.0, "rope.scaling.yarn_beta_slow": 2.0,
                          "rope.scaling.attn_factor": 1.5 / (1 + 0.1 * float(np.log(4)))}),
    Spec("llama_linear", "frequencies divided by 2, written the old way",
         LlamaConfig(**tiny(tie_word_embeddings=False, rope_parameters=scaled("linear", factor=2.0))), LlamaForCausalLM, "llama",
         n_tokens=40, directory=True, metadata={"rope.scale_linear": 2.0}),
    Spec("llama3", "divisors of the frequencies",
         LlamaConfig(**tiny(tie_word_embeddings=False, rope_parameters=scaled("llama3", **LLAMA3))), LlamaForCausalLM, "llama",
         n_tokens=40, directory=True, vectors={"rope_freqs.weight": llama3_divisors(16, 1e4, 8, 1, 4, ORIGINAL)}),
    Spec("phi3_longrope", "divisors for long contexts", Phi3Config(**tiny(**LONGROPE)), Phi3ForCausalLM, "phi3", n_tokens=40,
         directory=True, **LONGROPE_GGUF),
    Spec("phi3_longrope_short", "divisors for short contexts", Phi3Config(**tiny(**LONGROPE)), Phi3ForCausalLM, "phi3",
         n_tokens=ORIGINAL, n_ctx=ORIGINAL, directory=True, **LONGROPE_GGUF),
    Spec("granite", "factors of the embedding, of what layers add, of attention and of the logits",
         GraniteConfig(**tiny(tie_word_embeddings=True, rope_parameters=scaled("default"), embedding_multiplier=6.0,
                              residual_multiplier=0.3, attention_multiplier=0.4, logits_scaling=0.25)),
         GraniteForCausalLM, "granite", n_tokens=40, directory=True,
         metadata={"embedding_scale": 6.0, "residual_scale": 0.3, "attention.scale": 0.4, "logit_scale": 0.25}),
    Spec("llama_biases", "biases of all layers, of q and k among rows that GGUF files order anew",
         LlamaConfig(**tiny(tie_word_embeddings=False, rope_parameters=scaled("default"), attention_bias=True, mlp_bias=True)),
         LlamaForCausalLM, "llama", directory=True),
    Spec("llama_layer_heads", "layers with different numbers of heads, of KV heads, and widths of the feed-forward layer",
         LlamaConfig(**tiny(num_hidden_layers=4, head_dim=16, tie_word_embeddings=False, rope_parameters=scaled("default"))),
         LlamaForCausalLM, "llama",
         layers={"num_attention_heads": [4, 2, 6, 2], "num_key_value_heads": [2, 1, 2, 1], "intermediate_size": [64, 96, 32, 96]}),
    Spec("qwen2", "biases of q, k and v",
         Qwen2Config(**tiny(tie_word_embeddings=True, rope_parameters=scaled("default"))), Qwen2ForCausalLM, "qwen2",
         directory=True),
    Spec("gemma2", "every second layer with a window, soft-capped scores and logits, GELU, norms behind layers",
         Gemma2Config(**tiny(num_hidden_layers=3, head_dim=32, rope_parameters=scaled("default"), sliding_window=7,
                             query_pre_attn_scalar=20, attn_logit_softcapping=3.0, final_logit_softcapping=8.0)),
         Gemma2ForCausalLM, "gemma2", n_tokens=40, directory=True,
         metadata={"attn_logit_softcapping": 3.0, "final_logit_softcapping": 8.0, "attention.scale": 20**-0.5}),
    Spec("gemma3", "five of six layers with a window and a theta of their own, linear RoPE in the sixth, norms of heads",
         Gemma3TextConfig(**tiny(num_hidden_layers=7, head_dim=32, sliding_window=7, query_pre_attn_scalar=32,
                                 rope_parameters={"full_attention": scaled("linear", factor=4.0) | {"rope_theta": 1e5},
                                                  "sliding_attention": scaled("default")})),
         Gemma3ForCausalLM, "gemma3", n_tokens=40, directory=True,
         metadata={"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}),
    Spec("qwen3_bitlinear", "a norm of its own before every ternary layer, as the BitNet embedding models have it",
         Qwen3Config(**common(**(TERNARY | dict(rms_norm_eps=1e-6)), head_dim=64, rope_parameters=rope(1e6),
                              tie_word_embeddings=True)),
         Qwen3ForCausalLM, "qwen3", n_tokens=8, bitlinear="autobitlinear", input_norms=True, embeds=True, directory=True),
    Spec("qwen35", "recurrent layers with two heads of values for each head of keys, attention with a gate, partial RoPE",
         Qwen3_5TextConfig(**delta(1e4, [2, 1, 1], num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                                   head_dim=32, linear_num_value_heads=4, full_attention_interval=4,
                                   tie_word_embeddings=False)),
         Qwen3_5ForCausalLM, "qwen35", n_tokens=80, min_margin=0.02, directory=True),
    Spec("qwen35_tied", "as many heads of values as of keys, attention in every second layer, three taps, a tied head",
         Qwen3_5TextConfig(**delta(1e7, [3, 3, 2], num_hidden_layers=4, head_dim=64, linear_num_value_heads=2,
                                   linear_conv_kernel_dim=3, full_attention_interval=2, tie_word_embeddings=True)),
         Qwen3_5ForCausalLM, "qwen35", n_tokens=80, min_margin=0.02, recurrent_list=True, directory=True, with_images=True),
    Spec("gemma4", "an input of each layer, keys and values of other layers, heads of two widths, norms of values, a factor",
         Gemma4TextConfig(**gemma4("llglg", hidden_size_per_layer_input=32, num_kv_shared_layers=2, use_double_wide_mlp=True)),
         Gemma4ForCausalLM, "gemma4", n_tokens=40, directory=True, metadata={"final_logit_softcapping": 8.0}),
    Spec("gemma4_values_are_keys", "values that are the keys, heads of keys that differ, no inputs of layers",
         Gemma4TextConfig(**gemma4("llg", hidden_size_per_layer_input=0, num_attention_heads=4, num_key_value_heads=2,
                                   num_global_key_value_heads=1, attention_k_eq_v=True)),
         Gemma4ForCausalLM, "gemma4", n_tokens=40, directory=True, with_images=True, metadata={"final_logit_softcapping": 8.0}),
    Spec("hunyuan", "norms of heads behind RoPE, whose base is scaled",
         HunYuanDenseV1Config(**tiny(head_dim=32, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                                     rope_parameters=scaled("dynamic", alpha=50.0, factor=1.0))),
         HunYuanDenseV1ForCausalLM, "hunyuan-dense", n_tokens=40, directory=True,
         metadata={"rope.scaling.type": "none", "rope.scaling.factor": 1.0, "rope.scaling.original_context_length": 64}),
)


def as_bf16(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.bfloat16).to(torch.float32)


def is_gemma(spec: Spec) -> bool:
    """Gemma 2 or 3."""
    return spec.architecture in ("gemma2", "gemma3")


def lacks_one(spec: Spec, name: str) -> bool:
    """Whether the gain is what the checkpoint holds, and 1."""
    return is_gemma(spec) or (spec.architecture == "qwen35" and not name.endswith("linear_attn.norm.weight"))


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
        elif old.dim() == 1:
            around = 0 if name.endswith("bias") or lacks_one(spec, name) else 1
            state[name] = as_bf16(around + 0.2 * torch.randn(old.shape, generator=generator))
        else:
            # A tied head multiplies the embedding with itself: small, so that the layers decide the logits.
            embedding = 0.15 if spec.config.tie_word_embeddings else 1.0
            size = embedding if "embed" in name else 0.5 if "conv1d" in name else 1.5 / old.shape[1] ** 0.5
            state[name] = as_bf16(size * torch.randn(old.shape, generator=generator))
    return state


class OnEdge(Exception):
    """An activation lies so close to the edge between two int8 values that float32 programs may disagree."""


def refuse_edges(_module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    x = inputs[0].double()
    scaled = x * (127 / x.abs().amax(-1, keepdim=True))
    distance = (scaled - scaled.floor() - 0.5).abs()
    if bool((distance < EDGE * scaled.abs()).any()):
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


GGUF_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.attn_sub_norm": "attn_sub_norm", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.ffn_sub_norm": "ffn_sub_norm",
}


GEMMA_NAMES = GGUF_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


HUNYUAN_NAMES = GGUF_NAMES | {"self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm"}


GEMMA4_NAMES = GEMMA_NAMES | {"per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm"}


QWEN35_NAMES = GGUF_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "linear_attn.in_proj_qkv": "attn_qkv",
    "linear_attn.in_proj_z": "attn_gate", "linear_attn.in_proj_a": "ssm_alpha", "linear_attn.in_proj_b": "ssm_beta",
    "linear_attn.conv1d": "ssm_conv1d", "linear_attn.norm": "ssm_norm", "linear_attn.out_proj": "ssm_out",
}


def gguf_name(spec: Spec, name: str) -> str:
    fixed = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight", "model.embed_tokens_per_layer.weight": "per_layer_token_embd.weight",
             "model.per_layer_model_projection.weight": "per_layer_model_proj.weight",
             "model.per_layer_projection_norm.weight": "per_layer_proj_norm.weight"}
    if name in fixed:
        return fixed[name]
    _, _, layer, *rest, end = name.split(".")
    wholes = {"A_log": "ssm_a", "dt_bias": "ssm_dt.bias", "layer_scalar": "layer_output_scale.weight"}
    if end in wholes:
        return f"blk.{layer}.{wholes[end]}"
    names = GEMMA_NAMES if is_gemma(spec) else {"qwen35": QWEN35_NAMES, "hunyuan-dense": HUNYUAN_NAMES, "gemma4": GEMMA4_NAMES}.get(
        spec.architecture, GGUF_NAMES)
    if rest[-1] == "rms_norm":
        return f"blk.{layer}.{names['.'.join(rest[:-1])]}_norm_in.weight"
    return f"blk.{layer}.{names['.'.join(rest)]}.{end}"


def interleaved(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Rows of q or k as llama.cpp's converter orders them: i and i + head_dim/2 of a head become neighbors."""
    return x.reshape(n_heads, 2, -1, *x.shape[1:]).swapaxes(1, 2).reshape(x.shape)


def tiled(config: Any, name: str, x: torch.Tensor) -> torch.Tensor:
    """A tensor of a recurrent layer with the heads of values as llama.cpp's converter orders them: first one of each head
    of keys, then the second ones. In checkpoints, those of a head of keys are neighbors."""
    n_keys, n_values = config.linear_num_key_heads, config.linear_num_value_heads
    axis = 1 if "out_proj" in name else 0
    first = 2 * n_keys * config.linear_key_head_dim if "in_proj_qkv" in name or "conv1d" in name else 0
    kept, x = x[:first], x[first:].swapaxes(0, axis)
    x = x.reshape(n_keys, n_values // n_keys, x.shape[0] // n_values, *x.shape[1:]).swapaxes(0, 1).reshape(x.shape)
    return torch.cat([kept, x.swapaxes(0, axis)])


def add_delta_keys(spec: Spec, writer: GGUFWriter) -> None:
    config = spec.config
    for key, value in {"conv_kernel": config.linear_conv_kernel_dim, "state_size": config.linear_key_head_dim,
                       "group_count": config.linear_num_key_heads, "time_step_rank": config.linear_num_value_heads,
                       "inner_size": config.linear_num_value_heads * config.linear_value_head_dim}.items():
        writer.add_uint32(f"qwen35.ssm.{key}", value)
    writer.add_uint32("qwen35.full_attention_interval", config.layer_types.index("full_attention") + 1)
    if spec.recurrent_list:
        writer.add_array("qwen35.attention.recurrent_layers", [kind == "linear_attention" for kind in config.layer_types])
    writer.add_array("qwen35.rope.dimension_sections", [*config.rope_parameters["mrope_section"], 0])


def add_gemma4(spec: Spec, writer: GGUFWriter) -> None:
    """Keys, the part of a head that rotates, and tensors of layers that read other layers' keys, which files have for nothing."""
    config = spec.config
    are_local = [kind == "sliding_attention" for kind in config.layer_types]
    n, n_shared = config.num_hidden_layers, config.num_kv_shared_layers
    for key, value in {"attention.key_length": config.global_head_dim, "attention.value_length": config.global_head_dim,
                       "attention.key_length_swa": config.head_dim, "attention.value_length_swa": config.head_dim,
                       "rope.dimension_count": config.global_head_dim, "rope.dimension_count_swa": config.head_dim,
                       "attention.shared_kv_layers": n_shared,
                       "embedding_length_per_layer_input": config.hidden_size_per_layer_input}.items():
        writer.add_uint32(f"gemma4.{key}", value)
    writer.add_array("gemma4.attention.sliding_window_pattern", are_local)
    if config.attention_k_eq_v:
        writer.add_array("gemma4.attention.head_count_kv", [config.num_key_value_heads if local else
                                                            config.num_global_key_value_heads for local in are_local])
    if config.use_double_wide_mlp:
        writer.add_array("gemma4.feed_forward_length", [config.intermediate_size * (1 if i < n - n_shared else 2)
                                                        for i in range(n)])
    half = config.global_head_dim // 2
    turned = int(half * config.rope_parameters["full_attention"]["partial_rotary_factor"])
    writer.add_tensor("rope_freqs.weight", np.array([1.0] * turned + [1e30] * (half - turned), np.float32))
    for i in range(n - n_shared, n):
        width = (config.head_dim if are_local[i] else config.global_head_dim) * config.num_key_value_heads
        for name in ("attn_k", "attn_v"):
            writer.add_tensor(f"blk.{i}.{name}.weight", np.ones((width, config.hidden_size), np.float16))
        writer.add_tensor(f"blk.{i}.attn_k_norm.weight", np.ones(width, np.float32))


def write_gguf(spec: Spec, state: dict[str, torch.Tensor], path: Path) -> None:
    config, arch = spec.config, spec.architecture
    writer = GGUFWriter(path, arch)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rotated = int(head_dim * config.rope_parameters.get("partial_rotary_factor", 1))
    for key, value in {"block_count": config.num_hidden_layers, "context_length": config.max_position_embeddings,
                       "embedding_length": config.hidden_size, "rope.dimension_count": rotated}.items():
        if arch != "gemma4" or key != "rope.dimension_count":
            writer.add_uint32(f"{arch}.{key}", value)
    if arch == "gemma4":
        add_gemma4(spec, writer)
    for key, name in {"feed_forward_length": "intermediate_size", "attention.head_count": "num_attention_heads",
                      "attention.head_count_kv": "num_key_value_heads"}.items():
        if name in spec.layers:
            writer.add_array(f"{arch}.{key}", spec.layers[name])
        elif not (key.endswith("_kv") and getattr(config, "attention_k_eq_v", False)) and not (
                key.startswith("feed") and getattr(config, "use_double_wide_mlp", False)):
            writer.add_uint32(f"{arch}.{key}", getattr(config, name))
    if arch == "qwen35":
        add_delta_keys(spec, writer)
    if arch in ("qwen3", "qwen35", "hunyuan-dense") or is_gemma(spec) or spec.layers:
        writer.add_uint32(f"{arch}.attention.key_length", head_dim)
        writer.add_uint32(f"{arch}.attention.value_length", head_dim)
    if getattr(config, "sliding_window", None):
        writer.add_uint32(f"{arch}.attention.sliding_window", config.sliding_window)
    writer.add_float32(f"{arch}.attention.layer_norm_rms_epsilon", config.rms_norm_eps)
    rope_parameters = config.rope_parameters.get("full_attention", config.rope_parameters)
    theta = rope_parameters["rope_theta"]
    if "alpha" in rope_parameters:
        theta *= rope_parameters["alpha"] ** (head_dim / (head_dim - 2))
    writer.add_float32(f"{arch}.rope.freq_base", theta)
    add = {str: writer.add_string, float: writer.add_float32, int: writer.add_uint32}
    for key, value in spec.metadata.items():
        add[type(value)](f"{arch}.{key}", value)
    for name, values in spec.vectors.items():
        writer.add_tensor(name, np.array(values, np.float32))
    for name, x in state.items():
        if name.endswith("weight_scale"):
            continue
        if arch in ("llama", "granite") and ("q_proj" in name or "k_proj" in name):
            layer = spec.in_layer(int(name.split(".")[2]))
            x = interleaved(x, layer.num_attention_heads if "q_proj" in name else layer.num_key_value_heads)
        if "linear_attn." in name and not name.endswith("linear_attn.norm.weight"):
            x = tiled(config, name, -x.exp() if name.endswith("A_log") else x)
        if x.dtype == torch.int8:
            scale = float(state[name.replace("weight", "weight_scale")])
            data = i2s_tensor(x.numpy(), 1 / scale if spec.bitlinear == "bitlinear" else scale).data
            add_raw(writer, gguf_name(spec, name), x.shape, data)
        elif x.dim() == 1:
            half = spec.input_norms  # as the published embedding models are
            x = x + 1 if "norm" in name and lacks_one(spec, name) else x
            writer.add_tensor(gguf_name(spec, name), x.numpy().astype(np.float16 if half else np.float32))
        elif "conv1d" in name:
            writer.add_tensor(gguf_name(spec, name), x.squeeze(1).numpy())
        else:
            writer.add_tensor(gguf_name(spec, name), x.numpy().astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_raw(writer: GGUFWriter, name: str, shape: tuple[int, ...], data: bytes) -> None:
    """A tensor of type I2_S, which the gguf package does not know: its type number is put in afterwards."""
    kind = I2sType(36)
    writer.add_tensor_info(name, tuple(shape), np.dtype(np.float32), len(data), raw_dtype=kind)
    writer.tensors[-1][name].tensor = np.frombuffer(data, np.uint8)


class I2sType(int):
    """Stands in for a GGMLQuantizationType."""

    name = "I2_S"
    value = 36


def write_directory(spec: Spec, state: dict[str, torch.Tensor], path: Path) -> None:
    path.mkdir(exist_ok=True)
    config = spec.config.to_dict()
    config["architectures"] = [spec.network.__name__]
    if spec.bitlinear:
        config["quantization_config"] = {"quant_method": "bitnet", "linear_class": spec.bitlinear, "quantization_mode": "offline",
                                         "modules_to_not_convert": None}
        if spec.input_norms:
            config["quantization_config"] |= {"use_rms_norm": True, "rms_norm_eps": spec.config.rms_norm_eps}
    keep = {"architectures", "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
            "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps", "hidden_act",
            "rope_parameters", "sliding_window", "tie_word_embeddings", "quantization_config", "bos_token_id", "eos_token_id",
            "original_max_position_embeddings", "embedding_multiplier", "residual_multiplier", "attention_multiplier",
            "logits_scaling", "attention_bias", "mlp_bias", "hidden_activation", "query_pre_attn_scalar", "layer_types",
            "attn_logit_softcapping", "final_logit_softcapping", "linear_conv_kernel_dim", "linear_key_head_dim",
            "linear_value_head_dim", "linear_num_key_heads", "linear_num_value_heads", "global_head_dim", "num_kv_shared_layers",
            "hidden_size_per_layer_input", "vocab_size_per_layer_input", "num_global_key_value_heads", "attention_k_eq_v",
            "use_double_wide_mlp", "enable_moe_block"}
    parameters = config["rope_parameters"]
    theta = parameters.get("full_attention", parameters)["rope_theta"]
    text = {key: value for key, value in config.items() if key in keep and value is not None}
    # As published: older files have rope_theta, newer ones rope_parameters.
    if spec.architecture not in ("qwen3", "qwen35", "gemma3", "gemma4"):
        scaling = text.pop("rope_parameters")
        text["rope_theta"] = theta
        if scaling["rope_type"] != "default":
            text["rope_scaling"] = {key: value for key, value in scaling.items() if key != "rope_theta"}
    if spec.with_images:
        outer = {"qwen35": ("Qwen3_5", "qwen3_5"), "gemma4": ("Gemma4", "gemma4")}[spec.architecture]
        text = {"architectures": [outer[0] + "ForConditionalGeneration"], "model_type": outer[1],
                "tie_word_embeddings": text.pop("tie_word_embeddings"), "text_config": text, "vision_config": {"depth": 1}}
    (path / "config.json").write_text(json.dumps(text, indent=1, sort_keys=True) + "\n")
    tensors = {}
    for name, x in state.items():
        x = pack_weights(x.clone()) if x.dtype == torch.int8 else x.to(torch.bfloat16)
        tensors[name.replace("model.", "model.language_model.", 1) if spec.with_images else name] = x.contiguous()
    if spec.with_images:  # what is left out
        for name in {"qwen35": ("model.visual.blocks.0.norm1.weight", "mtp.layers.0.input_layernorm.weight", "mtp.fc.weight"),
                     "gemma4": ("model.vision_tower.patch_embedder.input_proj.weight", "model.audio_tower.output_proj.weight",
                                "model.embed_vision.embedding_projection.weight")}[spec.architecture]:
            tensors[name] = torch.ones(4, dtype=torch.bfloat16)
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})


def make(spec: Spec) -> dict[str, Any]:
    rng = np.random.default_rng(len(spec.name))
    vocab = spec.config.vocab_size
    tokens = [0, vocab - 1, 7, 7, *rng.integers(vocab, size=spec.n_tokens - 4).tolist()]
    network, state, logits, seed = choose(spec, tokens)
    write_gguf(spec, state, DIR / f"{spec.name}.gguf")
    if spec.directory:
        write_directory(spec, state, DIR / spec.name)
    np.save(DIR / f"{spec.name}.npy", logits)
    if spec.embeds:
        np.save(DIR / f"{spec.name}.vectors.npy", vectors_of(network, tokens))
    return {"name": spec.name, "covers": spec.covers, "tokens": tokens, "seed": seed, "directory": spec.directory,
            "ternary": bool(spec.bitlinear), "n_ctx": spec.n_ctx, "embeds": spec.embeds, "min_top2_margin": round(float(margins(logits).min()), 3),
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
