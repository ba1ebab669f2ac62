#include "text/tokenizer/bpe_model.h"

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/normalize.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

Result<void> check_type(const Vocab& vocab, size_t id) {
  if (vocab.type(id) != TokenType::kByte) return {};
  return fail(ErrorCode::kNotSupported,
              "tokenizer: token {} '{}' is a SentencePiece byte token, in what is declared a byte-level BPE vocabulary",
              id, printable(vocab.tokens[id]));
}

Result<void> add_tokens(const Vocab& vocab, BpeModel& model) {
  std::string bytes;
  std::vector<TokenId> others;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    TRY_STATUS(check_type(vocab, i));
    const std::string_view spelling = vocab.tokens[i];
    const TokenType type = vocab.type(i);
    model.is_control[i] = type == TokenType::kControl;
    bytes.clear();
    if (type == TokenType::kNormal && append_bytes_of(spelling, bytes)) {
      const TokenId id = model.tokens.add(bytes);
      if (bytes.empty()) continue;  // occurs in published files; never matches text
      if (const TokenId first = model.tokens.make_findable(id); first != kNoToken)
        return duplicate_token(vocab, first, id);
    } else {
      others.push_back(model.tokens.add(spelling));
    }
  }
  for (const TokenId id : others) {  // only now, as the bytes no longer move
    const std::string_view spelling = model.tokens.bytes(id);
    if (spelling.empty()) continue;
    const auto [existing, inserted] = model.other_tokens.emplace(spelling, id);
    if (!inserted) return duplicate_token(vocab, existing->second, id);
    bytes.clear();
    if (!append_bytes_of(spelling, bytes)) continue;
    if (const TokenId first = model.tokens.find(bytes); first != kNoToken) return duplicate_token(vocab, first, id);
  }
  return {};
}

Result<void> find_byte_tokens(BpeModel& model) {
  for (size_t byte = 0; byte < 256; ++byte) {
    const auto value = static_cast<uint8_t>(byte);
    const char c = static_cast<char>(value);
    model.byte_ids[byte] = model.tokens.find({&c, 1});
    if (model.byte_ids[byte] == kNoToken) {
      return fail(ErrorCode::kCorruption,
                  "tokenizer: no token for the byte 0x{:02X} ('{}'), so this is not a byte-level BPE vocabulary", byte,
                  spell_byte(value));
    }
  }
  return {};
}

Result<void> add_merges(const Vocab& vocab, BpeModel& model) {
  std::string bytes;  // of the left token, then of both tokens
  for (size_t rank = 0; rank < vocab.merges.size(); ++rank) {
    const std::string_view merge = vocab.merges[rank];
    const size_t space = merge.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == merge.size()) {
      return fail(ErrorCode::kCorruption, "tokenizer: merge {} '{}' is not two tokens with a space between", rank,
                  printable(merge));
    }
    const auto unknown = [&](std::string_view which) {
      return fail(ErrorCode::kCorruption,
                  "tokenizer: merge {} '{}' names the token '{}', which is not in the vocabulary", rank,
                  printable(merge), printable(which));
    };
    const std::string_view left_spelling = merge.substr(0, space);
    const std::string_view right_spelling = merge.substr(space + 1);
    bytes.clear();
    if (!append_bytes_of(left_spelling, bytes)) return unknown(left_spelling);
    const size_t middle = bytes.size();
    if (!append_bytes_of(right_spelling, bytes)) return unknown(right_spelling);
    const std::string_view both = bytes;
    const TokenId left = model.tokens.find(both.substr(0, middle));
    const TokenId right = model.tokens.find(both.substr(middle));
    const TokenId result = model.tokens.find(both);
    if (left == kNoToken) return unknown(left_spelling);
    if (right == kNoToken) return unknown(right_spelling);
    if (result == kNoToken) return unknown(std::string(left_spelling) + std::string(right_spelling));
    model.merges.add(left, right, {static_cast<uint32_t>(rank), result});
  }
  return {};
}

void collect_special_tokens(const Vocab& vocab, BpeModel& model) {
  std::vector<SpecialToken> raw;
  std::vector<SpecialToken> normalized;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    if (type != TokenType::kUserDefined && type != TokenType::kControl) continue;
    const auto id = static_cast<TokenId>(i);
    SpecialToken token{model.tokens.bytes(id), id, type == TokenType::kControl, vocab.flags_of(i)};
    if (!(token.flags & kTokenNormalized)) {
      raw.push_back(token);
      continue;
    }
    if (auto nfc = vocab.nfc && is_valid_utf8(token.spelling) ? to_nfc(token.spelling) : std::nullopt) {
      token.spelling = model.spellings.emplace_back(*std::move(nfc));
    }
    normalized.push_back(token);
  }
  model.special = SpecialTokens(std::move(raw));
  model.normalized_special = SpecialTokens(std::move(normalized));
}

}  // namespace

Result<std::unique_ptr<BpeModel>> build_bpe_model(const Vocab& vocab) {
  TRY_STATUS(check_vocab(vocab));
  TRY(auto splitter, WordSplitter::make(vocab.pre));
  auto model = std::make_unique<BpeModel>(vocab, std::move(splitter));
  TRY_STATUS(add_tokens(vocab, *model));
  TRY_STATUS(find_byte_tokens(*model));
  TRY_STATUS(add_merges(vocab, *model));
  collect_special_tokens(vocab, *model);
  return model;
}

}  // namespace tern
