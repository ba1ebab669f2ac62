"""What is changed in replicas of published models, one thing at a time: metadata keys and tensors of other models, and values
that this one could have had."""

from dataclasses import dataclass, field
from typing import Any, Callable

@dataclass(frozen=True)
class Model:
    """What mutations need to know of a replica."""

    architecture: str
    byte_level: bool
    numbers: dict[str, float]  # "embedding_length" and the like, as GGUF calls them

    @property
    def head_dim(self) -> int:
        return self.numbers.get("attention.key_length", self.numbers["embedding_length"] // self.numbers["attention.head_count"])


def never(model: Model) -> bool:
    return False


@dataclass(frozen=True)
class Mutation:
    """A key set to a value, or a tensor [n] of `value` added. Where `named` is empty a refusal need not name it: a shape that
    no longer fits is said of a tensor."""

    key: str = ""  # of GGUF, "{a}" for the architecture; of config.json, a path with dots
    kind: str = ""  # u32, f32, bool, str, arr
    value: Any = None  # or a function of the model
    tensor: str = ""
    size: Callable[[Model], int] | None = None
    named: str = field(default="?")  # "?": the last part of the key, or the tensor's name
    harmless: Callable[[Model], bool] = never  # where it may be left out of the computation

    @property
    def hint(self) -> str:
        return (self.tensor or self.key.rsplit(".", 1)[-1]) if self.named == "?" else self.named


def key(name, kind, value, **more):
    return Mutation(key=name, kind=kind, value=value, **more)


def tensor(name, size, value=2.0, **more):
    return Mutation(tensor=name, size=size, value=value, **more)


def always(model: Model) -> bool:
    return True


D = lambda m: m.numbers["embedding_length"]
HEAD = lambda m: m.head_dim
HALF_HEAD = lambda m: m.head_dim // 2
half_of = lambda name: lambda m: m.numbers[name] // 2


def of_layers(model: Model, name: str, more: int = 0) -> list[int]:
    """The number as a list of every layer's, and one `more` or less."""
    return [model.numbers[name]] * (model.numbers["block_count"] + more)


GGUF = [
    key("{a}.expert_count", "u32", 4),
    key("{a}.expert_used_count", "u32", 2),
    key("{a}.attn_logit_softcapping", "f32", 0.01),
    key("{a}.final_logit_softcapping", "f32", 0.01),
    key("{a}.attention.sliding_window", "u32", 2),
    key("{a}.attention.sliding_window_pattern", "u32", 2, harmless=lambda m: not 0 < m.numbers.get("attention.sliding_window", 0) < m.numbers["context_length"]),
    key("{a}.attention.clamp_kqv", "f32", 0.01),
    key("{a}.attention.max_alibi_bias", "f32", 8.0),
    key("{a}.attention.causal", "bool", False),
    key("{a}.use_parallel_residual", "bool", True),
    key("{a}.attention.scale", "f32", 0.9),
    key("{a}.residual_scale", "f32", 0.3),
    key("{a}.embedding_scale", "f32", 3.0),
    key("{a}.logit_scale", "f32", 3.0),
    key("{a}.attention.layer_norm_rms_epsilon", "f32", 0.5),
    key("{a}.attention.layer_norm_epsilon", "f32", 0.5, harmless=always),  # all norms are RMSNorm
    key("{a}.rope.freq_base", "f32", 777.0),
    key("{a}.rope.freq_base_swa", "f32", 777.0),
    key("{a}.rope.scaling.type", "str", "ntk"),
    key("{a}.rope.scaling.factor", "f32", 3.0),
    key("{a}.rope.scaling.attn_factor", "f32", 1.5),
    key("{a}.rope.scaling.yarn_log_multiplier", "f32", 0.5),
    key("{a}.rope.scale_linear", "f32", 3.0, harmless=lambda m: "rope.scaling.factor" in m.numbers),  # its older name
    key("{a}.rope.dimension_count", "u32", HALF_HEAD),
    key("{a}.rope.dimension_sections", "arr", [1, 1, 1, 0]),
    key("{a}.attention.head_count", "u32", half_of("attention.head_count"), named=""),
    key("{a}.attention.head_count_kv", "u32", 1, named="", harmless=lambda m: m.numbers["attention.head_count_kv"] == 1),
    key("{a}.attention.head_count", "arr", lambda m: of_layers(m, "attention.head_count", more=1)),
    key("{a}.attention.head_count_kv", "arr", lambda m: [0] + of_layers(m, "attention.head_count_kv", more=-1)),
    key("{a}.attention.head_count_kv", "arr", lambda m: of_layers(m, "attention.head_count_kv"), harmless=always),
    key("{a}.feed_forward_length", "arr", lambda m: [m.numbers["feed_forward_length"] // 2] + of_layers(m, "feed_forward_length", more=-1), named=""),
    key("{a}.attention.key_length", "u32", HALF_HEAD, named=""),
    key("{a}.attention.value_length", "u32", HALF_HEAD, named=""),
    key("{a}.block_count", "u32", 2, named=""),
    key("{a}.feed_forward_length", "u32", half_of("feed_forward_length"), named=""),
    key("{a}.feed_forward.activation", "str", "gelu"),
    key("{a}.vocab_size", "u32", 7, harmless=always),  # the embedding has as many rows as it has
    key("{a}.key_of_tomorrow", "u32", 1),
    key("general.architecture", "str", "mamba", named="mamba"),
    key("prism.rotation", "str", "hadamard", named="prism."),
    key("tokenizer.ggml.model", "str", "bert", named="bert"),
    key("tokenizer.ggml.pre", "str", "viking", named="viking", harmless=lambda m: not m.byte_level),
    key("tokenizer.ggml.normalizer.lowercase", "bool", True),
    key("tokenizer.ggml.remove_extra_whitespaces", "bool", True, harmless=lambda m: m.byte_level),
    key("tokenizer.ggml.precompiled_charsmap", "arr", [1, 2], harmless=lambda m: m.byte_level),
    key("tokenizer.ggml.add_space_prefix", "bool", False, harmless=lambda m: m.byte_level),
    tensor("blk.0.attn_q.bias", lambda m: m.head_dim * m.numbers["attention.head_count"]),
    tensor("blk.0.ffn_gate_inp.weight", D),
    tensor("blk.0.attn_sinks.weight", lambda m: m.numbers["attention.head_count"]),
    tensor("blk.0.post_attention_norm.weight", D),
    tensor("blk.0.attn_q_norm.weight", HEAD),
    tensor("blk.0.attn_v.scale", lambda m: 1),
    tensor("blk.1.attn_norm.weight", D),
    tensor("output.bias", D),
    tensor("rope_freqs.weight", HALF_HEAD, named=""),  # a longrope model says that it has two kinds of factors
    tensor("token_embd_norm.weight", D),
    tensor("position_embd.weight", D),
]

# Keys of config.json that transformers computes with in one of the families.
CONFIG = [
    key("model_type", "", "mamba", named="mamba"),
    key("hidden_act", "", "gelu_new"),
    key("rms_norm_eps", "", 0.5),
    key("rope_theta", "", 777.0),
    key("rope_scaling", "", {"rope_type": "linear", "factor": 3.0}),
    key("rope_scaling", "", {"rope_type": "ntk", "factor": 3.0}, named="rope_type"),
    key("partial_rotary_factor", "", 0.5),
    key("attention_bias", "", True, harmless=always),  # the tensors tell whether there are any
    key("mlp_bias", "", True, harmless=always),
    key("num_attention_heads", "", half_of("attention.head_count"), named=""),
    key("num_key_value_heads", "", 1, named=""),
    key("head_dim", "", HALF_HEAD, named=""),
    key("intermediate_size", "", half_of("feed_forward_length"), named=""),
    key("num_hidden_layers", "", 2, named=""),
    key("tie_word_embeddings", "", lambda m: not m.numbers["tied"], named=""),
    key("quantization_config", "", {"quant_method": "gptq"}, named="gptq"),
    tensor("model.layers.0.self_attn.v_proj.bias", lambda m: m.head_dim * m.numbers["attention.head_count_kv"]),
    tensor("model.layers.0.post_feedforward_layernorm.weight", D),
    tensor("model.layers.1.input_layernorm.weight", D, named=""),
    tensor("lm_head.bias", D),
]

# MLC's have names of their own for some, and tie_word_embeddings says nothing that the tensors do not.
MLC = [mutation for mutation in CONFIG if mutation.key not in ("rope_theta", "tie_word_embeddings", "quantization_config")] + [
    key("position_embedding_base", "", 777.0),
    key("quantization", "", "q4f16_0", named="q4f16_0"),
]
