#!/usr/bin/env python3
"""Tern against llama.cpp on the shape of BitNet 2B-4T, in turns, so that a machine whose speed drifts is fair to both.

Makes the two models once (random weights; Tern's in I2_S, llama.cpp's in TQ2_0, its fastest ternary format, both with an
F16 head), then measures A B A B … and prints medians and the median of the pairs' ratios. Needs Debian's llama.cpp-tools
and python3-gguf (./setup --oracle).

usage: compare_llama_cpp.py [--tern PROGRAM] [--folder DIR] [--rounds N] [--threads N] [--prompt N] [--generate N]
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def make_models(tern: str, folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    ours, peer, source = folder / "bitnet-2b-i2_s.gguf", folder / "bitnet-2b-peer.gguf", folder / "bitnet-2b-tq2_0.gguf"
    if not ours.exists():
        run(tern, "synth", "--preset", "bitnet-2b-4t", "--type", "i2_s", "--head", "f16", "-o", str(ours))
    if not peer.exists():
        run(tern, "synth", "--preset", "bitnet-2b-4t", "--type", "tq2_0", "--head", "f16", "-o", str(source))
        run("python3.14", str(HERE / "make_peer_model.py"), str(source), str(peer))
        source.unlink()
    return ours, peer


def measure_tern(args: argparse.Namespace, model: pathlib.Path) -> tuple[float, float]:
    result = json.loads(run(args.tern, "bench", "-m", str(model), "-t", str(args.threads), "-p", str(args.prompt),
                            "-n", str(args.generate), "-r", "1", "-o", "json"))
    return result["prefill_tokens_per_s"]["median"], result["decode_tokens_per_s"]["median"]


def measure_peer(args: argparse.Namespace, model: pathlib.Path) -> tuple[float, float]:
    rows = json.loads(run("llama-bench", "-m", str(model), "-t", str(args.threads), "-p", str(args.prompt),
                          "-n", str(args.generate), "-r", "1", "-o", "json"))
    prefill = next(row for row in rows if row["n_prompt"] > 0)
    decode = next(row for row in rows if row["n_gen"] > 0)
    return prefill["avg_ts"], decode["avg_ts"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tern", default=str(HERE.parent / "build/release/bin/tern"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp"), help="where the models are kept (3.6 GB)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--generate", type=int, default=32)
    args = parser.parse_args()
    ours, peer = make_models(args.tern, args.folder)
    pairs = []
    for i in range(args.rounds):
        pairs.append((measure_tern(args, ours), measure_peer(args, peer)))
        print(f"round {i + 1}: tern {pairs[-1][0]}, llama.cpp {pairs[-1][1]}", file=sys.stderr)
    for column, name in enumerate((f"prefill, {args.prompt} tokens", f"decode, {args.generate} tokens")):
        mine = [a[column] for a, _ in pairs]
        theirs = [b[column] for _, b in pairs]
        ratio = statistics.median(a / b for a, b in zip(mine, theirs))
        print(f"{name:24} tern {statistics.median(mine):7.2f}  llama.cpp {statistics.median(theirs):7.2f} tokens/s  ×{ratio:.2f}")


if __name__ == "__main__":
    main()
