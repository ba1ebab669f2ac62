"""Products on subgroup matrices."""

from .mutant import Mutant

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
    Mutant("rows past the end are stored", "ternary_matmul_matrix", r"\(row(_\d+)? < \d+u\)", "true", "SetsTheSameBits"),
    Mutant("rows of the tile clamped one too early", "ternary_matmul_matrix", r"min\((first_row[^;]*?), (\d+)u\);", "min($1, $2u - 1u);", "SetsTheSameBits"),
    Mutant("tokens of the tile clamped one too early", "ternary_matmul_matrix", r"min\((first_token[^;]*?), n_tokens - 1u\);", "min($1, max(n_tokens, 2u) - 2u);", "SetsTheSameBits"),
    Mutant("sums of the first subgroup for all", "ternary_matmul_matrix", r"let sums_at = subgroup \* \d+u", "let sums_at = 0u", "SetsTheSameBits"),
    Mutant("four rows of another token", "ternary_matmul_matrix", r"(let stored(_\d+)? = )min\(token(_\d+)?,", "$1min(first_token,", "SetsTheSameBits"),
    Mutant("fours in another order", "ternary_matmul_matrix", r"(staged\[sums_at \+ )(four(?:_\d+)?) \*", "$1($2 ^ 1u) *", "SetsTheSameBits"),
    Mutant("rows staged in another order", "ternary_matmul_matrix", r"(let w_to(?:_\d+)? = \()(w_in_tile(?:_\d+)?)", "$1($2 ^ 1u)", "SetsTheSameBits"),
    Mutant("tokens staged in another order", "ternary_matmul_matrix", r"(let x_to(?:_\d+)? = \()(x_row(?:_\d+)?)", "$1($2 ^ 1u)", "SetsTheSameBits"),
    Mutant("residual set, not added", "ternary_matmul_matrix_add", r"= before(_\d+)? \+ ", "= ", "AddsTheSameBits"),
    Mutant("scale of gate for up", "ternary_glu_matmul_matrix", r"scales\.b", "scales.a", "GluGivesTheSameBits"),
    Mutant("matrix of gate read twice", "ternary_glu_matmul_matrix", r"w_up\[", "w_gate[", "GluGivesTheSameBits"),
    Mutant("sums of gate used for up", "ternary_glu_matmul_matrix", r"(let sum(_\d+)? = staged\[sums_at \+ \w+ \* 4u \+ )(?:[4-9]|\d\d+)u\]", "$10u]", "GluGivesTheSameBits"),
    Mutant("relu forgotten", "ternary_glu_matmul_matrix", r"max\(gate, 0f\)", "gate", "GluGivesTheSameBits"),
]
