"""The small models of make_family_goldens.py: one Spec for each."""

import copy
import os
from dataclasses import dataclass, field
from typing import Any, Callable

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # plain eager mode needs no compiler

import numpy as np
import torch
from transformers import (BitNetConfig, BitNetForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM,
                          Gemma3TextConfig, Gemma4ForCausalLM, Gemma4TextConfig, GptOssConfig, GptOssForCausalLM, GraniteConfig, GraniteForCausalLM,
                          GraniteMoeConfig, GraniteMoeForCausalLM, HunYuanDenseV1Config, HunYuanDenseV1ForCausalLM, LlamaConfig, LlamaForCausalLM, OlmoeConfig,
                          OlmoeForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3_5ForCausalLM,
                          Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig, Qwen3_5TextConfig, Qwen3Config, Qwen3ForCausalLM,
                          Qwen3MoeConfig, Qwen3MoeForCausalLM)

N_TOKENS = 24
MIN_MARGIN = 0.05  # of top-1 over top-2, at every position
ROUTER_MARGIN = 0.01  # of the last chosen expert's score over the next one's: rounding to f16 must not choose another


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
    joined_experts: bool = False  # the GGUF file has gate and up of the experts as one tensor
    mxfp4: bool = False  # the experts have values that MXFP4 holds, and the directory has them so
    predicts: bool = False  # the GGUF file has a layer that proposes draft tokens
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


def mixture(n: int, used: int, **more: Any) -> dict[str, Any]:
    """A number of experts that is no power of two; each is as wide as a block of a packed format."""
    return dict(num_experts=n, num_local_experts=n, num_experts_per_tok=used, tie_word_embeddings=False) | more


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
    Spec("qwen35_predicts", "a layer behind the last one that proposes draft tokens",
         Qwen3_5TextConfig(**delta(1e7, [2, 1, 1], num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                   head_dim=32, linear_num_value_heads=4, full_attention_interval=2,
                                   tie_word_embeddings=True)),
         Qwen3_5ForCausalLM, "qwen35", n_tokens=40, min_margin=0.02, predicts=True, metadata={"nextn_predict_layers": 1}),
    Spec("gemma4", "an input of each layer, keys and values of other layers, heads of two widths, norms of values, a factor",
         Gemma4TextConfig(**gemma4("llglg", hidden_size_per_layer_input=32, num_kv_shared_layers=2, use_double_wide_mlp=True)),
         Gemma4ForCausalLM, "gemma4", n_tokens=40, directory=True, metadata={"final_logit_softcapping": 8.0}),
    Spec("gemma4_values_are_keys", "values that are the keys, heads of keys that differ, no inputs of layers",
         Gemma4TextConfig(**gemma4("llg", hidden_size_per_layer_input=0, num_attention_heads=4, num_key_value_heads=2,
                                   num_global_key_value_heads=1, attention_k_eq_v=True)),
         Gemma4ForCausalLM, "gemma4", n_tokens=40, directory=True, with_images=True, metadata={"final_logit_softcapping": 8.0}),
    Spec("gemma4_experts", "a mixture beside the dense network, with norms of their own, and factors of the experts",
         Gemma4TextConfig(**gemma4("lg", hidden_size_per_layer_input=0, num_attention_heads=4, num_key_value_heads=2,
                                   num_global_key_value_heads=1, attention_k_eq_v=True, enable_moe_block=True, num_experts=6,
                                   top_k_experts=3, moe_intermediate_size=32)),
         Gemma4ForCausalLM, "gemma4", joined_experts=True, directory=True, with_images=True,
         metadata={"final_logit_softcapping": 8.0}),
    Spec("hunyuan", "norms of heads behind RoPE, whose base is scaled",
         HunYuanDenseV1Config(**tiny(head_dim=32, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                                     rope_parameters=scaled("dynamic", alpha=50.0, factor=1.0))),
         HunYuanDenseV1ForCausalLM, "hunyuan-dense", n_tokens=40, directory=True,
         metadata={"rope.scaling.type": "none", "rope.scaling.factor": 1.0, "rope.scaling.original_context_length": 64}),
    Spec("qwen3moe", "a mixture whose weights sum to 1, grouped heads, a head_dim of its own",
         Qwen3MoeConfig(**tiny(**mixture(6, 3), moe_intermediate_size=32, norm_topk_prob=True, num_attention_heads=4,
                               num_key_value_heads=2, head_dim=16, rope_parameters=rope(1e6))),
         Qwen3MoeForCausalLM, "qwen3moe", directory=True),
    Spec("qwen35moe", "a mixture with a shared expert and its gate, two heads of values for each head of keys",
         Qwen3_5MoeTextConfig(**delta(1e7, [2, 1, 1], **mixture(5, 2), moe_intermediate_size=32,
                                      shared_expert_intermediate_size=64, num_hidden_layers=3, head_dim=32,
                                      linear_num_value_heads=4, full_attention_interval=2)),
         Qwen3_5MoeForCausalLM, "qwen35moe", directory=True),
    Spec("qwen35moe_images", "a mixture of a model for text and images, the experts' gate and up as one tensor",
         Qwen3_5MoeTextConfig(**delta(1e7, [2, 1, 1], **mixture(4, 2), moe_intermediate_size=64,
                                      shared_expert_intermediate_size=32, num_hidden_layers=2, head_dim=32,
                                      linear_num_value_heads=2, full_attention_interval=2)),
         Qwen3_5MoeForCausalLM, "qwen35moe", joined_experts=True, directory=True, with_images=True),
    Spec("olmoe", "a mixture whose weights do not sum to 1, norms over all heads",
         OlmoeConfig(**tiny(**mixture(6, 3), num_key_value_heads=2, norm_topk_prob=False, intermediate_size=32,
                            rope_parameters=rope(1e4))),
         OlmoeForCausalLM, "olmoe", directory=True),
    Spec("gpt_oss", "sinks, biases of everything, a window in every second layer, a limited gate, YaRN that is not rounded",
         GptOssConfig(**tiny(**mixture(6, 2), num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
                             intermediate_size=32, sliding_window=7, max_position_embeddings=256,
                             rope_parameters=scaled("yarn", rope_theta=1.5e5, factor=4.0, beta_fast=32.0, beta_slow=1.0,
                                                    truncate=False, original_max_position_embeddings=64))),
         GptOssForCausalLM, "gpt-oss", n_tokens=40, min_margin=0.02, directory=True,
         metadata=YARN | {"rope.scaling.original_context_length": 64}),
    Spec("gpt_oss_mxfp4", "experts in MXFP4, two blocks in a row",
         GptOssConfig(**tiny(**mixture(4, 2), hidden_size=64, head_dim=16, sliding_window=7, max_position_embeddings=256,
                             rope_parameters=scaled("yarn", rope_theta=1.5e5, factor=4.0, beta_fast=32.0, beta_slow=1.0,
                                                    truncate=False, original_max_position_embeddings=64))),
         GptOssForCausalLM, "gpt-oss", directory=True, mxfp4=True,
         metadata=YARN | {"rope.scaling.original_context_length": 64}),
    Spec("granitemoe", "a mixture with Granite's factors",
         GraniteMoeConfig(**tiny(**mixture(6, 2), intermediate_size=32, rope_parameters=scaled("default"),
                                 embedding_multiplier=6.0, residual_multiplier=0.3, attention_multiplier=0.4,
                                 logits_scaling=0.25)),
         GraniteMoeForCausalLM, "granitemoe",
         metadata={"embedding_scale": 6.0, "residual_scale": 0.3, "attention.scale": 0.4, "logit_scale": 0.25}),
)


def experts_used(config: Any) -> int:
    """0: the model is no mixture."""
    return getattr(config, "num_experts_per_tok", None) or getattr(config, "top_k_experts", None) or 0


def is_gemma(spec: Spec) -> bool:
    """Gemma 2 or 3."""
    return spec.architecture in ("gemma2", "gemma3")


def lacks_one(spec: Spec, name: str) -> bool:
    """Whether the gain is what the checkpoint holds, and 1."""
    return is_gemma(spec) or (spec.architecture.startswith("qwen35") and not name.endswith("linear_attn.norm.weight"))


def has_transposed_experts(spec: Spec) -> bool:
    """Whether the experts' matrices are [n_in, n_out], and the rows of gate and up take turns."""
    return spec.architecture == "gpt-oss"
