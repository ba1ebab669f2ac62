#!/usr/bin/env python3
"""Makes the golden values of containers that no family's goldens cover.

    make_container_goldens.py      write everything in tests/golden/containers

- MLC directories of the small models in families/: quantized here as q4f16_1 and q4f32_1 are defined (mlc-llm's own code needs a
  compiler and a GPU), with the logits that transformers computes from the dequantized weights.
- weight_quant.txt: what transformers' WeightQuant makes of latent weights.
"""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # plain eager mode needs no compiler

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.integrations.bitnet import WeightQuant

DIR = Path(__file__).resolve().parent / "containers"
FAMILIES = DIR.parent / "families"
torch.set_num_threads(1)  # sums in one order on every machine

# MLC's names of the linear layers and norms, by Hugging Face's. Lists are joined row by row.
PHI3 = {"transformer.embd": ["model.embed_tokens"], "transformer.norm": ["model.norm"], "lm_head": ["lm_head"]}
PHI3_LAYER = {"ln": ["input_layernorm"], "post_attention_layernorm": ["post_attention_layernorm"],
              "mixer.qkv_proj": ["self_attn.qkv_proj"], "mixer.out_proj": ["self_attn.o_proj"],
              "mlp.gate_up_proj": ["mlp.gate_up_proj"], "mlp.down_proj": ["mlp.down_proj"]}
QWEN3 = {"model.embed_tokens": ["model.embed_tokens"], "model.norm": ["model.norm"]}
LLAMA = QWEN3 | {"lm_head": ["lm_head"]}
LLAMA_LAYER = {"input_layernorm": ["input_layernorm"], "post_attention_layernorm": ["post_attention_layernorm"],
               "self_attn.qkv_proj": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
               "self_attn.o_proj": ["self_attn.o_proj"], "mlp.gate_up_proj": ["mlp.gate_proj", "mlp.up_proj"],
               "mlp.down_proj": ["mlp.down_proj"]}
QWEN3_LAYER = {"input_layernorm": ["input_layernorm"], "post_attention_layernorm": ["post_attention_layernorm"],
               "self_attn.c_attn": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
               "self_attn.q_norm": ["self_attn.q_norm"], "self_attn.k_norm": ["self_attn.k_norm"],
               "self_attn.o_proj": ["self_attn.o_proj"], "mlp.gate_up_proj": ["mlp.gate_proj", "mlp.up_proj"],
               "mlp.down_proj": ["mlp.down_proj"]}


def to_bf16(x: np.ndarray) -> np.ndarray:
    """Nearest values whose lower 16 bits are 0."""
    return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16).float().numpy()


def quantize(w: np.ndarray, is_f32: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[n, k] → codes u32 [n, k/8], scales [n, k/32] (f16, or f32 that are stored as bf16), and the weights that they
    stand for."""
    n, k = w.shape
    groups = w.reshape(n, k // 32, 32)
    scales = np.abs(groups).max(-1) / 7
    scales = to_bf16(scales) if is_f32 else scales.astype(np.float16)
    wide = scales.astype(np.float32)[..., None]
    codes = np.clip(np.round(groups / wide + 7), 0, 14).astype(np.uint32)
    words = (codes.reshape(n, k // 8, 8) << (4 * np.arange(8, dtype=np.uint32))).sum(-1, dtype=np.uint32)
    return words, scales, ((codes.astype(np.float32) - 7) * wide).reshape(n, k)


class Shards:
    """Collects tensors, a new shard for every so many bytes."""

    def __init__(self, shard_bytes: int):
        self.shard_bytes = shard_bytes
        self.data: list[bytes] = [b""]
        self.records: list[list[dict[str, Any]]] = [[]]

    def add(self, name: str, x: np.ndarray) -> None:
        data = (x.view(np.uint32) >> 16).astype(np.uint16) if x.dtype == np.float32 else x
        if self.data[-1] and len(self.data[-1]) + data.nbytes > self.shard_bytes:
            self.data.append(b"")
            self.records.append([])
        self.records[-1].append({"name": name, "shape": list(x.shape), "dtype": x.dtype.name, "format": "f32-to-bf16",
                                 "nbytes": data.nbytes, "byteOffset": len(self.data[-1])})
        self.data[-1] += data.tobytes()

    def write(self, folder: Path, index: str) -> None:
        records = []
        for number, (data, tensors) in enumerate(zip(self.data, self.records)):
            (folder / f"params_shard_{number}.bin").write_bytes(data)
            records.append({"dataPath": f"params_shard_{number}.bin", "format": "raw-shard", "nbytes": len(data),
                            "records": tensors, "md5sum": hashlib.md5(data).hexdigest()})
        size = sum(map(len, self.data))
        text = {"metadata": {"ParamSize": sum(map(len, self.records)), "ParamBytes": size, "BitsPerParam": 4.5}, "records": records}
        (folder / index).write_text(json.dumps(text, indent=1) + "\n")


def make_mlc(family: str, name: str, index: str) -> dict[str, Any]:
    config = AutoConfig.from_pretrained(FAMILIES / family)
    state = {key: x.float() for key, x in load_file(FAMILIES / family / "model.safetensors").items()}
    is_phi3 = config.model_type == "phi3"
    outer, layer, prefix = {"phi3": (PHI3, PHI3_LAYER, "transformer.h"), "qwen3": (QWEN3, QWEN3_LAYER, "model.layers"),
                            "llama": (LLAMA, LLAMA_LAYER, "model.layers")}[config.model_type]
    quantization = name.removeprefix(f"{config.model_type}_")
    is_f32 = quantization == "q4f32_1"
    names = dict(outer)
    for i in range(config.num_hidden_layers):
        names |= {f"{prefix}.{i}.{key}": [f"model.layers.{i}.{part}" for part in parts] for key, parts in layer.items()}
    shards = Shards(20000)
    for mlc, parts in names.items():
        x = torch.cat([state[f"{part}.weight"] for part in parts]).numpy()
        if x.ndim == 1:
            shards.add(f"{mlc}.weight", to_bf16(x) if is_f32 else x.astype(np.float16))
            continue
        words, scales, x = quantize(x, is_f32)
        shards.add(f"{mlc}.q_weight", words)
        shards.add(f"{mlc}.q_scale", scales)
        rows = 0
        for part in parts:
            n = state[f"{part}.weight"].shape[0]
            state[f"{part}.weight"] = torch.from_numpy(x[rows:rows + n].copy())
            rows += n
    folder = DIR / name
    folder.mkdir(parents=True, exist_ok=True)
    shards.write(folder, index)
    keys = ["hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads",
            "rms_norm_eps", "vocab_size", "tie_word_embeddings"]
    model = {key: getattr(config, key) for key in keys}
    theta = config.rope_parameters["rope_theta"]
    if is_phi3:
        model |= {"model_type": "phi3", "position_embedding_base": theta, "head_dim": 0, "max_position_embeddings": 64,
                  "context_window_size": 64, "rope_scaling": None}
    else:
        model |= {"rope_scaling": {key: value for key, value in config.rope_parameters.items() if key != "rope_theta"}
                  } if config.model_type == "llama" else {}
        model |= {"hidden_act": "silu", "rope_theta": theta, "head_dim": config.head_dim, "context_window_size": 64}
    text = {"version": "0.1.0", "model_type": config.model_type, "quantization": quantization, "model_config": model,
            "vocab_size": config.vocab_size, "conv_template": {"name": "chatml"}}
    (folder / "mlc-chat-config.json").write_text(json.dumps(text, indent=1) + "\n")

    config.pad_token_id = None
    network = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    missing, unexpected = network.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    network.tie_weights()
    tokens = json.loads((FAMILIES / "goldens.json").read_text())["models"]
    tokens = next(entry["tokens"] for entry in tokens if entry["name"] == family)
    # MLC leaves Phi-3's sliding window out: as many tokens as it has see no difference.
    tokens = tokens[:6] if is_phi3 else tokens
    with torch.no_grad():
        logits = network(torch.tensor([tokens]), use_cache=False).logits[0].float().numpy()
    np.save(DIR / f"{name}.npy", logits)
    top = np.partition(logits, -2, axis=-1)
    return {"name": name, "model": name, "tokens": tokens, "ternary": False,
            "min_top2_margin": round(float((top[:, -1] - top[:, -2]).min()), 4)}


def bits(x: torch.Tensor) -> str:
    return x.to(torch.bfloat16).view(torch.int16).numpy().astype("<i2").tobytes().hex()


def weight_quant() -> str:
    """Lines of two: latent weights [4, 128] as bf16, then what they become. Many lie on the edge between two codes."""
    lines = []
    rng = np.random.default_rng(5)
    for scale in (0.02, 1.0, 3.0):
        w = torch.from_numpy(rng.normal(size=(4, 128)).astype(np.float32) * scale).to(torch.bfloat16)
        lines += [bits(w), bits(WeightQuant.apply(w))]
    zeros = torch.zeros(4, 128, dtype=torch.bfloat16)
    lines += [bits(zeros), bits(WeightQuant.apply(zeros))]
    return "\n".join(lines) + "\n"


def main() -> int:
    DIR.mkdir(exist_ok=True)
    entries = [make_mlc("phi3", "phi3_q4f16_1", "ndarray-cache.json"), make_mlc("qwen3_tied", "qwen3_q4f16_1", "tensor-cache.json"),
               make_mlc("llama3", "llama_q4f32_1", "tensor-cache.json")]
    lines = ",\n".join(" " + json.dumps(entry) for entry in entries)
    (DIR / "goldens.json").write_text('{"models": [\n' + lines + "\n]}\n")
    (DIR / "weight_quant.txt").write_text(weight_quant())
    print(*entries, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
