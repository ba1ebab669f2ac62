#!/usr/bin/env python3
"""Breaks grammars, masks and schemas one at a time, and expects the tests to notice. Used as sequences.py is."""

import sys

import sequences
from sequences import Mutant

AUTOMATON, TOKENS, MATCHER = "src/grammar/rules/automaton.cc", "src/grammar/token_automaton.cc", "src/grammar/matcher.cc"
FINISH, SCHEMA, TERMS = "src/grammar/rules/finish_rules.cc", "src/grammar/schema/schema.cc", "src/grammar/schema/schema_terms.cc"
EXCLUSIVE, NUMBERS, CHARS = "src/grammar/schema/schema_exclusive.cc", "src/grammar/schema/number_rules.cc", "src/grammar/rules/char_automaton.cc"
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
    ("required properties may be missing", SCHEMA, "        if (!property.is_required) rules_.add_empty", "        rules_.add_empty"),
    ("an item too few", SCHEMA, "      if (i + 1 >= lengths.low) rules_", "      if (i + 2 >= lengths.low) rules_"),
    ("named properties come again as others", SCHEMA, "    if (named.empty()) {", "    if (true) {"),
    ("any two branches exclude each other", SCHEMA, "        if (!is_sure) {", "        if (false) {"),
    ("values are not compared with the rest", TERMS, "    if (is_allowed) allowed.push_back(value);", "    allowed.push_back(value);"),
    ("unknown keywords are passed over", TERMS, "    if (known == std::end(kKeywords))", "    if (false)"),
    ("what is required is always there", EXCLUSIVE, "      if (!is_declared(said, name)) return true;", "      return true;"),
    ("bounds are inside", NUMBERS, "(has_more(low_.value, key.n) || !low_.is_inside)", "has_more(low_.value, key.n)"),
    ("remainders do not matter", NUMBERS, "    if (key.n < n_before_ || key.remainder != 0) return false;", "    if (key.n < n_before_) return false;"),
    ("an end anchor is no end", CHARS, "over || edge.kind == Edge::kAtEnd", "over"),
    ("a start anchor is anywhere", CHARS, "      } else if (edge.kind != Edge::kAtStart || !taken) {", "      } else {"),
    ("stop tokens are always allowed", GENERATION, "  if (allowed.end && !options_.ignore_eos) {", "  if (!options_.ignore_eos) {"),
    ("a complete reply goes on", GENERATION, "  if (constraint_ && n_unreported_ == 0 && constraint_->is_complete() &&", "  if (false && constraint_ &&"),
    ("guesses under a grammar", GENERATION, "options_.n_logprobs < 0 && !is_constrained() &&", "options_.n_logprobs < 0 &&"),
]]

if __name__ == "__main__":
    sequences.MUTANTS = MUTANTS
    sys.exit(sequences.main())
