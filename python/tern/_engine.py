"""Engines, sessions and replies: handles of the library as objects."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, Unpack

from . import _library as c
from ._errors import Error, check
from ._library import lib
from ._types import (
    BACKENDS,
    HEADS,
    KV_TYPES,
    PREFERENCES,
    Backend,
    Finish,
    GenerateOptions,
    Head,
    KvType,
    Message,
    ModelInfo,
    OnProgress,
    Prefer,
    Progress,
    Prompt,
    Stats,
)

_Self = TypeVar("_Self", bound="_Handle")


class _Handle:
    """Something of the library's, freed by close(), at the end of `with`, or with the object."""

    _pointer: ctypes.c_void_p | None = None

    def __init__(self, pointer: ctypes.c_void_p, free: Any) -> None:
        self._pointer = pointer
        self._free = free

    @property
    def _handle(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise ValueError(f"this {type(self).__name__} is closed")
        return self._pointer

    def close(self) -> None:
        if self._pointer is not None:
            pointer, self._pointer = self._pointer, None
            self._free(pointer)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class _Watch:
    """Calls on_progress from a callback of C, through which no exception may go, and keeps what it raised."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self.raised: BaseException | None = None

    def __call__(self, _user: Any, what: bytes, done: int, total: int, unit: bytes) -> bool:
        if self._on_progress is None or self.raised is not None:
            return self.raised is None
        try:
            self._on_progress(Progress(what.decode(errors="replace"), done, total, unit.decode(errors="replace")))
        except BaseException as e:  # raised again as soon as C has returned
            self.raised = e
        return self.raised is None


def _bytes(text: str | os.PathLike[str] | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def _taken_text(text: ctypes.c_void_p, n_bytes: int | None = None) -> bytes:
    made = ctypes.string_at(text) if n_bytes is None else ctypes.string_at(text, n_bytes)
    lib.tern_free(text)
    return made


def _token_array(tokens: Sequence[int]) -> Any:
    return (ctypes.c_int32 * len(tokens))(*tokens)


def _text_array(texts: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def _override(key: str, value: bool | int | float | str) -> str:
    """KEY=TYPE:VALUE"""
    if isinstance(value, bool):
        return f"{key}=bool:{str(value).lower()}"
    kinds = {int: "int", float: "float", str: "str"}
    if type(value) not in kinds:
        raise TypeError(f"the value of {key!r} is {value!r}, but can be a bool, an int, a float or a str")
    return f"{key}={kinds[type(value)]}:{value}"


def _chosen(name: str, value: str, choices: dict[str, int]) -> int:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}, but can be {', '.join(choices)}")
    return choices[value]


def _generate_options(given: GenerateOptions) -> Any:
    options = c.initialized(c.GenerateOptions, lib.tern_generate_options_init)
    known = GenerateOptions.__annotations__
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{name!r} is no option of a reply; there are {', '.join(sorted(known))}")
        if name == "stop":
            options.stop = _text_array(given["stop"])
            options.n_stop = len(given["stop"])
        elif name == "dry_sequence_breakers":
            options.dry_sequence_breakers = _text_array(given["dry_sequence_breakers"])
            options.n_dry_sequence_breakers = len(given["dry_sequence_breakers"])
        elif name == "samplers":
            options.samplers = ";".join(given["samplers"]).encode()
        elif name == "logit_bias":
            biases = given["logit_bias"].items()
            options.logit_bias = (c.LogitBias * len(biases))(*biases)
            options.n_logit_bias = len(biases)
        elif name == "grammar":
            options.grammar = given["grammar"]._handle
        else:
            setattr(options, name, value)
    return options


class Grammar(_Handle):
    """What a reply may say, for the option `grammar`. May serve any number of replies; make it once.

    What a reply cannot be held to is an Error that names the keyword and its place.
    """

    def __init__(self, kind: int, text: str) -> None:
        made, data = ctypes.c_void_p(), text.encode()
        check(lib.tern_grammar_new, kind, data, len(data), ctypes.byref(made))
        super().__init__(made, lib.tern_grammar_free)

    @classmethod
    def json_schema(cls, schema: Mapping[str, Any] | bool | str) -> Grammar:
        """JSON that is valid by a schema, given as a value or as text."""
        return cls(c.GRAMMAR_JSON_SCHEMA, schema if isinstance(schema, str) else json.dumps(schema))

    @classmethod
    def json_object(cls) -> Grammar:
        """Any JSON object."""
        return cls(c.GRAMMAR_JSON_OBJECT, "")

    @classmethod
    def gbnf(cls, text: str) -> Grammar:
        """A grammar in llama.cpp's notation."""
        return cls(c.GRAMMAR_GBNF, text)

    @classmethod
    def regex(cls, pattern: str) -> Grammar:
        """Texts that match a regular expression, from the first to the last character."""
        return cls(c.GRAMMAR_REGEX, pattern)


class _Turn(_Handle):
    """A conversation with tools that the model is to reply to."""

    def __init__(
        self,
        engine: Engine,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        tool_choice: str,
        parallel_tool_calls: bool,
        think: bool | None,
        parse_special: bool,
    ) -> None:
        options = c.initialized(c.TurnOptions, lib.tern_turn_options_init)
        options.tools = json.dumps(list(tools)).encode()
        choices = {"auto": c.TOOLS_AUTO, "none": c.TOOLS_NONE, "required": c.TOOLS_REQUIRED}
        options.tool_choice = choices.get(tool_choice, c.TOOLS_REQUIRED)
        options.tool_name = None if tool_choice in choices else tool_choice.encode()
        options.one_call = not parallel_tool_calls
        options.think = -1 if think is None else int(think)
        options.parse_special = parse_special
        listed = [{"role": m[0], "content": m[1]} if isinstance(m, tuple) else dict(m) for m in messages]
        data = json.dumps(listed).encode()
        made = ctypes.c_void_p()
        check(lib.tern_turn_new, engine._handle, data, len(data), ctypes.byref(options), ctypes.byref(made))
        super().__init__(made, lib.tern_turn_free)

    @property
    def tokens(self) -> list[int]:
        n = ctypes.c_size_t()
        tokens = lib.tern_turn_tokens(self._handle, ctypes.byref(n))
        return list(tokens[: n.value])

    def read(self, text: str, finish: int) -> dict[str, Any]:
        data, made, n = text.encode(), ctypes.c_void_p(), ctypes.c_size_t()
        check(lib.tern_turn_read, self._handle, data, len(data), finish, ctypes.byref(made), ctypes.byref(n))
        message: dict[str, Any] = json.loads(_taken_text(made, n.value))
        return message


class Generation(_Handle, Iterator[str]):
    """A reply under way: an iterator of pieces of text, whole characters each.

    A session has one at a time; beginning another cancels it. One thread at a time may iterate; cancel() may be called
    on any.
    """

    def __init__(self, pointer: ctypes.c_void_p, turn: _Turn | None = None) -> None:
        super().__init__(pointer, lib.tern_generation_free)
        self._turn = turn
        self._text = ""
        self.tokens: list[int] = []
        self.finish: Finish | None = None  # once it is over

    def __next__(self) -> str:
        while self.finish is None:
            step = c.sized(c.Step)
            check(lib.tern_generation_next, self._handle, ctypes.byref(step))
            if step.token >= 0:
                self.tokens.append(step.token)
            if step.finish != 0:
                self.finish = Finish(step.finish)
            if step.n_bytes > 0:
                piece: bytes = step.text
                text = piece.decode(errors="replace")
                self._text += text
                return text
        raise StopIteration

    @property
    def message(self) -> dict[str, Any]:
        """The reply so far as an assistant's message, for the next turn of the conversation.

        In a chat with tools it may have "tool_calls" and "reasoning_content", and no content. A call that was cut off
        is content.
        """
        if self._turn is None:
            return {"role": "assistant", "content": self._text}
        return self._turn.read(self._text, int(self.finish or 0))

    def cancel(self) -> None:
        """Ends it after the step that is running; `finish` is then CANCELLED."""
        lib.tern_generation_cancel(self._handle)

    @property
    def stats(self) -> Stats:
        stats = c.sized(c.Stats)
        check(lib.tern_generation_stats, self._handle, ctypes.byref(stats))
        return Stats(**{field.name: getattr(stats, field.name) for field in dataclasses.fields(Stats)})


class Session(_Handle):
    """One conversation's context. Made by Engine.session()."""

    def __init__(self, engine: Engine, pointer: ctypes.c_void_p) -> None:
        super().__init__(pointer, lib.tern_session_free)
        self.engine = engine

    @property
    def n_ctx(self) -> int:
        return int(lib.tern_session_n_ctx(self._handle))

    @property
    def n_used(self) -> int:
        """Tokens in the context."""
        return int(lib.tern_session_n_used(self._handle))

    def reset(self) -> None:
        """Forgets everything."""
        lib.tern_session_reset(self._handle)

    def save_cache(self, path: str | os.PathLike[str]) -> None:
        """Keeps what has been read and written in a file, for load_cache(). Without tokens none is written."""
        check(lib.tern_session_save_cache, self._handle, _bytes(path))

    def load_cache(self, path: str | os.PathLike[str]) -> bool:
        """Takes it from there: the next prompt that begins so is not computed again. False where there is no such file.

        What was in the session is forgotten. A file of another model, or of other settings, is an Error.
        """
        loaded = ctypes.c_bool()
        check(lib.tern_session_load_cache, self._handle, _bytes(path), ctypes.byref(loaded))
        return loaded.value

    def generate(self, prompt: Prompt, **options: Unpack[GenerateOptions]) -> Generation:
        """Continues a text, or tokens. What the session has already seen of it is not computed again.

        A text may end inside a word, which the reply then begins with the rest of, unless heal_prompt is False.
        """
        tokens = self.engine.tokenize(prompt) if isinstance(prompt, str) else prompt
        if isinstance(prompt, str):
            options.setdefault("heal_prompt", True)
        return self._begin(tokens, _generate_options(options))

    def _begin(self, tokens: Sequence[int], wanted: Any, turn: _Turn | None = None) -> Generation:
        wanted.turn = None if turn is None else turn._handle
        made = ctypes.c_void_p()
        check(
            lib.tern_generation_begin,
            self._handle,
            _token_array(tokens),
            len(tokens),
            ctypes.byref(wanted),
            ctypes.byref(made),
        )
        return Generation(made, turn)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        think: bool | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: str = "auto",
        parallel_tool_calls: bool = True,
        parse_special: bool = False,
        **options: Unpack[GenerateOptions],
    ) -> Generation:
        """The model's reply to a conversation, given as a whole each time.

        `tools` are functions that it may call, as in OpenAI's interface, and the reply's `message` has the calls. They
        are held to the tools' parameters. `tool_choice` is "auto", "none", "required" or a function's name, with the
        latter two the reply is a call. `parse_special`: messages may have control tokens, so trust all of them.
        """
        has_tools = bool(tools) or tool_choice != "auto"
        if not has_tools and not any(isinstance(m, Mapping) and m.get("role") == "tool" for m in messages):
            tokens = self.engine.tokenize_chat(messages, think=think, parse_special=parse_special)
            return self.generate(tokens, **options)
        turn = _Turn(self.engine, messages, tools, tool_choice, parallel_tool_calls, think, parse_special)
        return self._begin(turn.tokens, _generate_options(options), turn)

    def logits(self, tokens: Sequence[int], *, first: int = 0) -> memoryview:
        """The logits after tokens[first], tokens[first + 1], … as floats of shape (rows, n_vocab).

        numpy.asarray(result) shares its memory. Forgets what was in the session.
        """
        n_vocab = self.engine.info.n_vocab
        n_rows = len(tokens) - first
        if first < 0 or n_rows <= 0:
            raise ValueError(f"logits from token {first} on, of {len(tokens)} tokens")
        memory = bytearray(n_rows * n_vocab * ctypes.sizeof(ctypes.c_float))
        floats = (ctypes.c_float * (n_rows * n_vocab)).from_buffer(memory)
        check(
            lib.tern_session_logits, self._handle, _token_array(tokens), len(tokens), first, floats, n_rows * n_vocab
        )
        return memoryview(memory).cast("f", shape=[n_rows, n_vocab])


class Engine(_Handle):
    """A model, ready to run; without a path, the one that comes with Tern.

    May be used on any thread: calls on one engine, its sessions and replies take turns.

    `overrides` are metadata values to read instead of a GGUF file's, by key, and `ignored_keys` are metadata keys that
    Tern does not know and would refuse. A key that is known to change what is computed cannot be ignored.

    With `gpu_layers`, that many layers, the last ones, are on a GPU if there is one, and the others on the CPU. Without,
    all are on the GPU, or as many as its memory holds.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        backend: Backend = "auto",
        prefer: Prefer = "speed",
        threads: int = 0,
        head: Head = "auto",
        max_batch: int = 0,
        pin_threads: bool = False,
        chat_template: str | None = None,
        overrides: Mapping[str, bool | int | float | str] | None = None,
        ignored_keys: Sequence[str] = (),
        gpu_layers: int = 0,
        gpu_adapter: str | None = None,
        gpu_cache_dir: str | os.PathLike[str] | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        options = c.initialized(c.LoadOptions, lib.tern_load_options_init)
        options.model_path = _bytes(model)
        options.backend = _chosen("backend", backend, BACKENDS)
        options.prefer = _chosen("prefer", prefer, PREFERENCES)
        options.head = _chosen("head", head, HEADS)
        options.n_threads = threads
        options.max_batch = max_batch
        options.pin_threads = pin_threads
        options.chat_template = None if chat_template is None else chat_template.encode()
        options.overrides = _text_array([_override(key, value) for key, value in (overrides or {}).items()])
        options.n_overrides = len(overrides or {})
        options.ignored_keys = _text_array(ignored_keys)
        options.n_ignored_keys = len(ignored_keys)
        options.gpu_layers = gpu_layers
        options.gpu_adapter = None if gpu_adapter is None else gpu_adapter.encode()
        options.gpu_cache_dir = _bytes(gpu_cache_dir)
        watch = _Watch(on_progress)
        if on_progress is not None:
            options.on_progress = c.OnProgress(lambda *arguments: void(watch(*arguments)))
        made = ctypes.c_void_p()
        check(lib.tern_engine_load, ctypes.byref(options), ctypes.byref(made))
        super().__init__(made, lib.tern_engine_free)
        if watch.raised is not None:
            self.close()
            raise watch.raised
        self.info: ModelInfo = self._read_info()

    def _read_info(self) -> ModelInfo:
        info = c.sized(c.ModelInfo)
        check(lib.tern_engine_info, self._handle, ctypes.byref(info))
        values: dict[str, Any] = {}
        for field in dataclasses.fields(ModelInfo):
            value = getattr(info, field.name)
            if isinstance(value, bytes):
                value = value.decode(errors="replace")
            values[field.name] = bool(value) if field.name.startswith("has_") else value
        return ModelInfo(**values)

    def session(
        self, *, n_ctx: int = 0, kv_type: KvType = "f16", draft: Engine | None = None, draft_block: bool = False
    ) -> Session:
        """A context of so many tokens; 0: as many as the model was trained for.

        `draft` is a smaller model with the same tokenizer, whose draft tokens the option `speculate` of a reply
        checks. With `draft_block` the model's own layer for them proposes them instead; tern.Error if it has none.
        """
        options = c.initialized(c.SessionOptions, lib.tern_session_options_init)
        options.n_ctx = n_ctx
        options.kv_type = _chosen("kv_type", kv_type, KV_TYPES)
        options.draft = None if draft is None else draft._handle
        options.draft_block = draft_block
        made = ctypes.c_void_p()
        check(lib.tern_session_new, self._handle, ctypes.byref(options), ctypes.byref(made))
        return Session(self, made)

    def generate(self, prompt: Prompt, **options: Unpack[GenerateOptions]) -> Generation:
        """Continues a text or tokens, in a session of its own."""
        with self.session() as session:  # the generation keeps what it needs of it
            return session.generate(prompt, **options)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        think: bool | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: str = "auto",
        parallel_tool_calls: bool = True,
        parse_special: bool = False,
        **options: Unpack[GenerateOptions],
    ) -> Generation:
        """The model's reply to a conversation, in a session of its own; see Session.chat()."""
        with self.session() as session:
            return session.chat(
                messages,
                think=think,
                tools=tools,
                tool_choice=tool_choice,
                parallel_tool_calls=parallel_tool_calls,
                parse_special=parse_special,
                **options,
            )

    def tokenize(self, text: str | bytes, *, add_bos: bool = True, special: bool = False) -> list[int]:
        """`special`: control tokens such as <|eot_id|> are recognized in the text."""
        data = text.encode() if isinstance(text, str) else text
        flags = (c.ADD_BOS if add_bos else 0) | (c.SPECIAL_TOKENS if special else 0)
        made, n = ctypes.c_void_p(), ctypes.c_size_t()
        check(lib.tern_tokenize, self._handle, data, len(data), flags, ctypes.byref(made), ctypes.byref(n))
        return _taken_tokens(made, n.value)

    def detokenize_bytes(self, tokens: Sequence[int], *, special: bool = False) -> bytes:
        """The bytes of the tokens, which may end inside a character; `special`: control tokens are spelled out."""
        flags = c.SPECIAL_TOKENS if special else 0
        made, n = ctypes.c_void_p(), ctypes.c_size_t()
        check(
            lib.tern_detokenize,
            self._handle,
            _token_array(tokens),
            len(tokens),
            flags,
            ctypes.byref(made),
            ctypes.byref(n),
        )
        return _taken_text(made, n.value)

    def detokenize(self, tokens: Sequence[int], *, special: bool = False) -> str:
        """The same as text; bytes that are no character become U+FFFD."""
        return self.detokenize_bytes(tokens, special=special).decode(errors="replace")

    def find_token(self, text: str) -> int | None:
        """The token that is spelled exactly so."""
        token = int(lib.tern_find_token(self._handle, text.encode()))
        return token if token >= 0 else None

    @property
    def bos_token(self) -> int | None:
        token = int(lib.tern_bos_token(self._handle))
        return token if token >= 0 else None

    @property
    def stop_tokens(self) -> list[int]:
        """Those that end a reply."""
        n = ctypes.c_size_t()
        tokens = lib.tern_stop_tokens(self._handle, ctypes.byref(n))
        return list(tokens[: n.value]) if n.value else []

    def render_chat(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        think: bool | None = None,
        continue_final_message: bool = False,
    ) -> str:
        """The conversation in the model's own template, for display.

        continue_final_message: the last message, the assistant's, is the beginning of the reply.
        """
        options = _chat_options(add_generation_prompt, think, continue_final_message, parse_special=False)
        made, n = ctypes.c_void_p(), ctypes.c_size_t()
        check(
            lib.tern_render_chat,
            self._handle,
            *_message_array(messages),
            ctypes.byref(options),
            ctypes.byref(made),
            ctypes.byref(n),
        )
        return _taken_text(made, n.value).decode(errors="replace")

    def tokenize_chat(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool = True,
        think: bool | None = None,
        continue_final_message: bool = False,
        parse_special: bool = False,
    ) -> list[int]:
        """The same as tokens; in messages control tokens are text, unless parse_special."""
        options = _chat_options(add_generation_prompt, think, continue_final_message, parse_special)
        made, n = ctypes.c_void_p(), ctypes.c_size_t()
        check(
            lib.tern_tokenize_chat,
            self._handle,
            *_message_array(messages),
            ctypes.byref(options),
            ctypes.byref(made),
            ctypes.byref(n),
        )
        return _taken_tokens(made, n.value)


def _message_array(messages: Sequence[Message]) -> tuple[Any, int]:
    pairs = [m if isinstance(m, tuple) else (m["role"], m["content"]) for m in messages]
    texts = [c.ChatMessage(role.encode(), content.encode()) for role, content in pairs]
    return (c.ChatMessage * len(texts))(*texts), len(pairs)


def _chat_options(add_generation_prompt: bool, think: bool | None, continues: bool, parse_special: bool) -> Any:
    options = c.initialized(c.ChatOptions, lib.tern_chat_options_init)
    options.add_generation_prompt = add_generation_prompt
    options.think = -1 if think is None else int(think)
    options.continue_final_message = continues
    options.parse_special = parse_special
    return options


def _taken_tokens(made: ctypes.c_void_p, n: int) -> list[int]:
    tokens = ctypes.cast(made, ctypes.POINTER(ctypes.c_int32))[:n]
    lib.tern_free(made)
    return list(tokens)


def void(_result: object) -> None:
    """For callbacks that give nothing."""


def default_model_path() -> str:
    """Of the model that comes with Tern."""
    made = ctypes.c_void_p()
    check(lib.tern_default_model_path, ctypes.byref(made))
    return os.fsdecode(_taken_text(made))


def pull(
    model: str,
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    offline: bool = False,
    prefer_cached: bool = False,
    unchecked: bool = False,
    on_progress: OnProgress | None = None,
) -> str:
    """Makes sure that a model is on this machine; gives its path.

    The model is one of Hugging Face ("OWNER/NAME", "OWNER/NAME:FILE") or of `tern models` ("bonsai-1.7b"). What Tern
    cannot run is refused before it is downloaded, unless unchecked.

    An exception in on_progress, KeyboardInterrupt included, ends the download, which a later call continues.
    """
    options = c.initialized(c.PullOptions, lib.tern_pull_options_init)
    options.cache_dir = _bytes(cache_dir)
    options.offline = offline
    options.prefer_cached = prefer_cached
    options.unchecked = unchecked
    watch = _Watch(on_progress)
    options.on_progress = c.OnDownload(watch)
    made = ctypes.c_void_p()
    try:
        check(lib.tern_pull, model.encode(), ctypes.byref(options), ctypes.byref(made))
    except Error:
        if watch.raised is not None:
            raise watch.raised from None
        raise
    return os.fsdecode(_taken_text(made))
