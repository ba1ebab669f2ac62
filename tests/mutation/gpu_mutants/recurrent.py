"""Recurrent layers, rotated rows, and the choice of experts, against the reference."""

from .mutant import Mutant

RULE = "GpuDelta.ComputesTheReference"
STATES = "GpuDelta.DoesNotDependOnPassesOrNeighbors"
ONE_TOKEN = "GpuDelta.OneDispatchGivesTheSameBits"

RECURRENT = [
    # The convolution and its columns.
    Mutant("the taps in reverse", "causal_conv", r"taps\[column \* 4u \+ 0u\]", "taps[column * 4u + 3u]", RULE, smoke=True),
    Mutant("a row of another sequence is convolved", "causal_conv", r"if \(row >= 3u\)", "if (wg.y >= 3u)", STATES),
    Mutant("the kept columns of a new sequence are read", "causal_conv", r"if \(!is_new\)", "if (true)", STATES),
    Mutant("the column after the kept one", "causal_conv", r"let kept(_\d+)? = row \+ 1u", "let kept$1 = row + 2u", STATES),
    Mutant("SiLU forgotten", "causal_conv", r"= v / \(1f \+ exp\(-v\)\)", "= v", RULE),
    Mutant("the columns kept are one too old", "keep_columns", r"first \+ source(_\d+)? - 3u", "first + source$1 - 4u", STATES),
    Mutant("old columns stay in their place", "keep_columns", r"value(_\d+)? = state\[columns \+ source(_\d+)? \* (\d+)u\]", "value$1 = state[columns]", STATES),
    Mutant("columns are kept in the state that was read", "keep_columns", r"let to_columns = to_state", "let to_columns = state_at", STATES),
    # The delta rule.
    Mutant("a new sequence begins with an old state", "delta_rule", r"if \(!is_new\)", "if (true)", STATES),
    Mutant("the state goes back to where it was read", "delta_rule", r"let to_place = to_state", "let to_place = state_at", STATES),
    Mutant("the first sequence's state for all", "delta_rule", r"let number = wg\.y", "let number = 0u", STATES),
    Mutant("the last token of a chunk is left out", "delta_rule", r"t < n_here;", "t + 1u < n_here;", RULE),
    Mutant("chunks overlap", "delta_rule", r"let first_of_chunk = first \+ chunk", "let first_of_chunk = first", RULE),
    Mutant("the state does not decay", "delta_rule", r"let updated(_\d+)? = shrink(_\d+)? \* ", "let updated$1 = 1f * ", RULE, smoke=True),
    Mutant("what the state says is not taken off", "delta_rule", r"\(value - shrink", "(value - 0f * shrink", RULE),
    Mutant("the strength of an update is forgotten", "delta_rule", r"let delta = strength(_\d+)? \*", "let delta = 1f *", RULE),
    Mutant("keys keep their length", "delta_rule", r"let k_scale = inverseSqrt\(([^;]*)\);", "let k_scale = 1f + 0f * ($1);", RULE),
    Mutant("queries keep their length", "delta_rule", r"let q_scale = inverseSqrt\(([^;]*)\) \*", "let q_scale = (1f + 0f * ($1)) *", RULE),
    Mutant("softplus without its one", "delta_rule", r"log\(1f \+ exp", "log(exp", RULE),
    Mutant("the bias of the steps is forgotten", "delta_rule", r"alpha_of_head \+ bias", "alpha_of_head + 0f * bias", RULE),
    Mutant("a head of keys for others", "delta_rule", r"let key_head = ", "let key_head = 0u * ", RULE),
    Mutant("the answer is that of the state before", "delta_rule", r"= updated(_\d+)?;\n", "= updated$1 * 0.5f;\n", RULE),
    Mutant("barrier before the factors are read missing", "delta_rule", r"(factors\[my_token\][^}]*\}\n +)workgroupBarrier\(\);", "$1", RULE),
    # All of it in one dispatch.
    Mutant("one token: kept columns are not moved", "gated_delta", r"(state\[to_columns \+ 0u\]) = input_1", "$1 = input", ONE_TOKEN),
    Mutant("one token: only the first head keeps its columns", "gated_delta", r"if \(is_first \|\| is_value\)", "if (is_first)", ONE_TOKEN),
    Mutant("one token: the state goes back to where it was read", "gated_delta", r"let to_place = to_state", "let to_place = state_at", ONE_TOKEN),
    Mutant("one token: the gate of the first head for all", "gated_delta", r"let g = rows\[row \+ (\d+)u \+ of_head\]", "let g = rows[row + $1u]", ONE_TOKEN),
    Mutant("one token: barrier before the outputs are read missing", "gated_delta", r"(state\[to_place[^;]*;\n +)workgroupBarrier\(\);", "$1", ONE_TOKEN),
    Mutant("places are not turned", "turn_states", r"sequences\[at \+ 3u\] = from_state", "sequences[at + 3u] = to_state", "GpuDelta.StatesAreTurned"),
    Mutant("a sequence stays new", "turn_states", r"sequences\[at \+ 4u\] = 0u;", "", "GpuDelta.StatesAreTurned"),
    # Gates.
    Mutant("the gate is not squashed", "gated_norm", r"\(g / \(1f \+ exp\(-g\)\)\)", "g", "GpuDelta.Gates"),
    Mutant("the mean of another width", "gated_norm", r"sqrt\(sum / (\d+)f", "sqrt(sum / 2f", "GpuDelta.Gates"),
    Mutant("gates beside their head", "sigmoid_mul", r"\+ 1u\) \* ", "+ 0u) * ", "GpuDelta.Gates"),
    Mutant("the logistic function of the other sign", "sigmoid_mul", r"exp\(-g\)", "exp(g)", "GpuDelta.Gates"),
    Mutant("gate and query swapped", "split_heads", r"(gate\w*|q\w*)\[(\w+)\] = ", "$1[$2] = 0.5f * ", "GpuDelta.Gates"),
    # Rotations.
    Mutant("signs forgotten", "rotate", r" \* signs\[([^\]]*)\]", " * abs(signs[$1])", "GpuDelta.Rotations"),
    Mutant("a level of the butterfly adds twice", "rotate", r"= a_2 - b_2", "= a_2 + b_2", "GpuDelta.Rotations", smoke=True),
    Mutant("barrier between two levels missing", "rotate", r"(= a_5 - b_5;\n +)workgroupBarrier\(\);", "$1", "GpuDelta.Rotations"),
    Mutant("the first block for all", "rotate", r"let first = wg\.x", "let first = 0u * wg.x", "GpuDelta.Rotations"),
    # The choice of experts.
    Mutant("the least scores are chosen", "route", r"\((other\w*) > (key\w*)\)", "($1 < $2)", "GpuExperts.*", smoke=True),
    Mutant("equal scores take one place", "route", r"\) < i\)\)\)", ") < 0u * i)))", "GpuExperts.*"),
    Mutant("negative scores in reverse", "route", r"~float_bits", "float_bits", "GpuExperts.*"),
    Mutant("the first row's scores for all", "route", r"let first = wg\.y", "let first = 0u * wg.y", "GpuExperts.*"),
    Mutant("the last quad of scores is as great as others", "route", r"select\(0u, (key\w*), \w+ < \d+u\)", "$1", "GpuExperts.*"),
    Mutant("mixed without weights", "mix_experts(_add)?", r"weight(_\d)? \* x\[", "x[", "GpuExperts.Mixes*"),
    Mutant("the sum of experts replaces the row", "mix_experts_add", r"\+= sum;", "= sum;", "GpuExperts.Mixes*"),
    Mutant("the shared network's gate is left out", "mix_experts(_add)?", r" / \(1f \+ exp\(-g\)\)", "", "GpuExperts.Mixes*"),
    Mutant("experts: the norm's gain is left out", "expert_norm_glu", r"v(\w*) \* gain\[q\w*\]", "v$1", "GpuExpertTiles.ProductsOfNormed*"),
    Mutant("experts: the norm's factor is left out", "expert_norm_glu", r"(let normed\w* = sum\w*) \* factor", "$1", "GpuExpertTiles.ProductsOfNormed*"),
    Mutant("weights are not divided by their sum", "route", r" - most\) / sum", " - most)", "GpuExperts.*"),
]
