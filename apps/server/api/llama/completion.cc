#include "server/api/llama/completion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/fill_in.h"

namespace tern::server::llama {
namespace {

constexpr int kMostProbs = 20;

// Each of these promises something that is not done here.
constexpr std::array<std::string_view, 8> kPromises = {
    "lora",          "response_fields", "guided_json",        "guided_regex",
    "guided_choice", "guided_grammar",  "structured_outputs", "response_format"};

struct Off {
  std::string_view name;
  float value;  // with which the field has no effect
};
constexpr std::array<Off, 7> kOff = {{{"dynatemp_range", 0},
                                      {"n_indent", 0},
                                      {"t_max_predict_ms", 0},
                                      {"adaptive_target", -1},
                                      {"n", 1},
                                      {"n_cmpl", 1},
                                      {"min_keep", 0}}};

void check_promises(Fields& fields) {
  fields.refuse(kPromises, "is not supported");
  for (const Off& off : kOff) {
    const Json* found = fields.find(off.name);
    const bool is_off = !found || (found->is_number() && (*found == off.value || (off.value < 0 && *found < 0)));
    if (!is_off) fields.fail(off.name, format_text("other than {:.0f} is not supported", off.value));
  }
  bool after_sampling = false;
  fields.read("post_sampling_probs", after_sampling);
  if (after_sampling) fields.fail("post_sampling_probs", "is not supported; n_probs are those of the model");
}

ApiResult<void> add_token(const Json& id, const Tokenizer& tokenizer, std::vector<TokenId>& tokens) {
  const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
  if (number < 0 || number >= tokenizer.vocab_size()) {
    return refuse(format_text("prompt: holds {}, which is no token of the model", dump(id).substr(0, 40)), "prompt");
  }
  tokens.push_back(static_cast<TokenId>(number));
  return {};
}

// A text, or a list of token ids and texts, which together are one prompt.
ApiResult<std::vector<TokenId>> read_prompt(Fields& fields, const Tokenizer& tokenizer) {
  bool parse_special = true;
  fields.read("parse_special", parse_special);
  TRY_STATUS(fields.check());
  const Json* prompt = fields.find("prompt");
  if (!prompt) return refuse("prompt: is missing; give the text to go on with", "prompt", "missing_required_parameter");
  if (prompt->is_string()) return encode_raw(tokenizer, prompt->get<std::string>(), parse_special);
  if (!prompt->is_array()) return refuse("prompt: must be a string, or a list of token ids and strings", "prompt");
  const auto n_texts = std::ranges::count_if(*prompt, [](const Json& part) { return part.is_string(); });
  if (n_texts > 1 && n_texts == std::ssize(*prompt)) {
    return refuse("prompt: has several; /v1/completions answers several at once", "prompt");
  }
  std::vector<TokenId> tokens;
  for (const Json& part : *prompt) {
    if (part.is_string()) {
      const TokenizeOptions options{.add_bos = tokens.empty(), .parse_special = parse_special};
      std::ranges::copy(tokenizer.encode(part.get<std::string>(), options), std::back_inserter(tokens));
    } else {
      TRY_STATUS(add_token(part, tokenizer, tokens));
    }
  }
  return tokens;
}

class Writer final : public AnswerWriter {
 public:
  Writer(const ModelProfile& model, bool with_tokens)
      : tokenizer_(model.engine.tokenizer()), name_(model.name), with_tokens_(with_tokens) {}

  void add(ReplyEvent& news) override {
    text_ += news.text;
    note(news);
  }

  Json whole(const Usage& usage, const GenerateStats& stats) override { return last(text_, usage, stats); }

  std::vector<Json> first_events() override { return {}; }

  std::vector<Json> events(ReplyEvent& news) override {
    note(news);
    if (news.text.empty() && probs_.empty()) return {};
    Json event = piece(news.text);
    event["tokens_predicted"] = news.stats.n_generated;
    event["tokens_evaluated"] = news.stats.n_prompt;
    return {std::move(event)};
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) override {
    return {last("", usage, stats)};
  }
  StreamForm stream_form() const override { return StreamForm::kEventsOnly; }

 private:
  void note(const ReplyEvent& news) {
    if (news.token && with_tokens_) tokens_.push_back(*news.token);
    if (news.token) {
      for (const Logprobs& one : news.logprobs) add_probs(*news.token, one);
    }
    if (!news.finish) return;
    finish_ = news.finish;
    stop_ = news.stop;
  }

  void add_probs(TokenId token, const Logprobs& logprobs) {
    Json entry = logprob_json(tokenizer_, token, logprobs);
    entry["id"] = token;
    for (size_t i = 0; i < logprobs.top.size(); ++i) entry["top_logprobs"][i]["id"] = logprobs.top[i].token;
    probs_.push_back(std::move(entry));
  }

  Json piece(const std::string& text) {
    Json json = {{"index", 0}, {"content", text}, {"tokens", std::exchange(tokens_, Json::array())}, {"stop", false}};
    if (!probs_.empty()) json["completion_probabilities"] = std::exchange(probs_, Json::array());
    return json;
  }

  Json last(const std::string& text, const Usage& usage, const GenerateStats& stats) {
    Json json = piece(text);
    json["stop"] = true;
    json["model"] = name_;
    json["tokens_predicted"] = usage.n_generated;
    json["tokens_evaluated"] = usage.n_prompt;
    json["tokens_cached"] = usage.n_cached;
    json["truncated"] = false;
    json["stop_type"] = stop_type();
    json["stopping_word"] = stop_;
    if (usage.joules) json["joules"] = *usage.joules;
    json["timings"] = timings_json(stats);
    return json;
  }

  const char* stop_type() const {
    if (finish_ == FinishReason::kStopToken) return "eos";
    if (finish_ == FinishReason::kStopString) return "word";
    const bool is_limit = finish_ == FinishReason::kMaxTokens || finish_ == FinishReason::kContextFull;
    return is_limit ? "limit" : "none";
  }

  const Tokenizer& tokenizer_;
  const std::string name_;
  const bool with_tokens_;
  std::string text_ = {}, stop_ = {};
  Json tokens_ = Json::array(), probs_ = Json::array();  // not told yet
  std::optional<FinishReason> finish_ = {};
};

using ReadTokens = ApiResult<std::vector<TokenId>> (*)(Fields& fields, const Tokenizer& tokenizer);

ApiResult<Asked> read(const Json& body, const ModelProfile& model, const std::string& name, ReadTokens read_tokens) {
  Fields fields(body);
  check_promises(fields);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  options.n = 1;
  int n_probs = 0;
  bool with_tokens = false;
  fields.read("n_probs", n_probs, {0, kMostProbs});
  fields.read("return_tokens", with_tokens);
  TRY_STATUS(fields.check());
  if (n_probs > 0) options.generate.n_logprobs = n_probs;
  TRY(options.generate.grammar, read_response_format(fields, model.grammars));
  TRY(std::vector<TokenId> tokens, read_tokens(fields, model.engine.tokenizer()));
  TRY_STATUS(check_prompt_length(tokens.size(), model.n_ctx, name));
  return Asked{.prompts = {std::move(tokens)},
               .options = std::move(options),
               .writer = std::make_unique<Writer>(model, with_tokens)};
}

}  // namespace

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  return read(body, model, "prompt", read_prompt);
}

ApiResult<Asked> read_infill(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  return read(body, model, "input_prefix",
              [](Fields& fields, const Tokenizer& tokenizer) -> ApiResult<std::vector<TokenId>> {
                std::string prefix, suffix, begun;
                fields.read("input_prefix", prefix);
                fields.read("input_suffix", suffix);
                fields.read("prompt", begun);
                constexpr std::array<std::string_view, 1> kExtra = {"input_extra"};
                fields.refuse(kExtra, "is not supported; put other files into input_prefix");
                TRY_STATUS(fields.check());
                TRY(std::vector<TokenId> tokens, fill_in_prompt(tokenizer, prefix, suffix, "input_suffix"));
                std::ranges::copy(tokenizer.encode(begun, {.add_bos = false}), std::back_inserter(tokens));
                return tokens;
              });
}

}  // namespace tern::server::llama
