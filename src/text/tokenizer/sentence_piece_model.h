// The tables of a SentencePiece tokenizer, checked and ready for use. Immutable, so threads may share them.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "text/tokenizer/merge_table.h"
#include "text/tokenizer/special_tokens.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/vocab.h"

namespace tern {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, a space in a SentencePiece vocabulary

// `spelled` with every U+2581 replaced by a space.
std::string with_plain_spaces(std::string_view spelled);

struct SentencePieceModel {
  explicit SentencePieceModel(size_t n_tokens) : tokens(n_tokens), merges(0) {}
  SentencePieceModel(const SentencePieceModel&) = delete;  // views point into it
  SentencePieceModel& operator=(const SentencePieceModel&) = delete;

  // The bytes of every token, with plain spaces. Only tokens that text merges into can be found by their bytes: normal
  // tokens, and those with kTokenMerges. So text can never turn into a control token.
  TokenTable tokens;
  MergeTable merges;
  std::unordered_map<std::string_view, TokenId> other_tokens;  // all others, by spelling
  std::array<TokenId, 256> byte_ids{};                         // kNoToken: there are no byte tokens
  SpecialTokens special;                                       // searched for in the original text
  SpecialTokens normalized_special;                            // searched for in the rest after normalization
  std::deque<std::string> spellings;                           // of the special tokens
  std::vector<bool> is_control;                                // by id
  SpaceRule space_rule = SpaceRule::kNone;
  bool split_at_spaces = false;   // every space begins a word
  bool splits_are_exact = false;  // no merge joins another character and a following space, so words merge
                                  // independently
  bool decode_strips_space = false;
  bool add_bos = false;
  std::optional<TokenId> bos, final_token;
  TokenId unk = kNoToken;
  std::vector<TokenId> stop_tokens;
};

// kCorruption, naming the token or merge: the vocabulary contradicts itself.
Result<std::unique_ptr<SentencePieceModel>> build_sentence_piece_model(const Vocab& vocab);

}  // namespace tern
