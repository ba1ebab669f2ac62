"""The head's best logits by way of its int8 copy."""

from .mutant import Mutant

BEST_LOGITS = [
    Mutant("copy: the last codes of a row are left out", "head_copy", r"i(_\d+)? < (\d+)u; i(_\d+)? \+= 8u\) \{\n(\s+let unit\w* = w\[\w+ \* \d+u \+ i\w* \* 2u)", "i$1 < $2u - 1u; i$3 += 8u) {\n$4", "GpuBestLogits.TheCopy*"),
    Mutant("copy: codes of the neighbouring unit", "head_copy", r"codes\[row \* (\d+)u \+ i(\w*)\]", "codes[row * $1u + (i$2 ^ 1u)]", "GpuBestLogits.TheCopy*"),
    Mutant("copy: what codes miss is not counted", "head_copy", r"misses \+= dot\(missed(\w*), missed\w*\)", "misses += 0f * missed$1.x", "GpuBestLogits.TheCopy*"),
    Mutant("copy: the length of a row is its square", "head_copy", r"let norm_of_row = sqrt\((\w+)\)", "let norm_of_row = ($1)", "GpuBestLogits.TheCopy*"),
    Mutant("copy: the scale is that of 7 bits", "head_copy", r"/ 127f", "/ 63f", "GpuBestLogits.TheCopy*"),
    Mutant("copy: rows with NaN count as known", "head_copy", r"let is_known = .*;", "let is_known = true;", "GpuBestLogits.NothingIsKnown*"),
    Mutant("input: the gain is left out", "estimated_input", r"v(\w*) \* gain\[\w+\]", "v$1", "GpuBestLogits.TheInput*"),
    Mutant("input: the low part is left out", "estimated_input", r"let l(_\d+)? = (q\w*) - h\w* \* 128f;", "let l$1 = $2 * 0f;", "GpuBestLogits.TheInput*"),
    Mutant("input: the first row for all", "estimated_input", r"x\[wg\.y \*", "x[0u *", "GpuBestLogits.TheInput*"),
    Mutant("input: what is missed is not in the bound of lengths", "estimated_input", r"let per_norm = .*;", "let per_norm = rounded;", "GpuBestLogits.TheInput*"),
    Mutant("input: no roundings in the bounds", "estimated_input", r"let rounded = .*;", "let rounded = 0f;", "GpuBestLogits.TheInput*"),
    Mutant("input: activations that are not finite count as bounded", "estimated_input", r"let is_bounded = .*;", "let is_bounded = true;", "GpuBestLogits.WithoutABound*"),
    Mutant("estimates: the high part counts as much as the low one", "estimate_logits", r"\* 128f", "* 1f", "GpuBestLogits.Estimates*", smoke=True),
    Mutant("estimates: of the first input for all", "estimate_logits", r"\+ (\d+)u\) \* 2u", "+ 0u * $1u) * 2u", "GpuBestLogits.Estimates*"),
    Mutant("estimates: the bound of the first input for all", "estimate_logits", r"bounds\[\d+u\]", "bounds[0u]", "GpuBestLogits.Estimates*"),
    Mutant("estimates: errors of the first row of a group for all", "estimate_logits", r"errors\[existing\w*\]", "errors[existing]", "GpuBestLogits.Estimates*"),
    Mutant("estimates: what the copy misses is not in the bound", "estimate_logits", r"known(\w*)\.y \* bound(\w*)\.y", "0f * bound$2.y", "GpuBestLogits.Estimates*"),
    Mutant("estimates: the least that a logit may be is its estimate", "estimate_logits", r"(estimate\w*) - off\w*\)", "$1)", "GpuBestLogits.Estimates*"),
    Mutant("estimates: rows of which nothing is known are below all", "estimate_logits", r"select\(3e\+38f,", "select(-3e+38f,", "GpuBestLogits.RowsOfWhich*"),
    Mutant("estimates: rows past the end count", "estimate_logits", r"if \(row(\w*) < \d+u\)", "if (true)", "GpuBestLogits.Estimates*"),
    Mutant("best: one too few is looked for", "best_logits", r"n_before == (\d+)u", "n_before == max($1u, 1u) - 1u", "GpuBestLogits.TheBest*:*GpuBestLogits.RowsThatAreAlike"),
    Mutant("best: equals are not told apart", "best_logits", r"\|\| \(\(other == .*\)\)\)", "|| (other == my_greatest))", "GpuBestLogits.RowsThatAreAlike:*GpuBestLogits.TheBest*"),
    Mutant("best: the threshold of the first input for all", "best_logits", r"greatest\[wg\.y \*", "greatest[0u *", "GpuBestLogits.TheBest*"),
    Mutant("best: the last turn is left out", "best_logits", r"let turns = \(same \+ \d+u\)", "let turns = same", "GpuBestLogits.TheBest*"),
    Mutant("best: rows that are left out stay as they were", "best_logits", r"y\[index\] = 4286578688u;", "", "GpuBestLogits.TheBest*"),
    Mutant("best: of the first input for all", "best_logits", r"let x_base(\w*) = wg\.y", "let x_base$1 = 0u", "GpuBestLogits.TheBest*"),
    Mutant("best: the norm's factor is left out", "best_logits", r"let factor(\w*) = .*;", "let factor$1 = 1f;", "GpuBestLogits.TheBest*"),
]
