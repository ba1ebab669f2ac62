"""Writes the models of make_family_goldens.py: GGUF files as llama.cpp's converter does, and directories as published."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFWriter
from safetensors.torch import save_file
from transformers.integrations.bitnet import pack_weights

from family_specs import Spec, experts_used, has_transposed_experts, is_gemma, lacks_one
from gguf_file import i2s_tensor


GGUF_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.attn_sub_norm": "attn_sub_norm", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.ffn_sub_norm": "ffn_sub_norm", "mlp.gate": "ffn_gate_inp", "mlp.router": "ffn_gate_inp",
    "block_sparse_moe.router.layer": "ffn_gate_inp", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
}


GEMMA_NAMES = GGUF_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


QWEN35_NAMES = GGUF_NAMES | {
    "post_attention_layernorm": "post_attention_norm", "linear_attn.in_proj_qkv": "attn_qkv",
    "linear_attn.in_proj_z": "attn_gate", "linear_attn.in_proj_a": "ssm_alpha", "linear_attn.in_proj_b": "ssm_beta",
    "linear_attn.conv1d": "ssm_conv1d", "linear_attn.norm": "ssm_norm", "linear_attn.out_proj": "ssm_out",
}


HUNYUAN_NAMES = GGUF_NAMES | {"self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm"}


GEMMA4_NAMES = GEMMA_NAMES | {
    "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm",
    "router.proj": "ffn_gate_inp", "pre_feedforward_layernorm_2": "pre_ffw_norm_2",
    "post_feedforward_layernorm_1": "post_ffw_norm_1", "post_feedforward_layernorm_2": "post_ffw_norm_2",
}


GPT_OSS_NAMES = GGUF_NAMES | {"post_attention_layernorm": "post_attention_norm"}


def layer_names(spec: Spec) -> dict[str, str]:
    of_one = {"gpt-oss": GPT_OSS_NAMES, "gemma4": GEMMA4_NAMES, "hunyuan-dense": HUNYUAN_NAMES}
    return (GEMMA_NAMES if is_gemma(spec) else QWEN35_NAMES if spec.architecture.startswith("qwen35") else
            of_one.get(spec.architecture, GGUF_NAMES))


def gguf_name(spec: Spec, name: str) -> str:
    fixed = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight", "model.embed_tokens_per_layer.weight": "per_layer_token_embd.weight",
             "model.per_layer_model_projection.weight": "per_layer_model_proj.weight",
             "model.per_layer_projection_norm.weight": "per_layer_proj_norm.weight"}
    if name in fixed:
        return fixed[name]
    _, _, layer, *rest, end = name.split(".")
    wholes = {"A_log": "ssm_a", "dt_bias": "ssm_dt.bias", "layer_scalar": "layer_output_scale.weight",
              "scale": "ffn_gate_inp.scale", "per_expert_scale": "ffn_down_exps.scale"}
    if end in wholes:
        return f"blk.{layer}.{wholes[end]}"
    if end == "sinks":
        return f"blk.{layer}.attn_sinks.weight"
    names = layer_names(spec)
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


def expert_tensors(spec: Spec, name: str, x: torch.Tensor) -> dict[str, torch.Tensor] | None:
    """The experts' tensors of a layer by their GGUF names: [n, n_out, n_in], and biases [n, n_out]. None: it is another one."""
    if "experts." not in name and "_linear." not in name:
        return None
    blk, is_bias = f"blk.{name.split('.')[2]}.", name.endswith("_bias")
    ending = "bias" if is_bias else "weight"
    if has_transposed_experts(spec) and not is_bias:
        x = x.swapaxes(1, 2)
    if "down_proj" in name or "output_linear" in name:
        return {f"{blk}ffn_down_exps.{ending}": x}
    if spec.joined_experts:
        return {f"{blk}ffn_gate_up_exps.{ending}": x}
    gate, up = (x[:, ::2], x[:, 1::2]) if has_transposed_experts(spec) else x.chunk(2, dim=1)
    return {f"{blk}ffn_gate_exps.{ending}": gate, f"{blk}ffn_up_exps.{ending}": up}


def add_expert_keys(spec: Spec, writer: GGUFWriter) -> None:
    config, arch = spec.config, spec.architecture
    writer.add_uint32(f"{arch}.expert_count", config.num_experts if arch == "gemma4" else config.num_local_experts)
    writer.add_uint32(f"{arch}.expert_used_count", experts_used(config))
    if hasattr(config, "moe_intermediate_size") or arch == "gpt-oss":
        width = getattr(config, "moe_intermediate_size", config.intermediate_size)
        writer.add_uint32(f"{arch}.expert_feed_forward_length", width)
    if shared := getattr(config, "shared_expert_intermediate_size", None):
        writer.add_uint32(f"{arch}.expert_shared_feed_forward_length", shared)


def add_delta_keys(spec: Spec, writer: GGUFWriter) -> None:
    config = spec.config
    for key, value in {"conv_kernel": config.linear_conv_kernel_dim, "state_size": config.linear_key_head_dim,
                       "group_count": config.linear_num_key_heads, "time_step_rank": config.linear_num_value_heads,
                       "inner_size": config.linear_num_value_heads * config.linear_value_head_dim}.items():
        writer.add_uint32(f"{spec.architecture}.ssm.{key}", value)
    writer.add_uint32(f"{spec.architecture}.full_attention_interval", config.layer_types.index("full_attention") + 1)
    if spec.recurrent_list:
        writer.add_array(f"{spec.architecture}.attention.recurrent_layers", [kind == "linear_attention" for kind in config.layer_types])
    writer.add_array(f"{spec.architecture}.rope.dimension_sections", [*config.rope_parameters["mrope_section"], 0])


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


def add_block(spec: Spec, writer: GGUFWriter, block: dict[str, torch.Tensor]) -> None:
    """The layer that proposes draft tokens, as number n of a file with layers 0 to n - 1."""
    for name, x in block.items():
        own = f"{name}.weight" if name.startswith("nextn.") else ""
        gguf = f"blk.{spec.config.num_hidden_layers}.{own}" if own else gguf_name(
            spec, f"model.layers.{spec.config.num_hidden_layers}.{name}")
        writer.add_tensor(gguf, (x + 1).numpy() if x.dim() == 1 else x.numpy().astype(np.float16))


def write_gguf(spec: Spec, state: dict[str, torch.Tensor], path: Path, block: dict[str, torch.Tensor] | None = None) -> None:
    config, arch = spec.config, spec.architecture
    writer = GGUFWriter(path, arch)
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rotated = int(head_dim * config.rope_parameters.get("partial_rotary_factor", 1))
    for key, value in {"block_count": config.num_hidden_layers + (1 if block else 0), "context_length": config.max_position_embeddings,
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
    if arch.startswith("qwen35"):
        add_delta_keys(spec, writer)
    if experts_used(config):
        add_expert_keys(spec, writer)
    if arch.startswith("qwen3") or arch in ("gpt-oss", "hunyuan-dense") or is_gemma(spec) or spec.layers:
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
        if experts := expert_tensors(spec, name, x):
            for part, values in experts.items():
                writer.add_tensor(part, values.contiguous().numpy().astype(np.float32 if part.endswith("bias") else np.float16))
            continue
        if arch in ("llama", "granite", "granitemoe") and ("q_proj" in name or "k_proj" in name):
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
        elif (gguf := gguf_name(spec, name)).endswith(("gate_inp.weight", "gate_inp_shexp.weight")):
            writer.add_tensor(gguf, x.squeeze(0).numpy())
        else:
            writer.add_tensor(gguf_name(spec, name), x.numpy().astype(np.float16))
    add_block(spec, writer, block or {})
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


MXFP4_VALUES = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def mxfp4_parts(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Codes and exponents of blocks of 32 along the last axis: [..., n / 32, 32] and [..., n / 32]."""
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    exponents = blocks.abs().amax(-1).clamp_min(2.0**-100).log2().floor() - 2
    scaled = blocks / 2 ** exponents[..., None]
    codes = (scaled.abs()[..., None] - MXFP4_VALUES).abs().argmin(-1) + 8 * (scaled < 0)
    return codes.to(torch.uint8), (exponents + 127).to(torch.uint8)


def as_mxfp4(x: torch.Tensor) -> torch.Tensor:
    """The nearest values that MXFP4 holds, of [experts, n_in, n_out]."""
    codes, exponents = mxfp4_parts(x.swapaxes(1, 2))
    values = MXFP4_VALUES[(codes & 7).long()] * (1 - 2.0 * (codes >= 8)) * 2 ** (exponents[..., None].float() - 127)
    return values.reshape(x.shape[0], x.shape[2], x.shape[1]).swapaxes(1, 2).contiguous()


def mxfp4_tensors(name: str, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """As published: a byte has two neighbors, the first in its low half."""
    codes, exponents = mxfp4_parts(x.swapaxes(1, 2))
    return {f"{name}_blocks": (codes[..., ::2] | codes[..., 1::2] << 4).contiguous(), f"{name}_scales": exponents}


def matrices_of_experts(name: str, x: torch.Tensor) -> dict[str, torch.Tensor]:
    layer, part = name.split(".experts.")
    parts = {"gate_proj": x.chunk(2, dim=1)[0], "up_proj": x.chunk(2, dim=1)[1]} if part == "gate_up_proj" else {part: x}
    return {f"{layer}.experts.{i}.{part}.weight": matrix.contiguous() for part, all in parts.items() for i, matrix in enumerate(all)}


def write_directory(spec: Spec, state: dict[str, torch.Tensor], path: Path) -> None:
    path.mkdir(exist_ok=True)
    config = spec.config.to_dict()
    config["architectures"] = [spec.network.__name__]
    if spec.bitlinear:
        config["quantization_config"] = {"quant_method": "bitnet", "linear_class": spec.bitlinear, "quantization_mode": "offline",
                                         "modules_to_not_convert": None}
        if spec.input_norms:
            config["quantization_config"] |= {"use_rms_norm": True, "rms_norm_eps": spec.config.rms_norm_eps}
    if hasattr(spec.config, "num_experts_per_tok") and spec.architecture != "gpt-oss":  # as published, not as transformers writes it
        config["num_experts"] = spec.config.num_local_experts
    if spec.mxfp4:
        config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    keep = {"num_local_experts", "architectures", "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
            "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps", "hidden_act",
            "rope_parameters", "sliding_window", "tie_word_embeddings", "quantization_config", "bos_token_id", "eos_token_id",
            "original_max_position_embeddings", "embedding_multiplier", "residual_multiplier", "attention_multiplier",
            "logits_scaling", "attention_bias", "mlp_bias", "hidden_activation", "query_pre_attn_scalar", "layer_types",
            "attn_logit_softcapping", "final_logit_softcapping", "linear_conv_kernel_dim", "linear_key_head_dim",
            "linear_value_head_dim", "linear_num_key_heads", "linear_num_value_heads", "num_experts", "num_experts_per_tok",
            "norm_topk_prob", "top_k_experts", "moe_intermediate_size", "shared_expert_intermediate_size", "decoder_sparse_step",
            "mlp_only_layers", "global_head_dim", "num_kv_shared_layers", "hidden_size_per_layer_input",
            "vocab_size_per_layer_input", "num_global_key_value_heads", "attention_k_eq_v", "use_double_wide_mlp",
            "enable_moe_block"}
    parameters = config["rope_parameters"]
    theta = parameters.get("full_attention", parameters)["rope_theta"]
    text = {key: value for key, value in config.items() if key in keep and value is not None}
    # As published: older files have rope_theta, newer ones rope_parameters.
    if spec.architecture not in ("qwen3", "qwen35", "qwen35moe", "gemma3", "gemma4"):
        scaling = text.pop("rope_parameters")
        text["rope_theta"] = theta
        if scaling["rope_type"] != "default":
            text["rope_scaling"] = {key: value for key, value in scaling.items() if key != "rope_theta"}
    if spec.with_images:
        outer = text["model_type"].removesuffix("_text")
        text = {"architectures": [spec.network.__name__.replace("CausalLM", "ConditionalGeneration")], "model_type": outer,
                "tie_word_embeddings": text.pop("tie_word_embeddings"), "text_config": text, "vision_config": {"depth": 1}}
    (path / "config.json").write_text(json.dumps(text, indent=1, sort_keys=True) + "\n")
    tensors = {}
    for name, x in state.items():
        x = pack_weights(x.clone()) if x.dtype == torch.int8 else x.to(torch.bfloat16)
        if "experts." in name and spec.architecture in ("qwen3moe", "olmoe"):  # published as one matrix of each expert
            tensors |= matrices_of_experts(name, x)
            continue
        if spec.mxfp4 and "experts." in name and not name.endswith("_bias"):
            tensors |= mxfp4_tensors(name, x.float())
            continue
        tensors[name.replace("model.", "model.language_model.", 1) if spec.with_images else name] = x.contiguous()
    if spec.with_images:  # what is left out
        of_qwen = ("model.visual.blocks.0.norm1.weight", "mtp.layers.0.input_layernorm.weight", "mtp.fc.weight")
        of_gemma = ("model.vision_tower.patch_embedder.input_proj.weight", "model.audio_tower.output_proj.weight",
                    "model.embed_vision.embedding_projection.weight")
        for name in of_gemma if spec.architecture == "gemma4" else of_qwen:
            tensors[name] = torch.ones(4, dtype=torch.bfloat16)
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
