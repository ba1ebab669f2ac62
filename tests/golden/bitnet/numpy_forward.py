"""The BitNet b1.58 forward pass in float64 numpy, written from the model's description: an oracle for the oracle.

Linear layers sum int8 activations times ternary codes exactly, so that the only places where another correct
implementation can differ are float rounding and activations that lie on the edge between two int8 values.
"""

from collections.abc import Callable

import numpy as np

from bitnet_model import Linear, Model, Shape

Quantise = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def quantise_rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x [n, width] → int8 values, as float64 [n, width], and the factor s [n, 1] that x was multiplied by."""
    s = 127.0 / np.maximum(np.abs(x).max(axis=-1, keepdims=True), 1e-5)
    return np.clip(np.rint(x * s), -128, 127), s


class OnEdge(Exception):
    """An activation lies so near the edge between two int8 values that float32 could round it either way."""


class RefuseEdges:
    """quantise_rows, but raises OnEdge where a relative error `edge` of x · s could change an int8 value."""

    def __init__(self, edge: float):
        self.edge = edge

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, s = quantise_rows(x)
        scaled = np.abs(x * s)
        if (np.abs(scaled - np.floor(scaled) - 0.5) < self.edge * np.maximum(scaled, 1)).any():
            raise OnEdge
        return q, s


class FlipOne:
    """quantise_rows, but one int8 value of one call is one step off: what a legitimate rounding difference does."""

    def __init__(self, rng: np.random.Generator, n_calls: int):
        self.rng = rng
        self.calls_left = int(rng.integers(n_calls))

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, s = quantise_rows(x)
        if self.calls_left == 0:
            position = tuple(int(self.rng.integers(size)) for size in q.shape)
            q[position] += 1 if q[position] < 0 else -1
        self.calls_left -= 1
        return q, s


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def linear(q: np.ndarray, s: np.ndarray, layer: Linear) -> np.ndarray:
    """q [n, n_in], s [n, 1] → [n, n_out]. Sums of integers below 2⁵³ are exact in float64."""
    return (q @ layer.codes.T.astype(np.float64)) / s * layer.scale


def rope(x: np.ndarray, theta: float) -> np.ndarray:
    """x [n, heads, head_dim], position = row; dimension i turns with i + head_dim / 2."""
    half = x.shape[-1] // 2
    angle = np.outer(np.arange(x.shape[0]), theta ** (-np.arange(half) / half))[:, None, :]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], axis=-1)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, shape: Shape) -> np.ndarray:
    """Causal attention of q [n, dim] over k and v [n, kv_heads · head_dim] → [n, dim]."""
    n = q.shape[0]
    q = rope(q.reshape(n, shape.heads, shape.head_dim), shape.rope_theta)
    k = rope(k.reshape(n, shape.kv_heads, shape.head_dim), shape.rope_theta)
    v = v.reshape(n, shape.kv_heads, shape.head_dim)
    future = np.triu(np.ones((n, n), bool), 1)
    out = np.empty_like(q)
    for head in range(shape.heads):
        shared = head // (shape.heads // shape.kv_heads)
        scores = q[:, head] @ k[:, shared].T / np.sqrt(shape.head_dim)
        scores[future] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[:, head] = weights / weights.sum(axis=-1, keepdims=True) @ v[:, shared]
    return out.reshape(n, -1)


def forward(model: Model, tokens: list[int], quantize: Quantise = quantise_rows) -> np.ndarray:
    """Logits, float64 [n_tokens, vocab], of a sequence that starts at position 0."""
    shape = model.shape
    x = model.embedding[tokens].astype(np.float64)
    for layer in model.layers:
        norms, w = layer.norms, layer.linears
        qs = quantize(rms_norm(x, norms["attn_norm"], shape.eps))
        mixed = attention(linear(*qs, w["attn_q"]), linear(*qs, w["attn_k"]), linear(*qs, w["attn_v"]), shape)
        qs = quantize(rms_norm(mixed, norms["attn_sub_norm"], shape.eps))
        x = x + linear(*qs, w["attn_output"])
        qs = quantize(rms_norm(x, norms["ffn_norm"], shape.eps))
        gated = np.maximum(linear(*qs, w["ffn_gate"]), 0) ** 2 * linear(*qs, w["ffn_up"])
        qs = quantize(rms_norm(gated, norms["ffn_sub_norm"], shape.eps))
        x = x + linear(*qs, w["ffn_down"])
    return rms_norm(x, model.output_norm, shape.eps) @ model.head.T.astype(np.float64)
