#!/usr/bin/env python3
"""Breaks the GPU kernels one at a time, and expects the conform tests to notice every time.

A mutant is a kernel (regular expression on its name), a pattern in the WGSL text that it is compiled from, and what
the pattern becomes. gpu_conform_test applies it to kernels on their way to the device (tests/conform/gpu/gpu_bench.cc).
A pattern that is no longer found fails the gate: adapt it to the kernel as it is now.

Usage: gpu_kernels.py PATH/TO/gpu_conform_test [--smoke] [--only PART_OF_NAME]
Exit 0: all noticed. 77: there is no GPU.
"""

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import time


@dataclasses.dataclass
class Mutant:
    name: str
    kernel: str
    find: str  # ECMAScript regular expression
    replace: str
    tests: str  # of gpu_conform_test, that should notice
    variant: str = "everything"
    smoke: bool = False  # part of the fast run


MUTANTS = [
    Mutant("plane 0 read from the bits of plane 1", "ternary_matvec", r"(w4(_\d+)?\.\w) >> 6u", "$1 >> 4u", "GpuTernary.Matvec", smoke=True),
    Mutant("planes of the first matrix word swapped", "ternary_matmul", r"(\.x >> )6u", "$014u", "GpuTernary.Matmul"),
    Mutant("two bits too many survive the mask", "ternary_matvec", r"0x03030303u", "0x07070707u", "GpuTernary.Matvec"),
    Mutant("halves of a block swapped", "ternary_matvec", r"(i(_\d+)? )& 1u\)", "$1& 0u)", "GpuTernary.Matvec"),
    Mutant("sum of the activations not taken off", "ternary_matvec", r" - x_sum(_\d+)?", "", "GpuTernary.Matvec", smoke=True),
    Mutant("sum of the activations not taken off, many tokens", "ternary_matmul", r" - x_sum(_\d+)?", "", "GpuTernary.Matmul"),
    Mutant("scale of the activations squared", "ternary_matvec", r"/ x_scale", "/ x_scale / x_scale", "GpuTernary.Matvec"),
    Mutant("residual set, not added", "ternary_matvec_add", r"= y\[[^\]]*\] \+ value", "= value", "GpuTernary.MatvecAdd", smoke=True),
    Mutant("residual set, not added, many tokens", "ternary_matmul_add", r"\+= value", "= value", "GpuTernary.MatmulAdd"),
    Mutant("gate and up swapped", "ternary_glu", r"(let gate(_\d+)? = .*)scales\.a;", "$1scales.b;", "GpuTernary.Glu", smoke=True),
    Mutant("matrix of up read twice", "ternary_glu", r"w_gate\[", "w_up[", "GpuTernary.Glu"),
    Mutant("relu forgotten", "ternary_glu_matmul", r"max\(gate(_\d+)?, 0f\)", "gate$1", "GpuTernary.GluMatmul"),
    Mutant("row past the end is stored", "ternary_matvec", r"if \(row(_\d+)? < \d+u\)", "if (true)", "GpuTernary.Matvec"),
    Mutant("last row not stored", "ternary_matvec", r"if \(row(_\d+)? < (\d+u)\)", "if (row$1 + 1u < $2)", "GpuTernary.Matvec"),
    Mutant("one row too far", "ternary_matvec", r"let start = ", "let start = 2u + ", "GpuTernary.Matvec"),
    Mutant("row past the end is stored, many tokens", "ternary_matmul", r"if \(row(_\d+)? < \d+u\)", "if (true)", "GpuTernary.Matmul"),
    Mutant("tokens past the end are stored", "ternary_matmul", r"if \(token(_\d+)? < n_tokens\)", "if (true)", "GpuTernary.Matmul"),
    Mutant("rows of the tile clamped one too early", "ternary_matmul", r"min\((first_row[^;]*?), (\d+)u\);", "min($1, $2u - 1u);", "GpuTernary.Matmul:*GpuTernary.MatmulAdd"),
    Mutant("barrier after staging missing", "ternary_matmul", r"(\n +)workgroupBarrier\(\);", "$1", "GpuTernary.Matmul"),
    Mutant("one token's activations for all", "ternary_matvec", r"let x_base = wg\.y", "let x_base = 0u", "GpuTernary.Matvec"),
    Mutant("eps ten times as large", "rms_norm", r"0\.001f", "0.01f", "GpuNorms.RmsNorm", smoke=True),
    Mutant("eps outside of the root", "rms_norm_quantize", r"1f / sqrt\((.*) \+ 0\.001f\)", "1f / (sqrt($1) + 0.001f)", "GpuNorms.RmsNormQuantize"),
    Mutant("gain forgotten", "rms_norm", r"factor \* gain\[", "factor + 0f * gain[", "GpuNorms.RmsNorm"),
    Mutant("halves rounded up", "quantize", r"round\(([^;]*?) \* scale\)", "floor($1 * scale + 0.5)", "GpuNorms.Quantize*"),
    Mutant("floor under the largest magnitude missing", "quantize", r"1e-05f", "1e-20f", "GpuNorms.Quantize*"),
    Mutant("half of the subgroups missing in the sum", "quantize", r"subgroupShuffleXor\((\w+), 4u\)", "subgroupShuffleXor($1, 8u)", "GpuNorms.Quantize*"),
    Mutant("barrier of a reduction missing", "rms_norm", r"workgroupBarrier\(\);", "", "GpuNorms.RmsNorm"),
    Mutant("barriers of a reduction missing, no subgroups", "rms_norm", r"workgroupBarrier\(\);", "", "GpuNorms.RmsNorm", variant="no_subgroups"),
    Mutant("RoPE turns the other way", "rope", r" - (b(_\d+)? \* angle)", " + $1", "GpuRows.Rope", smoke=True),
    Mutant("RoPE of the first token for all", "rope", r"params\[0u\] \+ wg\.y", "params[0u]", "GpuRows.Rope"),
    Mutant("pairs are neighbours where they are halves", "rope", r"let at_b = at_a \+ \d+u", "let at_b = at_a + 1u", "GpuRows.Rope"),
    Mutant("values are turned too", "ternary_qkv", r"select\(vec2<f32>\(1f, 0f\), (\w+), is_key\)", "$1", "GpuQkv.*"),
    Mutant("KV position one too far", "ternary_qkv", r"let pos = params\[0u\]", "let pos = 1u + params[0u]", "GpuQkv.*", smoke=True),
    Mutant("scale of V used for K", "ternary_qkv", r"scales\.b", "scales.c", "GpuQkv.*"),
    Mutant("barrier before the tile is stored missing", "ternary_qkv", r"workgroupBarrier\(\);", "", "GpuQkv.*"),
    Mutant("keys stored as values", "kv_append", r"side == 0u", "side == 1u", "GpuAttention.KvAppend*"),
    Mutant("KV rows of the next head", "kv_append", r"let head = ", "let head = 1u - ", "GpuAttention.KvAppend*"),
    Mutant("KV position one too far, append", "kv_append", r"params\[0u\] \+ wg\.y", "params[0u] + wg.y + 1u", "GpuAttention.KvAppend*"),
    Mutant("sees one position of the future", "attention", r"\+ token \+ 1u", "+ token + 2u", "GpuAttention.Unsplit", smoke=True),
    Mutant("does not see itself", "attention", r"(let n_pos = max\(|let n_pos = )params\[0u\] \+ token \+ 1u", "$1max(params[0u] + token, 1u)", "GpuAttention.Unsplit"),
    Mutant("neighbouring heads share keys the wrong way", "attention", r"let kv_head = head / (\d+)u", "let kv_head = head % max(1u, 8u / $1u / 4u)", "GpuAttention.ReadsTheRight*:*GpuAttention.Unsplit"),
    Mutant("values of the keys", "attention", r"kv\[v_base", "kv[k_base", "GpuAttention.Unsplit"),
    Mutant("scores not scaled", "attention", r"(let q4(_\d+)? = q\[[^\]]*\]) \* [0-9.e-]+f", "$1", "GpuAttention.Unsplit"),
    Mutant("the sums do not shrink when the greatest grows", "attention", r"total = total \* shrink", "total = total", "GpuAttention.Unsplit"),
    Mutant("position at the end of a chunk left out", "attention", r"(let weight = .*)pos < n_pos", "$1pos % 64u != 63u && pos < n_pos", "GpuAttention.Unsplit"),
    Mutant("barrier before the weights are read missing", "attention", r"workgroupBarrier\(\);(\n +acc = acc \* shrink)", "$1", "GpuAttention.Unsplit"),
    Mutant("merge without the greatest score", "attention_merge", r"exp\((.*) - greatest\)", "1f + 0f * exp($1 - greatest)", "GpuAttention.SplitAndMerged", smoke=True),
    Mutant("merge leaves the last split out", "attention_merge", r"i(_\d+)? < splits", "i$1 + 1u < splits", "GpuAttention.SplitAndMerged"),
    Mutant("embedding of the neighbouring token", "embed", r"tokens\[wg\.y\] - range\.first", "tokens[wg.y] - range.first + 1u", "GpuRows.Embed"),
    Mutant("tokens outside of the part are looked up", "embed", r"row < range\.count", "true", "GpuRows.Embed", smoke=True),
    Mutant("logits of a part at the start", "float_linear", r"range\.first \+ ", "", "GpuHead.FloatLinear*"),
    Mutant("rows of the head not guarded", "float_linear", r" && \(?row(_\d+)? < count\)?", "", "GpuHead.FloatLinear*"),
    Mutant("halves of a word swapped", "float_linear", r"w4\.x", "w4.y", "GpuHead.FloatLinearF16"),
    Mutant("argmax takes the last of equals", "argmax_next", r"at_b(_\d+)? < at_a", "at_b$1 > at_a", "GpuHead.ArgmaxTakesTheFirst*", smoke=True),
    Mutant("argmax takes the last of equals in a part", "argmax_parts", r"at_b(_\d+)? < at_a", "at_b$1 > at_a", "GpuHead.ArgmaxTakesTheFirst*"),
    Mutant("argmax of the parts' last rows missing", "argmax_parts", r"min\((wg\.x[^,]*), \d+u\)", "$1 - 1u", "GpuHead.Argmax*"),
    Mutant("no token for NaN", "argmax_next", r"select\(winner, 0u, winner == 4294967295u\)", "winner", "GpuHead.ArgmaxIsNeverNaN"),
    Mutant("the ring starts at 1", "argmax_next", r"ids\[step_now", "ids[1u + step_now", "GpuHead.Argmax*"),
    Mutant("the position stays", "argmax_next", r"params\[0u\] \+= 1u", "params[0u] += 0u", "GpuHead.ArgmaxFinds*"),
    Mutant("rows of the wrong tokens selected", "select_rows", r"params\[2u\]", "params[1u]", "GpuRows.SelectRows"),
    Mutant("columns past the end", "add", r"if \(column < \d+u\)", "if (true)", "GpuRows.Add"),
]


def run(program, mutant):
    """The test program's output and exit status with this mutant in place (None: as it is)."""
    environment = dict(os.environ)
    tests = ":".join(f"{part}/{mutant.variant}" for part in ("*" + mutant.tests).split(":")) if mutant else "*/everything"
    if mutant:
        environment |= {
            "TERN_MUTANT_KERNEL": mutant.kernel,
            "TERN_MUTANT_FIND": mutant.find,
            "TERN_MUTANT_REPLACE": mutant.replace,
        }
    result = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_fail_fast"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=300)
    return result.stdout, result.returncode


def judge(program, mutant):
    """(noticed, what to say)."""
    output, status = run(program, mutant)
    if "mutant applied to" not in output:
        return False, "the pattern is not in any kernel that these tests run: adapt the mutant"
    failed = re.findall(r"\[  FAILED  \] Gpu/([\w.]+)/\w+", output) or re.findall(r"\[ RUN      \] Gpu/([\w.]+)", output)[-1:]
    if status == 0:
        return False, "NOT NOTICED"
    return True, "noticed by " + failed[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--smoke", action="store_true", help="only a few mutants")
    parser.add_argument("--only", default="", help="only mutants with this in their names")
    arguments = parser.parse_args()
    mutants = [m for m in MUTANTS if (m.smoke or not arguments.smoke) and arguments.only in m.name]
    program = os.path.abspath(arguments.program)
    start, bad = time.monotonic(), 0
    output, status = run(program, dataclasses.replace(mutants[0], kernel="no kernel"))
    if "[  SKIPPED ]" in output:
        print("skipped: there is no GPU")
        return 77
    if status != 0:
        print("the tests fail without any mutant:\n" + output)
        return 1
    for mutant in mutants:
        noticed, text = judge(program, mutant)
        bad += not noticed
        print(f"{'ok  ' if noticed else 'FAIL'} {mutant.kernel}: {mutant.name}: {text}", flush=True)
    print(f"{len(mutants) - bad} of {len(mutants)} mutants noticed in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
