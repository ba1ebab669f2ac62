#!/usr/bin/env python3
"""Sets metadata of a GGUF file: a key that is there gets the new value, another is added at the end.

    ./set_metadata.py model.gguf general.sampling.temp=f32:0.5 general.sampling.min_p=f32:0.1

Tensors stay as they are, byte for byte: only the header before them is written anew. Types are those of the format: u32,
i32, f32, bool (true, false) and str. Needs nothing but Python.
"""

import argparse
import os
import struct
from dataclasses import dataclass
from pathlib import Path

DEFAULT_ALIGNMENT = 32
STRING, ARRAY = 8, 9
KINDS = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?"), "str": (STRING, "")}
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a scalar, by its kind


@dataclass(frozen=True)
class Entry:
    """A metadata entry: its key, and all of its bytes, the key's included."""

    key: str
    data: bytes


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self) -> str:
        size = self.take("<Q")
        self.at += size
        return self.data[self.at - size : self.at].decode("utf-8", errors="surrogateescape")

    def skip_value(self, kind: int) -> None:
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            element, count = self.take("<I"), self.take("<Q")
            if element in SIZES:
                self.at += SIZES[element] * count
            else:
                for _ in range(count):
                    self.skip_value(element)
        else:
            self.at += SIZES[kind]

    def entry(self) -> Entry:
        begin = self.at
        key = self.text()
        self.skip_value(self.take("<I"))
        return Entry(key, self.data[begin : self.at])

    def skip_tensor(self) -> None:
        self.text()
        n_dimensions = self.take("<I")
        self.at += 8 * n_dimensions + 4 + 8  # dimensions, type, offset


def packed(setting: str) -> Entry:
    """KEY=TYPE:VALUE as an entry."""
    key, _, typed = setting.partition("=")
    name, colon, value = typed.partition(":")
    if not key or not colon or name not in KINDS:
        raise SystemExit(f"{setting!r}: give KEY=TYPE:VALUE, with a type of {', '.join(KINDS)}")
    kind, form = KINDS[name]

    def string(text: str) -> bytes:
        encoded = text.encode()
        return struct.pack("<Q", len(encoded)) + encoded

    try:
        number = {"f32": float, "bool": {"true": True, "false": False}.__getitem__, "str": str}.get(name, int)(value)
        data = string(value) if kind == STRING else struct.pack(form, number)
    except (ValueError, KeyError, struct.error) as error:
        raise SystemExit(f"{setting!r}: {value!r} is no {name}") from error
    return Entry(key, string(key) + struct.pack("<I", kind) + data)


def with_entries(data: bytes, new: list[Entry]) -> bytes:
    """The file's bytes with these entries."""
    reader = Reader(data)
    if data[:4] != b"GGUF":
        raise SystemExit("no GGUF file: its first four bytes are not GGUF")
    reader.at = 4
    version, n_tensors, n_entries = reader.take("<I"), reader.take("<Q"), reader.take("<Q")
    entries = {entry.key: entry for entry in (reader.entry() for _ in range(n_entries))}
    tensors_begin = reader.at
    for _ in range(n_tensors):
        reader.skip_tensor()
    tensors = data[tensors_begin : reader.at]
    alignment = DEFAULT_ALIGNMENT
    if "general.alignment" in entries:
        (alignment,) = struct.unpack("<I", entries["general.alignment"].data[-4:])
    entries |= {entry.key: entry for entry in new}
    head = b"GGUF" + struct.pack("<IQQ", version, n_tensors, len(entries))
    head += b"".join(entry.data for entry in entries.values()) + tensors
    return head + bytes(-len(head) % alignment) + data[reader.at + -reader.at % alignment :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the GGUF file, which is replaced")
    parser.add_argument("settings", nargs="+", metavar="KEY=TYPE:VALUE")
    args = parser.parse_args()

    changed = with_entries(args.file.read_bytes(), [packed(setting) for setting in args.settings])
    partial = args.file.with_name(args.file.name + ".partial")
    partial.write_bytes(changed)
    os.replace(partial, args.file)


if __name__ == "__main__":
    main()
