// tern chat: a conversation in the terminal.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "cli/chat/chat_commands.h"
#include "cli/chat/conversation.h"
#include "cli/chat/tool_caller.h"
#include "cli/commands/commands.h"
#include "cli/flags/chat_flags.h"
#include "cli/flags/mcp_flags.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/line_reader.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace tern::cli {
namespace {

constexpr const char* kChatFooter = R"(In the conversation
  /system, /set, /save, /load, /tools, /stats, /reset
                                                  commands; /help explains them, Tab completes them
  /quit or Ctrl-D                                 leaves
  //TEXT                                          sends a message that begins with /
  Ctrl-C                                          stops the reply; twice during a reply stops the program
  Alt-Enter, or \ at the end of a line            continues on the next line; a pasted text is one message

Examples
  tern chat                                       with the model that comes with Tern, which tells stories
  tern chat -m model.gguf --system "You answer in one sentence." --temp 0
  tern chat -m model.gguf --mcp mcp.json          the model may call tools of MCP servers; each call is asked about
  printf 'Tell me a story about a fox and a lantern.\nWho found it?\n' | tern chat
)";

struct ChatCommand {
  ModelOptions model;
  ReplyFlags generation;
  std::string system;
  ChatFlags chat_flags;
  McpFlags mcp;

  Result<std::unique_ptr<mcp::ToolSet>> open_tools() const;
  Result<ExitCode> run();
};

// One read, reply, repeat loop.
class ChatLoop {
 public:
  ChatLoop(Conversation& conversation, const ToolCaller* tools, bool person)
      : conversation_(conversation), commands_(conversation, tools), person_(person) {}

  Result<ExitCode> run(LineReader& reader);

 private:
  LineReader::Event read_message(LineReader& reader, std::string& message) const;
  Result<void> reply_to(const std::string& message);

  Conversation& conversation_;
  ChatCommands commands_;
  const bool person_;  // a person types, not a script
};

LineReader::Event ChatLoop::read_message(LineReader& reader, std::string& message) const {
  message.clear();
  std::string line;
  std::string prompt = "> ";
  while (true) {
    const LineReader::Event event = reader.read(prompt, line);
    if (event != LineReader::Event::kLine) return event;
    message += line;
    if (!message.ends_with('\\')) return event;
    message.back() = '\n';
    prompt = ". ";
  }
}

Result<void> ChatLoop::reply_to(const std::string& message) {
  Result<PrintedReply> generation = conversation_.say(message);
  if (!generation && generation.error().code == ErrorCode::kInvalidArgument && person_) {
    print_note(generation.error().message);  // the next line may work
    return {};
  }
  TRY_STATUS(generation);
  if (!generation->at_line_start || !generation->printed_something) TRY_STATUS(print("\n"));
  if (person_) TRY_STATUS(print("\n"));
  if (generation->result.reason == FinishReason::kContextFull) {
    print_note("the context is full: from here on the oldest part is forgotten; /reset forgets all of it");
  }
  commands_.set_last(std::move(generation->result));
  return {};
}

Result<ExitCode> ChatLoop::run(LineReader& reader) {
  std::string message;
  while (true) {
    const LineReader::Event event = read_message(reader, message);
    if (event == LineReader::Event::kEnd) return ExitCode::kDone;
    if (event == LineReader::Event::kInterrupted) {
      print_note("press Ctrl-D or type /quit to leave");
      continue;
    }
    if (const std::optional<ChatCommands::Next> next = commands_.take(message)) {
      if (*next == ChatCommands::Next::kLeave) return ExitCode::kDone;
      continue;
    }
    const bool empty = message.find_first_not_of(" \t\n") == message.npos;
    if (empty && !conversation_.continues_on_empty_line()) continue;
    TRY_STATUS(reply_to(empty ? "" : message));
  }
}

void greet(const Engine& engine, const ModelOptions& model, bool person) {
  if (person) {
    const Style style = Style::of(STDERR_FILENO);
    std::fprintf(stderr, "%s\n", style.bold(describe(engine.info())).c_str());
    if (!engine.info().choice.empty()) print_note(engine.info().choice);
  }
  note_default_model(model, engine);
  if (!engine.has_chat_template()) {
    print_note(
        "this model has no chat template, so it continues your text: write a beginning, or press Enter to let it "
        "continue");
  }
  if (person) std::fputs("/help lists the commands, Ctrl-D leaves.\n\n", stderr);
}

Result<std::unique_ptr<mcp::ToolSet>> ChatCommand::open_tools() const {
  const StopOnInterrupt stop;
  TRY(std::unique_ptr<mcp::ToolSet> tools,
      mcp.open([](const std::string& line) { print_note(one_line(line)); }, stop.token()));
  if (tools) print_note(tools_in_a_line(*tools) + "; /tools lists them");
  return tools;
}

Result<ExitCode> ChatCommand::run() {
  TRY_STATUS(generation.read_grammar());
  TRY_STATUS(mcp.read());
  generation.choose_seed();
  generation.model = &model;
  ModelOptions with_template = model;
  TRY(with_template.load.chat_template, chat_flags.read_template());
  TRY(const Engine engine, load_engine(with_template));
  generation.advise(engine.info().sampling);
  const bool person = is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO);
  TRY(const std::unique_ptr<mcp::ToolSet> tools, open_tools());
  std::optional<ToolCaller> caller;
  if (tools) caller.emplace(*tools, person, mcp.rounds());
  ToolCaller* const used = caller ? &*caller : nullptr;
  TRY(const std::unique_ptr<Conversation> conversation,
      Conversation::start(
          engine, generation,
          {.system = system, .chat = chat_flags.options(), .thoughts = chat_flags.thoughts(), .tools = used}));
  greet(engine, model, person);
  if (!engine.has_chat_template() && !system.empty()) print_note("--system has no effect without a chat template");
  const std::unique_ptr<LineReader> reader = LineReader::open(ChatCommands::completions());
  auto done = ChatLoop(*conversation, used, person).run(*reader);
  if (done) TRY_STATUS(conversation->options().keep_cache(conversation->session()));
  return done;
}

}  // namespace

Command add_chat(CLI::App& tern) {
  auto command = std::make_shared<ChatCommand>();
  CLI::App* app = add_command(tern, "chat", "Text", "Chat with a model in the terminal.", "[options]", kChatFooter);
  app->add_option("--system", command->system, "Instructions for the model")->type_name("TEXT")->group("Conversation");
  command->chat_flags.add(*app, "Conversation");
  command->mcp.add(
      *app, "Tools",
      "Call these tools without a question: names of tools or of servers, or 'all'; without a terminal, all "
      "other calls are refused");
  command->generation.add(*app, "Longest reply, in tokens (default: until the model stops)");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
