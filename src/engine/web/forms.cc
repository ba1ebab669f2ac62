// Constrained replies in a separate module (tern_forms.wasm): grammars, the template's tool support, and reply parsing.
// Pages that do not use these do not download it. It receives the model's vocabulary and template, and decides which
// tokens a reply in the engine's module may continue with (token_constraint.cc).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/reply/token_constraint.h"
#include "tern/chat_reply.h"
#include "text/chat/chat_format.h"
#include "text/chat/chat_template.h"
#include "text/chat/written_calls.h"

extern "C" {
char* tern_forms_call(const char* method, const char* parameters);
int tern_forms_start(int strips_space);
int tern_forms_accept(int token);
int tern_forms_allowed();
const void* tern_forms_mask();
}

namespace tern {
namespace {

using nlohmann::json;

// The model's tokens, of which only the text is used.
class Words final : public Tokenizer {
 public:
  // `lengths` of the tokens' texts within `texts`; `spelled`: [id, text] of control tokens, which have no text
  // otherwise.
  Words(std::string texts, const std::vector<size_t>& lengths, const json& spelled) : texts_(std::move(texts)) {
    size_t at = 0;
    for (const size_t length : lengths) {
      pieces_.push_back(std::string_view(texts_).substr(std::min(at, texts_.size()), length));
      at += length;
    }
    for (const json& one : spelled) spelled_.emplace_back(one.at(0).get<TokenId>(), one.at(1).get<std::string>());
  }
  int vocab_size() const override { return static_cast<int>(pieces_.size()); }
  std::vector<TokenId> encode(std::string_view, const TokenizeOptions&) const override { return {}; }
  std::string_view piece(TokenId id, bool special) const override {
    if (id < 0 || id >= vocab_size()) return {};
    const std::string_view own = pieces_[static_cast<size_t>(id)];
    if (!own.empty() || !special) return own;
    const auto it = std::ranges::find(spelled_, id, &std::pair<TokenId, std::string>::first);
    return it == spelled_.end() ? std::string_view() : it->second;
  }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return none_; }
  std::optional<TokenId> find(std::string_view token) const override {
    const auto it = std::ranges::find(spelled_, token, &std::pair<TokenId, std::string>::second);
    if (it != spelled_.end()) return it->first;
    const auto own = std::ranges::find(pieces_, token);
    return own == pieces_.end() ? std::nullopt : std::optional(static_cast<TokenId>(own - pieces_.begin()));
  }

 private:
  const std::string texts_;
  std::vector<std::string_view> pieces_;
  std::vector<std::pair<TokenId, std::string>> spelled_;
  std::vector<TokenId> none_;
};

std::string from_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int n = 0;
  for (const char c : text) {
    const uint32_t digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                           : c >= 'a' && c <= 'z' ? c - 'a' + 26
                           : c >= '0' && c <= '9' ? c - '0' + 52
                           : c == '+'             ? 62
                                                  : 63;
    if (c == '=') break;
    bits = bits << 6 | digit;
    if ((n += 6) >= 8) bytes += static_cast<char>(bits >> (n -= 8) & 255);
  }
  return bytes;
}

class Forms {
 public:
  Result<json> call(std::string_view method, const json& p) {
    if (method == "model") return model(p);
    if (method == "check") return check(p);
    if (method == "begin") return begin(p);
    if (method == "feed") return deltas_of(parser_->feed(p.at("text").get<std::string>()));
    if (method == "finish") return finish(p);
    return fail(ErrorCode::kInvalidArgument, "there is no method of this name");
  }

  // Starts the constraint of the reply from begin(). Returns flags: 1 done, 2 constrained, 4 over.
  int start(bool strips_space) {
    constraint_ = make_constraint(options_, *grammars_, words_.get(), n_vocab_, strips_space);
    return constraint_ ? 1 | flags() : 1;
  }
  int accept(TokenId token) const { return !constraint_ ? 1 : (constraint_->accept(token) ? 1 : 0) | flags(); }
  int allowed() {
    auto allowed = constraint_->allowed();
    if (!allowed) return 0;
    mask_ = std::move(allowed->tokens);
    return 1 | (allowed->end ? 2 : 0) | (allowed->any ? 4 : 0);
  }
  const void* mask() const { return mask_->data(); }

 private:
  int flags() const { return (constraint_->is_active() ? 2 : 0) | (constraint_->is_complete() ? 4 : 0); }

  Result<json> model(const json& p) {
    grammars_ = std::make_unique<GrammarCache>();
    words_ = std::make_unique<Words>(from_base64(p.at("base64").get_ref<const std::string&>()),
                                     p.at("lengths").get<std::vector<size_t>>(), p.at("spelled"));
    n_vocab_ = p.at("nVocab").get<int>();
    template_.reset();
    if (p.contains("template")) template_.emplace(p["template"], p.value("bos", ""), p.value("eos", ""));
    format_ = template_ ? find_chat_format(*template_) : ChatFormat();
    if (template_) add_tokens(format_, *words_);
    return json::object();
  }

  // The grammar for `kind` and `text`; null if there is no kind.
  static Result<std::shared_ptr<const Grammar>> grammar_of(const json& p) {
    const std::string kind = p.value("kind", ""), text = p.value("text", "");
    if (kind == "jsonSchema") return Grammar::json_schema(text);
    if (kind == "json") return Grammar::json_object();
    if (kind == "grammar") return Grammar::gbnf(text);
    if (kind == "ebnf") return Grammar::ebnf(text);
    if (kind == "structuralTag") return Grammar::structural_tag(text);
    if (kind == "regex") return Grammar::regex(text);
    return nullptr;
  }

  static Result<json> check(const json& p) {
    TRY_STATUS(grammar_of(p));
    return json::object();
  }

  // Prepares the constraint of the next reply and, if there are messages, its prompt.
  Result<json> begin(const json& p) {
    constraint_.reset();
    options_ = {};
    TRY(options_.grammar, grammar_of(p));
    json result = json::object();
    if (p.contains("messages")) TRY_STATUS(begin_turn(p, result));
    result["isHeld"] = options_.grammar || options_.calls;
    return result;
  }

  Result<void> begin_turn(const json& p, json& result) {
    if (!template_)
      return fail(ErrorCode::kNotSupported, "the model has no chat template, and can be told of no tools");
    ToolUse use{.tools = p.value("tools", ""), .required = p.value("toolName", "")};
    const std::string choice = p.value("toolChoice", "auto");
    if (choice == "none") use.choice = ToolUse::Choice::kNone;
    if (choice == "required") use.choice = ToolUse::Choice::kRequired;
    use.parallel = p.value("parallel", true);
    TRY(const auto messages, messages_from_json(p["messages"].dump()));
    ChatOptions chat;
    if (p.contains("think")) chat.think = p["think"].get<bool>();
    chat.parse_special = p.value("parseSpecial", false);
    if (use.choice != ToolUse::Choice::kNone) chat.tools = use.tools;
    TRY_STATUS(tool_names(use.tools));
    TRY_STATUS(check_expressible(format_, messages, chat));
    const auto render = [&](std::span<const ChatMessage> all) { return template_->render(all, chat); };
    TRY(auto prompt, render_with_calls(format_, messages, render));
    TRY(turn_, chat_turn(format_, std::move(prompt), use, options_));
    parser_.emplace(turn_.format, turn_.reply);
    result["prompt"] = parts_of(turn_.prompt);
    result["shownTokens"] = options_.shown_tokens;
    result["deltas"] = deltas_of(parser_->feed(turn_.begin));
    return {};
  }

  Result<json> finish(const json& p) {
    json all = json::array();
    if (p.value("whole", false)) all = deltas_of(parser_->feed(turn_.end));
    for (json& delta : deltas_of(parser_->finish())) all.push_back(std::move(delta));
    constraint_.reset();
    return all;
  }

  // [[text, true if it is quoted], …]
  static json parts_of(const ChatPrompt& prompt) {
    json parts = json::array();
    size_t done = 0;
    const auto add = [&](size_t end, bool is_quoted) {
      if (end > done) parts.push_back({prompt.text.substr(done, end - done), is_quoted});
      done = end;
    };
    for (const TextRange& quoted : prompt.quoted) {
      add(quoted.begin, false);
      add(quoted.end, true);
    }
    add(prompt.text.size(), false);
    return parts;
  }

  static json deltas_of(const std::vector<ChatDelta>& deltas) {
    json list = json::array();
    for (const ChatDelta& delta : deltas) {
      using Kind = ChatDelta::Kind;
      const char* kind = delta.kind == Kind::kContent     ? "content"
                         : delta.kind == Kind::kReasoning ? "reasoning"
                         : delta.kind == Kind::kCallBegin ? "call"
                                                          : "arguments";
      list.push_back({{"kind", kind}, {"text", delta.text}});
      if (delta.kind == Kind::kCallBegin) list.back().update({{"id", delta.id}, {"name", delta.name}});
    }
    return list;
  }

  std::unique_ptr<GrammarCache> grammars_ = std::make_unique<GrammarCache>();
  std::unique_ptr<Words> words_;
  int n_vocab_ = 0;
  std::optional<ChatTemplate> template_;
  ChatFormat format_;
  ChatTurn turn_;
  std::optional<ChatReplyParser> parser_;
  GenerateOptions options_;
  std::unique_ptr<TokenConstraint> constraint_;
  std::shared_ptr<const grammar::TokenMask> mask_;
};

Forms& forms() {
  static Forms forms;
  return forms;
}

json answer(const char* method, const char* parameters) {
  try {
    const auto result = forms().call(method, json::parse(parameters));
    if (result) return {{"result", *result}};
    const bool is_argument = result.error().code == ErrorCode::kInvalidArgument;
    return {
        {"error", {{"code", is_argument ? "invalid_argument" : "not_supported"}, {"message", result.error().message}}}};
  } catch (const json::exception& error) {
    return {{"error", {{"code", "invalid_argument"}, {"message", error.what()}}}};
  }
}

}  // namespace
}  // namespace tern

char* tern_forms_call(const char* method, const char* parameters) {
  const std::string text =
      tern::answer(method, parameters).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}
int tern_forms_start(int strips_space) { return tern::forms().start(strips_space != 0); }
int tern_forms_accept(int token) { return tern::forms().accept(token); }
int tern_forms_allowed() { return tern::forms().allowed(); }
const void* tern_forms_mask() { return tern::forms().mask(); }
