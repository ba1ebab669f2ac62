#include "text/tokenizer/sentence_piece_model.h"

#include <algorithm>
#include <cmath>

#include "text/unicode/utf8.h"

namespace tern {
namespace {

// Maximum bytes of a token for deriving merges, which tries every split. Published tokens have at most 128.
constexpr size_t kMaxMergedToken = 512;

struct Merge {
  TokenId left, right, result;
  float score;
};

// The byte for a spelling such as "<0x0A>".
std::optional<uint8_t> byte_of(std::string_view spelled) {
  if (spelled.size() != 6 || !spelled.starts_with("<0x") || spelled[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : spelled.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<uint8_t>(value);
}

Result<void> add_byte_token(const Vocab& vocab, size_t i, SentencePieceModel& model) {
  const auto byte = byte_of(vocab.tokens[i]);
  if (!byte) {
    return fail(ErrorCode::kCorruption,
                "tokenizer: token {} '{}' is declared a byte, but is not spelled <0x00> to <0xFF>", i,
                printable(vocab.tokens[i]));
  }
  const char c = static_cast<char>(*byte);
  const TokenId id = model.tokens.add({&c, 1});
  if (model.byte_ids[*byte] != kNoToken) return duplicate_token(vocab, model.byte_ids[*byte], id);
  model.byte_ids[*byte] = id;
  return {};
}

// Tokens that are matched in normalized text are normalized in the same way, including the added space.
std::string prefix_of(const Vocab& vocab, size_t i) {
  const bool has_prefix = vocab.space_rule == SpaceRule::kEverywhere && vocab.flags_of(i) & kTokenNormalized;
  return has_prefix && vocab.type(i) != TokenType::kNormal ? " " : "";
}

// In a tokenizer.json the unknown token is one of the special tokens. SentencePiece and GGUF have a type for it.
bool is_control(TokenType type) { return type == TokenType::kControl || type == TokenType::kUnknown; }

Result<void> add_tokens(const Vocab& vocab, SentencePieceModel& model) {
  model.byte_ids.fill(kNoToken);
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    model.is_control[i] = is_control(type);
    if (type == TokenType::kByte) {
      TRY_STATUS(add_byte_token(vocab, i, model));
      continue;
    }
    const TokenId id = model.tokens.add(prefix_of(vocab, i) + with_plain_spaces(vocab.tokens[i]));
    const bool merges = type == TokenType::kNormal || (vocab.flags_of(i) & kTokenMerges) != 0;
    if (!merges || vocab.tokens[i].empty()) continue;
    if (const TokenId first = model.tokens.make_findable(id); first != kNoToken)
      return duplicate_token(vocab, first, id);
  }
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.type(i) == TokenType::kNormal || vocab.tokens[i].empty()) continue;
    const auto id = static_cast<TokenId>(i);
    const std::string_view spelling = model.spellings.emplace_back(with_plain_spaces(vocab.tokens[i]));
    const auto [existing, inserted] = model.other_tokens.emplace(spelling, id);
    // Vocabularies are padded with any number of tokens of the same name, which never match text.
    if (!inserted && vocab.type(i) != TokenType::kUnused) return duplicate_token(vocab, existing->second, id);
    const TokenId first = model.tokens.find(spelling);
    if (first != kNoToken && first != id && vocab.type(i) != TokenType::kUnused)
      return duplicate_token(vocab, first, id);
  }
  return {};
}

Result<void> check_fallback(const Vocab& vocab, SentencePieceModel& model) {
  const auto n_bytes = 256 - std::ranges::count(model.byte_ids, kNoToken);
  if (n_bytes != 0 && n_bytes != 256) {
    const auto missing = std::ranges::find(model.byte_ids, kNoToken) - model.byte_ids.begin();
    return fail(ErrorCode::kCorruption, "tokenizer: {} of the 256 byte tokens exist, and <0x{:02X}> does not", n_bytes,
                missing);
  }
  model.unk = vocab.unk.value_or(kNoToken);
  if (n_bytes == 0 && !vocab.unk) {
    return fail(ErrorCode::kCorruption,
                "tokenizer: neither tokens for bytes nor an unknown token, so some text has no ids");
  }
  return {};
}

// A merge is "left right". If the tokens contain spaces, the first split into two tokens counts.
Result<std::vector<Merge>> read_merges(const Vocab& vocab, const SentencePieceModel& model) {
  std::vector<Merge> merges;
  merges.reserve(vocab.merges.size());
  for (size_t rank = 0; rank < vocab.merges.size(); ++rank) {
    const std::string_view spelled = vocab.merges[rank];
    Merge merge{kNoToken, kNoToken, kNoToken, -static_cast<float>(rank)};
    size_t space = spelled.find(' ');
    for (; space != spelled.npos; space = spelled.find(' ', space + 1)) {
      const std::string left = with_plain_spaces(spelled.substr(0, space));
      const std::string right = with_plain_spaces(spelled.substr(space + 1));
      merge.left = model.tokens.find(left);
      merge.right = model.tokens.find(right);
      merge.result = model.tokens.find(left + right);
      if (!left.empty() && !right.empty() && merge.left != kNoToken && merge.right != kNoToken) break;
    }
    if (space == spelled.npos || merge.result == kNoToken) {
      return fail(ErrorCode::kCorruption,
                  "tokenizer: merge {} '{}' is not two tokens with a space between that make a third", rank,
                  printable(spelled));
    }
    merges.push_back(merge);
  }
  return merges;
}

// All ways to join two tokens into another.
Result<std::vector<Merge>> derive_merges(const Vocab& vocab, const SentencePieceModel& model) {
  std::vector<Merge> merges;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.type(i) != TokenType::kNormal) continue;
    const std::string_view token = model.tokens.bytes(static_cast<TokenId>(i));
    if (token.size() > kMaxMergedToken) {
      return fail(ErrorCode::kNotSupported, "tokenizer: token {} '{}' has {} bytes; at most {} are accepted", i,
                  printable(token), token.size(), kMaxMergedToken);
    }
    const float score = vocab.scores.empty() ? 0.0f : vocab.scores[i];
    if (std::isnan(score)) {
      return fail(ErrorCode::kCorruption, "tokenizer: token {} '{}' has a score that is not a number", i,
                  printable(token));
    }
    for (size_t cut = 1; cut < token.size(); ++cut) {
      if ((static_cast<uint8_t>(token[cut]) & 0xC0) == 0x80) continue;
      const TokenId left = model.tokens.find(token.substr(0, cut));
      if (left == kNoToken) continue;
      const TokenId right = model.tokens.find(token.substr(cut));
      if (right != kNoToken) merges.push_back({left, right, static_cast<TokenId>(i), score});
    }
  }
  std::ranges::stable_sort(merges, std::ranges::greater(), &Merge::score);
  return merges;
}

Result<void> add_merges(const Vocab& vocab, SentencePieceModel& model) {
  TRY(const auto merges, vocab.merges.empty() ? derive_merges(vocab, model) : read_merges(vocab, model));
  model.merges = MergeTable(merges.size());
  uint32_t rank = 0;
  for (size_t i = 0; i < merges.size(); ++i) {
    const Merge& merge = merges[i];
    // Pairs with the same score are equal, and the leftmost merges first. Listed merges are all different.
    const bool equal = i > 0 && vocab.merges.empty() && merge.score == merges[i - 1].score;
    if (i > 0 && !equal) ++rank;
    model.merges.add(merge.left, merge.right, {rank, merge.result});
  }
  // Splitting text before a space that follows another character is exact if no merge joins the two.
  model.splits_are_exact = std::ranges::all_of(merges, [&](const Merge& merge) {
    const std::string_view left = model.tokens.bytes(merge.left);
    const std::string_view right = model.tokens.bytes(merge.right);
    return left.ends_with(' ') || !right.starts_with(' ');
  });
  return {};
}

void collect_special_tokens(const Vocab& vocab, SentencePieceModel& model) {
  std::vector<SpecialToken> raw;
  std::vector<SpecialToken> normalized;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const TokenType type = vocab.type(i);
    if (vocab.tokens[i].empty() || (type != TokenType::kUserDefined && !is_control(type))) continue;
    SpecialToken token{vocab.tokens[i], static_cast<TokenId>(i), is_control(type), vocab.flags_of(i)};
    if (token.flags & kTokenNormalized) {
      token.spelling = model.tokens.bytes(token.id);
      normalized.push_back(token);
    } else {
      token.spelling = model.spellings.emplace_back(token.spelling);
      raw.push_back(token);
    }
  }
  model.special = SpecialTokens(std::move(raw));
  model.normalized_special = SpecialTokens(std::move(normalized));
}

}  // namespace

std::string with_plain_spaces(std::string_view spelled) {
  std::string out;
  out.reserve(spelled.size());
  for (size_t at = spelled.find(kSpaceMark); at != spelled.npos; at = spelled.find(kSpaceMark)) {
    out += spelled.substr(0, at);
    out += ' ';
    spelled.remove_prefix(at + kSpaceMark.size());
  }
  out += spelled;
  return out;
}

Result<std::unique_ptr<SentencePieceModel>> build_sentence_piece_model(const Vocab& vocab) {
  TRY_STATUS(check_vocab(vocab));
  auto model = std::make_unique<SentencePieceModel>(vocab);
  TRY_STATUS(add_tokens(vocab, *model));
  TRY_STATUS(check_fallback(vocab, *model));
  TRY_STATUS(add_merges(vocab, *model));
  collect_special_tokens(vocab, *model);
  return model;
}

}  // namespace tern
