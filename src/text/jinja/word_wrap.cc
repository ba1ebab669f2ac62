#include "text/jinja/word_wrap.h"

#include <algorithm>

#include "text/jinja/text.h"
#include "text/unicode/character_class.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Divides a line into the pieces between which it may be broken.
class Pieces {
 public:
  Pieces(std::string_view text, bool on_hyphens) : text_(text), on_hyphens_(on_hyphens) {
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = decode_utf8(text.substr(at));
      chars_.push_back(c.status == Utf8Status::kValid ? c.code : U'\uFFFD');
      places_.push_back(at);
      at += c.length;
    }
    places_.push_back(text.size());
  }

  std::vector<std::string_view> all() const {
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < chars_.size();) {
      const size_t end = end_of(at);
      pieces.push_back(text_.substr(places_[at], places_[end] - places_[at]));
      at = end;
    }
    return pieces;
  }

 private:
  bool has(size_t at) const { return at < chars_.size(); }
  bool is(size_t at, char32_t c) const { return has(at) && chars_[at] == c; }
  bool is_space(size_t at) const {
    return has(at) && (chars_[at] == ' ' || (chars_[at] >= '\t' && chars_[at] <= '\r'));
  }
  bool is_word(size_t at) const {
    return has(at) && is_word_character(chars_[at]) && chars_[at] != U'\u200C' && chars_[at] != U'\u200D';
  }
  bool is_letter(size_t at) const { return is_word(at) && (chars_[at] < '0' || chars_[at] > '9'); }
  bool is_punctuated(size_t at) const {
    return is_word(at) ||
           (has(at) && chars_[at] < 0x80 && std::string_view("!\"'&.,?").contains(static_cast<char>(chars_[at])));
  }
  // The end of two hyphens or more before a word; `at`: there are none.
  size_t dashes(size_t at) const {
    size_t end = at;
    while (is(end, '-')) ++end;
    return end - at >= 2 && is_word(end) ? end : at;
  }
  // A hyphen at `at` after which the word may be broken.
  bool is_hyphen(size_t at) const {
    if (!is(at, '-')) return false;
    const bool behind_letters = at >= 2 && is_letter(at - 2) && is_letter(at - 1);
    const bool behind_other = at >= 3 && is_letter(at - 3) && is(at - 2, '-') && is_punctuated(at - 1);
    const bool before_letters = is_letter(at + 1) && (is_letter(at + 2) || (is(at + 2, '-') && is_letter(at + 3)));
    return (behind_letters || behind_other) && before_letters;
  }

  size_t end_of(size_t at) const {
    size_t end = at;
    while (is_space(end)) ++end;
    if (end > at) return end;
    if (on_hyphens_ && at > 0 && is_punctuated(at - 1) && dashes(at) > at) return dashes(at);
    for (end = at + 1; has(end) && !is_space(end); ++end) {
      if (!on_hyphens_) continue;
      if (is_hyphen(end)) return end + 1;
      if (is_punctuated(end - 1) && dashes(end) > end) return end;
    }
    return end;
  }

  std::string_view text_;
  bool on_hyphens_;
  std::u32string chars_;
  std::vector<size_t> places_;  // of each character, and of the end
};

bool is_blank(std::string_view piece) { return strip_left(piece).empty(); }

// How many characters of a piece that is too long fit.
size_t broken_at(std::string_view piece, size_t n_left, const WordWrap& style) {
  if (!style.breaks_on_hyphens) return n_left;
  const std::string_view begin = piece.substr(0, character_offset(piece, n_left));
  const size_t hyphen = begin.rfind('-');
  if (hyphen == begin.npos || hyphen == 0 || begin.substr(0, hyphen).find_first_not_of('-') == begin.npos)
    return n_left;
  size_t n = 0;
  for (size_t at = 0; at <= hyphen; ++n) at += character_bytes(begin.substr(at));
  return n;
}

}  // namespace

std::vector<std::string_view> wrap_words(std::string_view text, const WordWrap& style, TemplateBudget& budget) {
  budget.take(8 * text.size());
  budget.work(8 * text.size());
  std::vector<std::string_view> pieces = Pieces(text, style.breaks_on_hyphens).all();
  std::ranges::reverse(pieces);
  std::vector<std::string_view> lines;
  const auto n_chars = [&](std::string_view piece) { return count_characters(piece, budget); };
  while (!pieces.empty()) {
    if (is_blank(pieces.back()) && !lines.empty()) pieces.pop_back();
    std::vector<std::string_view> line;
    size_t n = 0;
    while (!pieces.empty() && n + n_chars(pieces.back()) <= style.width) {
      n += n_chars(pieces.back());
      line.push_back(pieces.back());
      pieces.pop_back();
    }
    if (!pieces.empty() && n_chars(pieces.back()) > style.width) {
      std::string_view& piece = pieces.back();
      if (style.breaks_long_words) {
        const size_t bytes = character_offset(piece, broken_at(piece, style.width - n, style));
        line.push_back(piece.substr(0, bytes));
        piece.remove_prefix(bytes);
      } else if (line.empty()) {
        line.push_back(piece);
        pieces.pop_back();
      }
    }
    if (!line.empty() && is_blank(line.back())) line.pop_back();
    if (line.empty()) continue;
    const char* const begin = line.front().data();
    lines.emplace_back(begin, static_cast<size_t>(line.back().data() + line.back().size() - begin));
  }
  return lines;
}

}  // namespace tern
