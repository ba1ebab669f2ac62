"""GGUF v2 and v3 in plain Python: enough to write and read the BitNet models of the golden tests.

Written from the format description (docs/formats.md), apart from the C++ reader and from the exporter in training/, so
that a mistake in one of them shows as a difference.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"GGUF"
I2S_BLOCK = 128  # values
I2S_TAIL = 32  # bytes after the last block: the f32 scale, then 28 bytes of padding


class Kind(IntEnum):
    """Metadata value types that these files use."""

    U32 = 4
    I32 = 5
    F32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    U64 = 10


class Type(IntEnum):
    """Tensor types that these files use."""

    F32 = 0
    F16 = 1
    I2_S = 36


SCALAR_FORMAT = {Kind.U32: "<I", Kind.I32: "<i", Kind.F32: "<f", Kind.BOOL: "<?", Kind.U64: "<Q"}


@dataclass(frozen=True)
class Value:
    """A metadata value; `kind` is that of the elements where `data` is a list."""

    kind: Kind
    data: Any


@dataclass(frozen=True)
class Tensor:
    """A tensor's bytes as in the file. `shape` has rows first; the file stores it reversed."""

    type: Type
    shape: tuple[int, ...]
    data: bytes

    def to_float(self) -> np.ndarray:
        """Values of an F32 or F16 tensor, float32, `shape`."""
        dtype = {Type.F32: "<f4", Type.F16: "<f2"}[self.type]
        return np.frombuffer(self.data, dtype).reshape(self.shape).astype(np.float32)


def f32_tensor(values: np.ndarray) -> Tensor:
    return Tensor(Type.F32, values.shape, values.astype("<f4").tobytes())


def f16_tensor(values: np.ndarray) -> Tensor:
    return Tensor(Type.F16, values.shape, values.astype("<f2").tobytes())


def i2s_tensor(codes: np.ndarray, scale: float) -> Tensor:
    """Packs codes −1, 0, +1 [rows, cols], which blocks of 128 take in their order, across rows: value p of a block goes to
    byte p % 32, bits from 6 − 2 · (p // 32) up."""
    rows, cols = codes.shape
    if rows * cols % I2S_BLOCK:
        raise ValueError(f"{rows} × {cols} values are not whole blocks of {I2S_BLOCK}")
    planes = (codes.reshape(-1, 4, 32) + 1).astype(np.uint8)
    packed = planes[:, 0] << 6 | planes[:, 1] << 4 | planes[:, 2] << 2 | planes[:, 3]
    return Tensor(Type.I2_S, (rows, cols), packed.tobytes() + struct.pack("<f28x", scale))


def i2s_values(tensor: Tensor) -> tuple[np.ndarray, float]:
    """The codes, int8 [rows, cols], and the scale of an I2_S tensor."""
    rows, cols = tensor.shape
    n_packed = rows * cols // 4
    packed = np.frombuffer(tensor.data, np.uint8, n_packed).reshape(-1, 1, 32)
    shifts = np.array([6, 4, 2, 0], np.uint8).reshape(1, 4, 1)
    codes = (packed >> shifts & 3).astype(np.int8) - 1
    return codes.reshape(rows, cols), struct.unpack_from("<f", tensor.data, n_packed)[0]


def n_bytes(type_: Type, shape: tuple[int, ...]) -> int:
    n = int(np.prod(shape))
    return {Type.F32: 4 * n, Type.F16: 2 * n, Type.I2_S: n // 4 + I2S_TAIL}[type_]


def write_gguf(
    path: Path, metadata: dict[str, Value], tensors: dict[str, Tensor], version: int = 3, alignment: int = 32
) -> None:
    """Writes a file whose tensors follow each other in order, each padded to `alignment`."""
    header = bytearray(MAGIC + struct.pack("<IQQ", version, len(tensors), len(metadata)))
    for key, value in metadata.items():
        header += _string(key) + _value(value)
    body = bytearray()
    for name, tensor in tensors.items():
        dims = tensor.shape[::-1]
        header += _string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, tensor.type, len(body))
        body += tensor.data + bytes(-len(tensor.data) % alignment)
    header += bytes(-len(header) % alignment)
    path.write_bytes(header + body)


def read_gguf(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Metadata (plain Python values) and tensors of a file that holds only the types above."""
    reader = _Reader(path.read_bytes())
    if reader.take(4) != MAGIC:
        raise ValueError(f"{path}: not a GGUF file")
    version, n_tensors, n_values = reader.unpack("<IQQ")
    if version not in (2, 3):
        raise ValueError(f"{path}: GGUF version {version} is not 2 or 3")
    metadata = {reader.string(): reader.value() for _ in range(n_values)}
    infos = [reader.tensor_info() for _ in range(n_tensors)]
    alignment = metadata.get("general.alignment", 32)
    start = -(-reader.at // alignment) * alignment
    tensors = {}
    for name, type_, shape, offset in infos:
        begin = start + offset
        tensors[name] = Tensor(type_, shape, reader.data[begin : begin + n_bytes(type_, shape)])
    return metadata, tensors


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Value) -> bytes:
    if isinstance(value.data, list):
        elements = b"".join(_scalar(value.kind, x) for x in value.data)
        return struct.pack("<IIQ", Kind.ARRAY, value.kind, len(value.data)) + elements
    return struct.pack("<I", value.kind) + _scalar(value.kind, value.data)


def _scalar(kind: Kind, data: Any) -> bytes:
    return _string(data) if kind == Kind.STRING else struct.pack(SCALAR_FORMAT[kind], data)


class _Reader:
    """A position in the bytes of a file."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, fmt: str) -> tuple[Any, ...]:
        return struct.unpack(fmt, self.take(struct.calcsize(fmt)))

    def string(self) -> str:
        return self.take(self.unpack("<Q")[0]).decode()

    def scalar(self, kind: Kind) -> Any:
        return self.string() if kind == Kind.STRING else self.unpack(SCALAR_FORMAT[kind])[0]

    def value(self) -> Any:
        kind = Kind(self.unpack("<I")[0])
        if kind != Kind.ARRAY:
            return self.scalar(kind)
        element, count = self.unpack("<IQ")
        return [self.scalar(Kind(element)) for _ in range(count)]

    def tensor_info(self) -> tuple[str, Type, tuple[int, ...], int]:
        name = self.string()
        (n_dims,) = self.unpack("<I")
        dims = self.unpack(f"<{n_dims}Q")
        type_, offset = self.unpack("<IQ")
        return name, Type(type_), dims[::-1], offset
