// The result of a reply so far.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "engine/reply/text_stream.h"
#include "engine/reply/thoughts.h"
#include "tern/engine.h"

namespace tern {

class Reply {
 public:
  // Starts the clock of the statistics. `tokenizer` may be null; both must outlive the reply. `last` is the prompt's
  // last token. After a control token the reply is a text of its own, so the leading space that the tokenizer adds to
  // every text is removed.
  Reply(const Tokenizer* tokenizer, const GenerateOptions& options, TokenId last = -1)
      : tokenizer_(tokenizer), options_(options), stream_(options.stop), thoughts_(options.thoughts) {
    const bool is_control = tokenizer && tokenizer->piece(last).empty() && !tokenizer->piece(last, true).empty();
    strip_space_ = is_control && tokenizer->strips_leading_space();
  }

  // True if a leading space of the first text is removed.
  bool strips_space() const { return strip_space_; }

  // Adds a token; returns the reason if the reply ends with it.
  std::optional<FinishReason> add(TokenId token);

  // Adds the text by which prompt healing extended the prompt's last token. It comes before the first token's text.
  void heal(std::string_view text);

  // Adds the text that was held back because it could have become a stop string. Nothing may be added afterwards.
  void flush();

  void finish(FinishReason reason);

  // Returns the text that has been added since the last call. Valid until more is added.
  std::string_view untold_text();

  GenerateResult result;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<FinishReason> reason_to_end(TokenId token);

  const Tokenizer* tokenizer_;
  const GenerateOptions& options_;
  TextStream stream_;
  ThoughtTracker thoughts_;
  bool strip_space_ = false;  // until the first text
  Clock::time_point phase_start_ = Clock::now();
  size_t n_told_ = 0;  // bytes of the text that untold_text() has returned
};

}  // namespace tern
