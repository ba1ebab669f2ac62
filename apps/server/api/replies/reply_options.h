// Options that completions and chats share: how to write a reply.
#pragma once

#include <string>
#include <vector>

#include "server/api/fields.h"
#include "tern/engine.h"

namespace tern::server {

// Defaults for requests.
struct ReplyDefaults {
  SampleOptions sample = {};   // except the seed, which is random
  bool has_seed = false;       // … unless it is given
  int max_tokens = -1;         // -1: until the model stops or the context is full
  int speculate = 0;           // see GenerateOptions
  int thoughts = -1;           // tokens in thoughts; see ThoughtLimit
  bool parse_special = false;  // see ChatOptions
  int n_slots = 1;             // that a request may choose from
};

struct ReplyOptions {
  GenerateOptions generate;  // without log probabilities
  int n = 1;                 // replies to the prompt
  bool stream = false;
  bool include_usage = false;  // in a stream's last event
  int slot = -1;               // the slot that records the reply, for clients that save it; -1: any

  // The options of each reply; they differ in their seeds.
  std::vector<GenerateOptions> each() const;
};

// Reads n, seed, stop, stream, the token limit, and all sampling options.
ReplyOptions read_reply_options(Fields& fields, const ReplyDefaults& defaults, const Engine& engine);

// Reads a text or a list of texts that end a reply.
void read_stops(Fields& fields, std::string_view name, std::vector<std::string>& stops);

// "stop" or "length"; null while the reply continues.
Json finish_reason(const std::optional<FinishReason>& reason);

struct Usage {
  int n_prompt = 0, n_cached = 0, n_generated = 0;
  int n_thought = 0;                  // generated tokens in thoughts
  std::optional<double> joules = {};  // empty if not measured

  // Adds one more reply. A prompt and its cached tokens count once, with its first reply.
  void add(const GenerateStats& stats, bool is_first_of_prompt);
  Json json() const;
};

// The fields that begin an answer with choices, and every event of its stream; the id is new.
Json answer_head(std::string_view id_prefix, std::string_view object, const std::string& model);

// The timings in the form of llama.cpp's server.
Json timings_json(const GenerateStats& stats);

// `head` with the choices, the usage, and the timings.
Json with_results(Json head, Json choices, const Usage& usage, const GenerateStats& stats);

// The bytes of a token as text; bytes that are not valid UTF-8 are replaced.
std::string readable(std::string_view bytes);

// JSON has no infinities; OpenAI uses -9999 for impossible tokens.
double json_logprob(float logprob);

// {"token": …, "logprob": …, "bytes": […]} and, for the chosen token, "top_logprobs".
Json logprob_json(const Tokenizer& tokenizer, TokenId chosen, const Logprobs& logprobs);

std::string new_id(std::string_view prefix);  // "chatcmpl-…": 20 random letters and digits
int64_t unix_seconds();

}  // namespace tern::server
