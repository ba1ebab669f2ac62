#include "server/api/replies/reply_options.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "base/text/format_text.h"
#include "server/api/sampling_fields.h"

namespace tern::server {
namespace {

constexpr int kMostReplies = 64;
constexpr size_t kMostStops = 64, kMostStopBytes = 1024;
constexpr int kMostTokens = std::numeric_limits<int>::max();
constexpr double kMostWhole = 9'007'199'254'740'992;  // that JSON's numbers tell apart

uint64_t random_seed() {
  thread_local std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

void read_stops(Fields& fields, std::string_view name, std::vector<std::string>& stops) {
  fields.read_texts(name, stops, kMostStops);
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty()) return fields.fail(name, "has an empty string, which would end every text at once");
    if (stops[i].size() > kMostStopBytes) {
      return fields.fail(
          name, format_text("string {} has {} bytes; at most {} are possible", i, stops[i].size(), kMostStopBytes));
    }
  }
}

std::vector<GenerateOptions> ReplyOptions::each() const {
  std::vector<GenerateOptions> all(static_cast<size_t>(n), generate);
  for (size_t i = 0; i < all.size(); ++i) all[i].sample.seed += i;
  return all;
}

ReplyOptions read_reply_options(Fields& fields, const ReplyDefaults& defaults, const Engine& engine) {
  ReplyOptions options;
  GenerateOptions& generate = options.generate;
  generate.sample = defaults.sample;
  generate.max_tokens = defaults.max_tokens;
  generate.speculate = defaults.speculate;
  generate.thoughts.tokens = defaults.thoughts;
  fields.read("n", options.n, {1, kMostReplies});
  fields.read("stream", options.stream);
  if (const Json* stream_options = fields.find("stream_options"); stream_options && !options.stream) {
    fields.fail("stream_options", "is only for answers that are streamed: \"stream\": true");
  }
  fields.within("stream_options", [&](Fields& inner) { inner.read("include_usage", options.include_usage); });
  // "n_predict" is an older name for the same. −1 means no limit, as in llama.cpp's server.
  fields.read("n_predict", generate.max_tokens, {-1, kMostTokens});
  fields.read("max_tokens", generate.max_tokens, {-1, kMostTokens});
  fields.read("max_completion_tokens", generate.max_tokens, {-1, kMostTokens});
  fields.read("min_tokens", generate.min_tokens, {0, kMostTokens});
  if (generate.max_tokens >= 0 && generate.min_tokens > generate.max_tokens) {
    fields.fail("min_tokens",
                format_text("is {}, above the maximum of {} tokens", generate.min_tokens, generate.max_tokens));
  }
  SampleOptions& sample = generate.sample;
  read_sampling(fields, sample);
  std::optional<int64_t> seed;
  fields.read("seed", seed, Fields::Range{-kMostWhole, kMostWhole});
  const bool is_random = seed ? *seed == -1 : !defaults.has_seed;  // −1: a random seed, as with llama.cpp
  if (is_random) {
    sample.seed = random_seed();
  } else if (seed) {
    sample.seed = static_cast<uint64_t>(*seed);
  }
  fields.read("ignore_eos", generate.ignore_eos);
  fields.read("id_slot", options.slot, {-1.0, defaults.n_slots - 1.0});
  read_stops(fields, "stop", generate.stop);
  read_logit_bias(fields, generate.logit_bias, engine);
  return options;
}

Json finish_reason(const std::optional<FinishReason>& reason) {
  if (!reason) return nullptr;
  return *reason == FinishReason::kMaxTokens || *reason == FinishReason::kContextFull ? "length" : "stop";
}

void Usage::add(const GenerateStats& stats, bool is_first_of_prompt) {
  if (is_first_of_prompt) {
    n_cached += stats.n_reused;
    n_prompt += stats.n_prompt;
  }
  n_generated += stats.n_generated;
  n_thought += stats.n_thought;
}

Json Usage::json() const {
  Json json = {{"prompt_tokens", n_prompt},
               {"completion_tokens", n_generated},
               {"total_tokens", n_prompt + n_generated},
               {"prompt_tokens_details", {{"cached_tokens", n_cached}}},
               {"completion_tokens_details", {{"reasoning_tokens", n_thought}}}};
  if (joules) json["joules"] = *joules;
  return json;
}

Json answer_head(std::string_view id_prefix, std::string_view object, const std::string& model) {
  return {{"id", new_id(id_prefix)}, {"object", object}, {"created", unix_seconds()}, {"model", model}};
}

Json timings_json(const GenerateStats& stats) {
  const auto rate = [](double n, double seconds) { return seconds > 0 ? n / seconds : 0.0; };
  const int n_read = stats.n_prompt - stats.n_reused, n_after_first = std::max(stats.n_generated - 1, 0);
  Json timings = {{"cache_n", stats.n_reused},
                  {"prompt_n", n_read},
                  {"prompt_ms", stats.prompt_seconds * 1000},
                  {"prompt_per_second", rate(n_read, stats.prompt_seconds)},
                  {"predicted_n", stats.n_generated},
                  {"predicted_ms", stats.decode_seconds * 1000},
                  {"predicted_per_second", rate(n_after_first, stats.decode_seconds)}};
  if (stats.n_guessed > 0) {
    timings["draft_n"] = stats.n_guessed;
    timings["draft_n_accepted"] = stats.n_guessed_right;
  }
  return timings;
}

Json with_results(Json head, Json choices, const Usage& usage, const GenerateStats& stats) {
  head["choices"] = std::move(choices);
  head["usage"] = usage.json();
  head["timings"] = timings_json(stats);
  return head;
}

std::string readable(std::string_view bytes) {
  const std::string quoted =
      Json(std::string(bytes)).dump(-1, ' ', false, Json::error_handler_t::replace);  // replaces what is not UTF-8
  return Json::parse(quoted).get<std::string>();
}

double json_logprob(float logprob) { return std::isfinite(logprob) ? logprob : -9999.0; }

Json logprob_json(const Tokenizer& tokenizer, TokenId chosen, const Logprobs& logprobs) {
  const auto entry = [&](TokenId token, float logprob) {
    const std::string_view piece = tokenizer.piece(token, /*special=*/true);
    Json bytes = Json::array();
    for (const char c : piece) bytes.push_back(static_cast<unsigned char>(c));
    return Json{{"token", readable(piece)}, {"logprob", json_logprob(logprob)}, {"bytes", std::move(bytes)}};
  };
  Json json = entry(chosen, logprobs.chosen);
  json["top_logprobs"] = Json::array();
  for (const auto& [token, logprob] : logprobs.top) json["top_logprobs"].push_back(entry(token, logprob));
  return json;
}

std::string new_id(std::string_view prefix) {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id(prefix);
  for (int half = 0; half < 2; ++half) {
    uint64_t bits = random_seed();
    for (int i = 0; i < 10; ++i, bits /= kLetters.size()) id += kLetters[bits % kLetters.size()];
  }
  return id;
}

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tern::server
