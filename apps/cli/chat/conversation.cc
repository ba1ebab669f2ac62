#include "cli/chat/conversation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/chat/reply_view.h"
#include "cli/chat/tool_caller.h"
#include "cli/support/common.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "mcp/result_text.h"

namespace tern::cli {
namespace {

// Tokens kept free for a reply: a quarter of the context, but no more than a long answer takes.
size_t reply_room(int n_ctx, int max_tokens) {
  const int wanted = std::clamp(n_ctx / 4, 1, 512);
  return static_cast<size_t>(max_tokens > 0 ? std::min(wanted, max_tokens) : wanted);
}

class Chat : public Conversation {
 public:
  Chat(const Engine& engine, Session session, ReplyFlags options, ChatSettings settings)
      : Conversation(engine, std::move(session), std::move(options)),
        system_(std::move(settings.system)),
        chat_(settings.chat),
        n_thoughts_(settings.thoughts),
        tools_(settings.tools) {
    reset();
  }

  Result<PrintedReply> say(const std::string& line) override;
  bool continues_on_empty_line() const override { return false; }
  void reset() override {
    messages_.clear();
    if (!system_.empty()) messages_.push_back({.role = "system", .content = system_});
  }
  std::string system() const override { return system_; }
  Result<void> set_system(const std::string& text) override {
    if (!system_.empty()) messages_.erase(messages_.begin());
    if (!text.empty()) messages_.insert(messages_.begin(), {.role = "system", .content = text});
    system_ = text;
    return {};
  }
  std::vector<ChatMessage> messages() const override { return messages_; }
  Result<void> restore(std::vector<ChatMessage> messages) override;

 private:
  struct Prompt {
    ChatTurn turn;  // only its prompt without tools
    std::vector<TokenId> ids;
  };
  Result<Prompt> encode_fitting(const std::string& tools);
  Result<PrintedReply> reply_with_tools();
  Result<PrintedReply> next_message(const std::string& tools);
  bool call_tools(const std::vector<ToolCall>& calls);

  std::string system_;
  const ChatOptions chat_;
  const int n_thoughts_;
  ToolCaller* const tools_;
  std::vector<ChatMessage> messages_;
};

// Encodes the conversation and drops its oldest turns until it fits. The system message stays.
Result<Chat::Prompt> Chat::encode_fitting(const std::string& tools) {
  const size_t n_ctx = static_cast<size_t>(session_.n_ctx());
  const size_t room = reply_room(session_.n_ctx(), options_.generate.max_tokens);
  const ptrdiff_t first = system_.empty() ? 0 : 1;
  std::vector<ChatMessage> kept = messages_;
  size_t n_forgotten = 0;
  while (true) {
    ChatOptions chat = chat_;
    chat.tools = tools;
    TRY(const ChatPrompt prompt, engine_.render_chat(kept, chat));
    std::vector<TokenId> ids = engine_.tokenizer().encode_chat(prompt);
    const auto is_users = [](const ChatMessage& message) { return message.role == "user"; };
    const auto second = std::find_if(kept.begin() + first + 1, kept.end(), is_users);
    const bool only_this_line = second == kept.end();
    if (ids.size() + room <= n_ctx || (only_this_line && ids.size() < n_ctx)) {
      messages_ = std::move(kept);
      if (n_forgotten == 1) print_note("the context is full: the oldest turn is forgotten");
      if (n_forgotten > 1)
        print_note(format_text("the context is full: the oldest {} turns are forgotten", n_forgotten));
      return Prompt{.turn = {.prompt = prompt}, .ids = std::move(ids)};
    }
    if (only_this_line) {
      return fail(ErrorCode::kInvalidArgument, "that is {} tokens{}, but the context holds {}; {}", ids.size(),
                  tools.empty() ? "" : " with the descriptions of the tools", n_ctx,
                  shorten_or_raise_ctx(engine_, session_));
    }
    kept.erase(kept.begin() + first, second);  // a question, its answer, and calls between them
    ++n_forgotten;
  }
}

Result<PrintedReply> Chat::say(const std::string& line) {
  std::vector<ChatMessage> before = messages_;
  messages_.push_back({.role = "user", .content = line});
  Result<PrintedReply> reply = tools_ ? reply_with_tools() : next_message("");
  if (!reply) messages_ = std::move(before);
  return reply;
}

// Lets the model call tools and read their results until it answers. After the last round it is told of no tools.
Result<PrintedReply> Chat::reply_with_tools() {
  for (int round = 0;; ++round) {
    const bool may_call = round < tools_->rounds();
    if (!may_call) print_note(format_text("no more calls in this turn, after {} rounds", round));
    TRY(PrintedReply reply, next_message(may_call ? tools_->json() : ""));
    const std::vector<ToolCall> calls = messages_.back().tool_calls;
    if (calls.empty()) return reply;
    if (!reply.at_line_start) TRY_STATUS(print("\n"));
    if (!call_tools(calls)) continue;
    messages_.push_back({.role = "assistant", .content = "(stopped by the user)"});
    reply.printed_something = reply.at_line_start = reply.interrupted = true;
    return reply;
  }
}

// Adds the calls' results to the conversation. True if the user has stopped them; those not made have a result too.
bool Chat::call_tools(const std::vector<ToolCall>& calls) {
  const size_t most = static_cast<size_t>(session_.n_ctx()) / 4 / calls.size();
  bool is_stopped = false;
  for (const ToolCall& call : calls) {
    ToolCaller::Outcome outcome{.text = "error: the user stopped this call"};
    if (!is_stopped) outcome = tools_->call(call);
    is_stopped = is_stopped || outcome.is_stopped;
    messages_.push_back({.role = "tool",
                         .content = mcp::text_for_model(engine_.tokenizer(), std::move(outcome.text), most),
                         .tool_call_id = call.id,
                         .name = call.name});
  }
  return is_stopped;
}

// The model's next message, printed and added to the conversation. An interrupted one calls nothing.
Result<PrintedReply> Chat::next_message(const std::string& tools) {
  TRY(Prompt prompt, encode_fitting(tools));
  GenerateOptions options = next_options();
  StreamOptions stream{.trim_start = true};
  options.thoughts = engine_.chat_format().thoughts(prompt.turn.prompt.text, n_thoughts_);
  std::optional<ReplyView> view;
  if (tools_) {
    const ToolUse use{.tools = tools, .choice = tools.empty() ? ToolUse::Choice::kNone : ToolUse::Choice::kAuto};
    TRY(prompt.turn, chat_turn(engine_.chat_format(), std::move(prompt.turn.prompt), use, options));
    view.emplace(prompt.turn);
    stream.show = [&](std::string_view piece, bool is_last) { return view->take(piece, is_last); };
  }
  TRY(PrintedReply reply, generate_to_output(session_, prompt.ids, options, stream));
  messages_.push_back(view ? view->message() : ChatMessage{.role = "assistant", .content = reply.result.text});
  std::vector<ToolCall>& calls = messages_.back().tool_calls;
  if (reply.interrupted) calls.clear();
  const bool ended_early = reply.result.reason != FinishReason::kStopToken;
  const auto is_cut = [&](const ToolCall& call) {
    return call.arguments.empty() ? ended_early : !nlohmann::json::accept(call.arguments);
  };
  if (std::erase_if(calls, is_cut) > 0) {
    if (!reply.at_line_start) TRY_STATUS(print("\n"));
    reply.at_line_start = true;
    print_note("a call was cut off, and is not made: the limit of tokens is reached");
  }
  return reply;
}

// Accepts an optional system message, then questions and answers in turn, as say() leaves them: with tools, calls and
// their results may be between the two.
Result<void> Chat::restore(std::vector<ChatMessage> messages) {
  const size_t first = !messages.empty() && messages.front().role == "system" ? 1 : 0;
  std::string_view wanted = "user";
  for (size_t i = first; i < messages.size(); ++i) {
    const bool has_calls = !messages[i].tool_calls.empty();
    if (!tools_ && (has_calls || messages[i].role == "tool")) {
      return fail(ErrorCode::kNotSupported, "message {} is about a call of a tool, and there are none without --mcp",
                  i + 1);
    }
    const bool is_next_result = i > first && messages[i - 1].role == "tool" && messages[i].role == "tool";
    if (messages[i].role != wanted && !is_next_result) {
      return fail(ErrorCode::kInvalidArgument, "message {} has the role '{}', but '{}' is expected", i + 1,
                  shorten(one_line(messages[i].role), 20), wanted);
    }
    wanted = wanted == "assistant" && !is_next_result ? (has_calls ? "tool" : "user") : "assistant";
  }
  if (wanted != "user")
    return fail(ErrorCode::kInvalidArgument,
                "the last message has no answer; take it out of the file and ask it again");
  system_ = first == 1 ? messages.front().content : "";
  messages_ = std::move(messages);
  return {};
}

// The user and the model write a text in turns, kept as tokens so that nothing is computed twice. The model writes one
// paragraph at a time. When it ends the story, the next line begins another.
class Story : public Conversation {
 public:
  Story(const Engine& engine, Session session, ReplyFlags options)
      : Conversation(engine, std::move(session), std::move(options)) {}

  Result<PrintedReply> say(const std::string& line) override;
  bool continues_on_empty_line() const override { return !text_.empty() && !ended_; }
  void reset() override {
    text_.clear();
    ended_ = false;
  }
  std::string system() const override { return ""; }
  Result<void> set_system(const std::string&) override {
    return fail(ErrorCode::kNotSupported,
                "this model has no chat template and only continues texts: a system message has no effect");
  }
  std::vector<ChatMessage> messages() const override {
    return {{.role = "story", .content = engine_.tokenizer().decode(text_, /*special=*/false)}};
  }
  Result<void> restore(std::vector<ChatMessage> messages) override;

 private:
  void forget_oldest();

  std::vector<TokenId> text_;
  bool ended_ = false;
  bool ends_with_space_ = true;
};

Result<void> Story::restore(std::vector<ChatMessage> messages) {
  if (messages.size() != 1 || messages.front().role != "story") {
    return fail(ErrorCode::kInvalidArgument,
                "it holds a conversation, but this model has no chat template and only continues texts");
  }
  const std::string& text = messages.front().content;
  text_ = engine_.tokenizer().encode(text);
  ended_ = false;
  ends_with_space_ = text.empty() || text.back() == ' ' || text.back() == '\n';
  return {};
}

void Story::forget_oldest() {
  const size_t n_ctx = static_cast<size_t>(session_.n_ctx());
  const size_t room = reply_room(session_.n_ctx(), options_.generate.max_tokens);
  if (text_.size() + room <= n_ctx) return;
  const std::optional<TokenId> bos = engine_.tokenizer().bos();
  const bool has_bos = bos && text_.front() == *bos;
  const size_t n_kept = std::min(text_.size(), n_ctx / 2);
  text_.erase(text_.begin() + (has_bos ? 1 : 0), text_.end() - static_cast<ptrdiff_t>(n_kept));
  print_note("the story is longer than the context: its beginning is forgotten");
}

Result<PrintedReply> Story::say(const std::string& line) {
  if (ended_) reset();
  const std::vector<TokenId> before = text_;
  const bool begins = text_.empty();
  if (!line.empty()) {
    const std::string separator = begins || ends_with_space_ ? "" : " ";
    const std::vector<TokenId> more = engine_.tokenizer().encode(separator + line, {.add_bos = begins});
    if (more.size() >= static_cast<size_t>(session_.n_ctx()) / 2) {
      return fail(ErrorCode::kInvalidArgument,
                  "that is {} tokens, but the context holds {}, half of it for the reply; {}", more.size(),
                  session_.n_ctx(), shorten_or_raise_ctx(engine_, session_));
    }
    text_.insert(text_.end(), more.begin(), more.end());
  }
  forget_oldest();
  Result<PrintedReply> generation =
      generate_to_output(session_, text_, next_options(), {.trim_start = true, .one_paragraph = true});
  if (!generation) {
    text_ = before;
    return generation;
  }
  const GenerateResult& result = generation->result;
  ended_ = result.reason == FinishReason::kStopToken;
  text_.insert(text_.end(), result.tokens.begin(), result.tokens.end());
  const std::string& text = result.text.empty() ? line : result.text;
  ends_with_space_ = text.empty() || text.back() == ' ' || text.back() == '\n';
  if (ended_) print_note("the end; the next line begins another story");
  return generation;
}

}  // namespace

Result<std::unique_ptr<Conversation>> Conversation::start(const Engine& engine, ReplyFlags options,
                                                          ChatSettings settings) {
  TRY_STATUS(need_tokenizer(engine));
  if (const ChatFormat format = engine.chat_format(); settings.tools) {
    if (!format.has_tools || !format.has_tool_results || !format.calls) {
      return fail(ErrorCode::kNotSupported, "{}: --mcp: the model's chat template {}", engine.info().path,
                  format.has_tools ? "has no tool calls in a form that Tern can read" : "has no tools");
    }
  }
  TRY(Session session, options.open_session(engine));
  if (engine.has_chat_template()) {
    return std::make_unique<Chat>(engine, std::move(session), std::move(options), std::move(settings));
  }
  return std::make_unique<Story>(engine, std::move(session), std::move(options));
}

Result<void> Conversation::set(const std::string& name, const std::string& value) {
  if (name == "seed") n_replies_ = 0;
  return options_.set(name, value);
}

GenerateOptions Conversation::next_options() {
  GenerateOptions next = options_.generate;
  next.sample.seed += n_replies_++;
  return next;
}

}  // namespace tern::cli
