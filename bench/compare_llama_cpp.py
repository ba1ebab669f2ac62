#!/usr/bin/env python3
"""Tern against llama.cpp on the shape of BitNet 2B-4T, in turns, so that a machine whose speed drifts is fair to both.

Makes the models once (random weights; Tern's in I2_S, llama.cpp's in its ternary formats, with heads in F16 and Q6_K), then
measures A B A B … and prints medians and the median of the pairs' ratios. What is compared:

  decode-f16   every logit that could be chosen exactly as an F16 head gives it: Tern's --head exact, llama.cpp's F16 head
  decode-q6_k  a Q6_K head on both
  pp128, pp512 prompts
  pp128-amx-off, pp512-amx-off   the same with TERN_CPU_TARGET=avx512vnni, where the machine has AMX

Needs Debian's llama.cpp-tools and python3-gguf (./setup --oracle).

usage: compare_llama_cpp.py [--tern PROGRAM] [--llama-bench PROGRAM] [--folder DIR] [--rounds N] [--threads N]
                            [--peers FORMAT,FORMAT] [--only NAME,NAME] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {"tq2_0": ("tq2_0", "f16"), "tq1_0": ("tq1_0", "f16"), "tq2_0-q6_k": ("tq2_0", "q6_k")}
N_DECODE = 32


def run(*command: str, **environment: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, **environment}).stdout


def make_models(tern: str, folder: pathlib.Path, wanted: list[str]) -> None:
    ours = folder / "bitnet-2b-i2_s.gguf"
    if not ours.exists():
        run(tern, "synth", "--preset", "bitnet-2b-4t", "--type", "i2_s", "--head", "f16", "-o", str(ours))
    for name, (layers, head) in PEERS.items():
        peer, source = folder / f"peer-{name}.gguf", folder / f"source-{name}.gguf"
        if peer.exists() or layers not in wanted:
            continue
        run(tern, "synth", "--preset", "bitnet-2b-4t", "--type", layers, "--head", head, "-o", str(source))
        run(sys.executable, str(HERE / "make_peer_model.py"), str(source), str(peer))
        source.unlink()


class Programs:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    def tern(self, n_prompt: int, n_decode: int, head: str, target: str = "") -> float:
        result = json.loads(run(self.args.tern, "bench", "-b", "cpu", "-m", str(self.args.folder / "bitnet-2b-i2_s.gguf"),
                                "--head", head, "-t", str(self.args.threads), "-p", str(n_prompt), "-n", str(n_decode),
                                "-r", "1", "-o", "json", TERN_CPU_TARGET=target))
        return result["prefill_tokens_per_s" if n_prompt > 1 else "decode_tokens_per_s"]["median"]

    def peer(self, n_prompt: int, n_decode: int, model: str) -> float:
        rows = json.loads(run(self.args.llama_bench, "-m", str(self.args.folder / f"peer-{model}.gguf"), "-t",
                              str(self.args.threads), "-p", str(n_prompt), "-n", str(n_decode), "-r", "1", "-o", "json"))
        return next(row for row in rows if (row["n_prompt"] if n_prompt else row["n_gen"]) > 0)["avg_ts"]


def cases(programs: Programs, has_amx: bool) -> dict:
    """Name → (what Tern does, what llama.cpp may do: the best of these counts)."""
    def formats(n_prompt: int, n_decode: int) -> list:
        return [lambda name=name: programs.peer(n_prompt, n_decode, name) for name in programs.args.peers.split(",")]

    def prompt(n: int, target: str = ""):
        return lambda: programs.tern(n, 1, "auto", target), formats(n, 0)

    found = {
        "decode-f16": (lambda: programs.tern(1, N_DECODE, "exact"), formats(0, N_DECODE)),
        "decode-q6_k": (lambda: programs.tern(1, N_DECODE, "q6_k"), [lambda: programs.peer(0, N_DECODE, "tq2_0-q6_k")]),
        "pp128": prompt(128),
        "pp512": prompt(512),
    }
    if has_amx:
        found |= {"pp128-amx-off": prompt(128, "avx512vnni"), "pp512-amx-off": prompt(512, "avx512vnni")}
    return found


def processor() -> tuple[str, bool]:
    text = pathlib.Path("/proc/cpuinfo").read_text() if platform.system() == "Linux" else ""
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor(), "amx_int8" in text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tern", default=str(HERE.parent / "build/release/bin/tern"))
    parser.add_argument("--llama-bench", default="llama-bench")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp"), help="where the models are kept (4.3 GB)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", default="tq2_0,tq1_0", help="llama.cpp's formats, the faster of which counts")
    parser.add_argument("--only", default="", help="names of cases, apart by commas")
    parser.add_argument("--json", type=pathlib.Path, help="the medians, for chart_cpu.py")
    args = parser.parse_args()
    make_models(args.tern, args.folder, args.peers.split(","))
    name, has_amx = processor()
    wanted = args.only.split(",") if args.only else None
    results = {}
    for case, (tern, peers) in cases(Programs(args), has_amx).items():
        if wanted and case not in wanted:
            continue
        pairs = []
        for i in range(args.rounds):
            pairs.append((tern(), max(peer() for peer in peers)))
            print(f"{case} round {i + 1}: tern {pairs[-1][0]:.2f}, llama.cpp {pairs[-1][1]:.2f}", file=sys.stderr)
        results[case] = {"tern": statistics.median(a for a, _ in pairs), "llama.cpp": statistics.median(b for _, b in pairs),
                         "ratio": statistics.median(a / b for a, b in pairs)}
        row = results[case]
        print(f"{case:14} tern {row['tern']:7.2f}  llama.cpp {row['llama.cpp']:7.2f} tokens/s  ×{row['ratio']:.2f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps({"machine": name, "threads": args.threads, "rounds": args.rounds, "results": results},
                                        indent=1) + "\n")


if __name__ == "__main__":
    main()
