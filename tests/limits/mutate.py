#!/usr/bin/env python3
"""Gives changed files to every command that reads one, and checks that none crashes, hangs or takes memory.

mutate.py TERN [--n N] [--seed N] [--keep FOLDER]

Each of the N files is a model, a prompt cache, requests, a conversation or a grammar with a few changes: bits, lengths,
pieces cut out, doubled or moved. A run must end by itself, within 20 s and 3 GB, with exit code 0, 1 or 2, and a failure
must have a line that begins with "tern:". Files that do otherwise stay in FOLDER.
"""
import argparse
import os
import random
import resource
import shutil
import struct
import sys

from program import CLEAN, Program, run

HEAD = 1 << 14  # most changes go here: what follows are weights


def change(data, random_):
    data = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 4))):
        if not data:
            return data
        end = len(data) if random_.random() < 0.1 else min(len(data), HEAD)
        at = random_.randrange(end)
        kind = random_.randrange(7)
        if kind == 0:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 1:
            data[at] = random_.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2:  # a length or an offset
            value = random_.choice((0, 1, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, random_.getrandbits(64)))
            data[at:at + 8] = struct.pack("<Q", value)
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            del data[at:at + random_.choice((1, 4, 8, 100))]
        elif kind == 5:
            piece = data[at:at + random_.choice((1, 8, 100))]
            data[at:at] = piece * random_.choice((1, 3))
        else:
            other = random_.randrange(end)
            data[at:at + 16] = data[other:other + 16]
    return data


def cases(program):
    """(a whole file, the commands that read it)"""
    m = program.model
    cache = program.file("whole.cache")
    run(program, ["run", "-m", m, "-p", "Once upon a time " * 8, "-n", "1", "-b", "cpu", "--prompt-cache", cache])
    grammar, schema = program.file("whole.gbnf"), program.file("whole.json")
    with open(grammar, "w", encoding="utf-8") as file:
        file.write('root ::= item ("," ws item)*\nitem ::= [a-z]+ | "(" root ")"\nws ::= [ \\t\\n]{0,3}\n')
    with open(schema, "w", encoding="utf-8") as file:
        file.write('{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]{1,9}$"},"b":{"type":"array",'
                   '"items":{"$ref":"#/$defs/c"}}},"required":["a"],"$defs":{"c":{"enum":[1,"x",null]}}}')
    short = ["run", "-m", m, "-p", "hi", "-n", "1", "-b", "cpu"]
    return [
        (m, [["inspect", "FILE"], ["run", "-m", "FILE", "-p", "hi", "-n", "1", "-b", "cpu"], ["tokenize", "-m", "FILE", "hi"],
             ["convert", "FILE", program.file("out/c.gguf"), "--type", "q8_0", "-q"]]),
        (cache, [["run", "-m", m, "-p", "Once upon a time " * 8, "-n", "1", "-b", "cpu", "--prompt-cache", "FILE"]]),
        (program.file("batch.jsonl"), [["batch", "FILE", program.file("out/b.jsonl"), "-m", m, "-b", "cpu"]]),
        (grammar, [[*short, "--grammar", "FILE"]]),
        (schema, [[*short, "--json-schema", "FILE"]]),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tern")
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default="/tmp/tern_mutants")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    n_faults, ends = 0, {}
    with Program(options.tern) as program:
        known = [(open(whole, "rb").read(), commands) for whole, commands in cases(program)]
        for i in range(options.n):
            data, commands = random_.choice(known)
            command = random_.choice(commands)
            path = program.file("changed")
            with open(path, "wb") as file:
                file.write(change(data, random_))
            shutil.rmtree(program.file("out"))
            os.mkdir(program.file("out"))
            words = [path if word == "FILE" else word for word in command]
            code, errors = run(program, words, [(resource.RLIMIT_AS, 3 << 30)], seconds=20)
            ends[code] = ends.get(code, 0) + 1
            if code in CLEAN and (code == 0 or "tern: " in errors):
                continue
            n_faults += 1
            os.makedirs(options.keep, exist_ok=True)
            kept = os.path.join(options.keep, f"{options.seed}-{i}-{command[0]}")
            shutil.copy(path, kept) if os.path.exists(path) else None
            print(f"{kept}: tern {' '.join(command)}: {code}: {errors.strip()[-300:]}", flush=True)
    told = ", ".join(f"{n} ended with {code}" for code, n in sorted(ends.items(), key=str))
    print(f"{options.n} changed files: {told}; {n_faults} faults")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
