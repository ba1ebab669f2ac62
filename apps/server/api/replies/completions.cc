#include "server/api/replies/completions.h"

#include "base/text/format_text.h"
#include "server/api/replies/fill_in.h"

namespace tern::server {
namespace {

constexpr int kMostLogprobs = 20;
constexpr size_t kMostPrompts = 1024;

struct Prompt {
  std::string text;
  std::vector<TokenId> tokens;
};

// Reads a text or a list of token ids. `name` is for errors: "prompt", "prompt[2]".
ApiResult<Prompt> read_prompt(const Json& prompt, const std::string& name, const ModelProfile& model) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  if (prompt.is_string()) {
    std::string text = prompt.get<std::string>();
    std::vector<TokenId> tokens = tokenizer.encode(text);
    return Prompt{.text = std::move(text), .tokens = std::move(tokens)};
  }
  if (!prompt.is_array()) return refuse(name + ": must be a string, or a list of token ids", name);
  std::vector<TokenId> ids;
  for (const Json& id : prompt) {
    const int64_t number = id.is_number_integer() ? id.get<int64_t>() : -1;
    if (number < 0 || number >= tokenizer.vocab_size()) {
      return refuse(format_text("{}: holds {}, which is no token of the model (0 to {})", name, dump(id).substr(0, 40),
                                tokenizer.vocab_size() - 1),
                    name);
    }
    ids.push_back(static_cast<TokenId>(number));
  }
  std::string text = tokenizer.decode(ids);
  return Prompt{.text = std::move(text), .tokens = std::move(ids)};
}

// Reads one prompt or a list of them.
ApiResult<std::vector<Prompt>> read_prompts(const Json* given, const ModelProfile& model) {
  if (!given) return refuse("prompt: is missing; give the text to go on with", "prompt", "missing_required_parameter");
  const bool is_list =
      given->is_array() && !given->empty() && (given->front().is_array() || given->front().is_string());
  const size_t n = is_list ? given->size() : 1;
  if (n > kMostPrompts) {
    return refuse(format_text("prompt: there are {} prompts; at most {} are possible", n, kMostPrompts), "prompt");
  }
  std::vector<Prompt> prompts;
  for (size_t i = 0; i < n; ++i) {
    const std::string name = n > 1 ? format_text("prompt[{}]", i) : "prompt";
    TRY(Prompt prompt, read_prompt(is_list ? (*given)[i] : *given, name, model));
    TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, name));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

class CompletionWriter final : public AnswerWriter {
 public:
  // `begins`: for each prompt, the text that its choices begin with.
  CompletionWriter(const ModelProfile& model, const ReplyOptions& options, const std::vector<std::string>& begins)
      : tokenizer_(model.engine.tokenizer()),
        options_(options),
        head_(answer_head("cmpl-", "text_completion", model.name)) {
    for (const std::string& begin : begins) choices_.insert(choices_.end(), static_cast<size_t>(options.n), {begin});
  }

  void add(ReplyEvent& news) override {
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
    return with_results(head_, std::move(list), usage, stats);
  }

  std::vector<Json> first_events() override {
    std::vector<Json> events;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (!choices_[i].text.empty()) events.push_back(event(i, choices_[i].text, nullptr, {}));
    }
    return events;
  }

  std::vector<Json> events(ReplyEvent& news) override {
    Choice& choice = choices_[news.index];
    add_logprobs(choice, news);
    if (news.text.empty() && choice.logprobs.is_null() && !news.finish) return {};
    return {event(news.index, news.text, std::exchange(choice.logprobs, nullptr), news.finish)};
  }

  std::vector<Json> last_events(const Usage& usage, const GenerateStats& stats) override {
    if (!options_.include_usage) return {};
    return {with_results(head_, Json::array(), usage, stats)};
  }

 private:
  struct Choice {
    std::string text = {};
    Json logprobs = nullptr;
    size_t offset = 0;  // where the next token begins in the text
    std::optional<FinishReason> finish = {};
  };

  Json event(size_t index, const std::string& text, Json logprobs, const std::optional<FinishReason>& finish) const {
    Json chunk = head_;
    chunk["choices"] = Json::array({Json{{"text", text},
                                         {"index", index},
                                         {"logprobs", std::move(logprobs)},
                                         {"finish_reason", finish_reason(finish)}}});
    if (options_.include_usage) chunk["usage"] = nullptr;
    return chunk;
  }

  // Adds to four lists, one entry per token.
  void add_logprobs(Choice& choice, const ReplyEvent& news) const {
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
  const Json head_;
  std::vector<Choice> choices_;
};

}  // namespace

ApiResult<void> check_prompt_length(size_t n_tokens, int n_ctx, const std::string& param) {
  if (n_tokens == 0) return refuse(format_text("{}: is empty; give at least one token of text", param), param);
  if (n_tokens <= static_cast<size_t>(n_ctx)) return {};
  return refuse(format_text("{}: has {} tokens, but the context holds {}; shorten it, or start the server with a "
                            "larger --ctx",
                            param, n_tokens, n_ctx),
                param, "context_length_exceeded");
}

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  bool echo = false;
  fields.read("echo", echo);
  std::optional<int> logprobs, best_of;
  fields.read("logprobs", logprobs, Fields::Range{0, kMostLogprobs});
  fields.read("best_of", best_of, Fields::Range{1, 64});
  std::string suffix;
  fields.read("suffix", suffix);
  if (best_of && *best_of != options.n) fields.fail("best_of", "other than n is not supported");
  if (echo && logprobs) fields.fail("echo", "together with logprobs is not supported");
  TRY_STATUS(fields.check());
  if (logprobs) options.generate.n_logprobs = *logprobs;
  TRY(options.generate.grammar, read_response_format(fields, model.grammars));
  TRY(std::vector<Prompt> prompts, read_prompts(fields.find("prompt"), model));
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::string> begins;
  for (Prompt& prompt : prompts) {
    if (!suffix.empty()) {
      TRY(prompt.tokens, fill_in_prompt(model.engine.tokenizer(), prompt.text, suffix, "suffix"));
      TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, "suffix"));
    }
    tokens.push_back(std::move(prompt.tokens));
    begins.push_back(echo ? std::move(prompt.text) : std::string());
  }
  auto writer = std::make_unique<CompletionWriter>(model, options, begins);
  return Asked{.prompts = std::move(tokens), .options = std::move(options), .writer = std::move(writer)};
}

}  // namespace tern::server
