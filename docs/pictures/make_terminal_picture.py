#!/usr/bin/env python3
"""Runs `tern` in a terminal and draws what happens as an animated SVG, docs/pictures/terminal.svg. The text appears when
it appeared, slowed down by --slow; renderers that do not animate, and readers who want no motion, see the last frame.

usage: docs/pictures/make_terminal_picture.py [--program build/release/bin/tern] [--slow 20] [--say TEXT]... [ARGUMENT...] > SVG

ARGUMENTs are those of `tern`, by default: run "Once upon a time" --seed 33 --stats
With --say they are by default those of a conversation, chat --seed 50, in which each TEXT is said:

    docs/pictures/make_terminal_picture.py > docs/pictures/terminal.svg
    docs/pictures/make_terminal_picture.py --say "Tell me a story about a hedgehog and a key." --say "Who found it?" \\
        > docs/pictures/terminal_chat.svg
"""
import argparse
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from xml.sax.saxutils import escape

COLUMNS, ROWS = 84, 40
CHARACTER, LINE, MARGIN, BAR = 8.4, 20, 16, 34  # pixels; BAR is the title's
TYPING, PAUSE, HOLD = 0.045, 0.4, 8.0  # seconds: a typed letter, before the program starts, the last frame
STYLE = """text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e4e7eb;white-space:pre}
.d{fill:#9aa5b1}.b{font-weight:600}.p{fill:#2bb0a4;font-weight:600}.n{font:12px system-ui,sans-serif;fill:#9aa5b1}
@media(prefers-reduced-motion:reduce){text{animation:none!important}}"""
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


def record(command: list[str]) -> list[tuple[float, str]]:
    """(seconds since the start, text) of every write of the program to its terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execv(command[0], command)
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    start, writes = time.monotonic(), []
    while select.select([terminal], [], [], 60)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux's way to say that the program has ended
            break
        if not data:
            break
        writes.append((time.monotonic() - start, data.decode()))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit(f"{shlex.join(command)} failed:\n" + "".join(text for _, text in writes))
    return writes


def record_chat(command: list[str], said: list[str]) -> list[tuple[float, str]]:
    """The same of a conversation, with each text as if it were typed at the prompt of `tern chat`."""
    terminal, child = pty.openpty()
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=child, stderr=child, env=environment)
    os.close(child)
    writes: list[tuple[float, str]] = []

    def read(at: float, patience: float) -> float:
        """Until nothing has come for a while; what is shown after `at` seconds. Returns when it ended."""
        start = time.monotonic()
        end = at
        while select.select([terminal], [], [], patience)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            end = at + time.monotonic() - start
            writes.append((end, data.decode()))
        return end

    seconds = read(0, 3)
    for text in said:
        writes.append((seconds, f"\n\x1b[2m> \x1b[0m\x1b[1m{text}\x1b[0m\n\n"))
        program.stdin.write(text.encode() + b"\n")
        program.stdin.flush()
        seconds = read(seconds, 3)
    program.stdin.close()
    if program.wait() != 0:
        sys.exit(f"{shlex.join(command)} failed:\n" + "".join(text for _, text in writes))
    return writes


class Screen:
    """Pieces of text, each with its place, its style and the time at which it appears."""

    def __init__(self) -> None:
        self.pieces: list[tuple[float, int, int, str, str]] = []
        self.row = self.column = 0
        self.kind = ""

    def put(self, seconds: float, text: str) -> None:
        at = 0
        for found in ESCAPE.finditer(text):
            self.characters(seconds, text[at:found.start()])
            if found[2] == "m":
                self.kind = {"1": "b", "2": "d"}.get(found[1], "")
            at = found.end()
        self.characters(seconds, text[at:])

    def characters(self, seconds: float, text: str) -> None:
        for part in re.findall(r"\n|\r|[^\r\n]+", text):
            if part == "\r":
                continue
            if part == "\n":
                self.row, self.column = self.row + 1, 0
                continue
            while part:  # where a terminal would break the line
                room = COLUMNS - self.column
                if room == 0:
                    self.row, self.column = self.row + 1, 0
                    continue
                self.pieces.append((seconds, self.row, self.column, part[:room], self.kind))
                self.column += len(part[:room])
                part = part[room:]


def wrap_words(text_writes: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Breaks lines between words, which a terminal would not do, so that the picture reads well."""
    whole = "".join(text for _, text in text_writes)
    breaks, column, word = set(), 0, 0
    for i, c in enumerate(ESCAPE.sub(lambda m: "\0" * len(m[0]), whole)):
        if c == "\n":
            column, word = 0, i + 1
        elif c not in "\r\0":
            column += 1
            if c == " ":
                word = i + 1
            elif column > COLUMNS:
                breaks.add(word - 1)  # the space before the word
                column = i - word + 1
    result, at = [], 0
    for seconds, text in text_writes:
        result.append((seconds, "".join("\n" if at + k in breaks else c for k, c in enumerate(text))))
        at += len(text)
    return result


def processor() -> str:
    with open("/proc/cpuinfo") as file:
        names = re.findall(r"^model name\s*: (.*)$", file.read(), re.M)
    return re.sub(r"\(R\)|\(TM\)| CPU| Processor", "", names[0]) if names else "this machine"


def draw(command: str, writes: list[tuple[float, str]], slow: float) -> str:
    screen = Screen()
    screen.kind = "p"
    screen.put(0, "$ ")
    screen.kind = "b"
    for i, letter in enumerate(command):
        screen.put(0.5 + i * TYPING, letter)
    screen.kind = ""
    screen.put(0, "\n")
    begin = 0.5 + len(command) * TYPING + PAUSE
    for seconds, text in wrap_words(writes):
        screen.put(begin + seconds * slow, text)
    total = screen.pieces[-1][0] + HOLD
    frames = sorted({round(piece[0], 2) for piece in screen.pieces})
    number = {seconds: i for i, seconds in enumerate(frames)}
    # Visible unless a frame's animation hides it, so that what does not animate shows everything.
    rules = "".join(f"@keyframes f{i}{{0%,{100 * s / total:.2f}%{{opacity:0}}{100 * s / total + .01:.2f}%,100%{{opacity:1}}}}"
                    f".f{i}{{animation:f{i} {total:.2f}s infinite}}" for s, i in number.items() if s > 0)
    width = 2 * MARGIN + COLUMNS * CHARACTER
    height = BAR + 2 * MARGIN + (screen.row + (screen.column > 0)) * LINE
    cores = len(os.sched_getaffinity(0))
    title = f"{cores} cores of an {processor()}, slowed down {slow:g} times"
    parts = [f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#1b2128"/>'
             f'<path d="M0 {BAR}V8a8 8 0 0 1 8-8H{width - 8:.0f}a8 8 0 0 1 8 8V{BAR}z" fill="#2b333c"/>'
             '<circle cx="20" cy="17" r="5.5" fill="#52606d"/><circle cx="40" cy="17" r="5.5" fill="#52606d"/>'
             '<circle cx="60" cy="17" r="5.5" fill="#52606d"/>'
             f'<text x="{width / 2:.0f}" y="21" text-anchor="middle" class="n">{escape(title)}</text>']
    for seconds, row, column, text, kind in screen.pieces:
        if not text.strip():
            continue
        left = len(text) - len(text.lstrip())  # spaces are only room
        shown = text.strip()
        classes = " ".join(filter(None, [kind, f"f{number[round(seconds, 2)]}" if seconds > 0 else ""]))
        x, y = MARGIN + (column + left) * CHARACTER, BAR + MARGIN + row * LINE + 14
        parts.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(shown) * CHARACTER:.1f}" class="{classes}">{escape(shown)}</text>')
    words = "".join(text for _, text in writes).replace("\r", "").split("\n  ")[0]
    label = escape(f"{command}: {ESCAPE.sub('', words)}", {'"': "&quot;"}).replace("\n", " ")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" aria-label="{label}">'
            f"<style>{STYLE}{rules}</style>{''.join(parts)}</svg>")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/tern")
    parser.add_argument("--slow", type=float, default=20, help="how many times slower than it was (default 20)")
    parser.add_argument("--say", action="append", default=[], metavar="TEXT", help="what is said in a conversation")
    options, arguments = parser.parse_known_args()
    arguments = arguments or (["chat", "--seed", "50"] if options.say else ["run", "Once upon a time", "--seed", "33", "--stats"])
    command = "tern " + " ".join(f'"{a}"' if " " in a else a for a in arguments)
    line = [options.program, *arguments]
    writes = record_chat(line, options.say) if options.say else record(line)
    print(draw(command, writes, options.slow))


if __name__ == "__main__":
    main()
