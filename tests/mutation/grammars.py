#!/usr/bin/env python3
"""Breaks grammars, masks and schemas one at a time, and expects the tests to notice. Used as sequences.py is."""

import sys

import sequences
from sequences import Mutant

AUTOMATON, TOKENS, MATCHER = "src/grammar/rules/automaton.cc", "src/grammar/token_automaton.cc", "src/grammar/matcher.cc"
FINISH, NUMBERS, CHARS = "src/grammar/rules/finish_rules.cc", "src/grammar/schema/number_rules.cc", "src/grammar/rules/char_automaton.cc"
OBJECTS, ARRAYS = "src/grammar/schema/object_rules.cc", "src/grammar/schema/array_rules.cc"
TOGETHER, CHOICES, NEGATION = "src/grammar/schema/clauses_together.cc", "src/grammar/schema/alternatives.cc", "src/grammar/schema/negation.cc"
GENERATION = "src/engine/reply/generation.cc"

MUTANTS = [Mutant(name, file, find, replace, "grammar_test" if file != GENERATION else "engine_test")
           for name, file, find, replace in [
    ("every call is taken for the last thing", AUTOMATON, "  if (rules_.is_tail[edge.to]) {", "  if (true) {"),
    ("returns of one caller only", AUTOMATON, "    returns.push_back({edge.to, from.to});", "    returns.assign(1, {edge.to, from.to});"),
    ("whether a text may end is forgotten", AUTOMATON, "    if (known.may_end == may_end &&", "    if ("),
    ("wanted returns are not followed", AUTOMATON, "    for (const Item& item : old_returns.of(static_cast<uint32_t>(id))) is_wanted[item.to] = 1;\n", ""),
    ("longer plain tokens are never looked at", TOKENS, "n_plain == Vocabulary::kMaxPlain || step.kind == PlainStep::kNone;", "true;"),
    ("plain means ASCII", TOKENS, "    if (!meet_sequences(step, at, std::span(bytes).first(length_of(bytes)))) return step;", "    (void)bytes;"),
    ("a stripped space is taken", TOKENS, "    const PositionId to = is_stripped ? at : automaton_", "    const PositionId to = automaton_"),
    ("a space stays stripped", MATCHER, "  strips_space_ = false;\n", ""),
    ("rules that never end are kept", FINISH, "    return leads_to_end_[one.to] && (one.kind", "    return true || (one.kind"),
    ("required properties may be missing", OBJECTS, "        if (!property.is_required) rules_.add_empty", "        rules_.add_empty"),
    ("an item too few", ARRAYS, "    if (state.n < lengths_.low) return false;", "    if (state.n + 1 < lengths_.low) return false;"),
    ("a value comes again", ARRAYS, "      next.used |= uint64_t{1} << index;\n", ""),
    ("named properties come again as others", OBJECTS, "    if (is_plain && names_.empty()) return json_.string();", "    if (is_plain) return json_.string();"),
    ("names with a pattern are others too", OBJECTS, "    const CharAutomaton rest = names ? names->common(*other) : *other;", "    const CharAutomaton rest = names ? *names : CharAutomaton::repeated(CharSet::all(), 0, -1);"),
    ("values are not compared with the rest", TOGETHER, "    if (is_allowed) allowed.push_back(value);", "    allowed.push_back(value);"),
    ("patterns are for undeclared names", TOGETHER, "  if (value) meet(out, clause_of(*value));", "  if (value) return meet(out, clause_of(*value)), true;"),
    ("any two branches exclude each other", CHOICES, "  if (is_possible) return false;", "  if (false) return false;"),
    ("what excludes others means few types", CHOICES, "reader_.types(own, /*meant=*/depth == 0)", "reader_.types(own, /*meant=*/true)"),
    ("a list fails in its first items only", NEGATION, "own_.prefix.size(), {.low = 1}}}});", "own_.prefix.size(), {.low = 0}}}});"),
    ("the opposite of a bound has the bound", NEGATION, "{bound.value, !bound.is_inside}", "{bound.value, true}"),
    ("bounds are inside", NUMBERS, "(has_more(low_.value, key.place) || !low_.is_inside)", "has_more(low_.value, key.place)"),
    ("remainders do not matter", NUMBERS, "    if (key.place >= 0 || !remainders_.may_end(key.remainder, -1 - key.place, key.rest)) return false;", "    if (key.place >= 0) return false;"),
    ("an end anchor is no end", CHARS, "over || edge.kind == Edge::kAtEnd", "over"),
    ("a start anchor is anywhere", CHARS, "      } else if (edge.kind != Edge::kAtStart || !taken) {", "      } else {"),
    ("stop tokens are always allowed", GENERATION, "  if (allowed.end && !options_.ignore_eos) {", "  if (!options_.ignore_eos) {"),
    ("a complete reply goes on", GENERATION, "  if (constraint_ && n_unreported_ == 0 && constraint_->is_complete() &&", "  if (false && constraint_ &&"),
    ("guesses under a grammar", GENERATION, "options_.n_logprobs < 0 && !is_constrained() &&", "options_.n_logprobs < 0 &&"),
]]

if __name__ == "__main__":
    sequences.MUTANTS = MUTANTS
    sys.exit(sequences.main())
