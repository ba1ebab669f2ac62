// Grammars in Lark's notation, as trees.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tern::grammar {

struct LarkNode {
  enum class Kind : uint8_t {
    kName,      // a call of the rule or terminal `text`
    kText,      // the literal `text`
    kRegex,     // `text`, in Python's syntax
    kRange,     // one character of `text`[0] to `text`[1]
    kSequence,  // of `parts`
    kChoice,    // one of `parts`
    kRepeat,    // parts[0], `low` to `high` times
  };
  static constexpr size_t kNoEnd = SIZE_MAX;

  Kind kind;
  size_t at = 0;  // its index in the grammar
  std::string text = {}, flags = {};
  std::vector<LarkNode> parts = {};
  size_t low = 1, high = 1;
};

struct LarkGrammar {
  struct Definition {
    size_t at;
    LarkNode body;
  };
  std::map<std::string, Definition> definitions = {};  // names of terminals are in capitals
  std::map<std::string, std::string> imports = {};     // a terminal, and its name in Lark's library `common`
  std::vector<LarkNode> ignored = {};                  // may stand between terminals
  std::map<std::string, size_t> places_of_imports = {};
};

// kInvalidArgument: no such grammar; kNotSupported: a part of the notation that Tern does not have. Both name line and
// column.
Result<LarkGrammar> read_lark(std::string_view text);

bool is_terminal_name(std::string_view name);

}  // namespace tern::grammar
