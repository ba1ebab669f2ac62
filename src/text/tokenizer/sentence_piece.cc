#include "text/tokenizer/sentence_piece.h"

#include <deque>

#include "text/tokenizer/sentence_piece_model.h"
#include "text/tokenizer/word_cache.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Longer words are split here, to limit the memory of merging (about 40 bytes per character).
constexpr size_t kMaxPieceText = size_t{16} << 20;

// The length of a space or a space mark at the start of `text`; 0: there is none.
size_t leading_space(std::string_view text) {
  if (text.starts_with(' ')) return 1;
  return text.starts_with(kSpaceMark) ? kSpaceMark.size() : 0;
}

// The state of one call of encode(), which threads must not share.
class Encoder {
 public:
  Encoder(const SentencePieceModel& model, const ControlTokens& control, size_t n_bytes, std::vector<TokenId>& out)
      : model_(model), control_(control), merger_(model.merges), cache_(n_bytes), out_(out) {}

  // `text` must stay in place as long as this object lives.
  void encode(std::string_view text) {
    text_ = text;
    size_t done = 0;
    while (const auto match = model_.special.find(text, done, control_)) {
      encode_stretch(text.substr(done, match->begin - done), done == 0);
      out_.push_back(match->id);
      done = match->begin + match->length;
    }
    encode_stretch(text.substr(done), done == 0);
  }

 private:
  // Encodes text between special tokens.
  void encode_stretch(std::string_view text, bool is_first) {
    if (text.empty()) return;
    bool prefix = model_.space_rule == SpaceRule::kEverywhere;
    if (model_.normalized_special.empty()) return encode_text(text, prefix || wants_space(text, is_first));
    std::vector<TextRange> quoted =
        quoted_within(control_, static_cast<size_t>(text.data() - text_.data()), text.size());
    if (prefix) {
      text = normalized_.emplace_back(" " + normalized_by_parts(text, quoted, with_plain_spaces));
      for (TextRange& part : quoted) part = {part.begin + 1, part.end + 1};
    }
    size_t done = 0;
    const auto encode_between = [&](std::string_view between) {
      encode_text(between, wants_space(between, is_first && done == 0));
    };
    while (const auto match = model_.normalized_special.find(text, done, {control_.parse, quoted})) {
      encode_between(text.substr(done, match->begin - done));
      out_.push_back(match->id);
      done = match->begin + match->length;
    }
    encode_between(text.substr(done));
  }

  bool wants_space(std::string_view text, bool is_first) const {
    const bool applies =
        model_.space_rule == SpaceRule::kWhereMissing || (model_.space_rule == SpaceRule::kFirstIfMissing && is_first);
    return applies && leading_space(text) == 0;
  }

  void encode_text(std::string_view text, bool prefix) {
    if (text.empty()) return;
    if (prefix && model_.split_at_spaces && leading_space(text) > 0) {
      append_word({}, true);
      prefix = false;
    }
    const auto append = [this](std::string_view word, std::vector<TokenId>&) { append_word(word, false); };
    while (!text.empty()) {
      const std::string_view word = text.substr(0, word_length(text));
      if (prefix) {
        append_word(word, true);
      } else {
        cache_.encode(word, out_, append);
      }
      prefix = false;
      text.remove_prefix(word.size());
    }
  }

  // A word ends before a space that follows another character; with split_at_spaces, before every space.
  size_t word_length(std::string_view text) const {
    size_t at = leading_space(text);
    if (!model_.split_at_spaces) {
      if (!model_.splits_are_exact) return whole_characters(text);
      while (const size_t n = leading_space(text.substr(at))) at += n;
    }
    while (at < text.size() && leading_space(text.substr(at)) == 0) ++at;
    return whole_characters(text.substr(0, at));
  }

  // The length of `text` or, if it is too long, of as many whole characters as are handled at once.
  static size_t whole_characters(std::string_view text) {
    if (text.size() <= kMaxPieceText) return text.size();
    size_t at = kMaxPieceText;
    while (at > kMaxPieceText - 4 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
    return at;
  }

  void append_word(std::string_view word, bool prefix) {
    word_ids_.clear();
    if (prefix) append_character(" ");
    while (!word.empty()) {
      const Utf8Char c = decode_utf8(word);
      append_character(word.substr(0, c.length));
      word.remove_prefix(c.length);
    }
    merger_.merge(word_ids_);
    out_.insert(out_.end(), word_ids_.begin(), word_ids_.end());
  }

  void append_character(std::string_view bytes) {
    const TokenId id = model_.tokens.find(bytes == kSpaceMark ? " " : bytes);
    if (id != kNoToken) return word_ids_.push_back(id);
    if (model_.byte_ids[0] != kNoToken) {
      for (const char byte : bytes) word_ids_.push_back(model_.byte_ids[static_cast<uint8_t>(byte)]);
    } else if (word_ids_.empty() || word_ids_.back() != model_.unk) {  // one for several bytes
      word_ids_.push_back(model_.unk);
    }
  }

  const SentencePieceModel& model_;
  const ControlTokens control_;
  std::string_view text_;
  WordMerger merger_;
  WordCache cache_;
  std::vector<TokenId>& out_;
  std::vector<TokenId> word_ids_;       // scratch
  std::deque<std::string> normalized_;  // the cache points into these
};

class SentencePieceTokenizer final : public TableTokenizer {
 public:
  explicit SentencePieceTokenizer(std::unique_ptr<const SentencePieceModel> model)
      : TableTokenizer(*model), model_(std::move(model)) {}

  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options) const override {
    std::vector<TokenId> ids;
    ids.reserve(text.size() / 3 + 2);
    if (options.add_bos && model_->add_bos && model_->bos) ids.push_back(*model_->bos);
    Encoder(*model_, {options.parse_special, options.quoted}, text.size(), ids).encode(text);
    return ids;
  }

  bool strips_leading_space() const override { return model_->decode_strips_space; }

  std::optional<TokenId> find(std::string_view token) const override {
    const std::string plain = with_plain_spaces(token);
    const auto other = model_->other_tokens.find(plain);
    if (other != model_->other_tokens.end()) return other->second;
    const TokenId id = model_->tokens.find(plain);
    return id == kNoToken ? std::nullopt : std::optional(id);
  }

 private:
  std::unique_ptr<const SentencePieceModel> model_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_sentence_piece_tokenizer(const Vocab& vocab) {
  TRY(std::unique_ptr<const SentencePieceModel> model, build_sentence_piece_model(vocab));
  return std::make_unique<SentencePieceTokenizer>(std::move(model));
}

}  // namespace tern
