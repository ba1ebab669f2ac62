// The tables of a SentencePiece tokenizer, checked and ready for use. Immutable, so threads may share them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/tokenizer/vocab_tables.h"

namespace tern {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, a space in a SentencePiece vocabulary

// `spelled` with every U+2581 replaced by a space.
std::string with_plain_spaces(std::string_view spelled);

// The bytes of tokens have plain spaces. Normal tokens and those with kTokenMerges can be found by their bytes. All of
// byte_ids are kNoToken if there are no byte tokens.
struct SentencePieceModel : VocabTables {
  explicit SentencePieceModel(const Vocab& vocab)
      : VocabTables(vocab, 0),
        space_rule(vocab.space_rule),
        split_at_spaces(vocab.split_at_spaces),
        decode_strips_space(vocab.decode_strips_space) {}

  SpaceRule space_rule;
  bool split_at_spaces;           // every space begins a word
  bool splits_are_exact = false;  // no merge joins another character and a following space, so words merge
                                  // independently
  bool decode_strips_space;
  TokenId unk = kNoToken;
};

// kCorruption, naming the token or merge: the vocabulary contradicts itself.
Result<std::unique_ptr<SentencePieceModel>> build_sentence_piece_model(const Vocab& vocab);

}  // namespace tern
