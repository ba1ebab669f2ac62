// Text to token ids and back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tern/chat.h"
#include "tern/error.h"
#include "tern/options.h"

namespace tern {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int vocab_size() const = 0;

  // Accepts any bytes. Invalid UTF-8 becomes byte tokens, and decode() returns it unchanged. (A vocabulary without byte
  // tokens uses its unknown token instead.)
  virtual std::vector<TokenId> encode(std::string_view text, const TokenizeOptions& options = {}) const = 0;

  // The tokens of a conversation. No message can become a control token.
  std::vector<TokenId> encode_chat(const ChatPrompt& prompt) const {
    return encode(prompt.text, {.add_bos = false, .parse_special = true, .quoted = prompt.quoted});
  }

  // The bytes of one token. Empty for control tokens (BOS, <|eot_id|> …) unless `special`, and for ids outside [0,
  // vocab_size()).
  virtual std::string_view piece(TokenId id, bool special = false) const = 0;

  // True if encode() adds a space in front of a text, as SentencePiece vocabularies require. The first piece of a text
  // then begins with that space, and decode() removes it.
  virtual bool strips_leading_space() const { return false; }

  // The concatenated pieces; the result may end inside a UTF-8 character.
  std::string decode(const std::vector<TokenId>& ids, bool special = false) const;

  virtual std::optional<TokenId> bos() const = 0;

  // The token that an embedding model expects at the end of each text, usually its EOS. encode() does not append it,
  // because such a prompt could not be continued. Empty for most models.
  virtual std::optional<TokenId> final_token() const { return std::nullopt; }

  // Tokens that end a reply: the declared EOS and EOT, and others that are known to be undeclared in published files.
  // An engine's tokenizer adds the token that the chat template puts after a reply, once a conversation has been
  // rendered.
  virtual const std::vector<TokenId>& stop_tokens() const = 0;

  // The id of the token with exactly this spelling, e.g. "<|eot_id|>".
  virtual std::optional<TokenId> find(std::string_view token) const = 0;
};

// Reads the tokenizer of a GGUF model, a Hugging Face tokenizer.json, or a tokenizer.model (tiktoken's, as in Llama 3,
// or SentencePiece's), without loading the model. An empty path is the default model. `changes` apply to the metadata
// of a GGUF file. kNotSupported: the model file has no tokenizer.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path, const MetadataChanges& changes = {});

}  // namespace tern
