"""Failures of the library as exceptions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ._library import lib


class Code(IntEnum):
    """What kind of failure it is, named by who is at fault."""

    NOT_FOUND = 1
    CORRUPTION = 2
    NOT_SUPPORTED = 3
    INVALID_ARGUMENT = 4
    OUT_OF_MEMORY = 5
    DEVICE_LOST = 6
    IO = 7
    INTERRUPTED = 8
    INTERNAL = 9


class Error(Exception):
    """A failure: str() is one line that says what, where and what to do; `code` is its kind."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


def check(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last argument takes an error, and raises it."""
    error = ctypes.c_void_p()
    code = function(*arguments, ctypes.byref(error))
    if code == 0:
        return
    message: str = lib.tern_error_message(error).decode(errors="replace")
    lib.tern_error_free(error)
    raise Error(Code(code), message)
