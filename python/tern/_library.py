"""libtern.so, or libtern.dll on Windows, as ctypes sees it: structs and prototypes of include/tern/tern.h, in its order."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

# Of the library that this package is written for. Until 1.0 a minor version may change the interface.
VERSION = "0.2"

ADD_BOS = 1
SPECIAL_TOKENS = 2
TOOLS_AUTO, TOOLS_NONE, TOOLS_REQUIRED = range(3)
GRAMMAR_JSON_SCHEMA, GRAMMAR_JSON_OBJECT, GRAMMAR_GBNF, GRAMMAR_REGEX = range(4)

OnProgress = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64, c_char_p)
OnDownload = CFUNCTYPE(c_bool, c_void_p, c_char_p, c_uint64, c_uint64, c_char_p)


class SizedStruct(Structure):
    """A struct that begins with its size."""


class LoadOptions(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("model_path", c_char_p),
        ("chat_template", c_char_p),
        ("gpu_adapter", c_char_p),
        ("gpu_cache_dir", c_char_p),
        ("on_progress", OnProgress),
        ("user", c_void_p),
        ("backend", c_int32),
        ("n_threads", c_int32),
        ("max_batch", c_int32),
        ("head", c_int32),
        ("pin_threads", c_int32),
        ("prefer", c_int32),
        ("overrides", POINTER(c_char_p)),
        ("n_overrides", c_size_t),
        ("ignored_keys", POINTER(c_char_p)),
        ("n_ignored_keys", c_size_t),
        ("gpu_layers", c_int32),
    ]


class ModelInfo(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("name", c_char_p),
        ("architecture", c_char_p),
        ("backend", c_char_p),
        ("head", c_char_p),
        ("gpu", c_char_p),
        ("n_params", c_uint64),
        ("file_bytes", c_uint64),
        ("bytes_per_token", c_uint64),
        ("kv_bytes_per_token", c_uint64),
        ("n_vocab", c_int32),
        ("n_ctx", c_int32),
        ("n_layers", c_int32),
        ("n_threads", c_int32),
        ("has_tokenizer", c_int32),
        ("has_chat_template", c_int32),
    ]


class ChatMessage(Structure):
    _fields_ = [("role", c_char_p), ("content", c_char_p)]


class ChatOptions(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("add_generation_prompt", c_int32),
        ("think", c_int32),
        ("continue_final_message", c_int32),
        ("parse_special", c_int32),
    ]


class SessionOptions(SizedStruct):
    _fields_ = [("size", c_size_t), ("n_ctx", c_int32), ("kv_type", c_int32), ("draft", c_void_p), ("draft_block", c_int32)]


class TurnOptions(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("tools", c_char_p),
        ("tool_name", c_char_p),
        ("tool_choice", c_int32),
        ("one_call", c_int32),
        ("think", c_int32),
        ("parse_special", c_int32),
    ]


class LogitBias(ctypes.Structure):
    _fields_ = [("token", c_int32), ("bias", c_float)]


class GenerateOptions(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("stop", POINTER(c_char_p)),
        ("n_stop", c_size_t),
        ("seed", c_uint64),
        ("max_tokens", c_int32),
        ("ignore_eos", c_int32),
        ("temperature", c_float),
        ("top_p", c_float),
        ("min_p", c_float),
        ("repeat_penalty", c_float),
        ("top_k", c_int32),
        ("repeat_last_n", c_int32),
        ("presence_penalty", c_float),
        ("frequency_penalty", c_float),
        ("logit_bias", POINTER(LogitBias)),
        ("n_logit_bias", c_size_t),
        ("heal_prompt", c_int32),
        ("speculate", c_int32),
        ("keep_past_context", c_int32),
        ("reserved", c_int32),
        ("grammar", c_void_p),
        ("turn", c_void_p),
        ("min_tokens", c_int32),
        ("mirostat", c_int32),
        ("mirostat_tau", c_float),
        ("mirostat_eta", c_float),
        ("typical_p", c_float),
        ("top_n_sigma", c_float),
        ("xtc_probability", c_float),
        ("xtc_threshold", c_float),
        ("dry_multiplier", c_float),
        ("dry_base", c_float),
        ("dry_allowed_length", c_int32),
        ("dry_penalty_last_n", c_int32),
        ("dry_sequence_breakers", POINTER(c_char_p)),
        ("n_dry_sequence_breakers", c_int64),
        ("samplers", c_char_p),
    ]


class Stats(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("finish", c_int32),
        ("n_prompt", c_int32),
        ("n_reused", c_int32),
        ("n_generated", c_int32),
        ("prompt_seconds", c_double),
        ("decode_seconds", c_double),
        ("load_seconds", c_double),
        ("n_guessed", c_int32),
        ("n_guessed_right", c_int32),
    ]


class Step(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_char_p),
        ("n_bytes", c_size_t),
        ("token", c_int32),
        ("finish", c_int32),
    ]


class PullOptions(SizedStruct):
    _fields_ = [
        ("size", c_size_t),
        ("cache_dir", c_char_p),
        ("on_progress", OnDownload),
        ("user", c_void_p),
        ("offline", c_int32),
        ("prefer_cached", c_int32),
        ("unchecked", c_int32),
        ("reserved", c_int32),
    ]


_HANDLE = c_void_p
_OUT = POINTER(c_void_p)
_TOKENS = POINTER(c_int32)
_SIZE = POINTER(c_size_t)

# name: (result, arguments). Functions whose last argument is an error give a code.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "tern_version": (c_char_p, []),
    "tern_free": (None, [c_void_p]),
    "tern_error_message": (c_char_p, [_HANDLE]),
    "tern_error_free": (None, [_HANDLE]),
    "tern_load_options_init": (None, [POINTER(LoadOptions), c_size_t]),
    "tern_engine_load": (c_int, [POINTER(LoadOptions), _OUT, _OUT]),
    "tern_engine_free": (None, [_HANDLE]),
    "tern_engine_info": (c_int, [_HANDLE, POINTER(ModelInfo), _OUT]),
    "tern_default_model_path": (c_int, [_OUT, _OUT]),
    "tern_tokenize": (c_int, [_HANDLE, c_char_p, c_size_t, c_uint32, _OUT, _SIZE, _OUT]),
    "tern_detokenize": (c_int, [_HANDLE, _TOKENS, c_size_t, c_uint32, _OUT, _SIZE, _OUT]),
    "tern_find_token": (c_int32, [_HANDLE, c_char_p]),
    "tern_bos_token": (c_int32, [_HANDLE]),
    "tern_stop_tokens": (_TOKENS, [_HANDLE, _SIZE]),
    "tern_chat_options_init": (None, [POINTER(ChatOptions), c_size_t]),
    "tern_render_chat": (
        c_int,
        [_HANDLE, POINTER(ChatMessage), c_size_t, POINTER(ChatOptions), _OUT, _SIZE, _OUT],
    ),
    "tern_tokenize_chat": (
        c_int,
        [_HANDLE, POINTER(ChatMessage), c_size_t, POINTER(ChatOptions), _OUT, _SIZE, _OUT],
    ),
    "tern_session_options_init": (None, [POINTER(SessionOptions), c_size_t]),
    "tern_session_new": (c_int, [_HANDLE, POINTER(SessionOptions), _OUT, _OUT]),
    "tern_session_free": (None, [_HANDLE]),
    "tern_session_n_ctx": (c_int32, [_HANDLE]),
    "tern_session_n_used": (c_int32, [_HANDLE]),
    "tern_session_reset": (None, [_HANDLE]),
    "tern_session_save_cache": (c_int, [_HANDLE, c_char_p, _OUT]),
    "tern_session_load_cache": (c_int, [_HANDLE, c_char_p, POINTER(c_bool), _OUT]),
    "tern_session_logits": (
        c_int,
        [_HANDLE, _TOKENS, c_size_t, c_size_t, POINTER(c_float), c_size_t, _OUT],
    ),
    "tern_grammar_new": (c_int, [c_int32, c_char_p, c_size_t, _OUT, _OUT]),
    "tern_grammar_free": (None, [_HANDLE]),
    "tern_turn_options_init": (None, [POINTER(TurnOptions), c_size_t]),
    "tern_turn_new": (c_int, [_HANDLE, c_char_p, c_size_t, POINTER(TurnOptions), _OUT, _OUT]),
    "tern_turn_free": (None, [_HANDLE]),
    "tern_turn_prompt": (c_char_p, [_HANDLE, _SIZE]),
    "tern_turn_tokens": (_TOKENS, [_HANDLE, _SIZE]),
    "tern_turn_read": (c_int, [_HANDLE, c_char_p, c_size_t, c_int32, _OUT, _SIZE, _OUT]),
    "tern_generate_options_init": (None, [POINTER(GenerateOptions), c_size_t]),
    "tern_generation_begin": (c_int, [_HANDLE, _TOKENS, c_size_t, POINTER(GenerateOptions), _OUT, _OUT]),
    "tern_generation_next": (c_int, [_HANDLE, POINTER(Step), _OUT]),
    "tern_generation_cancel": (None, [_HANDLE]),
    "tern_generation_stats": (c_int, [_HANDLE, POINTER(Stats), _OUT]),
    "tern_generation_free": (None, [_HANDLE]),
    "tern_pull_options_init": (None, [POINTER(PullOptions), c_size_t]),
    "tern_pull": (c_int, [c_char_p, POINTER(PullOptions), _OUT, _OUT]),
}


def _path() -> str:
    """$TERN_LIBRARY; else the library in this package; else the system's."""
    named = os.environ.get("TERN_LIBRARY")
    if named:
        return named
    name = "libtern.dll" if sys.platform == "win32" else f"libtern.so.{VERSION}"
    packed = Path(__file__).parent / "lib" / name
    if packed.exists():
        return str(packed)
    return ctypes.util.find_library("tern") or name


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        is_newer = "GLIBC" in str(e)  # the toolchain of ./setup has a C library of its own
        remedy = (
            "start Python with tern-python, which is installed beside tern"
            if is_newer
            else f"install Tern, or set TERN_LIBRARY to the path of its {Path(path).name}"
        )
        raise ImportError(f"{e}; {remedy}") from e
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no {name}: it is not Tern {VERSION}")
        function.restype = result
        function.argtypes = arguments
    version: str = library.tern_version().decode()
    if not version.startswith(VERSION + "."):
        raise ImportError(f"{path} is Tern {version}, but this package is for {VERSION}")
    return library


lib = _load()
version: str = lib.tern_version().decode()


def sized(struct: type[Any]) -> Any:
    """A struct that is to be filled in."""
    made = struct()
    made.size = ctypes.sizeof(struct)
    return made


def initialized(struct: type[Any], init: Callable[..., None]) -> Any:
    """Options with their defaults."""
    made = struct()
    init(ctypes.byref(made), ctypes.sizeof(struct))
    return made
