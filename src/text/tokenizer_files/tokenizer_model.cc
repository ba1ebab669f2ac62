#include "text/tokenizer_files/tokenizer_model.h"

#include <string>

#include "text/tokenizer_files/stop_tokens.h"
#include "text/tokenizer_files/tiktoken.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxFileBytes = size_t{64} << 20;

// Reads the fields of a protobuf message in order. https://protobuf.dev/programming-guides/encoding
class Message {
 public:
  Message(std::string_view file, size_t begin, size_t end) : file_(file), at_(begin), end_(end) {}

  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  struct Field {
    uint64_t number = 0;
    Wire wire = Wire::kVarint;
    uint64_t value = 0;         // for numbers
    size_t begin = 0, end = 0;  // for bytes

    bool is(uint64_t wanted, Wire kind) const { return number == wanted && wire == kind; }
  };

  bool at_end() const { return at_ >= end_; }
  size_t position() const { return at_; }

  // nullopt: not a field, or one that extends beyond the message.
  std::optional<Field> next() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field field{.number = *tag >> 3, .wire = static_cast<Wire>(*tag & 7)};
    switch (field.wire) {
      case Wire::kVarint: {
        const auto value = varint();
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
      }
      case Wire::kFixed64:
        return fixed(field, 8);
      case Wire::kFixed32:
        return fixed(field, 4);
      case Wire::kBytes: {
        const auto length = varint();
        if (!length || *length > end_ - at_) return std::nullopt;
        field.begin = at_;
        field.end = at_ += static_cast<size_t>(*length);
        return field;
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(file_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<Field> fixed(Field field, size_t n) {
    if (n > end_ - at_) return std::nullopt;
    for (size_t i = 0; i < n; ++i) field.value |= static_cast<uint64_t>(static_cast<uint8_t>(file_[at_ + i])) << 8 * i;
    at_ += n;
    return field;
  }

  std::string_view file_;
  size_t at_;
  size_t end_;
};

using Wire = Message::Wire;

// Field numbers are from sentencepiece_model.proto.
class SentencePieceReader {
 public:
  SentencePieceReader(std::string_view file, std::string_view path) : file_(file), path_(path) {}

  Result<Vocab> read() {
    vocab_.kind = VocabKind::kSentencePiece;
    vocab_.unk = 0;  // the proto's defaults
    vocab_.bos = 1;
    vocab_.eos = 2;
    TRY_STATUS(for_each({.begin = 0, .end = file_.size()}, [this](const Message::Field& field) -> Result<void> {
      if (field.is(1, Wire::kBytes)) return read_piece(field);
      if (field.is(2, Wire::kBytes)) return for_each(field, [this](const auto& f) { return read_trainer(f); });
      if (field.is(3, Wire::kBytes)) return for_each(field, [this](const auto& f) { return read_normalizer(f); });
      return {};
    }));
    if (vocab_.tokens.empty())
      return fail(ErrorCode::kCorruption, "{}: no pieces, so this is not a tokenizer.model", path_);
    if (model_type_ != kBpe) {
      return fail(ErrorCode::kNotSupported, "{}: a SentencePiece model of type {}; Tern reads BPE (2)", path_,
                  model_type_);
    }
    if (has_charsmap_ || removes_spaces_ || !escapes_spaces_) {
      return fail(ErrorCode::kNotSupported, "{}: normalizer_spec {}, which Tern does not know", path_,
                  has_charsmap_     ? "with a precompiled_charsmap"
                  : removes_spaces_ ? "that removes extra white space"
                                    : "that does not escape white space");
    }
    vocab_.space_rule = adds_prefix_ ? SpaceRule::kEverywhere : SpaceRule::kNone;
    vocab_.decode_strips_space = adds_prefix_;
    vocab_.add_bos = vocab_.bos.has_value();
    TRY_STATUS(check_vocab(vocab_));
    add_known_stop_tokens(vocab_);
    return std::move(vocab_);
  }

 private:
  static constexpr uint64_t kBpe = 2;

  template <class Function>
  Result<void> for_each(const Message::Field& in, const Function& function) {
    Message message(file_, in.begin, in.end);
    while (!message.at_end()) {
      const size_t at = message.position();
      const auto field = message.next();
      if (!field) {
        return fail(ErrorCode::kCorruption, "{}: byte {} begins no field of a SentencePiece model; the file is damaged",
                    path_, at);
      }
      TRY_STATUS(function(*field));
    }
    return {};
  }

  Result<void> read_piece(const Message::Field& piece) {
    std::string_view spelling;
    float score = 0;
    uint64_t type = static_cast<uint64_t>(TokenType::kNormal);
    TRY_STATUS(for_each(piece, [&](const Message::Field& field) -> Result<void> {
      if (field.is(1, Wire::kBytes)) spelling = file_.substr(field.begin, field.end - field.begin);
      if (field.is(2, Wire::kFixed32)) score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      if (field.is(3, Wire::kVarint)) type = field.value;
      return {};
    }));
    if (type < 1 || type > 6) {
      return fail(ErrorCode::kCorruption, "{}: piece {} has the type {}, which does not exist", path_,
                  vocab_.tokens.size(), type);
    }
    vocab_.tokens.push_back(spelling);
    vocab_.scores.push_back(score);
    vocab_.types.push_back(static_cast<TokenType>(type));
    return {};
  }

  Result<void> read_trainer(const Message::Field& field) {
    // A negative id means that there is none.
    const auto id = [&]() -> std::optional<TokenId> {
      if (static_cast<int64_t>(field.value) < 0) return std::nullopt;
      return static_cast<TokenId>(std::min<uint64_t>(field.value, INT32_MAX));
    };
    if (field.is(3, Wire::kVarint)) model_type_ = field.value;
    if (field.is(24, Wire::kVarint) && field.value != 0) {
      return fail(ErrorCode::kNotSupported, "{}: treat_whitespace_as_suffix, which Tern does not know", path_);
    }
    if (field.is(40, Wire::kVarint)) vocab_.unk = id();
    if (field.is(41, Wire::kVarint)) vocab_.bos = id();
    if (field.is(42, Wire::kVarint)) vocab_.eos = id();
    if (field.is(43, Wire::kVarint)) vocab_.pad = id();
    return {};
  }

  Result<void> read_normalizer(const Message::Field& field) {
    if (field.is(2, Wire::kBytes)) has_charsmap_ = field.end > field.begin;
    if (field.is(3, Wire::kVarint)) adds_prefix_ = field.value != 0;
    if (field.is(4, Wire::kVarint)) removes_spaces_ = field.value != 0;
    if (field.is(5, Wire::kVarint)) escapes_spaces_ = field.value != 0;
    return {};
  }

  std::string_view file_;
  std::string_view path_;
  Vocab vocab_;
  uint64_t model_type_ = 1;  // Unigram
  bool has_charsmap_ = false;
  bool adds_prefix_ = true;
  bool removes_spaces_ = true;
  bool escapes_spaces_ = true;
};

// A model begins with its first piece: field 1, a message whose field 1 is a string at its start.
bool looks_like_sentence_piece(std::string_view file) {
  Message model(file, 0, file.size());
  const auto piece = model.next();
  if (!piece || !piece->is(1, Wire::kBytes)) return false;
  Message message(file, piece->begin, piece->end);
  const auto spelling = message.next();
  return spelling && spelling->is(1, Wire::kBytes);
}

}  // namespace

bool looks_like_tokenizer_model(Bytes file) {
  return looks_like_tiktoken(as_text(file)) || looks_like_sentence_piece(as_text(file));
}

Result<Vocab> read_tokenizer_model(Bytes file, std::string_view path) {
  if (file.size() > kMaxFileBytes) {
    return fail(ErrorCode::kCorruption, "{}: {} bytes; a tokenizer.model has at most {}", path, file.size(),
                kMaxFileBytes);
  }
  if (looks_like_tiktoken(as_text(file))) return read_tiktoken(as_text(file), path);
  const auto copy = std::make_shared<const std::string>(as_text(file));
  TRY(Vocab vocab, SentencePieceReader(*copy, path).read());
  vocab.storage = copy;
  return vocab;
}

}  // namespace tern
