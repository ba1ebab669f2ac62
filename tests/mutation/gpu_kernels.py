#!/usr/bin/env python3
"""Breaks the GPU kernels one at a time, and expects the conform tests to notice every time.

A mutant is a kernel (regular expression on its name), a pattern in the WGSL text that it is compiled from, and what
the pattern becomes. The test programs apply it to kernels on their way to the device
(src/backend/gpu/device/mutant_test_support.h). A pattern that is no longer found fails the gate: adapt it to the kernel as it
is now.

Usage: gpu_kernels.py BUILD/bin [--smoke] [--only PART_OF_NAME]
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
    tests: str  # that should notice
    variant: str = "everything"
    smoke: bool = False  # part of the fast run


CONFORM = [
    Mutant("plane 0 read from the bits of plane 1", "ternary_matvec", r"(w4(_\d+)?\.\w) >> 6u", "$1 >> 4u", "GpuTernary.Matvec", smoke=True),
    Mutant("planes of the first matrix word swapped", "ternary_matmul", r"(\.x >> )6u", "$014u", "GpuTernary.Matmul"),
    Mutant("two bits too many survive the mask", "ternary_matvec", r"0x03030303u", "0x07070707u", "GpuTernary.Matvec"),
    Mutant("halves of a block swapped", "ternary_matvec", r"(i(_\d+)? )& 1u\)", "$1& 0u)", "GpuTernary.Matvec"),
    Mutant("sum of the activations not taken off", "ternary_matvec", r" - x_sum(_\d+)?", "", "GpuTernary.Matvec"),
    Mutant("sum of the activations not taken off, many tokens", "ternary_matmul", r" - x_sum(_\d+)?", "", "GpuTernary.Matmul"),
    Mutant("scale of the activations squared", "ternary_matvec", r"/ x_scale", "/ x_scale / x_scale", "GpuTernary.Matvec"),
    Mutant("residual set, not added", "ternary_matvec_add", r"= y\[[^\]]*\] \+ value", "= value", "GpuTernary.MatvecAdd"),
    Mutant("residual set, not added, many tokens", "ternary_matmul_add", r"\+= value", "= value", "GpuTernary.MatmulAdd"),
    Mutant("gate and up swapped", "ternary_glu", r"(let gate(_\d+)? = .*)scales\.a;", "$1scales.b;", "GpuTernary.Glu"),
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
    Mutant("layers of words after the first are not counted", "layer_places", r"select\(0u, 4294967295u,", "select(0u, 0u,", "GpuLayerKinds.*"),
    Mutant("the kind of a layer in another word", "layer_places", r"(bits_of_kind\w*) = select\((bits_of_kind\w*), (\d+u), layer_word == 1u\)", "$1 = select($2, $3, layer_word == 2u)", "GpuLayerKinds.*"),
    Mutant("several rows: the first row's activations for all", "normed_.*_columns", r"let x_row = token", "let x_row = 0u", "GpuColumns.*"),
    Mutant("several rows: the first row's statistics for all", "normed_.*_columns", r"let parts_row = token", "let parts_row = 0u", "GpuColumns.*"),
    Mutant("several rows: the first row's scale for all", "normed_.*_columns", r"let x_scale = x_scales\[\w+\]", "let x_scale = x_scales[0u]", "GpuColumns.*"),
    Mutant("several rows: the first row's sum for all", "normed_.*_columns", r"atomicLoad\(&x_sums\[\w+\]\)", "atomicLoad(&x_sums[0u])", "GpuColumns.*"),
    Mutant("several rows: statistics added up in another order", "normed_matvec_add_columns", r"let total = run_squares \+ run_squares_\d+", "let total = run_squares + run_squares_1", "GpuColumns.MatvecAdd*"),
    Mutant("several rows: sums given to the wrong lanes", "normed_.*_columns", r"let is_upper = \(lane_of_row & (\d+)u\) != 0u", "let is_upper = (lane_of_row & $1u) == 0u", "GpuColumns.*"),
    Mutant("several rows: half of the lanes missing in a sum", "normed_.*_columns", r"subgroupShuffleXor\((mine\w*|given\w*), 1u\)", "subgroupShuffleXor($1, 2u)", "GpuColumns.*"),
    Mutant("several rows: barrier before the products missing", "normed_matvec_add_columns", r"workgroupBarrier\(\);(\n +var acc|\n +let i)", "$1", "GpuColumns.MatvecAdd*"),
    Mutant("several rows: statistics of the wrong row", "normed_.*_columns", r"let stats_token = wg\.y", "let stats_token = 1u + wg.y", "GpuColumns.*"),
    Mutant("several rows: keys of rows past the end are stored", "normed_qkv_columns", r"if \(to_token(_\d+)? < n_tokens(_\d+)?\)", "if (true)", "GpuColumns.Qkv"),
    Mutant("several rows: the first row's position for all", "normed_qkv_columns", r"let pos = params\[to_token\w* \* 3u \+ 3u\]", "let pos = params[3u]", "GpuColumns.Qkv"),
    Mutant("several rows: the first row's angle for all", "normed_qkv_columns", r"let my_token = ", "let my_token = 0u * ", "GpuColumns.Qkv"),
    Mutant("a batch: columns past the end are multiplied", "batch_.*", r"select\(0u, (\w+), exists(_\d+)?\)", "$1", "GpuBatch.*"),
    Mutant("a batch: words beside their place", "batch_.*", r"staged\[to(_\d+)? \+ 8u\]", "staged[to$1 + 9u]", "GpuBatch.*"),
    Mutant("a batch: activations beside their place", "batch_.*", r"staged\[x_to(_\d+)? \+ 2u\]", "staged[x_to$1 + 3u]", "GpuBatch.*"),
    Mutant("a batch: the first block's activations for all", "batch_.*", r"let x_block(_\d+)? = ", "let x_block$1 = 0u * ", "GpuBatch.*"),
    Mutant("a batch: the first side's rows for both", "batch_.*", r"let side = ", "let side = 0u * ", "GpuBatch.*"),
    Mutant("a batch: barrier before the matrices are loaded missing", "batch_.*", r"workgroupBarrier\(\);(\n +let start)", "$1", "GpuBatch.*"),
    Mutant("a batch: a subgroup's sums missing", "batch_.*", r"= part(_\d+)? \+ staged\[", "= part$1 + 0 * staged[", "GpuBatch.*", smoke=True),
    Mutant("a batch: every other row of activations", "batch_.*", r"% 16u \* 2u", "% 16u", "GpuBatch.*"),
    Mutant("a batch: tokens past the end are stored", "batch_.*", r"let token_exists(_\d+)? = .*;", "let token_exists$1 = true;", "GpuBatch.MatvecAdd"),
    Mutant("a batch: scale of the first token for all", "batch_.*", r"let row_meta(_\d+)? = x\[(.*)\];", "let row_meta$1 = x[0u * ($2)];", "GpuBatch.*"),
    Mutant("a batch: keys past the end are stored", "batch_qkv", r"if \(to_token(_\d+)? < n_tokens(_\d+)?\)", "if (true)", "GpuBatch.Qkv"),
    Mutant("a batch: halves of 32 columns swapped", "normed_quantize", r"\(unit(_\d+)? & 1u\)", "(unit$1 & 1u ^ 1u)", "GpuBatch.Glu"),
    Mutant("eps ten times as large", "rms_norm", r"0\.001f", "0.01f", "GpuNorms.RmsNorm"),
    Mutant("eps outside of the root", "rms_norm_quantize", r"1f / sqrt\((.*) \+ 0\.001f\)", "1f / (sqrt($1) + 0.001f)", "GpuNorms.RmsNormQuantize"),
    Mutant("gain forgotten", "rms_norm", r"factor \* gain\[", "factor + 0f * gain[", "GpuNorms.RmsNorm"),
    Mutant("halves rounded up", "quantize", r"round\(([^;]*?) \* scale\)", "floor($1 * scale + 0.5)", "GpuNorms.Quantize*"),
    Mutant("floor under the largest magnitude missing", "quantize", r"1e-05f", "1e-20f", "GpuNorms.Quantize*"),
    Mutant("half of the subgroups missing in the sum", "quantize", r"subgroupShuffleXor\((\w+), 4u\)", "subgroupShuffleXor($1, 8u)", "GpuNorms.Quantize*"),
    Mutant("barrier of a reduction missing", "rms_norm", r"workgroupBarrier\(\);", "", "GpuNorms.RmsNorm"),
    Mutant("barriers of a reduction missing, no subgroups", "rms_norm", r"workgroupBarrier\(\);", "", "GpuNorms.RmsNorm", variant="no_subgroups"),
    Mutant("RoPE turns the other way", "rope", r" - (b(_\d+)? \* angle)", " + $1", "GpuRows.Rope"),
    Mutant("RoPE of the first token for all", "rope", r"params\[wg\.y \* 3u \+ 3u\]", "params[3u]", "GpuRows.Rope"),
    Mutant("angles of the first token's sequence for all", "rope", r"params\[wg\.y \* 3u \+ 5u\]", "params[5u]", "GpuSequences.Rope"),
    Mutant("pairs are neighbours where they are halves", "rope", r"let at_b = at_a \+ \d+u", "let at_b = at_a + 1u", "GpuRows.Rope"),
    Mutant("values are turned too", "ternary_qkv", r"select\(vec2<f32>\(1f, 0f\), (\w+), is_key\)", "$1", "GpuQkv.*"),
    Mutant("KV position one too far", "ternary_qkv", r"let pos = ", "let pos = 1u + ", "GpuQkv.*", smoke=True),
    Mutant("the first block for all positions", "ternary_qkv", r"params\[table \+ pos / 64u\]", "params[table]", "GpuQkv.*"),
    Mutant("a block of one position more", "ternary_qkv", r"pos / 64u\]", "(pos + 1u) / 64u]", "GpuQkv.*"),
    Mutant("the next place in a block", "ternary_qkv", r"pos % 64u", "(pos + 1u) % 64u", "GpuQkv.*"),
    Mutant("table of the first token's sequence for all", "ternary_qkv", r"params\[wg\.y \* 3u \+ 4u\]", "params[4u]", "GpuSequences.TernaryQkv"),
    Mutant("angles of the first token's sequence for all", "ternary_qkv", r"params\[wg\.y \* 3u \+ 5u\]", "params[5u]", "GpuSequences.TernaryQkv"),
    Mutant("scale of V used for K", "ternary_qkv", r"scales\.b", "scales.c", "GpuQkv.*"),
    Mutant("barrier before the tile is stored missing", "ternary_qkv", r"workgroupBarrier\(\);", "", "GpuQkv.*"),
    Mutant("keys stored as values", "kv_append", r"side == 0u", "side == 1u", "GpuAttention.KvAppend*"),
    Mutant("KV rows of the next head", "kv_append", r"let head = ", "let head = 1u - ", "GpuAttention.KvAppend*"),
    Mutant("KV position one too far, append", "kv_append", r"let pos = ", "let pos = 1u + ", "GpuAttention.KvAppend*"),
    Mutant("the first block for all positions, append", "kv_append", r"params\[table \+ pos / 64u\]", "params[table]", "GpuAttention.KvAppend*", smoke=True),
    Mutant("a block of one position more, append", "kv_append", r"pos / 64u\]", "(pos + 1u) / 64u]", "GpuAttention.KvAppend*"),
    Mutant("blocks in the order of the table, append", "kv_append", r"let block = params\[table \+ (pos / 64u)\]", "let block = params[table] + $1", "GpuAttention.KvAppend*"),
    Mutant("position of the first token for all, append", "kv_append", r"params\[wg\.y \* 3u \+ 3u\]", "params[3u]", "GpuAttention.KvAppend*"),
    Mutant("table of the first token's sequence for all, append", "kv_append", r"params\[wg\.y \* 3u \+ 4u\]", "params[4u]", "GpuSequences.KvAppend"),
    Mutant("the first block for all positions, attention", "attention", r"params\[table \+ seen_pos / 64u\]", "params[table]", "GpuAttention.Unsplit", smoke=True),
    Mutant("a block of one position more, attention", "attention", r"seen_pos / 64u\]", "(seen_pos + 1u) / 64u]", "GpuAttention.Unsplit"),
    Mutant("the next place in a block, attention", "attention", r"seen_pos % 64u", "(seen_pos + 1u) % 64u", "GpuAttention.Unsplit"),
    Mutant("blocks in the order of the table, attention", "attention", r"let block = params\[table \+ (seen_pos / 64u)\]", "let block = params[table] + $1", "GpuAttention.Unsplit"),
    Mutant("table of the first token's sequence for all, attention", "attention", r"params\[token \* 3u \+ 4u\]", "params[4u]", "GpuSequences.Attention"),
    Mutant("positions of the first token's sequence for all, attention", "attention", r"params\[token \* 3u \+ 3u\]", "params[3u]", "GpuSequences.Attention"),
    Mutant("places of the chunk before", "attention", r"(let place(_\d+)? = places\[at_p(_\d+)?)\]", "$1 ^ 1u]", "GpuAttention.Unsplit"),
    Mutant("splits of the first token for all", "attention_merge", r"params\[wg\.y \* 3u \+ 3u\]", "params[3u]", "GpuSequences.AttentionInSplits"),
    Mutant("the first block for all positions, serial", "serial_attention", r"params\[table \+ first / 64u\]", "params[table]", "GpuAttention.Unsplit"),
    Mutant("table of the first token's sequence for all, serial", "serial_attention", r"params\[wg\.y \* 3u \+ 4u\]", "params[4u]", "GpuSequences.Attention"),
    Mutant("positions before the window, serial", "serial_attention", r"\(pos >= start\) && ", "", "GpuAttention.Window"),
    Mutant("values past the end, serial", "serial_attention", r"lane < n_here", "lane < 8u", "GpuAttention.Unsplit"),
    Mutant("sees one position of the future", "attention", r"(let n_pos = .*) \+ 1u;", "$1 + 2u;", "GpuAttention.Unsplit"),
    Mutant("does not see itself", "attention", r"let n_pos = (.*) \+ 1u;", "let n_pos = max($1, 1u);", "GpuAttention.Unsplit"),
    Mutant("neighbouring heads share keys the wrong way", "attention", r"let kv_head = head / (\d+)u", "let kv_head = head % max(1u, 8u / $1u / 4u)", "GpuAttention.ReadsTheRight*:*GpuAttention.Unsplit"),
    Mutant("values of the keys", "attention", r"kv\[place(_\d+)? \+ \d+u", "kv[place$1", "GpuAttention.Unsplit"),
    Mutant("scores not scaled", "attention", r"(let q4(_\d+)? = q\[[^\]]*\]) \* [0-9.e-]+f", "$1", "GpuAttention.Unsplit"),
    Mutant("the sums do not shrink when the greatest grows", "attention", r"total = total \* shrink", "total = total", "GpuAttention.Unsplit"),
    Mutant("position at the end of a chunk left out", "attention", r"(let weight = .*)pos < n_pos", "$1pos % 64u != 63u && pos < n_pos", "GpuAttention.Unsplit"),
    Mutant("barrier before the weights are read missing", "attention", r"workgroupBarrier\(\);(\n +acc = acc \* shrink)", "$1", "GpuAttention.Unsplit"),
    Mutant("sees one position of the future, serial", "serial_attention", r"(let n_pos = .*) \+ 1u;", "$1 + 2u;", "GpuAttention.Unsplit"),
    Mutant("values of the first lane's position for all, serial", "serial_attention", r"v_rows \+ lane", "v_rows", "GpuAttention.Unsplit"),
    Mutant("keys are not normed, serial", "serial_heads", r"let is_turned = .*;", "let is_turned = is_query;", "GpuQkvHeads.*"),
    Mutant("planes in the wrong order, in loops", "ternary_matvec", r"6u - plane \* 2u", "plane * 2u", "GpuTernary.MatvecInOtherLayouts"),
    Mutant("merge without the greatest score", "attention_merge", r"exp\((my_greatest - \w+)\)", "1f + 0f * exp($1)", "GpuAttention.SplitAndMerged"),
    Mutant("merge leaves the last split out", "attention_merge", r"tid < splits\)", "tid + 1u < splits)", "GpuAttention.SplitAndMerged"),
    Mutant("embedding of the neighbouring token", "embed", r"tokens\[wg\.y\] - range\.first", "tokens[wg.y] - range.first + 1u", "GpuFloat.Embed"),
    Mutant("tokens outside of the part are looked up", "embed", r"row < range\.count", "true", "GpuFloat.Embed"),

    # Float matrices.
    Mutant("rows of a part at the start", "float_linear", r"range\.first \+ ", "", "GpuFloat.LinearInParts"),
    Mutant("rows of a part at the start, many tokens", "float_matmul_add", r"range\.first \+ ", "", "GpuFloat.MatmulOfEveryFormat"),
    Mutant("rows past the end are stored", "float_linear", r" && \(?row(_\d+)? < count\)?", "", "GpuFloat.LinearOfEveryFormat"),
    Mutant("halves of a word swapped", "float_linear", r"unit\.x\b", "unit.y", "GpuFloat.LinearKeepsEveryPosition"),
    Mutant("zero of the codes off by one", "float_(linear|matmul)", r"83886(\d)(\d)f", "83886$11f", "GpuFloat.LinearKeepsEveryPosition"),
    Mutant("signs the wrong way round", "float_linear", r"- vec4<u32>\(at\)", "- vec4<u32>(at ^ 1u)", "GpuFloat.LinearKeepsEveryPosition"),
    Mutant("a group's scale of its neighbour", "float_linear", r"& 1u\) \* 16u", "& 1u) * 0u", "GpuFloat.LinearOfEveryFormat"),
    Mutant("shift of the next quad", "float_linear", r"(codes4_minus_\d+\(unit(_\d+)?\.\w, )4u", "$10u", "GpuFloat.LinearKeepsEveryPosition"),
    Mutant("mins not taken off", "float_linear", r" - x_sum(_\d+)? \* \w+", "", "GpuFloat.LinearOfEveryFormat"),
    Mutant("the min's byte for the scale's", "float_linear", r"f32\((\w+) & 255u\)", "f32(($1 >> 8u) & 255u)", "GpuFloat.LinearOfEveryFormat"),
    Mutant("a group's bytes of its neighbour", "float_matmul", r"& 1u\) \* 16u", "& 1u) * 0u", "GpuFloat.MatmulOfEveryFormat"),
    Mutant("int8: sum of the run not taken off", "float_linear", r" - 8f \* run(_\d+)?\.y", "", "GpuFloat.Int8ActivationsLoseNoIntegers", smoke=True),
    Mutant("int8: signs not counted twice", "float_linear", r" - 2f \* int8_dot", " - int8_dot", "GpuFloat.Int8ActivationsLoseNoIntegers"),
    Mutant("int8: the next run's scale", "float_linear", r"= runs\[(.*)\]", "= runs[($1) ^ 1u]", "GpuFloat.Int8ActivationsLoseNoIntegers"),
    Mutant("int8: halves of a run scaled apart", "float_linear", r"= subgroupShuffleXor\(of_piece(_\d+)?, 1u\)", "= of_piece$1", "GpuFloat.Int8ActivationsLoseNoIntegers"),
    Mutant("int8: words of a run swapped", "float_linear", r"vec4<u32>\(packed, packed_1", "vec4<u32>(packed_1, packed", "GpuFloat.Int8ActivationsLoseNoIntegers"),
    Mutant("int8: codes with their sign turned", "float_linear", r" \^ 2155905152u", "", "GpuFloat.Int8ActivationsLoseNoIntegers"),
    Mutant("int8: squares past the row's end", "float_linear", r"if \(piece(_\d+)? < \d+u\)", "if (true)", "GpuFloat.LinearWithInt8Activations"),
    Mutant("eps ten times as large", "float_linear", r"0\.001f", "0.01f", "GpuFloat.LinearOfEveryFormat"),
    Mutant("gain forgotten", "float_linear", r"v \* gain\[q\]", "v", "GpuFloat.LinearOfEveryFormat"),
    Mutant("squares of the first token for all", "float_linear", r"let x_base = wg\.z", "let x_base = 0u", "GpuFloat.LinearOfEveryFormat"),
    Mutant("barriers of the staged row missing", "float_linear", r"workgroupBarrier\(\);", "", "GpuFloat.LinearOfEveryFormat"),
    Mutant("set, not added", "float_linear_add", r"\+= sum", "= sum", "GpuFloat.LinearOfEveryFormat"),
    Mutant("the first column for all", "float_linear_columns.*", r"let from_x(_\d+)? = min\((x_row(_\d+)?), ", "let from_x$1 = min($2 * 0u, ", "GpuFloat.LinearOfEveryFormat"),
    Mutant("columns past the last row are stored", "float_linear_columns.*", r" && \(x_row(_\d+)? < n_rows\)", "", "GpuFloat.LinearOfEveryFormat"),
    Mutant("rows of the batch for those of the logits", "float_linear_columns.*", r"params\[list - 1u\]", "params[0u]", "GpuFloat.LinearOfEveryFormat"),
    Mutant("gate and up swapped", "float_glu", r"w_gate\[", "w_up[", "GpuFloat.Glu"),
    Mutant("e^gate instead of e^-gate", "float_glu.*", r"exp\(min\(-", "exp(min(", "GpuFloat.Glu"),
    Mutant("gate and up swapped, many tokens", "float_glu_matmul", r"w_gate\[", "w_up[", "GpuFloat.Glu"),
    Mutant("tokens past the end are stored", "float_matmul", r"if \(token(_\d+)? < n_tokens\)", "if (true)", "GpuFloat.MatmulOfEveryFormat"),
    Mutant("barrier after staging missing, floats", "float_matmul", r"(\n +)workgroupBarrier\(\);", "$1", "GpuFloat.MatmulOfEveryFormat"),
    Mutant("columns past the end not zero", "float_matmul", r"select\(vec4<f32>\(0f\), (\w+), [^;]*\)", "$1", "GpuFloat.MatmulOfEveryFormat"),
    Mutant("prompts' attention: a sequence begins where the tile does only", "attention_on_matrices", r"\|\| \(table != before\)", "", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: the next sequence is taken along", "attention_on_matrices", r"let last_of_these = last_of_sequence", "let last_of_these = last_token", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: tokens of other sequences weigh", "attention_on_matrices", r"let is_mine = [^;]*;", "let is_mine = my_token >= first_token;", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: later positions are seen", "attention_on_matrices", r"is_mine && \(pos(\w*) <= my_pos\)", "is_mine && (pos$1 <= my_pos + 1u)", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: the first block for all positions", "attention_on_matrices", r"params\[table \+ first / 64u\]", "params[table]", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: positions after the last one are read", "attention_on_matrices", r"min\(first \+ position(\w*), last_pos\)", "(first + position$1)", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: the last chunk is left out", "attention_on_matrices", r"first < last_pos \+ 1u", "first + 32u < last_pos + 1u", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: values are keys", "attention_on_matrices", r"\([1-9]\d*u \+ kv_head\)", "kv_head", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: rows of a block in another order", "attention_on_matrices", r"pos(\w*) % 64u", "((pos$1 ^ 1u) % 64u)", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: queries of the first subgroup for all", "attention_on_matrices", r"(let from_query\w* = )subgroup", "$010u", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: scores of the first subgroup for all", "attention_on_matrices", r"(let to_scores = )subgroup", "$010u", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: weights of the first subgroup for all", "attention_on_matrices", r"(let from_weights = )subgroup", "$010u", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: keys and values transposed", "attention_on_matrices", r"true, (\d+)u\)", "false, $1u)", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: the first keys for all, and values", "attention_on_matrices", r"(&staged, )([1-9]\d*)(u, true)", "$010$3", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: half of the weights left out", "attention_on_matrices", r"from_weights \+ 16u", "from_weights + 0u", "GpuMatrixAttention.SequencesShareATile"),
    Mutant("prompts' attention: sums grow as if the greatest score stayed", "attention_on_matrices", r"shrink = exp2\([^;]*;", "shrink = 1f;", "GpuMatrixAttention.ScoresFarApart"),
    Mutant("prompts' attention: sums of values do not shrink", "attention_on_matrices", r"scores\[(at\w*)\] \* shrink", "scores[$1]", "GpuMatrixAttention.ScoresFarApart"),
    Mutant("prompts' attention: sums of weights do not shrink", "attention_on_matrices", r"= total \* shrink", "= total", "GpuMatrixAttention.ScoresFarApart"),
    Mutant("prompts' attention: sums shrink with the first chunk only", "attention_on_matrices", r"\(first != start\)", "(first == start)", "GpuMatrixAttention.ScoresFarApart"),
    Mutant("prompts' attention: weights are too large for halves", "attention_on_matrices", r"weights_from \+ 8f", "weights_from + 80f", "GpuMatrixAttention.ScoresFarApart"),
    Mutant("prompts' attention: windows one too long", "attention_on_matrices", r"\+ 40u\) > my_pos", "+ 41u) > my_pos", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: windows begin a chunk late", "attention_on_matrices", r"(let start = .*) / 32u \* 32u", "$1 / 32u * 32u + 32u", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: soft caps of another base", "attention_on_matrices", r"(let power\w* = capped\w*) \* 1\.442695f", "$1", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: the first head of keys for all", "attention_on_matrices", r"let kv_head = [^;]*;", "let kv_head = 0u;", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: tokens past the end are stored", "attention_on_matrices", r"if \(token(\w*) < n_tokens\)", "if (true)", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: gains of the first head for all", "attention_on_matrices", r"next_gain\[head \*", "next_gain[0u *", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: statistics of the first head", "attention_on_matrices", r"(next_parts\[my_token \* \d+u) \+ head", "$1", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: factors of the sum left out", "attention_on_matrices", r"let factor = 1f / ", "let factor = 1f + 0f * ", "GpuMatrixAttention.WindowsAndSoftcaps"),
    Mutant("prompts' attention: codes: scale of the first group for all", "attention_on_matrices", r"(let group\w* = kv_quad\w* / 8u)", "$1 * 0u", "GpuMatrixAttention.FromCodes"),
    Mutant("prompts' attention: codes: scales of the first row for all", "attention_on_matrices", r"(let halves\w* = )kv\[kv_row\w*", "$01kv[kv_row", "GpuMatrixAttention.FromCodes"),
    Mutant("a head's rest is left out", "halve_tokens_exactly", r"vec4<f16>\(exact - [^;]*\);", "vec4<f16>();", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's rest of another row", "halve_tokens_exactly", r"halves\[index \+ (\d+)u\]", "halves[index + $1u + 1u]", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's weights beside their place", "logits_matrix", r"staged\[w_to(_\d+)? \+ 2u\]", "staged[w_to$1 + 3u]", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's rest is read with the halves", "logits_matrix", r"let rest(_\d+)? = .*;", "let rest$1 = 0u;", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's first block for all", "logits_matrix", r"let next_block = .*;", "let next_block = 0u;", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's barrier before the next block missing", "logits_matrix", r"workgroupBarrier\(\);(\n +let next_block)", "$1", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("a head's rows are the batch's", "logits_matrix", r"let n_tokens = params\[list - 1u\]", "let n_tokens = params[0u]", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("normed halves: eps outside of the root", "norm_halves", r"1f / sqrt\((.*) \+ 0\.001f\)", "1f / (sqrt($1) + 0.001f)", "GpuFloatMatrices.NormsOnTheWay*", variant="no_dot4"),
    Mutant("normed halves: gain of the first quad for all", "norm_halves", r"gain\[i\w*\]", "gain[0u]", "GpuFloatMatrices.NormsOnTheWay*", variant="no_dot4"),
    Mutant("normed halves: squares of the first row for all", "norm_halves", r"(let v = x\[)wg\.y \* \d+u \+ ", "$1", "GpuFloatMatrices.NormsOnTheWay*", variant="no_dot4"),
    Mutant("normed halves: the rest is left out", "norm_halves_exactly", r"vec4<f16>\(exact - [^;]*\);", "vec4<f16>();", "GpuFloatMatrices.NormsOnTheWay*", variant="no_dot4"),
    Mutant("a packed head's rows are the batch's", "float_matmul_matrix_add", r"let n_tokens = params\[list - 1u\]", "let n_tokens = params[0u]", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("token's scale not undone", "float_matmul_matrix_add", r" \* unscale", "", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("activations of the next quad", "float_matmul_matrix_add", r"(let x_to\w* = .* \+ )(i\w*) % (\d+u) \* 4u", "$1($2 ^ 1u) % $3 * 4u", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("weights' pieces beside their place", "float_matmul_matrix_add", r"(let to_quad\w* = to\w* \+ )8u", "$0116u", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("halves of codes in the order of their bits", "float_matmul_matrix_add", r"vec4<f16>\(even\.x, odd\.x, even\.y, odd\.y\)", "vec4<f16>(even.x, even.y, odd.x, odd.y)", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("halves of codes: even ones for odd ones", "float_matmul_matrix_add", r"shift \+ 8u", "shift", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("halves of codes: zero one too small", "float_matmul_matrix_add", r"vec2<f16>\(1032h\)", "vec2<f16>(1031h)", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("halves of codes: scale left out", "float_matmul_matrix_add", r"\)\) \* scale;", "));", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("activations of the group before", "float_matmul_matrix_add", r"(let x_stored\w* = )first_token", "$010u", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("half a block of activations twice", "float_matmul_matrix_add", r"\w+ % (\d+)u \* 64u", "0u", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("activations' stage is the first one", "float_matmul_matrix_add", r"(let x_to_quad\w* = )base", "$010u", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("each split multiplies the first one's columns", "float_matmul_matrix_add", r"(let first_column\w* = base) \+ [^;]*;", "$1;", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("sums without the second split's", "float_matmul_matrix_add", r"(let sum_of_row_1 = sum_of_row) \+ sums\[[^\]]*\];", "$1;", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("splits' sums in another part of the tile", "float_matmul_matrix_add", r"(let part_at\w* = subgroup) % \w+", "$1", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("subgroups of later splits have other tokens' parts", "float_matmul_matrix_add", r"(let split\w* = subgroup) / \w+", "$1", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("gate's weights for up", "float_glu_matmul_matrix", r"w_up\[", "w_gate[", "GpuFloatMatrices.MatmulOnSubgroupMatrices", variant="no_dot4"),
    Mutant("a head's rows past the end are not the last ones", "logits_matrix", r"min\((wg\.x \* \w+ \+ [^,;]*), [^;)]*\)", "($1)", "GpuFloatMatrices.AHead*", variant="no_dot4"),
    Mutant("keys normed with the queries' gain", "qkv_heads", r"k_gain\[", "q_gain[", "GpuQkvHeads.*"),
    Mutant("values are turned too", "qkv_heads", r"select\(vec2<f32>\(1f, 0f\), (\w+), is_turned\)", "$1", "GpuQkvHeads.*"),
    Mutant("values are normed too", "qkv_heads", r"(let is_turned = .*)", "let is_turned = true;", "GpuQkvHeads.*"),
    Mutant("KV position one too far, heads", "qkv_heads", r"let pos = ", "let pos = 1u + ", "GpuQkvHeads.*"),
    Mutant("the first block for all positions, heads", "qkv_heads", r"params\[table \+ pos / 64u\]", "params[table]", "GpuQkvHeads.*"),
    Mutant("table of the first token's sequence for all, heads", "qkv_heads", r"params\[token \* 3u \+ 4u\]", "params[4u]", "GpuSequences.QkvHeads"),
    Mutant("angles of the first token's sequence for all, heads", "qkv_heads", r"params\[token \* 3u \+ 5u\]", "params[5u]", "GpuSequences.QkvHeads"),
    Mutant("the first block for all positions, serial heads", "serial_heads", r"params\[table \+ pos / 64u\]", "params[table]", "GpuQkvHeads.*"),
    Mutant("table of the first token's sequence for all, serial heads", "serial_heads", r"params\[wg\.y \* 3u \+ 4u\]", "params[4u]", "GpuSequences.QkvHeads"),
    Mutant("norm of the first head of a workgroup for all", "qkv_heads", r"let head_factor = factors\[team\]", "let head_factor = factors[0u]", "GpuQkvHeads.*"),
    Mutant("pairs past the end count twice", "qkv_heads", r"if \(pair(_\d+)? < \d+u\)", "if (true)", "GpuQkvHeads.*"),
    Mutant("RoPE turns the other way, heads", "qkv_heads", r"(tile\[[^\]]*\] = \w+ \* angle(_\d+)?\.x) - ", "$1 + ", "GpuQkvHeads.*"),
    Mutant("key and value not written", "heads_attention", r"if \(writes\)", "if (false)", "GpuHeadsAttention.*Window"),
    Mutant("keys of the first group alone are written", "heads_attention", r"\(head % \d+u\) == 0u", "head == 0u", "GpuHeadsAttention.GivesTheBitsOfTwoKernels"),
    Mutant("key and value written to the next position", "heads_attention", r"own_pos % 64u", "(own_pos + 1u) % 64u", "GpuHeadsAttention.*Window"),
    Mutant("key and value written to the first block", "heads_attention", r"params\[table \+ own_pos / 64u\]", "params[table]", "GpuHeadsAttention.*Window"),
    Mutant("keys and values of the first block", "heads_attention", r"params\[table \+ seen_pos / 64u\]", "params[table]", "GpuHeadsAttention.*Window"),
    Mutant("angles of the first token's sequence for all, own heads", "heads_attention", r"params\[token \* 3u \+ 5u\]", "params[5u]", "GpuSequences.HeadsAttention"),
    Mutant("table of the first token's sequence for all, own heads", "heads_attention", r"params\[token \* 3u \+ 4u\]", "params[4u]", "GpuSequences.HeadsAttention"),
    Mutant("key written as value", "heads_attention", r"(let to_row = .*)which == 1u", "$1which == 2u", "GpuHeadsAttention.*Window"),
    Mutant("value of the key's row", "heads_attention", r"select\(key_row \+ \d+u, key_row,", "select(key_row, key_row,", "GpuHeadsAttention.*Window"),
    Mutant("own key and value not rounded", "heads_attention", r"own\[i\] = vec4<f32>\(unpack.*;", "own[i] = v;", "GpuHeadsAttention.*Window"),
    Mutant("own key for the position before too", "heads_attention", r"pos < own_pos", "pos + 1u < own_pos", "GpuHeadsAttention.*Window"),
    Mutant("own value from the cache", "heads_attention", r"select\((.*), own_value, .*\) \* w", "$1 * w", "GpuHeadsAttention.*Window"),
    Mutant("own value for the position before too", "heads_attention", r"\) >= own_pos", " + 1u) >= own_pos", "GpuHeadsAttention.*Window"),
    Mutant("query's norm for the key", "heads_attention", r"factors\[which\]", "factors[0u]", "GpuHeadsAttention.*Window"),
    Mutant("barrier before the own heads are read missing", "heads_attention", r"workgroupBarrier\(\);(\n +let q4 )", "$1", "GpuHeadsAttention.*Window"),
    Mutant("barrier before the tile is read missing", "heads_attention", r"workgroupBarrier\(\);(\n +let writes )", "$1", "GpuHeadsAttention.GivesTheBitsOfTwoKernels", variant="nothing"),
    Mutant("a split other than the first writes", "heads_attention_split", r"wg\.z == 0u", "wg.z == 1u", "GpuHeadsAttention.*Splits"),
    Mutant("head norm's gain of the first dimension", "head_norm", r"gain\[i(_\d+)?\]", "gain[0u]", "GpuNorms.HeadNorm"),
    Mutant("window one too long", "attention", r"(max\(n_pos, (\d+)u\) - )(\d+)u", "max(n_pos, $2u + 1u) - ($2u + 1u)", "GpuAttention.Window"),
    Mutant("argmax takes the last of equals", "argmax_next", r"at_b(_\d+)? < at_a", "at_b$1 > at_a", "GpuHead.ArgmaxTakesTheFirst*"),
    Mutant("argmax takes the last of equals in a part", "argmax_parts", r"at_b(_\d+)? < at_a", "at_b$1 > at_a", "GpuHead.ArgmaxTakesTheFirst*"),
    Mutant("argmax of the parts' last rows missing", "argmax_parts", r"min\((wg\.x[^,]*), \d+u\)", "$1 - 1u", "GpuHead.Argmax*"),
    Mutant("no token for NaN", "argmax_next", r"select\(winner, 0u, winner == 4294967295u\)", "winner", "GpuHead.ArgmaxIsNeverNaN"),
    Mutant("the ring starts at 1", "argmax_next", r"params\[2u\] - 1u", "params[2u]", "GpuHead.Argmax*"),
    Mutant("argmax of the first row for all", "argmax_parts", r"logits\[wg\.y \* \d+u \+ ", "logits[", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("argmax of the first row's parts for all", "argmax_next", r"values\[wg\.y \* \d+u \+ ", "values[", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("the ring has room for one row", "argmax_next", r"% (\d+u) \* params\[0u\]", "% $1", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("all tokens are the first row's input", "argmax_next", r"tokens\[wg\.y\]", "tokens[0u]", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("only the first row moves on", "argmax_next", r"params\[wg\.y \* 3u \+ 3u\]", "params[3u]", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("every row counts a step", "argmax_parts", r" && \(wg\.y == 0u\)", "", "GpuHead.ArgmaxOfEveryRow"),
    Mutant("the position stays", "argmax_next", r"(params\[wg\.y \* 3u \+ 3u\]) \+= 1u", "$1 += 0u", "GpuHead.ArgmaxFinds*"),
    Mutant("rows of the wrong tokens selected", "select_rows", r"params\[list \+ wg\.y\]", "(params[list] + wg.y)", "GpuRows.SelectRows"),
    Mutant("columns past the end", "add", r"if \(column < \d+u\)", "if (true)", "GpuRows.Add"),

    # Norms inside other kernels, and the statistics that they leave for the norm that follows.
    Mutant("the last part of the statistics not read", "normed_.*", r"(i(_\d+)? )(< \d+u\) \{\n +let part_stats)", "$1+ 1u $3", "GpuNormFused.*"),
    Mutant("parts read from the token before", "normed_.*", r"let parts_row = wg\.y \* (\d+)u", "let parts_row = wg.y * ($1u - 1u)", "GpuNormFused.*"),
    Mutant("sum of the parts' squares: the last", "normed_.*", r"squares \+= (part_stats(_\d+)?\.x)", "squares = $1", "GpuNormFused.MatvecAddInOtherLayouts"),
    Mutant("greatest of the parts: the last", "normed_.*", r"max\(largest, (part_stats(_\d+)?\.y)\)", "$1", "GpuNormFused.MatvecAddInOtherLayouts"),
    Mutant("eps missing", "normed_matvec_add", r" \+ 1e-05f\)", ")", "GpuNormFused.*"),
    Mutant("eps missing", "normed_glu", r" \+ 1e-05f\)", ")", "GpuNormFused.*"),
    Mutant("eps missing", "normed_qkv", r" \+ 1e-05f\)", ")", "GpuNormFused.*"),
    Mutant("mean of the squares over too many columns", "normed_.*", r"(let factor = 1f / sqrt\(\w+ / )(\d+)f", "$1(16f + $2f)", "GpuNormFused.*"),
    Mutant("gain not applied", "normed_matvec_add", r"(let vg(_\d+)? = v(_\d+)?) \* g(_\d+)?;", "$1;", "GpuNormFused.MatvecAdd*"),
    Mutant("gain not applied", "normed_glu", r"(let vg(_\d+)? = v(_\d+)?) \* g(_\d+)?;", "$1;", "GpuNormFused.Glu"),
    Mutant("gain not applied", "normed_qkv", r"(let vg(_\d+)? = v(_\d+)?) \* g(_\d+)?;", "$1;", "GpuNormFused.Qkv"),
    Mutant("gain of the first columns for all", "normed_.*", r"gain\[from_quad(_\d+)? \+ ", "gain[", "GpuNormFused.*"),
    Mutant("row of the first token for all", "normed_.*", r"let x_row = wg\.y", "let x_row = 0u", "GpuNormFused.*"),
    Mutant("staged planes in the wrong order", "normed_.*", r"\((unit(_\d+)?) >> 1u\) & 3u", "(3u - (($1 >> 1u) & 3u))", "GpuNormFused.*"),
    Mutant("staged halves of a block swapped", "normed_.*", r"\((unit(_\d+)?) & 1u\)", "(1u - ($1 & 1u))", "GpuNormFused.*"),
    Mutant("staged blocks in reverse", "normed_.*", r"\((unit(_\d+)?) >> 3u\) \* 2u", "((arrayLength(&gain) / 32u - 1u) - ($1 >> 3u)) * 2u", "GpuNormFused.*"),
    Mutant("values past the row's end are staged", "normed_matvec_add", r"if \(unit(_\d+)? < \d+u\)", "if (true)", "GpuNormFused.MatvecAdd*"),
    Mutant("last of the row not staged", "normed_.*", r"if \((unit(_\d+)?) < (\d+u)\)", "if ($1 + 1u < $3)", "GpuNormFused.*"),
    Mutant("a fourth missing in the sum of the activations", "normed_.*", r"q_sum \+= q(_\d+)?\.x \+ ", "q_sum += ", "GpuNormFused.*"),
    Mutant("sum of the activations not taken off", "normed_.*", r"(f32\(\w+) - \w+\) / x_scale", "$1) / x_scale", "GpuNormFused.*"),
    Mutant("norm's barriers missing", "normed_matvec_add", r"workgroupBarrier\(\);", "", "GpuNormFused.MatvecAdd*"),
    Mutant("norm's barriers missing", "normed_glu", r"workgroupBarrier\(\);", "", "GpuNormFused.Glu"),
    Mutant("norm's barriers missing", "normed_qkv", r"workgroupBarrier\(\);", "", "GpuNormFused.Qkv"),
    Mutant("norm's barriers missing, no subgroups", "normed_.*", r"workgroupBarrier\(\);", "", "GpuNormFused.*", variant="no_subgroups"),
    Mutant("barrier before the statistics of the subgroups missing", "normed_matvec_add", r"workgroupBarrier\(\);(\n +let group_stat )", "$1", "GpuNormFused.MatvecAddInOtherLayouts"),
    Mutant("statistics of the first subgroup for all", "normed_matvec_add", r"group_stats\[tid & \d+u\]", "group_stats[0u]", "GpuNormFused.MatvecAddInOtherLayouts"),
    Mutant("barrier before the next norm's statistics missing", "normed_.*", r"workgroupBarrier\(\);(\n +let next_stat )", "$1", "GpuNormFused.*"),
    Mutant("next norm: square missing", "normed_matvec_add", r"next_squares \+= (\w+) \* \w+;", "next_squares += $1;", "GpuNormFused.MatvecAdd*"),
    Mutant("next norm: square missing", "normed_glu", r"next_squares \+= (\w+) \* \w+;", "next_squares += $1;", "GpuNormFused.Glu"),
    Mutant("next norm: gain missing", "normed_.*", r"abs\((\w+) \* next_g(_\d+)?\)", "abs($1)", "GpuNormFused.*"),
    Mutant("next norm: sign not taken off", "normed_.*", r"abs\((\w+ \* next_g(_\d+)?)\)", "($1)", "GpuNormFused.*"),
    Mutant("next norm: gain of the first row for all", "normed_.*", r"next_gain\[\w+\]", "next_gain[0u]", "GpuNormFused.*"),
    Mutant("next norm: wrong part", "normed_.*", r"(next_parts\[wg\.y \* \d+u \+ wg\.x)\]", "$1 / 2u]", "GpuNormFused.*"),
    Mutant("next norm: parts of the token before", "normed_.*", r"next_parts\[wg\.y \* (\d+)u", "next_parts[wg.y * ($1u - 1u)", "GpuNormFused.*"),
    Mutant("next norm: what was added, not what is there", "normed_matvec_add", r"next_squares \+= y_new(_\d+)? \* y_new(_\d+)?", "next_squares += value * value", "GpuNormFused.MatvecAdd*"),

    # Keys and values as q8_0.
    Mutant("scale of 128 steps", "kv_append", r"/ 127f", "/ 128f", "GpuAttention.KvAppendMakes*"),
    Mutant("scale rounded down", "kv_append", r"raw(_\d+)? \+ 4095u \+ \(\(raw(_\d+)? >> 13u\) & 1u\)", "raw$1", "GpuAttention.KvAppendMakes*"),
    Mutant("subnormal scales as if they were normal", "kv_append", r"exact_scale(_\d+)? < 6\.1\d+e-05f", "false", "GpuAttention.KvAppendMakes*"),
    Mutant("codes by the scale before it was rounded", "kv_append", r"1f / as_pair(_\d+)?\.x", "1f / exact_scale$1", "GpuAttention.KvAppendMakes*"),
    Mutant("codes half way rounded up", "kv_append", r"round\((v\w*) \* inverse\)", "floor($1 * inverse + 0.5)", "GpuAttention.KvAppendMakes*"),
    Mutant("greatest without its sign taken off", "kv_append", r"abs\(d(_\d+)?\)", "d$1", "GpuAttention.KvAppend*"),
    Mutant("scales of a word swapped", "kv_append", r"scale_bits_1 \| \((\w+) << 16u\)", "(scale_bits_1 << 16u) | $1", "GpuAttention.KvAppendMakes*"),
    Mutant("a scale where there is no group", "kv_append", r"let high_bits = .*;", "let high_bits = scale_bits_2;", "GpuAttention.KvAppendMakes*"),
    Mutant("greatest of the next group", "qkv_heads", r"let group(_\d+)? = i(_\d+)? / 8u", "let group$1 = (i$2 / 8u) ^ 1u", "GpuQkvHeads.*"),
    Mutant("scales of the run before it", "ternary_qkv", r"first_pair / 32u \+ low_group", "low_group", "GpuQkv.CacheOfCodes"),
    Mutant("codes of the second run beside the first", "ternary_qkv", r"kv\[to_row \+ dim_1 / 4u\]", "kv[to_row + t_1 / 4u]", "GpuQkv.CacheOfCodes"),
    Mutant("codes without a sign", "attention", r" \^ 2155905152u", "", "GpuAttention.UnsplitFromCodes"),
    Mutant("keys with the other scale of a word", "attention", r"score \+= of_group \* scales_of_two\.x", "score += of_group * scales_of_two.y", "GpuAttention.UnsplitFromCodes"),
    Mutant("values with the next group's scale", "attention", r"my_quad / 8u", "(my_quad / 8u ^ 1u)", "GpuAttention.UnsplitFromCodes"),
    Mutant("values with the scales of keys", "attention", r"let value_at = key_at \+ \d+u", "let value_at = key_at", "GpuAttention.UnsplitFromCodes"),
    Mutant("scales into the sum of the weights", "attention", r"total \+= weight;", "total += weights[my_pos];", "GpuAttention.UnsplitFromCodes"),
    Mutant("keys with the other scale of a word, serial", "serial_attention", r"select\((scales_of_two\.x), scales_of_two\.y, group >= \d+u\)", "$1", "GpuAttention.UnsplitFromCodes"),
    Mutant("values with the other scale of a word, serial", "serial_attention", r"select\((scales_of_two_2\.x), scales_of_two_2\.y, group_2 >= \d+u\)", "$1", "GpuAttention.UnsplitFromCodes"),
    Mutant("greatest of the first group for both, serial", "serial_heads", r"high \* \d+u\) \* 32u", "high * 0u) * 32u", "GpuQkvHeads.*"),
    Mutant("own codes with the cache's scales", "heads_attention", r"select\((scales_of_two(_\d+)?\.\w), own_scales\[[^\]]*\], pos >= own_pos\)", "$1", "GpuHeadsAttention.*Window"),
    Mutant("own scales not written", "heads_attention", r"if \(writes && ", "if (false && ", "GpuHeadsAttention.*Window"),
    Mutant("own scales of the key for both", "heads_attention", r"own_scales\[side \* (\d+)u", "own_scales[0u * $1u", "GpuHeadsAttention.*Window"),

    # Attention: statistics, splits, merge.
    Mutant("next norm: square missing", "attention", r"squares = dot\(result, result\)", "squares = dot(result, vec4<f32>(1f))", "GpuAttention.Unsplit"),
    Mutant("next norm: gain missing", "attention", r"abs\((result\.\w) \* gain(_\d+)?\)", "abs($1)", "GpuAttention.Unsplit"),
    Mutant("next norm: gain of the first head for all", "attention", r"next_gain\[head \* \d+u \+ ", "next_gain[", "GpuAttention.Unsplit"),
    Mutant("next norm: part of another head", "attention", r"next_parts\[(token \* \d+u) \+ head\]", "next_parts[$1 + head / 2u]", "GpuAttention.Unsplit"),
    Mutant("next norm: parts of the first token", "attention", r"next_parts\[token \* \d+u \+ head\]", "next_parts[head]", "GpuAttention.Unsplit"),
    Mutant("next norm: square missing, merged", "attention_merge", r"squares \+= result \* result", "squares += result", "GpuAttention.SplitAndMerged"),
    Mutant("next norm: gain missing, merged", "attention_merge", r"abs\(result \* gain\)", "abs(result)", "GpuAttention.SplitAndMerged"),
    Mutant("next norm: gain of the first head for all, merged", "attention_merge", r"next_gain\[wg\.x \* \d+u \+ ", "next_gain[", "GpuAttention.SplitAndMerged"),
    Mutant("next norm: parts of the first token, merged", "attention_merge", r"next_parts\[row\]", "next_parts[wg.x]", "GpuAttention.SplitAndMerged"),
    Mutant("only the greatest of the last chunk", "attention", r"(let new_greatest = )max\(greatest, (\w+)\)", "$1$2", "GpuAttention.*"),
    Mutant("the chunk's greatest not taken", "attention", r"(let new_greatest = )max\(greatest, (\w+)\)", "$1max(greatest, 0f * $2)", "GpuAttention.*"),
    Mutant("a split's greatest not stored", "attention_split", r"(y\[base \+ \d+u\] = )greatest;", "$010f;", "GpuAttention.SplitAndMerged"),
    Mutant("a split's sum stored twice", "attention_split", r"(y\[base \+ \d+u\] = )greatest;", "$01total;", "GpuAttention.SplitAndMerged"),
    Mutant("every split begins with the first chunk", "attention_split", r"first = wg\.z \* \d+u", "first = 0u", "GpuAttention.SplitAndMerged"),
    Mutant("splits overlap", "attention_split", r"first \+= n_wg\.z \* ", "first += ", "GpuAttention.SplitAndMerged"),
    Mutant("splits of the next token written over", "attention_split", r"\(\(token \* (\d+)u \+ head\) \* (\d+)u \+ wg\.z\)", "((token * $1u + head) * ($2u - 1u) + wg.z)", "GpuAttention.SplitAndMerged"),
    Mutant("no greatest is taken", "attention_merge", r"exp\(my_greatest - (\w+)\)", "exp(my_greatest - 0f * $1)", "GpuAttention.*"),
    Mutant("weights of the first split dropped", "attention_merge", r"let weighed = share", "let weighed = f32(tid != 0u) * share", "GpuAttention.SplitAndMerged"),
    Mutant("values of the first split dropped", "attention_merge", r"shares\[(i(_\d+)?) \+ 0u\]", "f32($1 != 0u) * shares[$1 + 0u]", "GpuAttention.SplitAndMerged"),
    Mutant("share of the split before", "attention_merge", r"shares\[(i(_\d+)?) \+ 1u\]", "shares[$1]", "GpuAttention.SplitAndMerged"),
    Mutant("heads together: a chunk's last positions left out", "attention_of_groups", r"let in_chunk_1 = .*;", "let in_chunk_1 = my_pos;", "GpuAttention.Window"),
    Mutant("heads together: places of the chunk before", "attention_.*of_groups", r"workgroupBarrier\(\);(\n +let in_chunk)", "$1", "GpuAttention.SplitAndMerged"),
    Mutant("heads together: statistics of the first head for all", "attention_of_groups", r"(next_parts\[\w+ \+ 1u\] = vec2<f32>\(\w+)\.y", "$1.x", "GpuAttention.Window"),
    Mutant("heads together: the result of the first head for all", "attention_of_groups", r"factors\.y", "factors.x", "GpuAttention.Window"),
    Mutant("the first heads for all workgroups", "attention_split_of_groups", r"let first_head = wg\.x \* \d+u", "let first_head = 0u", "GpuAttention.SplitAndMerged"),
    Mutant("keys of the first group for all", "attention_split_of_groups", r"let kv_head = .*;", "let kv_head = 0u;", "GpuAttention.SplitAndMerged"),
    Mutant("values weighed for the first head", "attention_split_of_groups", r"(acc_1 \+= value\w* \* w\w*)\.y", "$1.x", "GpuAttention.SplitAndMerged"),
    Mutant("greatest of the first head for all", "attention_split_of_groups", r"all_greatest\.y", "all_greatest.x", "GpuAttention.SplitAndMerged"),
    Mutant("queries of the first head for all", "attention_split_of_groups", r"queries\[i(_\d+)?\] = q\[row \* (\d+)u \+ i(_\d+)?\]", "queries[i$1] = q[row * $2u + i$3 % $2u]", "GpuAttention.SplitAndMerged"),
    Mutant("barrier before queries and places are read missing", "attention_split_of_groups", r"workgroupBarrier\(\);(\n +let in_chunk)", "$1", "GpuAttention.SplitAndMerged"),
    Mutant("values with the next group's scale, heads together", "attention_split_of_groups", r"my_quad / 8u", "(my_quad / 8u ^ 1u)", "GpuAttention.SplitAndMergedFromCodes"),
    Mutant("values with the scales of keys, heads together", "attention_split_of_groups", r"let value_at = key_at \+ \d+u", "let value_at = key_at", "GpuAttention.SplitAndMergedFromCodes"),

    # What chooses a token.
    Mutant("the step stays", "argmax_parts", r"params\[2u\] \+= 1u", "params[2u] += 0u", "GpuHead.ArgmaxFinds*"),
    Mutant("the next input is not set", "argmax_next", r"tokens\[wg\.y\] = token", "tokens[wg.y] = tokens[wg.y]", "GpuHead.ArgmaxFinds*"),
    Mutant("the ring does not turn", "argmax_next", r"step_now % \d+u \*", "step_now *", "GpuHead.Argmax*"),
    Mutant("rows of the selection on top of each other", "select_rows", r"y\[wg\.y \* ", "y[0u * ", "GpuRows.SelectRows"),
]

DEVICE_SAMPLER = [
    Mutant("top-k: one too many", "sample_count_start", r"let top_k = row_options\.y", "let top_k = 1f + row_options.y", "EveryTopK"),
    Mutant("top-k: one too few", "sample_count_start", r"let top_k = row_options\.y", "let top_k = row_options.y - 1f", "EveryTopK"),
    Mutant("top-k: the bin before the right one", "sample_count|sample_share_after|sample_weigh_count", r"let reached = counts\[tid\] >= ", "let reached = 1f + counts[tid] >= ", "EveryTopK"),
    Mutant("top-k: what greater bins hold not taken off", "sample_count", r"let new_rest = (\w+) - counts_before_1", "let new_rest = $1", "EveryTopK"),
    Mutant("top-k: all ties are kept", "sample_weigh_count", r"let ties = u32\(\w+\)", "let ties = 1000000u", "TiesGoToTheLowerId"),
    Mutant("top-p ignored", "sample_.*", r"let (top_p(_\d+)?) = row_options\.z", "let $1 = 1f", "DrawsAsTheHostDoes"),
    Mutant("top-p of all tokens, not of those that top-k leaves", "sample_share_after", r"let share_rest = max\((top_p(_\d+)?) \* \w+", "let share_rest = max($1 * 1.2f * total_1", "EveryTopK:*DrawsAsTheHostDoes"),
    Mutant("top-p: above the threshold not counted", "sample_share_after", r"let total(_\d+)? = above \+ ", "let total$1 = ", "EveryTopK:*DrawsAsTheHostDoes"),
    Mutant("top-p: one tie too few", "sample_weigh_share", r"select\(some, some \+ 1f, ", "select(some, some, ", "TiesGoToTheLowerId"),
    Mutant("top-p: small shares lost", "sample_share.*|sample_weigh_share", r" \+ f32\(now_2\) \* [0-9.e-]+f", "", "DrawsAsTheHostDoes"),
    Mutant("min-p ignored", "sample_.*", r"weight_of\(\w+, \w+, 1f\) < \w+\)", "false)", "DrawsAsTheHostDoes"),
    Mutant("min-p after the temperature", "sample_.*", r"(weight_of\(\w+, \w+, )1f(\) < )", "$1c_1$2", "DrawsAsTheHostDoes"),
    Mutant("temperature ignored", "sample_.*", r"below / c", "below", "DrawsAsTheHostDoes"),
    Mutant("prefix sums: an entry too near", "sample_.*", r"\[tid - 8u\]", "[tid - 7u]", "DrawsAsTheHostDoes"),
    Mutant("prefix sums: one entry left out", "sample_.*", r"if \(tid >= 16u\)", "if (tid > 16u)", "DrawsAsTheHostDoes"),
    Mutant("prefix sums: barriers missing", "sample_.*", r"workgroupBarrier\(\);(\n +(shares|counts|weights|all_ties)(_\d+)?\[tid\] = sum)", "$1", "DrawsAsTheHostDoes"),
    Mutant("barrier before the found bin missing", "sample_.*", r"workgroupBarrier\(\);(\n +let now(_\d+)? = \(atomicLoad\(&best)", "$1", "DrawsAsTheHostDoes"),
    Mutant("barrier before the histogram is passed on missing", "sample_count.*|sample_share.*", r"workgroupBarrier\(\);(\n +let now(_\d+)? = \(atomicLoad\(&bins)", "$1", "DrawsAsTheHostDoes"),
    Mutant("histograms of the token before", "sample_greatest", r"atomicStore\(&hist\[([^\]]*)\], 0u\)", "atomicAdd(&hist[$1], 0u)", "DrawsAsTheHostDoes"),
    Mutant("greatest logit of the last part not seen", "sample_.*", r"if \(tid < (\d+u)\) \{(\n +mine = )", "if (tid + 1u < $1) {$2", "MinPIsAShareOfTheGreatest"),
    Mutant("last token of a part not seen", "sample_.*", r"min\((wg\.x \* \d+u \+ \d+u), (\d+u)\)", "min($1, $2) - 1u", "PeakedLogits:*DrawsAsTheHostDoes"),
    Mutant("ties of every part are kept", "sample_next", r"min\(ties_left, ties_before(_\d+)?\)", "min(ties_left, 0u)", "TiesGoToTheLowerId"),
    Mutant("the last ties are kept, not the first", "sample_next", r"if \(n_ties < ties_here\)", "if (n_ties >= ties_here)", "TiesGoToTheLowerId"),
    Mutant("the draw of the first step for all", "sample_next", r"draws\[in_ring\]", "draws[0u]", "DrawsAsTheHostDoes"),
    Mutant("the draw is aimed at the start of every part", "sample_next", r"let target_left = aim - weight_before_1", "let target_left = aim", "DrawsAsTheHostDoes"),
    Mutant("the draw is aimed at the start of every run", "sample_next", r"let target_left_1 = target_left - \w+", "let target_left_1 = target_left", "DrawsFromALargeVocabulary"),
    Mutant("NaN is a great logit", "sample_.*", r"return select\(order, 0u, .*\);", "return order;", "NeverChoosesNan"),
    Mutant("minus zero is less than zero", "sample_.*", r"let b = select\(a, 0u, a == 2147483648u\)", "let b = a", "MinusZeroIsZero"),
    Mutant("the ring starts at 1", "sample_next", r"ids\[in_ring", "ids[1u + in_ring", "DrawsAsTheHostDoes"),
    Mutant("the position stays", "sample_next", r"(params\[wg\.y \* 3u \+ 3u\]) \+= 1u", "$1 += 0u", "DrawsAsTheHostDoes"),
    Mutant("options of the first row for all", "sample_.*", r"options\[wg\.y\]", "options[0u]", "RowsHaveOptions*", smoke=True),
    Mutant("logits of the first row for all", "sample_greatest", r"logits\[wg\.y \* \d+u \+ ", "logits[", "RowsHaveOptions*"),
    Mutant("parts of the first row for all", "sample_weigh.*", r"let parts_of_row = wg\.y", "let parts_of_row = 0u", "RowsHaveOptions*"),
    Mutant("histograms of the first row for all", "sample_.*", r"let hist_of_row(_\d+)? = wg\.y", "let hist_of_row$1 = 0u", "RowsHaveOptions*"),
    Mutant("searches of the first row for all", "sample_.*", r"let state_of_row = wg\.y", "let state_of_row = 0u", "RowsHaveOptions*"),
    Mutant("number of the first row for all", "sample_next", r"draws\[in_ring\]", "draws[in_ring - wg.y]", "RowsHaveOptions*"),
    Mutant("top-k: NaN counts as kept", "sample_.*", r"let there(_\d+)? = min\((\w+), ([^;]*)\);", "let there$1 = $2;", "RowsHaveOptions*"),
    Mutant("the step stays", "sample_greatest", r"params\[2u\] \+= 1u", "params[2u] += 0u", "DrawsAsTheHostDoes"),
    Mutant("the next input is not set", "sample_next", r"tokens\[wg\.y\] = chosen", "tokens[wg.y] = tokens[wg.y]", "DrawsAsTheHostDoes"),
]

MATRICES = [
    Mutant("planes of the first matrix word swapped", "ternary_matmul_matrix", r"(\.x >> )6u", "$014u", "SetsTheSameBits"),
    Mutant("planes staged a word apart", "ternary_matmul_matrix", r"(staged\[w_to_words\w* \+ )10u\]", "$0111u]", "SetsTheSameBits"),
    Mutant("sum of the activations not taken off", "ternary_matmul_matrix", r" - x_sum(_\d+)?", "", "SetsTheSameBits"),
    Mutant("matrix of the weights transposed", "ternary_matmul_matrix", r"true, (\d+)u\)", "false, $1u)", "SetsTheSameBits"),
    Mutant("activations of the first subgroup for all", "ternary_matmul_matrix", r"k(_\d+)? \+ subgroup_token \* \d+u", "k$1", "SetsTheSameBits"),
    Mutant("weights of the first subgroup for all", "ternary_matmul_matrix", r"k(_\d+)? \+ subgroup_row \* \d+u", "k$1", "SetsTheSameBits", smoke=True),
    Mutant("one matrix of weights for all", "ternary_matmul_matrix", r"(w_at(?:_\d+)? \+ )[1-9]\d*u, true", "$010u, true", "SetsTheSameBits"),
    Mutant("one stage for both", "ternary_matmul_matrix", r"\(block & 1u\) \* \d+u", "0u", "SetsTheSameBits"),
    Mutant("stages that overlap", "ternary_matmul_matrix", r"(\(block & 1u\) \* )\d+u", "$0116u", "SetsTheSameBits"),
    Mutant("last columns of a block left out", "ternary_matmul_matrix", r"k < (128|64)u", "k + 8u < $01u", "SetsTheSameBits"),
    Mutant("last block left out", "ternary_matmul_matrix", r"block < (\d+u)", "block + 1u < $1", "SetsTheSameBits"),
    Mutant("the next block is this one", "ternary_matmul_matrix", r"min\(block \+ 1u, ", "min(block, ", "SetsTheSameBits"),
    Mutant("odd halves of a block are even ones", "ternary_matmul_matrix", r"8u \+ \(\w+ & 1u\)", "8u", "SetsTheSameBits"),
    Mutant("barrier after staging missing", "ternary_matmul_matrix", r"workgroupBarrier\(\);(\n +let next_block )", "$1", "SetsTheSameBits"),
    Mutant("barrier before the next block is staged missing", "ternary_matmul_matrix", r"(\n    \})\n    workgroupBarrier\(\);(\n  \})", "$1$2", "SetsTheSameBits"),
    Mutant("tokens past the end are stored", "ternary_matmul_matrix", r"\(token(_\d+)? < n_tokens\)", "true", "SetsTheSameBits"),
    Mutant("rows past the end are stored", "ternary_matmul_matrix", r"\(row(_\d+)? < \d+u\)", "true", "SetsTheSameBits"),
    Mutant("rows of the tile clamped one too early", "ternary_matmul_matrix", r"min\((first_row[^;]*?), (\d+)u\);", "min($1, $2u - 1u);", "SetsTheSameBits"),
    Mutant("tokens of the tile clamped one too early", "ternary_matmul_matrix", r"min\((first_token[^;]*?), n_tokens - 1u\);", "min($1, max(n_tokens, 2u) - 2u);", "SetsTheSameBits"),
    Mutant("sums of the first subgroup for all", "ternary_matmul_matrix", r"let sums_at = subgroup \* \d+u", "let sums_at = 0u", "SetsTheSameBits"),
    Mutant("residual set, not added", "ternary_matmul_matrix_add", r"\+= value", "= value", "AddsTheSameBits"),
    Mutant("scale of gate for up", "ternary_glu_matmul_matrix", r"scales\.b", "scales.a", "GluGivesTheSameBits"),
    Mutant("matrix of gate read twice", "ternary_glu_matmul_matrix", r"w_up\[", "w_gate[", "GluGivesTheSameBits"),
    Mutant("sums of gate used for up", "ternary_glu_matmul_matrix", r"(let sum_of_row\w* = staged\[sums_at \+ \w+ \+ )[1-9]\d*u\]", "$010u]", "GluGivesTheSameBits"),
    Mutant("relu forgotten", "ternary_glu_matmul_matrix", r"max\(gate, 0f\)", "gate", "GluGivesTheSameBits"),
]

ONE_DISPATCH = [
    Mutant("one dispatch: any tag will do", "ternary_layers", r"(\(odd\w*|\(\(found\w* \^ \w+\)) & 3u\) == 0u", "true", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the same tag in all layers", "ternary_layers", r"let tag = \(last_tag \+ 1u \+ layer\)", "let tag = (last_tag + 1u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the same tags for all tokens", "ternary_layers", r"atomicStore\(&words\[0u\], [^;]*\);", "atomicStore(&words[0u], last_tag);", "AnyNumberOfLayers"),
    Mutant("one dispatch: keys and values without a head are stored", "ternary_layers", r"let end_pos(_\d+)? = select\(first_pos\w*, (.*), is_used\w*\);", "let end_pos$1 = $2;", "MoreWorkgroupsThanParts"),
    Mutant("one dispatch: x after attention where x before it was", "ternary_layers", r"let place(_\d+)? = row(_\d+)? \+ 6080u;", "let place$1 = row$2 + 64u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: residual of other rows", "ternary_layers", r"let x_new = residual\[mine_at\]", "let x_new = residual[mine_at ^ 1u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the first layer's matrices for all", "ternary_layers", r"let start(_\d+)? = layer \*", "let start$1 = 0u *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the first layer's gains for all", "ternary_layers", r"let vectors_at(_\d+)? = (\w+) \*", "let vectors_at$1 = 0u * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the first layer's keys for all", "ternary_layers", r"let key_of_layer(_\d+)? = layer \*", "let key_of_layer$1 = 0u *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: a value's scale for a key", "ternary_layers", r"let of_k_or_v = select\(w_scale(\w*), w_scale(\w*),", "let of_k_or_v = select(w_scale$1, w_scale$1,", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: values are turned, too", "ternary_layers", r"let turn(_\d+)? = select\((\w+), .*\);", "let turn$1 = $2;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the token does not see itself", "ternary_layers", r"let is_seen(_\d+)? = (\w+) < end_pos", "let is_seen$1 = $2 + 1u < end_pos", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: later positions are those of the round before", "ternary_layers", r"(let later(_\d+)? = (newest|p)\w*) \+ \w+;", "$1;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the last positions are not asked for", "ternary_layers", r"\(((first|from)_pos\w* \+ (\w+))\) < end_pos", "($1 + $3) < end_pos", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the token's key is kept where another is", "ternary_layers", r"next_at = key_of_layer\w*;", "", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: sums do not shrink", "ternary_layers", r"= acc(_\d+)? \* shrink(_\d+)? \+", "= acc$1 +", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: parts of the history are not weighed", "ternary_layers", r"let shrink(_\d+)? = select\(0f, exp\(.*\), lane_of_value < (\w+)\);", "let shrink$1 = select(0f, 1f, lane_of_value < $2);", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: a part is left out", "ternary_layers", r"lane_of_value < splits", "lane_of_value + 1u < splits", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the token's key is not kept", "ternary_layers", r"kv\[key_of_layer\w* \+ 0u\] = [^;]*;", "", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: activations rounded to their neighbours", "ternary_layers", r"12582912f", "12582911f", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: bytes of a word in another order", "ternary_layers", r"<< 16u", "<< 8u", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: the last row of a share is not computed", "ternary_layers", r"(let end_row(_\d+)? = .*);", "$1 - u32(wg.x == 0u);", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: sum of the activations not taken off", "ternary_layers", r"f32\((sum\w*) - sum\w*\) / x_scale", "f32($1) / x_scale", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: rows of later rounds with the first one's weights", "ternary_layers", r"(kept_w\w*) = w4\w*;", "", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch: rows of later rounds with weights of the round's own rows", "ternary_layers", r"(let later_row\w* = row\w*) \+ \w+", "$1", "LogitsAreThoseOfTheSteps"),
]

ONE_DISPATCH_OF_FLOATS = [
    Mutant("one dispatch of floats: any tag will do", "float_layers", r"(\(odd\w*|\(\(found\w* \^ \w+\)) & 3u\) == 0u", "true", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the same tag in all layers", "float_layers", r"let tag = \(last_tag \+ 1u \+ layer\)", "let tag = (last_tag + 1u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the first layer's matrices for all", "float_layers", r"let units_of_layer(_\d+)? = (\w+) \*", "let units_of_layer$1 = 0u * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the first layer's scales for all", "float_layers", r"let scales_of_layer(_\d+)? = (\w+) \*", "let scales_of_layer$1 = 0u * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the first layer's gains for all", "float_layers", r"let vectors_at(_\d+)? = (\w+) \*", "let vectors_at$1 = 0u * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the first layer's head gains for all", "float_layers", r"let gains_at(_\d+)? = layer \*", "let gains_at$1 = 0u *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: gains of queries for keys", "float_layers", r"select\((\d+)u, (\d+)u, is_query(\w*)\)", "select($2u, $2u, is_query$3)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: values are normed as heads", "float_layers", r"let head_factor(_\d+)? = select\(1f, (\w+), slot(\w*) <= (\d+)u\)", "let head_factor$1 = select(1f, $2, slot$3 <= $4u + 1u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: squares of other heads", "float_layers", r"head_squares\[slot(\w*) \*", "head_squares[0u * slot$1 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: heads are not normed", "float_layers", r"let normed(_\d+)? = (turned_\w+) \* head_factor\w*", "let normed$1 = $2", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: words of a block in another order", "float_layers", r"let row_of_block(_\d+)? = \((\w+) & 3u\) \* 32u", "let row_of_block$1 = (($2 & 3u) ^ 1u) * 32u", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: rows after the first block in the first", "float_layers", r"& 4294967168u\)", "& 0u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: a run's scale is its greatest value", "float_layers", r"let run_scale(_\d+)? = (\w+) / 127f", "let run_scale$1 = $2", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: activations rounded to their neighbours", "float_layers", r"12582912f", "12582911f", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: runs of half the values", "float_layers", r"subgroupShuffleXor\(most(\w*), 4u\)", "subgroupShuffleXor(most$1, 0u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: squares of one subgroup for all", "float_layers", r"let squares_part(_\d+)? = squares_of_group\[.*\];", "let squares_part$1 = squares_of_group[0u];", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the norm's factor is left out", "float_layers", r"let norm_factor(_\d+)? = .*;", "let norm_factor$1 = 1f;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the last unit of a row is left out", "float_layers", r"let start(_\d+)? = min\((.*)\) \*", "let start$1 = min($2) * 1u + 0u *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: gate for up", "float_layers", r"let up(_\d+)? = (\w+) \*", "let up$1 = gate$1 + 0f * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: residual of other rows", "float_layers", r"let x_new(_\d+)? = residual\[(\w+)\]", "let x_new$1 = residual[$2 ^ 1u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the token's key is not kept", "float_layers", r"kv\[key_of_layer\w* \+ 0u\] = [^;]*;", "", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the window is not looked at", "float_layers", r"let unseen(_\d+)? = .*;", "let unseen$1 = 0u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: the last row of a share is not computed", "float_layers", r"(let end_row(_\d+)? = .*);", "$1 - u32(wg.x == 0u);", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of floats: kinds of layers: none before", "float_layers", r"let below(_\d+)? = .*;", "let below$1 = 0u;", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: kinds of layers: the neighbour's kind", "float_layers", r"let is_other(_\d+)? = \(\(bits_of_kind(\w*) >> (\w+)\)", "let is_other$1 = ((bits_of_kind$2 >> ($3 ^ 1u))", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: kinds of layers: places of the first kind for all", "float_layers", r"(of_kind\w*) = select\((of_kind\w*), \d+u,", "$1 = select($2, $2,", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: kinds of layers: any form will do", "float_layers", r"let has_form(_\d+)? = .*;", "let has_form$1 = true;", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: kinds of layers: scales of the first kind for all", "float_layers", r"(scales_before\w*) (=|\+=) [^;]*n_before[^;]*;", "$1 = 0u;", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: values with what is staged for queries", "float_layers", r"narrow_v\[(i\w* \+|\w+ \+)", "narrow[$1", "LayersInDifferentFormats"),
    Mutant("one dispatch of floats: values over keys", "float_layers", r"let place(_\d+)? = (row\w*) \+ 704u;", "let place$1 = $2 + 320u;", "LayersInDifferentFormats"),
]

ONE_DISPATCH_OF_ROWS = [
    Mutant("one dispatch of rows: any tag will do", "ternary_rows", r"(\(odd\w*|\(\(found\w* \^ \w+\)) & 3u\) == 0u", "true", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the same tag in all layers", "ternary_rows", r"let tag = \(last_tag \+ 1u \+ layer\)", "let tag = (last_tag + 1u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the same tags for all tokens", "ternary_rows", r"atomicStore\(&words\[0u\], [^;]*\);", "atomicStore(&words[0u], last_tag);", "HistoriesInParts"),
    Mutant("one dispatch of rows: gains of the next layer are this one's", "ternary_rows", r"let next_vectors(_\d+)? = min\(layer \+ 1u,", "let next_vectors$1 = min(layer,", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the first layer's keys for all", "ternary_rows", r"let key_of_layer(_\d+)? = layer \*", "let key_of_layer$1 = 0u *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the first row's words for all", "ternary_rows", r"let words_of_team = row_of_team \*", "let words_of_team = 0u * row_of_team *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: heads of the first row for all", "ternary_rows", r"let row_words(_\d+)? = (row_of_head\w*) \*", "let row_words$1 = 0u * $2 *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: positions of the first row for all", "ternary_rows", r"params\[(row_of_head\w*) \* 3u \+ 3u\]", "params[$1 * 0u + 3u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: blocks of the first row for all", "ternary_rows", r"params\[(row_of_head\w*) \* 3u \+ 4u\]", "params[$1 * 0u + 4u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: statistics of the neighbouring row", "ternary_rows", r"row_stats\[(team\w*) \*", "row_stats[($1 ^ 1u) *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: statistics of one workgroup for all", "ternary_rows", r"let safe_part(_\d+)? = .*;", "let safe_part$1 = 0u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the last workgroup's statistics are left out", "ternary_rows", r"\((part\w*) < n_wg\.x\)", "($1 + 1u < n_wg.x)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: what is made is told without its gain", "ternary_rows", r"let vg(_\d+)? = (\w+) \* gain\w*;", "let vg$1 = $2;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: sum of the activations not taken off", "ternary_rows", r"f32\((\w+) - x_sum_of_row(\w*)\)", "f32($1)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: another row's sum of activations", "ternary_rows", r"row_sums\[my_row \*", "row_sums[(my_row ^ 1u) *", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: another row's scale", "ternary_rows", r"row_scales\[my_row\]", "row_scales[my_row ^ 1u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: half blocks of a row in another order", "ternary_rows", r"let staged_at(_\d+)? = (\w+) \* (\d+)u \+ \(\((\w+) >> 1u\)", "let staged_at$1 = $2 * $3u + (($4 >> 2u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: words of a block in another order", "ternary_rows", r"let row_of_block(_\d+)? = \((\w+) & 15u\) \* 32u", "let row_of_block$1 = (($2 & 15u) ^ 1u) * 32u", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: values after the first block in the first", "ternary_rows", r"& 4294966784u\)", "& 0u)", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: a value's scale for a key", "ternary_rows", r"let of_k_or_v(_\d+)? = select\((\w+), (\w+),", "let of_k_or_v$1 = select($2, $2,", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: residual of other columns", "ternary_rows", r"let x_new(_\d+)? = residual\[(\w+)\]", "let x_new$1 = residual[$2 ^ 1u]", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: parts of the history are not weighed", "ternary_rows", r"let shrink(_\d+)? = select\(0f, exp\(.*\), lane_of_value < (\w+)\);", "let shrink$1 = select(0f, 1f, lane_of_value < $2);", "HistoriesInParts"),
    Mutant("one dispatch of rows: a part is left out", "ternary_rows", r"lane_of_value < splits", "lane_of_value + 1u < splits", "HistoriesInParts"),
    Mutant("one dispatch of rows: parts of other rows", "ternary_rows", r"let safe_my_row(_\d+)? = min\((\w+),", "let safe_my_row$1 = min($2 ^ 1u,", "HistoriesInParts"),
    Mutant("one dispatch of rows: only the first heads of a round", "ternary_rows", r"let n_rounds(_\d+)? = .*;", "let n_rounds$1 = 1u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: heads of the round before once more", "ternary_rows", r"let pair_of_head(_\d+)? = (\w+) \+ (\w+) \* nth(\w*);", "let pair_of_head$1 = $2;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: rows of weights after the first ones of a group are left out", "ternary_rows", r"from_row(_\d+)? \+= \d+u", "from_row$1 += 65536u", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: rows of later rounds with the first one's weights", "ternary_rows", r"(kept_w\w*) = w4\w*;", "", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: activations rounded to their neighbours", "ternary_rows", r"12582912f", "12582911f", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: values that came with the statistics in each other's place", "ternary_rows", r"let unit(_\d+)? = lane_of_team \+ (\d+)u;", "let unit$1 = lane_of_team + $2u * 0u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: the values behind those are left out", "ternary_rows", r"for \(var from_unit(_\d+)? = (\w+);", "for (var from_unit$1 = $2 + 65536u;", "LogitsAreThoseOfTheSteps"),
    Mutant("one dispatch of rows: a piece's dot products replace those before", "ternary_rows", r"let total_so_far(_\d+)? = (\w+) \+ .*;", "let total_so_far$1 = $2;", "RowsInPieces"),
    Mutant("one dispatch of rows: the first piece of weights for all", "ternary_rows", r"(let start\w* = layer \* \d+u \+ safe_row\w* \* \d+u \+) (\d+)u;", "$1 ($2u / 64u * 64u);", "RowsInPieces"),
    Mutant("one dispatch of rows: the first piece of activations for all", "ternary_rows", r"let safe_unit(_\d+)? = (min\(.*\)) \+ (\d+)u;", "let safe_unit$1 = $2;", "RowsInPieces"),
]

# Test programs, what stands before and after a test's name in them, and their mutants.
SUITES = [
    ("gpu_conform_test", "*", "/{variant}", CONFORM),
    ("gpu_device_sampler_test", "DeviceSamplerTest.", "", DEVICE_SAMPLER),
    ("ternary_matmul_matrix_test", "MatrixMatmul.", "", MATRICES),
    ("gpu_one_dispatch_test", "GpuOneDispatch.", "", ONE_DISPATCH),
    ("gpu_one_dispatch_test", "GpuOneDispatchOfRows.", "", ONE_DISPATCH_OF_ROWS),
    ("gpu_one_dispatch_test", "GpuOneDispatchOfFloats.", "", ONE_DISPATCH_OF_FLOATS),
]


def run(program, tests, mutant=None):
    """The test program's output and exit status with this mutant in place (None: as it is)."""
    environment = dict(os.environ)
    if mutant:
        environment |= {
            "TERN_MUTANT_KERNEL": mutant.kernel,
            "TERN_MUTANT_FIND": mutant.find,
            "TERN_MUTANT_REPLACE": mutant.replace,
        }
    result = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_fail_fast"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=300)
    return result.stdout, result.returncode


def judge(program, tests, mutant):
    """(noticed, what to say)."""
    output, status = run(program, tests, mutant)
    if "mutant applied to" not in output:
        return False, "the pattern is not in any kernel that these tests run: adapt the mutant"
    if status == 0:
        return False, "NOT NOTICED"
    failed = re.findall(r"\[  FAILED  \] (?:Gpu/)?(\w+\.\w+)", output) or re.findall(r"\[ RUN      \] (?:Gpu/)?(\w+\.\w+)", output)[-1:]
    return True, "noticed by " + failed[0]


def filter_of(before, after, mutant):
    """The tests of a mutant, as --gtest_filter wants them. `tests` has parts with ":*" between them."""
    return ":".join(before + part.lstrip("*") + after.format(variant=mutant.variant) for part in mutant.tests.split(":"))


def run_suite(program, before, after, mutants):
    """How many mutants were not noticed; None where the tests cannot run here."""
    tests = ":".join(sorted({filter_of(before, after, mutant) for mutant in mutants}))
    output, status = run(program, tests)
    if "[  SKIPPED ]" in output and "[       OK ]" not in output:
        print(f"{os.path.basename(program)}: skipped, it needs a GPU that is not there", flush=True)
        return None
    if status != 0:
        print("the tests fail without any mutant:\n" + output)
        return len(mutants)
    bad = 0
    for mutant in mutants:
        noticed, text = judge(program, filter_of(before, after, mutant), mutant)
        bad += not noticed
        print(f"{'ok  ' if noticed else 'FAIL'} {mutant.kernel}: {mutant.name}: {text}", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="where the test programs are")
    parser.add_argument("--smoke", action="store_true", help="only a few mutants")
    parser.add_argument("--only", default="", help="only mutants with this in the names of kernel and mutant")
    arguments = parser.parse_args()
    start, count, bad = time.monotonic(), 0, 0
    for name, before, after, mutants in SUITES:
        mutants = [m for m in mutants if (m.smoke or not arguments.smoke) and arguments.only in f"{m.kernel}: {m.name}"]
        if not mutants:
            continue
        missed = run_suite(os.path.abspath(os.path.join(arguments.folder, name)), before, after, mutants)
        if missed is not None:
            count, bad = count + len(mutants), bad + missed
    if count == 0:
        return 77
    print(f"{count - bad} of {count} mutants noticed in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
