#include "server/api/sampling_fields.h"

#include <charconv>
#include <limits>
#include <string>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

constexpr double kGreatestInt = std::numeric_limits<int>::max();
constexpr size_t kMostBreakers = 64, kMostSamplers = 64;

void read_filters(Fields& fields, SampleOptions& sample) {
  fields.read("dry_multiplier", sample.dry_multiplier, Fields::Range{0, 100});
  fields.read("dry_base", sample.dry_base, Fields::Range{1, 100});
  fields.read("dry_allowed_length", sample.dry_allowed_length, Fields::Range{0, kGreatestInt});
  fields.read("dry_penalty_last_n", sample.dry_penalty_last_n, Fields::Range{-1, kGreatestInt});
  if (fields.find("dry_sequence_breakers")) {
    fields.read_texts("dry_sequence_breakers", sample.dry_sequence_breakers.emplace(), kMostBreakers);
  }
  fields.read("top_n_sigma", sample.top_n_sigma, Fields::Range{-1, 100});
  fields.read("typical", sample.typical_p, Fields::Range{0, 1});
  fields.read("typical_p", sample.typical_p, Fields::Range{0, 1});
  fields.read("xtc_probability", sample.xtc_probability, Fields::Range{0, 1});
  fields.read("xtc_threshold", sample.xtc_threshold, Fields::Range{0, 1});
  fields.read("mirostat", sample.mirostat, Fields::Range{0, 2});
  fields.read("mirostat_tau", sample.mirostat_tau, Fields::Range{0, 100});
  fields.read("mirostat_eta", sample.mirostat_eta, Fields::Range{0, 1});
  if (!fields.find("samplers")) return;
  std::vector<std::string> names;
  fields.read_texts("samplers", names, kMostSamplers);
  std::string& list = sample.samplers.emplace();
  for (const std::string& name : names) list += (list.empty() ? "" : ";") + name;
}

// The tokens that a bias is for; none if there was an error. `name` names it in messages.
std::vector<TokenId> biased(Fields& fields, const Json& which, const std::string& name, const Engine& engine) {
  const int n_vocab = engine.info().n_vocab;
  if (which.is_string()) {
    const auto& text = which.get_ref<const std::string&>();
    int64_t id = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) {
      std::vector<TokenId> tokens = engine.tokenizer().encode(text, {.add_bos = false});
      if (tokens.empty()) fields.fail(name, "has a text without tokens");
      return tokens;
    }
    if (id >= 0 && id < n_vocab) return {static_cast<TokenId>(id)};
  } else if (which.is_number_integer()) {
    const auto id = which.get<int64_t>();
    if (id >= 0 && id < n_vocab) return {static_cast<TokenId>(id)};
  }
  fields.fail(name, format_text("is no token of the model, which has ids from 0 to {}, and no text", n_vocab - 1));
  return {};
}

void add_bias(Fields& fields, const Json& which, const Json& value, const std::string& name, const Engine& engine,
              std::vector<LogitBias>& biases) {
  constexpr double kMost = 100;
  if (!value.is_number() && value != false) return fields.fail(name, "must be a number, or false for never");
  const double number = value.is_number() ? value.get<double>() : -kMost;
  if (number < -kMost || number > kMost) {
    return fields.fail(name, format_text("must be from -100 to 100, and is {}", number));
  }
  const float bias = number <= -kMost ? -std::numeric_limits<float>::infinity() : static_cast<float>(number);
  for (const TokenId token : biased(fields, which, name, engine)) biases.push_back({.token = token, .bias = bias});
}

}  // namespace

void read_sampling(Fields& fields, SampleOptions& sample) {
  fields.read("temperature", sample.temperature, Fields::Range{0, 100});
  fields.read("top_p", sample.top_p, Fields::Range{0, 1});
  fields.read("top_k", sample.top_k, Fields::Range{0, kGreatestInt});
  fields.read("min_p", sample.min_p, Fields::Range{0, 1});
  fields.read("presence_penalty", sample.presence_penalty, Fields::Range{-2, 2});
  fields.read("frequency_penalty", sample.frequency_penalty, Fields::Range{-2, 2});
  fields.read("repetition_penalty", sample.repeat_penalty, Fields::Range{0.01, 100});
  fields.read("repeat_penalty", sample.repeat_penalty, Fields::Range{0.01, 100});
  fields.read("repeat_last_n", sample.repeat_last_n, Fields::Range{-1, kGreatestInt});
  read_filters(fields, sample);
}

void read_logit_bias(Fields& fields, std::vector<LogitBias>& biases, const Engine& engine) {
  const Json* given = fields.find("logit_bias");
  if (!given) return;
  if (given->is_object()) {
    for (const auto& [name, value] : given->items()) {
      add_bias(fields, name, value, "logit_bias." + name.substr(0, 40), engine, biases);
    }
    return;
  }
  if (!given->is_array()) return fields.fail("logit_bias", "must be an object, or a list of pairs");
  for (size_t i = 0; i < given->size(); ++i) {
    const Json& pair = (*given)[i];
    const std::string name = format_text("logit_bias[{}]", i);
    if (!pair.is_array() || pair.size() != 2) return fields.fail(name, "must be a token or a text, and its bias");
    add_bias(fields, pair[0], pair[1], name, engine, biases);
  }
}

}  // namespace tern::server
