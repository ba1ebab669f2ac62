// What generation has made so far.
#pragma once

#include <chrono>
#include <optional>

#include "engine/text_stream.h"
#include "tern/engine.h"

namespace tern {

class Reply {
 public:
  // The clock of the statistics starts here. `tokenizer` may be null; both must outlive the reply. After `last`, the
  // prompt's last token, the reply goes on; after a control token it is a text of its own, and the space that its
  // tokenizer puts in front of every text is left out.
  Reply(const Tokenizer* tokenizer, const GenerateOptions& options, TokenId last = -1)
      : tokenizer_(tokenizer), options_(options), stream_(options.stop) {
    const bool is_control = tokenizer && tokenizer->piece(last).empty() && !tokenizer->piece(last, true).empty();
    strip_space_ = is_control && tokenizer->strips_leading_space();
  }

  // Whether a space at the front of the first text is left out.
  bool strips_space() const { return strip_space_; }

  // Takes a token; returns why generation ends with it, if it does.
  std::optional<FinishReason> add(TokenId token);

  // Takes what a prompt's last token says more than it did, where that was chosen again: text before the first token.
  void heal(std::string_view text);

  // Adds the text that was held back because it could have become a stop string. Nothing may be added after it.
  void flush();

  void finish(FinishReason reason);

  GenerateResult result;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<FinishReason> reason_to_end(TokenId token);

  const Tokenizer* tokenizer_;
  const GenerateOptions& options_;
  TextStream stream_;
  bool strip_space_ = false;  // until the first text
  Clock::time_point phase_start_ = Clock::now();
};

}  // namespace tern
