// Text to token ids and back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/error.h"
#include "tern/options.h"

namespace tern {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int vocab_size() const = 0;

  // Any bytes are accepted; invalid UTF-8 becomes byte tokens and comes back unchanged from decode(). (Only a
  // vocabulary that has no tokens for bytes gives its unknown token instead.)
  virtual std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options = {}) const = 0;

  // The bytes that one token stands for. Control tokens (BOS, <|eot_id|> …) give "" unless `special`.
  // An id outside [0, vocab_size()) gives "".
  virtual std::string_view piece(TokenId id, bool special = false) const = 0;

  // Whether encode() puts a space in front of text that is not the text's, as SentencePiece vocabularies want it. Then
  // the first piece of a text begins with that space, and decode() leaves it out.
  virtual bool strips_leading_space() const { return false; }

  // The concatenated pieces; may end inside a UTF-8 character if the ids do.
  std::string decode(const std::vector<TokenId>& ids, bool special = false) const;

  virtual std::optional<TokenId> bos() const = 0;

  // Tokens that end a reply: the declared EOS and EOT and those known to be missing from published files.
  virtual const std::vector<TokenId>& stop_tokens() const = 0;

  // The id of the token that is spelled exactly so, e.g. "<|eot_id|>".
  virtual std::optional<TokenId> find(std::string_view token) const = 0;
};

// Reads the tokenizer of a GGUF model, of a Hugging Face tokenizer.json, or of a tokenizer.model (tiktoken's, as Llama
// 3 has it, or SentencePiece's), without loading the model. An empty path is the default model. kNotSupported where the
// model file holds no tokenizer.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path);

}  // namespace tern
