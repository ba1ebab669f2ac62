"""The same models in Hugging Face transformers: BitNetForCausalLM with packed ternary weights, in float32 on the CPU."""

import os

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")  # transformers compiles the quantizers; plain eager mode needs no compiler

import numpy as np
import torch
from transformers import BitNetConfig, BitNetForCausalLM
from transformers.integrations.bitnet import replace_with_bitnet_linear
from transformers.utils.quantization_config import BitNetQuantConfig

from bitnet_model import Model

torch.set_num_threads(1)  # sums in one order on every machine

MODULES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "attn_sub_norm": "self_attn.attn_sub_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_sub_norm": "mlp.ffn_sub_norm",
}


def pack_rows(codes: np.ndarray) -> np.ndarray:
    """codes int8 [n_out, n_in] → uint8 [n_out / 4, n_in]: bits 2i of row r hold code + 1 of row i · n_out / 4 + r."""
    quarters = (codes + 1).astype(np.uint8).reshape(4, -1, codes.shape[1])
    return quarters[0] | quarters[1] << 2 | quarters[2] << 4 | quarters[3] << 6


def build(model: Model) -> BitNetForCausalLM:
    """The model as transformers would load it from a packed checkpoint.

    Its loader wants the accelerate package, so this does the loader's two steps itself: put AutoBitLinear layers in, then
    load a state dict in which the layers find packed weights (their load hook unpacks them).
    """
    shape = model.shape
    config = BitNetConfig(
        vocab_size=shape.vocab,
        hidden_size=shape.dim,
        intermediate_size=shape.ffn,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.context,
        rms_norm_eps=shape.eps,
        rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        tie_word_embeddings=model.output is None,
        bos_token_id=0,
        eos_token_id=0,
        attn_implementation="eager",
    )
    network = BitNetForCausalLM(config)
    quantization = BitNetQuantConfig(linear_class="autobitlinear", quantization_mode="offline")
    replace_with_bitnet_linear(network, modules_to_not_convert=["lm_head"], quantization_config=quantization)
    network.load_state_dict(_state(model), assign=True)
    _check_unpacked(network, model)
    return network.eval()


def logits(network: BitNetForCausalLM, tokens: list[int]) -> np.ndarray:
    """Logits, float32 [n_tokens, vocab], of one forward pass over the whole sequence."""
    with torch.no_grad():
        return network(torch.tensor([tokens])).logits[0].numpy()


def greedy(
    network: BitNetForCausalLM, prompt: list[int], n: int, stop: tuple[int, ...] = ()
) -> tuple[list[int], np.ndarray]:
    """n arg-max tokens after the prompt, with the KV cache, and the logits [n, vocab] that each was chosen from.

    Fewer where one of `stop` comes: it is the last then."""
    ids, rows, cache = [], [], None
    step = torch.tensor([prompt])
    with torch.no_grad():
        for _ in range(n):
            result = network(step, past_key_values=cache, use_cache=True)
            cache = result.past_key_values
            rows.append(result.logits[0, -1].numpy())
            ids.append(int(rows[-1].argmax()))
            if ids[-1] in stop:
                break
            step = torch.tensor([[ids[-1]]])
    return ids, np.stack(rows)


def _state(model: Model) -> dict[str, torch.Tensor]:
    state = {
        "model.embed_tokens.weight": torch.from_numpy(model.embedding),
        "model.norm.weight": torch.from_numpy(model.output_norm),
        "lm_head.weight": torch.from_numpy(model.head),
    }
    for i, layer in enumerate(model.layers):
        prefix = f"model.layers.{i}."
        state |= {f"{prefix}{MODULES[name]}.weight": torch.from_numpy(weight) for name, weight in layer.norms.items()}
        for name, linear in layer.linears.items():
            state[f"{prefix}{MODULES[name]}.weight"] = torch.from_numpy(pack_rows(linear.codes))
            state[f"{prefix}{MODULES[name]}.weight_scale"] = torch.tensor([linear.scale])
    return state


def _check_unpacked(network: BitNetForCausalLM, model: Model) -> None:
    """transformers 5.12 can leave −1 as 255 (uint8 arithmetic) on another loading path: refuse to go on with that."""
    for i, layer in enumerate(model.layers):
        for name, linear in layer.linears.items():
            weight = network.get_parameter(f"model.layers.{i}.{MODULES[name]}.weight")
            if weight.dtype != torch.float32 or not np.array_equal(weight.numpy(), linear.codes):
                raise RuntimeError(f"layer {i}: transformers unpacked {MODULES[name]} to other values than the file's")
