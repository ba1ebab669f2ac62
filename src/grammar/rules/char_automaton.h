// Automata over characters: the form of regular expressions before their characters are written in UTF-8 or as in a
// JSON string. Unlike rules, they can be intersected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "grammar/rules/char_set.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {

class CharAutomaton {
 public:
  static constexpr size_t kMaxStates = 60'000;

  struct Edge {
    enum Kind : uint8_t {
      kChar,     // takes a character of sets[set]
      kNothing,  // takes none
      kAtStart,  // takes none; only at the start of the text
      kAtEnd,    // takes none; only at the end of the text
    } kind;
    uint32_t set, to;
  };

  // Any text of `low` to `high` characters of `set` (high < 0: no limit).
  static CharAutomaton repeated(const CharSet& set, int low, int high);
  // Any text except `texts`.
  static CharAutomaton all_but(std::span<const std::u32string> texts);

  CharAutomaton() { start_ = add_state(); }
  uint32_t add_state();
  void add_char(uint32_t from, const CharSet& set, uint32_t to);
  void add_nothing(uint32_t from, uint32_t to, Edge::Kind kind = Edge::kNothing);
  void set_start(uint32_t state) { start_ = state; }
  void end(uint32_t state) { is_end_[state] = 1; }
  uint32_t start() const { return start_; }
  bool is_full() const { return is_full_; }
  size_t n_ranges() const { return n_ranges_; }  // of the different sets that were added

  // An equivalent automaton without kAtStart and kAtEnd.
  CharAutomaton resolved() const;
  // The texts that both automata take; both must be resolved.
  CharAutomaton common(const CharAutomaton& other) const;
  // Letters of ASCII may be small or capital.
  CharAutomaton in_any_case() const;
  // The other texts; must be resolved. Full if that takes too many states.
  CharAutomaton inverted() const;
  // The lengths of its shortest and longest text; no longest: some are as long as one likes, or it is not known. Must
  // be resolved.
  std::pair<size_t, std::optional<size_t>> lengths() const;
  bool is_empty() const { return lengths().first == kNoText; }
  static constexpr size_t kNoText = SIZE_MAX;
  bool takes(std::u32string_view text) const;  // must be resolved

  enum class Spelling { kUtf8, kJson };  // kJson: as inside quotation marks; each text has one spelling
  // Writes it as part of a rule, beginning at `from`. Returns the end state.
  StateId write(RuleWriter& rules, StateId from, Spelling spelling) const;

 private:
  uint32_t number_of(const CharSet& set);
  bool has_anchors() const;
  std::vector<uint8_t> useful_states() const;
  CharAutomaton trimmed() &&;  // without other states

  std::vector<std::vector<Edge>> states_;
  std::vector<uint8_t> is_end_;
  std::vector<CharSet> sets_;
  size_t n_ranges_ = 0;
  uint32_t start_ = 0;
  bool is_full_ = false;
};

// The spelling of a character inside a JSON string. It is unique: characters are escaped only where JSON requires it.
std::string json_spelling(char32_t c);

// A rule for one character of the set, as spelled. Grammars use few such sets many times.
RuleId chars_rule(RuleWriter& rules, const CharSet& set, CharAutomaton::Spelling spelling);

}  // namespace tern::grammar
