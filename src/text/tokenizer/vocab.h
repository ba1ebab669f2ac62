// The data of a tokenizer from any kind of file: a GGUF model, a tokenizer.json or a tokenizer.model.
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

// The two kinds of vocabularies. A byte-level vocabulary is spelled in GPT-2's alphabet of 256 characters
// (byte_alphabet.h). A SentencePiece vocabulary is spelled in plain characters with U+2581 for the space, and has the
// tokens <0x00> to <0xFF> for unknown characters.
enum class VocabKind : uint8_t { kByteLevel, kSentencePiece };

enum class TokenType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// The regular expressions that split text into words before merging (word_patterns.h), with GGUF's names.
enum class PreTokenizer { kGpt2, kLlamaBpe, kQwen2, kQwen35, kSmolLm, kTekken, kGpt4o, kHunyuan };
inline constexpr PreTokenizer kPreTokenizers[] = {PreTokenizer::kGpt2,   PreTokenizer::kLlamaBpe, PreTokenizer::kQwen2,
                                                  PreTokenizer::kQwen35, PreTokenizer::kSmolLm,   PreTokenizer::kTekken,
                                                  PreTokenizer::kGpt4o,  PreTokenizer::kHunyuan};

// How a control or user-defined token is found in text, in addition to its spelling. Bits.
enum TokenFlag : uint8_t {
  kTokenLstrip = 1,      // strips the white space before it
  kTokenRstrip = 2,      // strips the white space after it
  kTokenSingleWord = 4,  // only if no letter or digit is next to it
  kTokenNormalized = 8,  // searched for only after the text has been normalized
  kTokenMerges = 16,     // SentencePiece: text also merges into it, like into a normal token
};

// Where a SentencePiece tokenizer adds a space that the text does not have.
enum class SpaceRule : uint8_t {
  kNone,
  kEverywhere,      // before every stretch of text between special tokens (Llama 2, Phi-3; the only rule in GGUF)
  kWhereMissing,    // the same, except if it begins with a space (Metaspace, "always")
  kFirstIfMissing,  // the same, but only at the start of the text (Metaspace, "first")
};

// Views point into `storage` or, if it is null, into the file that the vocabulary was read from, which must then stay
// open. A tokenizer copies what it keeps.
struct Vocab {
  VocabKind kind = VocabKind::kByteLevel;
  std::vector<std::string_view> tokens;  // by id
  std::vector<TokenType> types;          // by id; empty: all normal
  std::vector<uint8_t> flags;            // by id, TokenFlag bits; empty: none
  std::vector<std::string_view> merges;  // "left right", best first
  std::vector<float> scores;             // by id; used if there are no merges (SentencePiece): the highest score merges
                                         // first

  PreTokenizer pre = PreTokenizer::kGpt2;  // byte-level
  bool ignore_merges = false;              // byte-level: a word that is a token is taken whole, without merging
  bool nfc = false;                        // byte-level: text is normalized to form C first

  SpaceRule space_rule = SpaceRule::kNone;  // SentencePiece
  bool split_at_spaces = false;             // SentencePiece: no merge across the start of a word
  bool decode_strips_space = false;         // SentencePiece: drop one space at the start of decoded text

  bool add_bos = false;
  std::optional<TokenId> bos, eos, unk, pad;
  std::optional<TokenId> final_token;  // ends texts to embed, but not prompts, which are continued
  std::vector<TokenId> stop_tokens;    // all that end a reply, including `eos`; ascending

  std::shared_ptr<const void> storage;

  TokenType type(size_t id) const { return types.empty() ? TokenType::kNormal : types[id]; }
  uint8_t flags_of(size_t id) const { return flags.empty() ? uint8_t{0} : flags[id]; }
};

// kCorruption, naming the problem: sizes or ids contradict each other. Called for every tokenizer.
Result<void> check_vocab(const Vocab& vocab);

// kCorruption: two tokens have the same spelling, though each text must have one id.
std::unexpected<Error> duplicate_token(const Vocab& vocab, TokenId first, TokenId second);

// Makes a tokenizer of either kind. It is thread-safe and gives the same ids as Hugging Face's tokenizers library.
// Errors: kCorruption, naming the token or the merge: the vocabulary contradicts itself; kNotSupported.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const Vocab& vocab);

}  // namespace tern
