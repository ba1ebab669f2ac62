#include "server/api/completions.h"

#include <format>

namespace tern::server {
namespace {

constexpr int kMostLogprobs = 20;

// The prompt: a text, or the ids of tokens; and in a list, one of these.
ApiResult<std::vector<TokenId>> read_prompt(const Json* prompt, const ModelProfile& model, std::string& text) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  if (!prompt) return refuse("prompt: is missing; give the text to go on with", "prompt", "missing_required_parameter");
  if (prompt->is_array() && prompt->size() == 1 && ((*prompt)[0].is_array() || (*prompt)[0].is_string())) {
    prompt = &(*prompt)[0];
  }
  if (prompt->is_string()) {
    text = prompt->get<std::string>();
    return tokenizer.encode(text);
  }
  if (!prompt->is_array()) return refuse("prompt: must be a string, or a list of token ids", "prompt");
  std::vector<TokenId> ids;
  for (const Json& id : *prompt) {
    if (id.is_string() || id.is_array()) {
      return refuse("prompt: several prompts in a request are not supported; send a request for each", "prompt",
                    "not_supported");
    }
    const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
    if (number < 0 || number >= tokenizer.vocab_size()) {
      return refuse(std::format("prompt: holds {}, which is no token of the model (0 to {})", dump(id).substr(0, 40),
                                tokenizer.vocab_size() - 1),
                    "prompt");
    }
    ids.push_back(static_cast<TokenId>(number));
  }
  text = tokenizer.decode(ids);
  return ids;
}

class CompletionWriter final : public AnswerWriter {
 public:
  CompletionWriter(const ModelProfile& model, const ReplyOptions& options, std::string echo)
      : tokenizer_(model.engine.tokenizer()),
        options_(options),
        echo_(std::move(echo)),
        base_({{"id", new_id("cmpl-")},
               {"object", "text_completion"},
               {"created", unix_seconds()},
               {"model", model.name}}),
        choices_(static_cast<size_t>(options.n)) {
    for (Choice& choice : choices_) choice.text = echo_;
  }

  void add(ReplyNews& news) override {
    Choice& choice = choices_[news.index];
    choice.text += news.text;
    add_logprobs(choice, news);
    if (news.finish) choice.finish = news.finish;
  }

  Json whole(const Usage& usage, const GenerateStats& stats) override {
    Json list = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) {
      Choice& choice = choices_[i];
      list.push_back({{"text", choice.text},
                      {"index", i},
                      {"logprobs", std::exchange(choice.logprobs, nullptr)},
                      {"finish_reason", finish_reason(choice.finish)}});
    }
    Json answer = base_;
    answer["choices"] = std::move(list);
    answer["usage"] = usage.json();
    answer["timings"] = timings_json(stats);
    return answer;
  }

  std::vector<Json> first_events() override {
    std::vector<Json> events;
    if (echo_.empty()) return events;
    for (size_t i = 0; i < choices_.size(); ++i) events.push_back(event(i, echo_, nullptr, {}));
    return events;
  }

  std::vector<Json> events(ReplyNews& news) override {
    Choice& choice = choices_[news.index];
    add_logprobs(choice, news);
    if (news.text.empty() && choice.logprobs.is_null() && !news.finish) return {};
    return {event(news.index, news.text, std::exchange(choice.logprobs, nullptr), news.finish)};
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) override {
    if (!options_.include_usage) return {};
    Json last = base_;
    last["choices"] = Json::array();
    last["usage"] = usage.json();
    last["timings"] = timings_json(stats);
    return {std::move(last)};
  }

 private:
  struct Choice {
    std::string text = {};
    Json logprobs = nullptr;
    size_t offset = 0;  // of the next token in the text
    std::optional<FinishReason> finish = {};
  };

  Json event(size_t index, const std::string& text, Json logprobs, const std::optional<FinishReason>& finish) const {
    Json chunk = base_;
    chunk["choices"] = Json::array({Json{{"text", text},
                                         {"index", index},
                                         {"logprobs", std::move(logprobs)},
                                         {"finish_reason", finish_reason(finish)}}});
    if (options_.include_usage) chunk["usage"] = nullptr;
    return chunk;
  }

  // Four lists, an entry a token.
  void add_logprobs(Choice& choice, const ReplyNews& news) const {
    if (!news.token) return;
    for (const Logprobs& one : news.logprobs) {
      if (choice.logprobs.is_null()) {
        choice.logprobs = {{"tokens", Json::array()},
                           {"token_logprobs", Json::array()},
                           {"top_logprobs", Json::array()},
                           {"text_offset", Json::array()}};
      }
      const Json entry = logprob_json(tokenizer_, *news.token, one);
      Json top = Json::object();
      for (const Json& other : entry["top_logprobs"]) top[other["token"].get<std::string>()] = other["logprob"];
      choice.logprobs["tokens"].push_back(entry["token"]);
      choice.logprobs["token_logprobs"].push_back(entry["logprob"]);
      choice.logprobs["top_logprobs"].push_back(std::move(top));
      choice.logprobs["text_offset"].push_back(choice.offset);
      choice.offset += entry["token"].get<std::string>().size();
    }
  }

  const Tokenizer& tokenizer_;
  const ReplyOptions options_;
  const std::string echo_;
  const Json base_;
  std::vector<Choice> choices_;
};

}  // namespace

ApiResult<void> check_prompt_length(size_t n_tokens, int n_ctx, const std::string& param) {
  if (n_tokens == 0) return refuse(std::format("{}: is empty; give at least one token of text", param), param);
  if (n_tokens <= static_cast<size_t>(n_ctx)) return {};
  return refuse(std::format("{}: has {} tokens, but the context holds {}; shorten it, or start the server with a "
                            "larger --ctx",
                            param, n_tokens, n_ctx),
                param, "context_length_exceeded");
}

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine.info().n_vocab);
  bool echo = false;
  fields.read("echo", echo);
  std::optional<int> logprobs, best_of;
  fields.read("logprobs", logprobs, Fields::Range{0, kMostLogprobs});
  fields.read("best_of", best_of, Fields::Range{1, 64});
  std::string suffix;
  fields.read("suffix", suffix);
  if (best_of && *best_of != options.n) fields.fail("best_of", "other than n is not supported");
  if (!suffix.empty()) fields.fail("suffix", "is not supported: text is only continued, not filled in");
  if (echo && logprobs) fields.fail("echo", "together with logprobs is not supported");
  API_TRY_STATUS(fields.check());
  if (logprobs) options.generate.n_logprobs = *logprobs;
  API_TRY(options.generate.grammar, read_response_format(fields, model.grammars));
  std::string text;
  API_TRY(std::vector<TokenId> prompt, read_prompt(fields.find("prompt"), model, text));
  API_TRY_STATUS(check_prompt_length(prompt.size(), model.n_ctx, "prompt"));
  auto writer = std::make_unique<CompletionWriter>(model, options, echo ? text : "");
  return Asked{.prompt = std::move(prompt), .options = std::move(options), .writer = std::move(writer)};
}

}  // namespace tern::server
