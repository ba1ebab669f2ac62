#!/usr/bin/env python3
"""Draws docs/pictures/cpu_vs_llama_cpp.svg from what compare_llama_cpp.py --json wrote: bars of tokens per second, one pair
a case, scaled within the pair to the faster one, with the figures and the ratio beside them.

usage: chart_cpu.py docs/measurements/cpu_*.json > docs/pictures/cpu_vs_llama_cpp.svg
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

TITLES = {
    "decode-f16": "writing, F16-exact head",
    "decode-q6_k": "writing, Q6_K head",
    "pp128": "reading 128 tokens",
    "pp512": "reading 512 tokens",
    "pp128-amx-off": "reading 128, AMX off",
    "pp512-amx-off": "reading 512, AMX off",
}
WIDTH, LEFT, BAR, ROW, GAP, HEAD = 760, 190, 330, 44, 14, 34
STYLE = """text{font:13px system-ui,sans-serif;fill:#1f2933}.h{font-weight:600}.d{fill:#616e7c}.t{fill:#0b7a75}.l{fill:#9aa5b1}.r{font-weight:600;fill:#0b7a75}
@media(prefers-color-scheme:dark){text{fill:#e4e7eb}.d{fill:#9aa5b1}.t{fill:#2bb0a4}.l{fill:#52606d}.r{fill:#2bb0a4}}"""


def text(x: float, y: float, content: str, kind: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(content)}</text>'


def bar(y: float, share: float, kind: str, label: str) -> str:
    width = max(2.0, BAR * share)
    return f'<rect x="{LEFT}" y="{y:.0f}" width="{width:.0f}" height="17" rx="2" class="{kind}"/>' + text(
        LEFT + width + 7, y + 13, label, "d" if kind == "l" else "")


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    parts, y = [], 24.0
    parts.append(text(0, y, "BitNet 2B-4T's shape: tokens per second, more is better", "h"))
    for path in sys.argv[1:]:
        data = json.loads(pathlib.Path(path).read_text())
        y += HEAD
        parts.append(text(0, y, f"{data['label']}, {data['threads']} threads", "h"))
        y += GAP
        for case, row in data["results"].items():
            most = max(row["tern"], row["llama.cpp"])
            parts.append(text(0, y + 22, TITLES[case]))
            parts.append(bar(y, row["tern"] / most, "t", f"Tern {row['tern']:.3g}"))
            parts.append(bar(y + 19, row["llama.cpp"] / most, "l", f"llama.cpp {row['llama.cpp']:.3g}"))
            parts.append(text(WIDTH - 60, y + 22, f"×{row['ratio']:.1f}", "r"))
            y += ROW
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10:.0f}" role="img" '
          f'aria-label="Tern against llama.cpp on CPUs"><style>{STYLE}</style>{"".join(parts)}</svg>')


if __name__ == "__main__":
    main()
