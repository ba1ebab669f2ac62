"""Plain values that go in and come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from ._engine import Grammar

Backend = Literal["auto", "cpu", "webgpu", "ref", "both"]
BACKENDS: dict[str, int] = {"auto": 0, "cpu": 1, "webgpu": 2, "ref": 3, "both": 4}

Prefer = Literal["speed", "energy", "gpu"]
PREFERENCES: dict[str, int] = {"speed": 0, "energy": 1, "gpu": 2}

Head = Literal["auto", "file", "q8_0", "q6_k", "exact"]
HEADS: dict[str, int] = {"auto": 0, "file": 1, "q8_0": 2, "q6_k": 3, "exact": 4}

KvType = Literal["f16", "f32", "q8_0"]
KV_TYPES: dict[str, int] = {"f16": 0, "f32": 1, "q8_0": 2}

Message = Mapping[str, Any] | tuple[str, str]
"""{"role": "user", "content": "…"}, or ("user", "…").

In a chat with tools also an assistant's message with "tool_calls", as Generation.message has it, and a result:
{"role": "tool", "tool_call_id": "…", "content": "…"}.
"""

Prompt = str | Sequence[int]
"""Text, which is tokenized with the model's begin-of-sequence token, or tokens as they are."""


class Finish(IntEnum):
    """Why a reply is over."""

    STOP_TOKEN = 1
    STOP_STRING = 2
    MAX_TOKENS = 3
    CONTEXT_FULL = 4
    CANCELLED = 5


class GenerateOptions(TypedDict, total=False):
    """What a reply may be asked for.

    What is left out of sampling is as the model's makers recommend, the rest as in tern.h. speculate: at most so many
    tokens are guessed, from what the text repeats or by the session's draft model, and checked in one pass: the same
    text, sooner where guesses are right. keep_past_context: where the context is full, go on with its first so many
    tokens and the later half of the others, instead of ending; -1: end. grammar: what the reply may say. samplers: the
    steps that run, in this order, by the names in tern.h. min_tokens: nothing ends the reply before so many tokens.
    """

    max_tokens: int
    min_tokens: int
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repeat_penalty: float
    repeat_last_n: int
    presence_penalty: float
    frequency_penalty: float
    dry_multiplier: float
    dry_base: float
    dry_allowed_length: int
    dry_penalty_last_n: int
    dry_sequence_breakers: Sequence[str]
    top_n_sigma: float
    typical_p: float
    xtc_probability: float
    xtc_threshold: float
    mirostat: int
    mirostat_tau: float
    mirostat_eta: float
    samplers: Sequence[str]
    logit_bias: Mapping[int, float]
    seed: int
    stop: Sequence[str]
    ignore_eos: bool
    heal_prompt: bool
    speculate: int
    keep_past_context: int
    grammar: Grammar


@dataclass(frozen=True)
class Progress:
    """What is being done, and how much of the total, in `unit`s."""

    what: str
    done: int
    total: int
    unit: str


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class ModelInfo:
    """What was loaded, and what runs it."""

    path: str
    name: str
    architecture: str
    backend: str
    head: str
    gpu: str
    n_params: int
    file_bytes: int
    bytes_per_token: int
    kv_bytes_per_token: int
    n_vocab: int
    n_ctx: int
    n_layers: int
    n_threads: int
    has_tokenizer: bool
    has_chat_template: bool


@dataclass(frozen=True)
class Stats:
    """Of a reply, up to now."""

    n_prompt: int
    n_reused: int
    n_generated: int
    prompt_seconds: float
    decode_seconds: float
    load_seconds: float
    n_guessed: int
    n_guessed_right: int
