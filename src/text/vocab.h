// What a tokenizer is made from, whatever file it came in: a GGUF model, a tokenizer.json or a tokenizer.model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tern/options.h"
#include "tern/tokenizer.h"

namespace tern {

// The two ways of writing text as tokens. A byte-level vocabulary is spelled in GPT-2's alphabet of 256 characters
// (byte_alphabet.h). A SentencePiece vocabulary is spelled in plain characters with U+2581 for the space, and has the
// tokens <0x00> to <0xFF> for what it does not know.
enum class VocabKind : uint8_t { kByteLevel, kSentencePiece };

enum class TokenType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// The regular expressions that cut text into words before merging (word_patterns.h), by the names that GGUF files use.
enum class PreTokenizer { kGpt2, kLlamaBpe, kQwen2, kSmolLm, kTekken, kGpt4o };
inline constexpr PreTokenizer kPreTokenizers[] = {PreTokenizer::kGpt2,   PreTokenizer::kLlamaBpe, PreTokenizer::kQwen2,
                                                  PreTokenizer::kSmolLm, PreTokenizer::kTekken,   PreTokenizer::kGpt4o};

// How a control or user-defined token is found in text, beside its spelling. Bits.
enum TokenFlag : uint8_t {
  kTokenLstrip = 1,      // swallows the white space before it
  kTokenRstrip = 2,      // swallows the white space after it
  kTokenSingleWord = 4,  // only where no letter or digit touches it
  kTokenNormalized = 8,  // looked for after the text has been normalised, and only then
  kTokenMerges = 16,     // SentencePiece: text also merges into it, as into a normal token
};

// Where a SentencePiece tokenizer puts a space that is not in the text.
enum class SpaceRule : uint8_t {
  kNone,
  kEverywhere,      // before every stretch of text between special tokens (Llama 2, Phi-3; all that GGUF knows)
  kWhereMissing,    // the same, except before a space (Metaspace, "always")
  kFirstIfMissing,  // the same, and only where the text begins (Metaspace, "first")
};

// Views point into `storage`, or where it is null into the file that the vocabulary was read from, which must then stay
// open. A tokenizer copies what it keeps.
struct Vocab {
  VocabKind kind = VocabKind::kByteLevel;
  std::vector<std::string_view> tokens;  // by id
  std::vector<TokenType> types;          // by id; empty: all normal
  std::vector<uint8_t> flags;            // by id, TokenFlag bits; empty: none
  std::vector<std::string_view> merges;  // "left right", best first
  std::vector<float> scores;             // by id; where there are no merges (SentencePiece): the highest is made first

  PreTokenizer pre = PreTokenizer::kGpt2;  // byte-level
  bool ignore_merges = false;              // byte-level: a word that is a token is taken whole, without merging
  bool nfc = false;                        // byte-level: text is normalised to Unicode's form C first

  SpaceRule space_rule = SpaceRule::kNone;  // SentencePiece
  bool split_at_spaces = false;             // SentencePiece: no merge across the start of a word
  bool decode_strips_space = false;         // SentencePiece: one space at the front of decoded text is not the text's

  bool add_bos = false;
  std::optional<TokenId> bos, eos, unk, pad;
  std::optional<TokenId> final_token;  // what a text to embed ends with; a prompt, which is to be continued, does not
  std::vector<TokenId> stop_tokens;    // all that end a reply, `eos` among them; ascending

  std::shared_ptr<const void> storage;

  TokenType type(size_t id) const { return types.empty() ? TokenType::kNormal : types[id]; }
  uint8_t flags_of(size_t id) const { return flags.empty() ? uint8_t{0} : flags[id]; }
};

// kCorruption where sizes or ids contradict each other, with the one that does. Every tokenizer is checked so.
Result<void> check_vocab(const Vocab& vocab);

// The tokenizer of either kind. It may be used from any number of threads at once, and gives the ids that Hugging
// Face's tokenizers library gives. Errors: kCorruption for a vocabulary that contradicts itself (naming the token or
// the merge), kNotSupported.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const Vocab& vocab);

}  // namespace tern
