// What has been said so far, and the next reply. Two kinds: a chat in the model's own template, and a story that person
// and model write together, for models that only continue text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/reply_flags.h"
#include "tern/engine.h"

namespace tern::cli {

// What only a chat has a use for.
struct ChatSettings {
  std::string system;  // how the model should behave; empty: nothing is said about it
  ChatOptions chat;
};

class Conversation {
 public:
  // A chat where the model has a template, else a story. The engine must outlive it.
  static Result<std::unique_ptr<Conversation>> start(const Engine& engine, ReplyFlags options, ChatSettings settings);
  virtual ~Conversation() = default;

  // Prints the model's reply to `line`. kInvalidArgument where the line cannot be used (it may be longer than the
  // context); the conversation is then as it was.
  virtual Result<PrintedReply> say(const std::string& line) = 0;

  // Whether an empty line means "go on".
  virtual bool continues_on_empty_line() const = 0;

  virtual void reset() = 0;

  // How the model should behave; "": nothing is said about it. kNotSupported in a story.
  virtual std::string system() const = 0;
  virtual Result<void> set_system(const std::string& text) = 0;

  // All that was said, to be kept in a file. A story is one message of the role "story".
  virtual std::vector<ChatMessage> messages() const = 0;
  // Goes on from there. kInvalidArgument: messages that this kind of conversation cannot have; it is then as it was.
  virtual Result<void> restore(std::vector<ChatMessage> messages) = 0;

  // As ReplyFlags::set(), for the replies from now on.
  Result<void> set(const std::string& name, const std::string& value);
  const ReplyFlags& options() const { return options_; }

  const Engine& engine() const { return engine_; }
  const Session& session() const { return session_; }
  const SampleOptions& sampling() const { return options_.generate.sample; }  // as asked for

 protected:
  Conversation(const Engine& engine, Session session, ReplyFlags options)
      : engine_(engine), options_(std::move(options)), session_(std::move(session)) {}

  // The first reply uses the seed itself, every later one another, or a repeated line would get the same reply.
  GenerateOptions next_options();

  const Engine& engine_;
  ReplyFlags options_;
  Session session_;  // may use a model that belongs to the options
  uint64_t n_replies_ = 0;
};

}  // namespace tern::cli
