// Caches the ids of words within one text.
#pragma once

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "tern/options.h"
#include "text/tokenizer/token_table.h"

namespace tern {

// Words repeat and their ids are already in the output, so an entry only says where. A cache belongs to one output.
class WordCache {
 public:
  // `n_bytes`: the approximate length of the text.
  explicit WordCache(size_t n_bytes)
      : entries_(n_bytes < 256 ? 0 : std::min(kMaxEntries, std::bit_ceil(n_bytes / 8))) {}

  // Appends the ids of `word`, calling `append(word, out)` if they are not cached. The word must stay in place.
  template <class Append>
  void encode(std::string_view word, std::vector<TokenId>& out, const Append& append) {
    if (entries_.empty() || word.size() > kMaxWord) return append(word, out);
    Entry& entry = entries_[hash_bytes(word) & (entries_.size() - 1)];
    if (entry.word == word) {
      const size_t end = out.size();
      out.resize(end + entry.count);
      std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(entry.first), entry.count,
                  out.begin() + static_cast<std::ptrdiff_t>(end));
      return;
    }
    const size_t first = out.size();
    append(word, out);
    entry = {word, first, out.size() - first};
  }

 private:
  static constexpr size_t kMaxEntries = 1 << 14;  // 640 KiB: the words of an English text, in L2 cache
  static constexpr size_t kMaxWord = 64;

  struct Entry {
    std::string_view word;
    size_t first = 0;  // index in the output
    size_t count = 0;
  };
  std::vector<Entry> entries_;  // direct-mapped; size 0 or a power of two
};

}  // namespace tern
