// Helpers shared by the grammar tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar_impl.h"
#include "grammar/rules/automaton.h"
#include "tern/grammar.h"

namespace tern::grammar_test {

using Made = Result<std::shared_ptr<const Grammar>>;

// "yes", "no", or "more" for a text that is only the beginning of an allowed one.
inline std::string taken(const Made& made, std::string_view text) {
  if (!made) return made.error().message;
  grammar::Automaton automaton(*(*made)->impl().rules);
  grammar::PositionId at = automaton.start();
  for (const char c : text) at = automaton.step(at, static_cast<uint8_t>(c));
  if (at == grammar::kNowhere) return "no";
  return automaton.may_end(at) ? "yes" : "more";
}

inline std::string error_of(const Made& made) { return made ? "none" : made.error().message; }

// A schema, documents that are valid by it, and others.
struct Case {
  const char* schema;
  std::vector<const char*> yes, no;
};

inline void check(const std::vector<Case>& cases) {
  for (const auto& [schema, yes, no] : cases) {
    const Made made = Grammar::json_schema(schema);
    for (const char* document : yes) EXPECT_EQ(taken(made, document), "yes") << schema << "\n" << document;
    for (const char* document : no)
      EXPECT_TRUE(made && taken(made, document) != "yes") << schema << "\n" << document << "\n" << error_of(made);
  }
}

}  // namespace tern::grammar_test
