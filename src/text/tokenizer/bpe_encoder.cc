#include "text/tokenizer/bpe_encoder.h"

#include "text/tokenizer/normalize.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Longer words are split here, to limit the memory of merging (about 20 bytes per byte). The results differ only for
// texts with 16 MiB of letters and nothing else.
constexpr size_t kMaxWord = size_t{16} << 20;

}  // namespace

BpeEncoder::BpeEncoder(const BpeModel& model, size_t n_bytes) : model_(model), merger_(model.merges), cache_(n_bytes) {}

void BpeEncoder::encode(std::string_view text, const ControlTokens& control, std::vector<TokenId>& out) {
  text_ = text;
  control_ = control;
  size_t done = 0;
  while (const auto match = model_.special.find(text, done, control)) {
    encode_bytes(text.substr(done, match->begin - done), out);
    out.push_back(match->id);
    done = match->begin + match->length;
  }
  encode_bytes(text.substr(done), out);
}

// Valid parts are encoded independently. The bytes between them become byte tokens.
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
  std::vector<TextRange> quoted;
  if (!model_.normalized_special.empty()) {
    quoted = quoted_within(control_, static_cast<size_t>(text.data() - text_.data()), text.size());
  }
  if (model_.nfc) {
    if (auto nfc = to_nfc(text)) {
      const auto normalize = [](std::string_view part) { return to_nfc(part).value_or(std::string(part)); };
      if (!quoted.empty()) nfc = normalized_by_parts(text, quoted, normalize);
      text = normalized_.emplace_back(*std::move(nfc));
    }
  }
  size_t done = 0;
  while (const auto match = model_.normalized_special.find(text, done, {control_.parse, quoted})) {
    encode_words(text.substr(done, match->begin - done), out);
    out.push_back(match->id);
    done = match->begin + match->length;
  }
  encode_words(text.substr(done), out);
}

void BpeEncoder::encode_words(std::string_view text, std::vector<TokenId>& out) {
  WordSplitter::Cursor words(model_.splitter, text);
  const auto append = [this](std::string_view word, std::vector<TokenId>& to) { append_word(word, to); };
  for (auto word = words.next(); !word.empty(); word = words.next()) cache_.encode(word, out, append);
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
