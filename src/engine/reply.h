// What generation has made so far, and where its text goes.
#pragma once

#include <chrono>
#include <optional>

#include "engine/text_stream.h"
#include "tern/engine.h"

namespace tern {

class Reply {
 public:
  // The clock of the statistics starts here. `tokenizer` may be null; all must outlive the reply.
  Reply(const Tokenizer* tokenizer, const GenerateOptions& options, const OnText& on_text)
      : tokenizer_(tokenizer), options_(options), on_text_(on_text), stream_(options.stop) {}

  // Takes a token; returns why generation ends with it, if it does.
  std::optional<FinishReason> add(TokenId token);

  // Shows the text that was held back because it could have become a stop string.
  void flush();

  GenerateResult finish(FinishReason reason);

  GenerateResult result;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<FinishReason> reason_to_end(TokenId token);
  void show(const std::string& text);

  const Tokenizer* tokenizer_;
  const GenerateOptions& options_;
  const OnText& on_text_;
  TextStream stream_;
  Clock::time_point phase_start_ = Clock::now();
};

}  // namespace tern
