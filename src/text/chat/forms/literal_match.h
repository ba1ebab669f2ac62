// Compares text that may not be complete yet with a literal text of a form of calls.
#pragma once

#include <cstdint>
#include <string_view>

namespace tern {

enum class Match : uint8_t { kNo, kMaybe, kYes };  // kMaybe: more text is needed

struct Matched {
  Match match;
  size_t end;  // for kYes, the index behind it
};

// Does text[at, …) begin with the literal? White space is less strict than in the literal: models vary it. Between the
// literal's lines and tags, and before it, any is allowed, or none; at its end, at most what the literal has.
Matched match_literal(std::string_view text, size_t at, std::string_view literal);

// The first tag of a form's literal text, by which a call is recognized: up to the first > or ], whatever opens it.
std::string_view first_tag(std::string_view literal);

}  // namespace tern
