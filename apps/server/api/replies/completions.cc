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
ApiResult<Prompt> read_prompt(const Json& prompt, const std::string& name, const ModelProfile& model,
                              bool parse_special) {
  const Tokenizer& tokenizer = model.engine.tokenizer();
  if (prompt.is_string()) {
    std::string text = prompt.get<std::string>();
    std::vector<TokenId> tokens = encode_raw(tokenizer, text, parse_special);
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
ApiResult<std::vector<Prompt>> read_prompts(const Json* given, const ModelProfile& model, bool parse_special) {
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
    TRY(Prompt prompt, read_prompt(is_list ? (*given)[i] : *given, name, model, parse_special));
    TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, name));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

class CompletionWriter final : public AnswerWriter {
 public:
  // What the choices of a prompt begin with, for "echo".
  struct Begin {
    std::string text;
    std::vector<TokenId> tokens;
  };
  CompletionWriter(const ModelProfile& model, const ReplyOptions& options, const std::vector<Begin>& begins)
      : tokenizer_(model.engine.tokenizer()),
        options_(options),
        head_(answer_head("cmpl-", "text_completion", model.name)) {
    for (const Begin& begin : begins) {
      choices_.insert(choices_.end(), static_cast<size_t>(options.n), {.text = begin.text, .prompt = begin.tokens});
    }
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
    std::vector<TokenId> prompt = {};
    Json logprobs = nullptr;
    size_t offset = 0;  // the characters before the next token, counted where they begin
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

  void add_logprobs(Choice& choice, const ReplyEvent& news) const {
    if (news.token || news.finish) {
      const std::vector<TokenId> prompt = std::exchange(choice.prompt, {});
      for (size_t k = 0; k < prompt.size(); ++k) {
        add_token(choice, prompt[k], k > 0 ? &news.prompt_logprobs.at(k - 1) : nullptr);
      }
    }
    if (!news.token) return;
    for (const Logprobs& one : news.logprobs) add_token(choice, *news.token, &one);
  }

  // Adds to four lists. `logprobs`: null for the first token of a prompt, which has none.
  void add_token(Choice& choice, TokenId token, const Logprobs* logprobs) const {
    if (choice.logprobs.is_null()) {
      choice.logprobs = {{"tokens", Json::array()},
                         {"token_logprobs", Json::array()},
                         {"top_logprobs", Json::array()},
                         {"text_offset", Json::array()}};
    }
    Json top = nullptr;
    if (logprobs) {
      top = Json::object();
      for (const auto& [other, logprob] : logprobs->top) top[token_name(other)] = json_logprob(logprob);
    }
    choice.logprobs["tokens"].push_back(token_name(token));
    choice.logprobs["token_logprobs"].push_back(logprobs ? Json(json_logprob(logprobs->chosen)) : Json());
    choice.logprobs["top_logprobs"].push_back(std::move(top));
    choice.logprobs["text_offset"].push_back(choice.offset);
    for (const char c : tokenizer_.piece(token)) choice.offset += is_character_begin(c) ? 1 : 0;
  }

  static bool is_character_begin(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

  // The token's text. Tokens that are parts of a character would all look alike, so they are written as OpenAI's API
  // does: bytes:\xf0\x9f
  std::string token_name(TokenId token) const {
    const std::string_view piece = tokenizer_.piece(token, /*special=*/true);
    std::string text = readable(piece);
    if (text == piece) return text;
    std::string bytes = "bytes:";
    for (const char c : piece) bytes += format_text("\\x{:02x}", static_cast<unsigned char>(c));
    return bytes;
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

std::vector<TokenId> encode_raw(const Tokenizer& tokenizer, std::string_view text, bool parse_special) {
  std::vector<TokenId> tokens = tokenizer.encode(text, {.parse_special = parse_special});
  if (parse_special && tokens.size() > 1 && tokens[0] == tokenizer.bos() && tokens[1] == tokenizer.bos()) {
    tokens.erase(tokens.begin());
  }
  return tokens;
}

ApiResult<Asked> read_completion(const Json& body, const ModelProfile& model, const Client& /*client*/) {
  Fields fields(body);
  ReplyOptions options = read_reply_options(fields, model.defaults, model.engine);
  bool echo = false, parse_special = false;
  fields.read("echo", echo);
  fields.read("parse_special", parse_special);
  std::optional<int> logprobs, best_of;
  fields.read("logprobs", logprobs, Fields::Range{0, kMostLogprobs});
  fields.read("best_of", best_of, Fields::Range{1, 64});
  std::string suffix;
  fields.read("suffix", suffix);
  if (echo && !suffix.empty() && logprobs) fields.fail("echo", "with logprobs and a suffix is not supported");
  if (best_of && *best_of != options.n) fields.fail("best_of", "other than n is not supported");
  TRY_STATUS(fields.check());
  if (logprobs) options.generate.n_logprobs = *logprobs;
  if (logprobs && echo) options.generate.n_prompt_logprobs = *logprobs;
  TRY(options.generate.grammar, read_response_format(fields, model.grammars));
  TRY(std::vector<Prompt> prompts, read_prompts(fields.find("prompt"), model, parse_special));
  std::vector<std::vector<TokenId>> tokens;
  std::vector<CompletionWriter::Begin> begins;
  for (Prompt& prompt : prompts) {
    if (!suffix.empty()) {
      TRY(prompt.tokens, fill_in_prompt(model.engine.tokenizer(), prompt.text, suffix, "suffix"));
      TRY_STATUS(check_prompt_length(prompt.tokens.size(), model.n_ctx, "suffix"));
    }
    if (echo && logprobs) {
      begins.push_back({.text = std::move(prompt.text), .tokens = prompt.tokens});
    } else {
      begins.push_back({.text = echo ? std::move(prompt.text) : std::string(), .tokens = {}});
    }
    tokens.push_back(std::move(prompt.tokens));
  }
  auto writer = std::make_unique<CompletionWriter>(model, options, begins);
  return Asked{.prompts = std::move(tokens), .options = std::move(options), .writer = std::move(writer)};
}

}  // namespace tern::server
