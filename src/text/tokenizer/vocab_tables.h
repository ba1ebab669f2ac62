// What both kinds of tokenizers keep of a vocabulary, checked and ready for use. Immutable, so threads may share it.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tern/tokenizer.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/special_tokens.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct VocabTables {
  VocabTables(const Vocab& vocab, size_t n_merges)
      : tokens(vocab.tokens.size()),
        merges(n_merges),
        is_control(vocab.tokens.size()),
        add_bos(vocab.add_bos),
        bos(vocab.bos),
        final_token(vocab.final_token),
        stop_tokens(vocab.stop_tokens) {}
  VocabTables(const VocabTables&) = delete;  // views point into it
  VocabTables& operator=(const VocabTables&) = delete;

  // The bytes of every token. Only tokens that text merges into can be found by their bytes, so text can never turn
  // into a control token.
  TokenTable tokens;
  MergeTable merges;
  std::array<TokenId, 256> byte_ids{};
  std::unordered_map<std::string_view, TokenId> other_tokens;  // all that cannot be found by their bytes, by spelling
  SpecialTokens special;                                       // searched for in the original text
  SpecialTokens normalized_special;                            // searched for in the rest after normalization
  std::deque<std::string> spellings;                           // those that differ from the tokens' bytes
  std::vector<bool> is_control;                                // by id
  bool add_bos;
  std::optional<TokenId> bos, final_token;
  std::vector<TokenId> stop_tokens;
};

// A tokenizer as far as the tables alone define it.
class TableTokenizer : public Tokenizer {
 public:
  int vocab_size() const final { return static_cast<int>(tables_.tokens.size()); }

  std::string_view piece(TokenId id, bool special) const final {
    if (id < 0 || id >= vocab_size()) return {};
    if (tables_.is_control[static_cast<size_t>(id)] && !special) return {};
    return tables_.tokens.bytes(id);
  }

  std::optional<TokenId> bos() const final { return tables_.bos; }

  std::optional<TokenId> final_token() const final { return tables_.final_token; }

  const std::vector<TokenId>& stop_tokens() const final { return tables_.stop_tokens; }

 protected:
  explicit TableTokenizer(const VocabTables& tables) : tables_(tables) {}

 private:
  const VocabTables& tables_;
};

}  // namespace tern
