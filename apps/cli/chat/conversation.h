// A conversation and its next reply. Two kinds: a chat in the model's own template, and a story that the user and the
// model write together, for models that only continue text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/flags/reply_flags.h"
#include "tern/engine.h"

namespace tern::cli {

class ToolCaller;

// Settings that only a chat uses.
struct ChatSettings {
  std::string system;  // the system message; empty: none
  ChatOptions chat;
  int thoughts = -1;            // tokens of thoughts in a reply; see ThoughtLimit
  ToolCaller* tools = nullptr;  // null: none
};

class Conversation {
 public:
  // Starts a chat if the model has a template, else a story. The engine must outlive it. kNotSupported: there are
  // tools, but the template has none.
  static Result<std::unique_ptr<Conversation>> start(const Engine& engine, ReplyFlags options, ChatSettings settings);
  virtual ~Conversation() = default;

  // Prints the model's reply to `line`. kInvalidArgument: the line cannot be used (for example, it is longer than the
  // context); the conversation is then unchanged.
  virtual Result<PrintedReply> say(const std::string& line) = 0;

  // True if an empty line means "go on".
  virtual bool continues_on_empty_line() const = 0;

  virtual void reset() = 0;

  // The system message; "": none. kNotSupported in a story.
  virtual std::string system() const = 0;
  virtual Result<void> set_system(const std::string& text) = 0;

  // All messages so far, for a file. A story is one message with the role "story".
  virtual std::vector<ChatMessage> messages() const = 0;
  // Continues from these messages. kInvalidArgument: this kind of conversation cannot have them; it is then unchanged.
  virtual Result<void> restore(std::vector<ChatMessage> messages) = 0;

  // Same as ReplyFlags::set(), for future replies.
  Result<void> set(const std::string& name, const std::string& value);
  const ReplyFlags& options() const { return options_; }

  const Engine& engine() const { return engine_; }
  const Session& session() const { return session_; }
  const SampleOptions& sampling() const { return options_.generate.sample; }  // as requested

 protected:
  Conversation(const Engine& engine, Session session, ReplyFlags options)
      : engine_(engine), options_(std::move(options)), session_(std::move(session)) {}

  // The first reply uses the seed itself. Each later reply uses another, or a repeated line would get the same reply.
  GenerateOptions next_options();

  const Engine& engine_;
  ReplyFlags options_;
  Session session_;  // may use a model that the options own
  uint64_t n_replies_ = 0;
};

}  // namespace tern::cli
