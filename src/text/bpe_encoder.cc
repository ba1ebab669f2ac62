#include "text/bpe_encoder.h"

#include <algorithm>
#include <bit>

#include "text/normalize.h"
#include "text/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxCacheEntries = 1 << 14;  // 640 KiB: an English text's words, and still in the second-level cache
constexpr size_t kMaxCachedWord = 64;

// A longer word is cut here, to bound the memory of merging (about 20 bytes per byte). It shows only in a text with 16
// MiB of letters and nothing else.
constexpr size_t kMaxWord = size_t{16} << 20;

size_t cache_size(size_t n_bytes) { return n_bytes < 256 ? 0 : std::min(kMaxCacheEntries, std::bit_ceil(n_bytes / 8)); }

}  // namespace

BpeEncoder::BpeEncoder(const BpeModel& model, size_t n_bytes)
    : model_(model), merger_(model.merges), cache_(cache_size(n_bytes)) {}

void BpeEncoder::encode(std::string_view text, bool parse_control_tokens, std::vector<TokenId>& out) {
  const SpecialTokens& special = parse_control_tokens ? model_.user_defined_and_control : model_.user_defined;
  size_t done = 0;
  while (const auto match = special.find(text, done)) {
    encode_bytes(text.substr(done, match->begin - done), out);
    out.push_back(match->id);
    done = match->begin + match->length;
  }
  encode_bytes(text.substr(done), out);
}

// Valid parts are encoded as if they stood alone; the bytes between them become byte tokens.
void BpeEncoder::encode_bytes(std::string_view text, std::vector<TokenId>& out) {
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    encode_valid(text.substr(0, valid), out);
    text.remove_prefix(valid);
    if (text.empty()) return;
    const size_t bad = decode_utf8(text).length;
    for (const char byte : text.substr(0, bad)) out.push_back(model_.byte_ids[static_cast<uint8_t>(byte)]);
    text.remove_prefix(bad);
  }
}

void BpeEncoder::encode_valid(std::string_view text, std::vector<TokenId>& out) {
  if (text.empty()) return;
  if (model_.nfc) {
    if (auto nfc = to_nfc(text)) text = normalised_.emplace_back(*std::move(nfc));
  }
  WordSplitter::Cursor words(model_.splitter, text);
  for (auto word = words.next(); !word.empty(); word = words.next()) encode_word(word, out);
}

void BpeEncoder::encode_word(std::string_view word, std::vector<TokenId>& out) {
  if (cache_.empty() || word.size() > kMaxCachedWord) return append_word(word, out);
  CacheEntry& entry = cache_[hash_bytes(word) & (cache_.size() - 1)];
  if (entry.word == word) {
    const size_t end = out.size();
    out.resize(end + entry.count);
    std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(entry.first), entry.count,
                out.begin() + static_cast<std::ptrdiff_t>(end));
    return;
  }
  const size_t first = out.size();
  append_word(word, out);
  entry = {word, first, out.size() - first};
}

void BpeEncoder::append_word(std::string_view word, std::vector<TokenId>& out) {
  for (; word.size() > kMaxWord; word.remove_prefix(kMaxWord)) append_word(word.substr(0, kMaxWord), out);
  if (model_.ignore_merges) {
    if (const TokenId whole = model_.tokens.find(word); whole != kNoToken) return out.push_back(whole);
  }
  word_ids_.clear();
  for (const char byte : word) word_ids_.push_back(model_.byte_ids[static_cast<uint8_t>(byte)]);
  merger_.merge(word_ids_);
  out.insert(out.end(), word_ids_.begin(), word_ids_.end());
}

}  // namespace tern
