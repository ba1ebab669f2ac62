// Sets of Unicode characters.
#pragma once

#include <compare>
#include <span>
#include <utility>
#include <vector>

namespace tern::grammar {

inline constexpr char32_t kLastChar = 0x10FFFF;

// A set of Unicode scalar values; it never contains surrogates.
class CharSet {
 public:
  using Range = std::pair<char32_t, char32_t>;  // both ends included

  CharSet() = default;
  CharSet(std::initializer_list<Range> ranges);
  explicit CharSet(std::vector<Range> ranges);
  static CharSet all() { return {{0, kLastChar}}; }
  static CharSet one(char32_t c) { return {{c, c}}; }

  void add(char32_t low, char32_t high);
  void add(const CharSet& other);
  CharSet inverted() const;
  CharSet common(const CharSet& other) const;
  CharSet in_any_case() const;  // letters of ASCII may be small or capital
  CharSet without(const CharSet& other) const { return common(other.inverted()); }

  bool contains(char32_t c) const;
  bool empty() const { return ranges_.empty(); }
  std::span<const Range> ranges() const { return ranges_; }  // ascending, not adjacent
  bool operator==(const CharSet&) const = default;
  auto operator<=>(const CharSet&) const = default;

 private:
  void tidy();
  std::vector<Range> ranges_;
};

}  // namespace tern::grammar
