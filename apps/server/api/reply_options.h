// What completions and chats have in common: how a reply is to be written.
#pragma once

#include <string>
#include <vector>

#include "server/api/fields.h"
#include "tern/engine.h"

namespace tern::server {

// What holds where a request says nothing.
struct ReplyDefaults {
  SampleOptions sample = {};  // not the seed, which is another one each time
  bool has_seed = false;      // … unless it is given
  int max_tokens = -1;        // -1: until the model stops or the context is full
  int speculate = 0;          // see GenerateOptions
  int n_slots = 1;            // that a request may name
};

struct ReplyOptions {
  GenerateOptions generate;  // without log probabilities
  int n = 1;                 // replies to the prompt
  bool stream = false;
  bool include_usage = false;  // in a stream's last event
  int slot = -1;               // that is to know the reply, for who saves it; -1: any

  // One for each reply, which differ in their seeds.
  std::vector<GenerateOptions> each() const;
};

// n, seed, stop, stream, the most tokens, and all that chooses them.
ReplyOptions read_reply_options(Fields& fields, const ReplyDefaults& defaults, int n_vocab);

// "stop" or "length"; null while it goes on.
Json finish_reason(const std::optional<FinishReason>& reason);

// For logs and metrics: "stop_token", "max_tokens" …
std::string_view finish_name(FinishReason reason);

struct Usage {
  int n_prompt = 0, n_cached = 0, n_generated = 0;
  std::optional<double> joules = {};  // none where they are not measured

  // Of one more reply. A prompt counts once, with its first reply, and what was there of it as that found it.
  void add(const GenerateStats& stats, bool is_first_of_prompt);
  Json json() const;
};

// What the replies took, as people know it from llama.cpp's server.
Json timings_json(const GenerateStats& stats);

// The bytes of a token, as text: whole characters, with a mark in place of others.
std::string readable(std::string_view bytes);

// {"token": …, "logprob": …, "bytes": […]} and, for a chosen one, "top_logprobs".
Json logprob_json(const Tokenizer& tokenizer, TokenId chosen, const Logprobs& logprobs);

std::string new_id(std::string_view prefix);  // "chatcmpl-…": 20 random letters and digits
int64_t unix_seconds();

}  // namespace tern::server
