"""A BitNet b1.58 model in memory: its shape, its ternary codes and scales, and its way to and from a GGUF file."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gguf_file import Kind, Tensor, Type, Value, f16_tensor, f32_tensor, i2s_tensor, i2s_values, read_gguf, write_gguf

NORMS = ("attn_norm", "attn_sub_norm", "ffn_norm", "ffn_sub_norm")
LINEARS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


@dataclass(frozen=True)
class Shape:
    """Hyper-parameters. heads · head_dim = dim, as in every published BitNet b1.58 model."""

    architecture: str
    vocab: int
    dim: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    rope_theta: float
    context: int = 64
    eps: float = float(np.float32(1e-5))  # as the file stores it

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads

    def linear_shapes(self) -> dict[str, tuple[int, int]]:
        """[n_out, n_in] of every linear layer of a block."""
        kv = self.kv_heads * self.head_dim
        return {
            "attn_q": (self.dim, self.dim),
            "attn_k": (kv, self.dim),
            "attn_v": (kv, self.dim),
            "attn_output": (self.dim, self.dim),
            "ffn_gate": (self.ffn, self.dim),
            "ffn_up": (self.ffn, self.dim),
            "ffn_down": (self.dim, self.ffn),
        }


@dataclass(frozen=True)
class Linear:
    """A ternary matrix: codes int8 [n_out, n_in] of −1, 0, +1, times one scale."""

    codes: np.ndarray
    scale: float


@dataclass(frozen=True)
class Layer:
    norms: dict[str, np.ndarray]  # by NORMS: float32 [width]
    linears: dict[str, Linear]  # by LINEARS


@dataclass(frozen=True)
class Model:
    shape: Shape
    embedding: np.ndarray  # float32 [vocab, dim], every value a float16
    layers: list[Layer]
    output_norm: np.ndarray  # float32 [dim]
    output: np.ndarray | None = None  # float32 [vocab, dim], every value a float16; None: tied to the embedding

    @property
    def head(self) -> np.ndarray:
        return self.embedding if self.output is None else self.output

    def with_linear(self, layer: int, name: str, linear: Linear) -> "Model":
        """A copy in which one linear layer is another."""
        layers = list(self.layers)
        layers[layer] = replace(layers[layer], linears={**layers[layer].linears, name: linear})
        return replace(self, layers=layers)


@dataclass(frozen=True)
class FileOptions:
    """What may differ between files of one model."""

    version: int = 3
    alignment: int = 32
    scale_tensors: bool = False  # scales in tensors of their own, blk.N.<linear>.scale, and 1 in the I2_S tensors
    vocab_size_key: bool = True  # ARCH.vocab_size may be missing: the embedding's rows tell
    metadata: dict[str, Value] = field(default_factory=dict)  # added at the end, a tokenizer for example


def random_model(shape: Shape, untied: bool, seed: int) -> Model:
    """Random weights with activations of order 1, attention that is not flat, and norms that matter."""
    rng = np.random.default_rng(seed)

    def norm(width: int) -> np.ndarray:
        return np.exp(rng.normal(0, 0.4, width)).astype(np.float32)

    def linear(n_out: int, n_in: int) -> Linear:
        zeros = rng.uniform(0.25, 0.5)  # the share of zeros; the signs are skewed a little, so that sums of codes matter
        codes = rng.choice(np.array([-1, 0, 1], np.int8), (n_out, n_in), p=[0.45 * (1 - zeros), zeros, 0.55 * (1 - zeros)])
        scale = rng.uniform(0.8, 1.6) / np.sqrt(n_in * (1 - zeros))
        return Linear(codes, float(np.float32(scale)))

    def float16_matrix() -> np.ndarray:
        return rng.normal(0, 0.25, (shape.vocab, shape.dim)).astype(np.float16).astype(np.float32)

    norm_widths = {"attn_norm": shape.dim, "attn_sub_norm": shape.dim, "ffn_norm": shape.dim, "ffn_sub_norm": shape.ffn}
    embedding = float16_matrix()
    layers = [
        Layer(
            norms={name: norm(width) for name, width in norm_widths.items()},
            linears={name: linear(*size) for name, size in shape.linear_shapes().items()},
        )
        for _ in range(shape.layers)
    ]
    return Model(shape, embedding, layers, norm(shape.dim), float16_matrix() if untied else None)


def save_model(path: Path, model: Model, options: FileOptions) -> None:
    tensors: dict[str, Tensor] = {
        "token_embd.weight": f16_tensor(model.embedding),
        "output_norm.weight": f32_tensor(model.output_norm),
    }
    if model.output is not None:
        tensors["output.weight"] = f16_tensor(model.output)
    for i, layer in enumerate(model.layers):
        tensors |= {f"blk.{i}.{name}.weight": f32_tensor(weight) for name, weight in layer.norms.items()}
        for name, linear in layer.linears.items():
            scale = 1.0 if options.scale_tensors else linear.scale
            tensors[f"blk.{i}.{name}.weight"] = i2s_tensor(linear.codes, scale)
            if options.scale_tensors:
                tensors[f"blk.{i}.{name}.scale"] = f32_tensor(np.array([linear.scale], np.float32))
    write_gguf(path, _metadata(path.stem, model.shape, options), tensors, options.version, options.alignment)


def load_model(path: Path) -> Model:
    """Reads a BitNet GGUF file: I2_S linear layers, F32 norms, F16 embedding."""
    metadata, tensors = read_gguf(path)
    shape = _shape(metadata, tensors["token_embd.weight"].shape[0])

    def linear(name: str) -> Linear:
        tensor = tensors[f"{name}.weight"]
        if tensor.type != Type.I2_S:
            raise ValueError(f"{path}: {name}.weight is {tensor.type.name}, not I2_S")
        codes, scale = i2s_values(tensor)
        if f"{name}.scale" in tensors:
            scale *= float(tensors[f"{name}.scale"].to_float()[0])
        return Linear(codes, scale)

    layers = [
        Layer(
            norms={name: tensors[f"blk.{i}.{name}.weight"].to_float() for name in NORMS},
            linears={name: linear(f"blk.{i}.{name}") for name in LINEARS},
        )
        for i in range(shape.layers)
    ]
    output = tensors["output.weight"].to_float() if "output.weight" in tensors else None
    embedding = tensors["token_embd.weight"].to_float()
    return Model(shape, embedding, layers, tensors["output_norm.weight"].to_float(), output)


def _metadata(name: str, shape: Shape, options: FileOptions) -> dict[str, Value]:
    def u32(value: int) -> Value:
        return Value(Kind.U32, value)

    arch = shape.architecture
    metadata = {
        "general.architecture": Value(Kind.STRING, arch),
        "general.name": Value(Kind.STRING, name),
        "general.file_type": u32(40),
        f"{arch}.context_length": u32(shape.context),
        f"{arch}.embedding_length": u32(shape.dim),
        f"{arch}.block_count": u32(shape.layers),
        f"{arch}.feed_forward_length": u32(shape.ffn),
        f"{arch}.rope.dimension_count": u32(shape.head_dim),
        f"{arch}.attention.head_count": u32(shape.heads),
        f"{arch}.attention.head_count_kv": u32(shape.kv_heads),
        f"{arch}.attention.layer_norm_rms_epsilon": Value(Kind.F32, shape.eps),
        f"{arch}.rope.freq_base": Value(Kind.F32, shape.rope_theta),
    }
    if options.vocab_size_key:
        metadata[f"{arch}.vocab_size"] = u32(shape.vocab)
    if options.alignment != 32:
        metadata["general.alignment"] = u32(options.alignment)
    return metadata | options.metadata


def _shape(metadata: dict[str, Any], vocab: int) -> Shape:
    arch = metadata["general.architecture"]
    return Shape(
        architecture=arch,
        vocab=vocab,
        dim=metadata[f"{arch}.embedding_length"],
        layers=metadata[f"{arch}.block_count"],
        heads=metadata[f"{arch}.attention.head_count"],
        kv_heads=metadata[f"{arch}.attention.head_count_kv"],
        ffn=metadata[f"{arch}.feed_forward_length"],
        rope_theta=metadata[f"{arch}.rope.freq_base"],
        context=metadata[f"{arch}.context_length"],
        eps=metadata[f"{arch}.attention.layer_norm_rms_epsilon"],
    )
