#include "cli/terminal/layout.h"

#include <algorithm>
#include <numeric>

#include "tern/visible.h"

namespace tern::cli {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Counts insertions, deletions, replacements and swaps of adjacent letters that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j + 1] + 1, next[j] + 1, row[j] + (a[i] != b[j])});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string pad(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string shorten(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    if (starts_character(text[end]) && ++characters == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrap_words(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return visible(line);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const size_t most = word.size() < 3 ? 0 : word.size() < 6 ? 1 : word.size() < 10 ? 2 : 3;
  std::string best;
  size_t best_distance = most + 1;
  bool several = false;
  for (const std::string& candidate : candidates) {
    const bool begins_so = word.size() >= 3 && candidate.starts_with(word);
    const size_t distance = begins_so ? std::min<size_t>(most, 1) : edit_distance(word, candidate);
    if (distance > best_distance || distance > most) continue;
    several = distance == best_distance && candidate != best;
    best = candidate;
    best_distance = distance;
  }
  return several ? "" : best;
}

}  // namespace tern::cli
