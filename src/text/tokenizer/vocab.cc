#include "text/tokenizer/vocab.h"

#include "text/tokenizer/bpe.h"
#include "text/tokenizer/sentence_piece.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

constexpr size_t kMaxVocabTokens = size_t{1} << 24;  // 60 times the largest published vocabulary
constexpr size_t kMaxMerges = size_t{1} << 26;

Result<void> check_counts(const Vocab& vocab) {
  const size_t n = vocab.tokens.size();
  if (n == 0) return fail(ErrorCode::kCorruption, "tokenizer: the vocabulary has no tokens");
  if (n > kMaxVocabTokens) {
    return fail(ErrorCode::kCorruption, "tokenizer: {} tokens, more than the {} that any vocabulary has", n,
                kMaxVocabTokens);
  }
  if (vocab.merges.size() > kMaxMerges) {
    return fail(ErrorCode::kCorruption, "tokenizer: {} merges, more than the {} that any vocabulary has",
                vocab.merges.size(), kMaxMerges);
  }
  const auto check = [n](size_t size, const char* what) -> Result<void> {
    if (size == 0 || size == n) return {};
    return fail(ErrorCode::kCorruption, "tokenizer: {} token {} for {} tokens", size, what, n);
  };
  TRY_STATUS(check(vocab.types.size(), "types"));
  TRY_STATUS(check(vocab.scores.size(), "scores"));
  return check(vocab.flags.size(), "flags");
}

Result<void> check_ids(const Vocab& vocab) {
  const size_t n = vocab.tokens.size();
  const auto in_range = [n](TokenId id) { return id >= 0 && static_cast<size_t>(id) < n; };
  const auto check = [&](std::optional<TokenId> id, const char* name) -> Result<void> {
    if (!id || in_range(*id)) return {};
    return fail(ErrorCode::kCorruption, "tokenizer: the {} token is {}, but there are only {} tokens", name, *id, n);
  };
  TRY_STATUS(check(vocab.bos, "BOS"));
  TRY_STATUS(check(vocab.eos, "EOS"));
  TRY_STATUS(check(vocab.unk, "unknown"));
  TRY_STATUS(check(vocab.pad, "padding"));
  TRY_STATUS(check(vocab.final_token, "final"));
  for (const TokenId id : vocab.stop_tokens) {
    if (!in_range(id)) {
      return fail(ErrorCode::kCorruption, "tokenizer: the stop token {} does not exist; there are {} tokens", id, n);
    }
  }
  return {};
}

}  // namespace

Result<void> check_vocab(const Vocab& vocab) {
  TRY_STATUS(check_counts(vocab));
  TRY_STATUS(check_ids(vocab));
  for (size_t i = 0; i < vocab.types.size(); ++i) {
    if (vocab.types[i] < TokenType::kNormal || vocab.types[i] > TokenType::kByte) {
      return fail(ErrorCode::kCorruption, "tokenizer: token {} has the type {}, which does not exist", i,
                  static_cast<int>(vocab.types[i]));
    }
  }
  return {};
}

std::unexpected<Error> duplicate_token(const Vocab& vocab, TokenId first, TokenId second) {
  return fail(ErrorCode::kCorruption, "tokenizer: tokens {} and {} are both '{}'", first, second,
              printable(vocab.tokens[static_cast<size_t>(second)]));
}

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const Vocab& vocab) {
  return vocab.kind == VocabKind::kByteLevel ? make_bpe_tokenizer(vocab) : make_sentence_piece_tokenizer(vocab);
}

}  // namespace tern
