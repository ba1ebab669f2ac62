"""A BitNet b1.58 language model for training: the block of microsoft/bitnet-b1.58-2B-4T in PyTorch.

Master weights are float. In every forward pass a linear layer rounds them to −1, 0, +1 times one scale, and its input to
int8 per token; gradients pass through the rounding unchanged (straight-through). Export makes the rounding permanent.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MIN_SCALE = 1e-5  # of activations and weights alike: keeps an all-zero row from dividing by zero


@dataclass(frozen=True)
class ModelConfig:
    vocab: int
    dim: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    context: int
    eps: float
    rope_theta: float
    dropout: float = 0.0

    @classmethod
    def load(cls, path: Path) -> "ModelConfig":
        return cls(**json.loads(path.read_text()))


def fake_quantize_activations(x: Tensor) -> Tensor:
    """x [..., width] rounded to the 8-bit grid of its own row (largest magnitude → 127); the gradient is that of x."""
    factor = 127.0 / x.abs().amax(dim=-1, keepdim=True).clamp(min=MIN_SCALE)
    rounded = (x * factor).round().clamp(-128, 127) / factor
    return x + (rounded - x).detach()


def weight_scale(weight: Tensor) -> Tensor:
    """The scale of a ternary matrix: the mean magnitude of its master weights, a scalar tensor."""
    return weight.abs().mean().clamp(min=MIN_SCALE)


def ternary_codes(weight: Tensor) -> Tensor:
    """weight [n_out, n_in] → the nearest of −1, 0, +1 to each value over the scale, same shape and type."""
    return (weight / weight_scale(weight)).round().clamp(-1, 1)


def fake_quantize_weights(weight: Tensor) -> Tensor:
    """The matrix that inference will see; the gradient is that of the master weights."""
    rounded = ternary_codes(weight) * weight_scale(weight)
    return weight + (rounded - weight).detach()


class BitLinear(nn.Linear):
    """A linear layer without bias: ternary weights on int8 activations, multiplied in `compute_type`."""

    def __init__(self, n_in: int, n_out: int, compute_type: torch.dtype):
        super().__init__(n_in, n_out, bias=False)
        self.compute_type = compute_type

    def forward(self, x: Tensor) -> Tensor:
        activations = fake_quantize_activations(x.float()).to(self.compute_type)
        return F.linear(activations, fake_quantize_weights(self.weight).to(self.compute_type))


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        x = x.float()
        return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE: x [batch, heads, n, head_dim], cos and sin [n, head_dim / 2]; dimension i turns with i + head_dim / 2."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


class Attention(nn.Module):
    """Causal attention with shared KV heads and a norm before the output projection."""

    def __init__(self, c: ModelConfig, compute_type: torch.dtype):
        super().__init__()
        self.head_dim = c.head_dim
        self.q = BitLinear(c.dim, c.heads * c.head_dim, compute_type)
        self.k = BitLinear(c.dim, c.kv_heads * c.head_dim, compute_type)
        self.v = BitLinear(c.dim, c.kv_heads * c.head_dim, compute_type)
        self.sub_norm = RMSNorm(c.heads * c.head_dim, c.eps)
        self.output = BitLinear(c.heads * c.head_dim, c.dim, compute_type)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """x [batch, n, dim], already normed → [batch, n, dim]."""
        q, k, v = (self._split_heads(project(x)) for project in (self.q, self.k, self.v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.output(self.sub_norm(mixed.transpose(1, 2).flatten(2)))

    def _split_heads(self, x: Tensor) -> Tensor:
        """[batch, n, heads · head_dim] → [batch, heads, n, head_dim]."""
        return x.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)


class FeedForward(nn.Module):
    """relu²(gate) · up, a norm, then down."""

    def __init__(self, c: ModelConfig, compute_type: torch.dtype):
        super().__init__()
        self.gate = BitLinear(c.dim, c.ffn, compute_type)
        self.up = BitLinear(c.dim, c.ffn, compute_type)
        self.sub_norm = RMSNorm(c.ffn, c.eps)
        self.down = BitLinear(c.ffn, c.dim, compute_type)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.sub_norm(F.relu(self.gate(x)).square() * self.up(x)))


class Block(nn.Module):
    def __init__(self, c: ModelConfig, compute_type: torch.dtype):
        super().__init__()
        self.attn_norm = RMSNorm(c.dim, c.eps)
        self.attn = Attention(c, compute_type)
        self.ffn_norm = RMSNorm(c.dim, c.eps)
        self.ffn = FeedForward(c, compute_type)
        self.dropout = nn.Dropout(c.dropout)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.dropout(self.attn(self.attn_norm(x), cos, sin))
        return x + self.dropout(self.ffn(self.ffn_norm(x)))


class BitNet(nn.Module):
    """Token ids → logits, with the output matrix tied to the embedding."""

    def __init__(self, config: ModelConfig, compute_type: torch.dtype = torch.bfloat16):
        super().__init__()
        self.config = config
        self.compute_type = compute_type
        self.embedding = nn.Embedding(config.vocab, config.dim)
        self.blocks = nn.ModuleList(Block(config, compute_type) for _ in range(config.layers))
        self.norm = RMSNorm(config.dim, config.eps)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02)
        frequencies = config.rope_theta ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)
        angles = torch.outer(torch.arange(config.context).float(), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids: Tensor, targets: Tensor | None = None, weights: Tensor | None = None) -> Tensor:
        """ids [batch, n] → logits [batch, n, vocab]; with targets [batch, n], the mean loss in nats a token instead, weighted
        by weights [batch, n] if there are any."""
        n = ids.shape[1]
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, self.cos[:n], self.sin[:n])
        logits = F.linear(self.norm(x).to(self.compute_type), self.embedding.weight.to(self.compute_type))
        if targets is None:
            return logits
        if weights is None:
            return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())
        losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
        return (losses * weights.flatten()).sum() / weights.sum()


def save_checkpoint(path: Path, model: BitNet) -> None:
    torch.save({"config": vars(model.config), "weights": model.state_dict()}, path)


def load_checkpoint(path: Path, device: str, compute_type: torch.dtype = torch.bfloat16) -> BitNet:
    """The model of a checkpoint, ready for inference."""
    saved = torch.load(path, map_location=device, weights_only=True)
    model = BitNet(ModelConfig(**saved["config"]), compute_type).to(device)
    model.load_state_dict(saved["weights"])
    return model.eval()
