// Where the spellings of control tokens are these tokens, and where they are text.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/options.h"

namespace tern {

// Nowhere, or everywhere but in the quoted parts.
struct ControlTokens {
  bool parse = false;
  std::span<const TextRange> quoted = {};  // in order

  bool are_in(size_t begin, size_t end) const {
    const auto part = first_behind(begin);
    return parse && (part == quoted.end() || part->begin >= end);
  }
  bool is_within_quotes(size_t begin, size_t end) const {
    const auto part = first_behind(begin);
    return part != quoted.end() && part->begin <= begin && end <= part->end;
  }

 private:
  std::span<const TextRange>::iterator first_behind(size_t at) const {
    return std::ranges::upper_bound(quoted, at, {}, &TextRange::end);
  }
};

// The quoted parts of text[begin, begin + size), with positions in that text.
inline std::vector<TextRange> quoted_within(const ControlTokens& control, size_t begin, size_t size) {
  std::vector<TextRange> inside;
  if (!control.parse) return inside;
  for (const TextRange& part : control.quoted) {
    const size_t from = std::max(part.begin, begin), to = std::min(part.end, begin + size);
    if (from < to) inside.push_back({from - begin, to - begin});
  }
  return inside;
}

// Normalizes each part by itself, so that a quoted text cannot change a mark beside it, and moves `quoted` along.
template <class Normalize>
std::string normalized_by_parts(std::string_view text, std::vector<TextRange>& quoted, const Normalize& normalize) {
  std::string out;
  size_t done = 0;
  for (TextRange& part : quoted) {
    out += normalize(text.substr(done, part.begin - done));
    const size_t begin = out.size();
    out += normalize(text.substr(part.begin, part.end - part.begin));
    done = part.end;
    part = {begin, out.size()};
  }
  return out += normalize(text.substr(done));
}

}  // namespace tern
