#include "cli/chat/conversation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/support/common.h"
#include "cli/terminal/layout.h"

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
        chat_(settings.chat) {
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
  Result<std::vector<TokenId>> encode_fitting();

  std::string system_;
  const ChatOptions chat_;
  std::vector<ChatMessage> messages_;
};

// Encodes the conversation and drops its oldest turns until it fits. The system message stays.
Result<std::vector<TokenId>> Chat::encode_fitting() {
  const size_t n_ctx = static_cast<size_t>(session_.n_ctx());
  const size_t room = reply_room(session_.n_ctx(), options_.generate.max_tokens);
  const ptrdiff_t first = system_.empty() ? 0 : 1;
  std::vector<ChatMessage> kept = messages_;
  size_t n_forgotten = 0;
  while (true) {
    TRY(const ChatPrompt prompt, engine_.render_chat(kept, chat_));
    std::vector<TokenId> ids = engine_.tokenizer().encode_chat(prompt);
    const bool only_this_line = std::ssize(kept) - first <= 1;
    if (ids.size() + room <= n_ctx || (only_this_line && ids.size() < n_ctx)) {
      messages_ = std::move(kept);
      if (n_forgotten == 1) print_note("the context is full: the oldest turn is forgotten");
      if (n_forgotten > 1)
        print_note(format_text("the context is full: the oldest {} turns are forgotten", n_forgotten));
      return ids;
    }
    if (only_this_line) {
      return fail(ErrorCode::kInvalidArgument, "that is {} tokens, but the context holds {}; {}", ids.size(), n_ctx,
                  shorten_or_raise_ctx(engine_, session_));
    }
    kept.erase(kept.begin() + first, kept.begin() + first + 2);  // a question and its answer
    ++n_forgotten;
  }
}

Result<PrintedReply> Chat::say(const std::string& line) {
  messages_.push_back({.role = "user", .content = line});
  Result<std::vector<TokenId>> ids = encode_fitting();
  if (!ids) {
    messages_.pop_back();
    return std::unexpected(std::move(ids).error());
  }
  Result<PrintedReply> generation = generate_to_output(session_, *ids, next_options(), {.trim_start = true});
  if (!generation) {
    messages_.pop_back();
    return generation;
  }
  messages_.push_back({.role = "assistant", .content = generation->result.text});
  return generation;
}

// Accepts an optional system message, then questions and answers in turn, as say() leaves them.
Result<void> Chat::restore(std::vector<ChatMessage> messages) {
  const size_t first = !messages.empty() && messages.front().role == "system" ? 1 : 0;
  for (size_t i = first; i < messages.size(); ++i) {
    const std::string_view wanted = (i - first) % 2 == 0 ? "user" : "assistant";
    if (messages[i].role != wanted) {
      return fail(ErrorCode::kInvalidArgument, "message {} has the role '{}', but '{}' is expected", i + 1,
                  shorten(one_line(messages[i].role), 20), wanted);
    }
  }
  if ((messages.size() - first) % 2 != 0)
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
