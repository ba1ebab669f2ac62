#include "cli/arguments.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "cli/support/common.h"

namespace tern::cli {
namespace {

struct KnownName {
  std::string_view other;
  std::string_view own;
};

// llama.cpp's option names, and names that users easily type instead of Tern's own.
constexpr auto kKnownNames = std::to_array<KnownName>({
    {"-hf", "--hf"},
    {"-hfr", "--hf"},
    {"--hf-repo", "--hf"},
    {"-ngl", "--gpu-layers"},
    {"--n-gpu-layers", "--gpu-layers"},
    {"-c", "--ctx"},
    {"--ctx-size", "--ctx"},
    {"--n-predict", "--max-tokens"},
    {"--predict", "--max-tokens"},
    {"--temperature", "--temp"},
    {"-s", "--seed"},
    {"--typical", "--typical-p"},
    {"--top-nsigma", "--top-n-sigma"},
    {"--mirostat-ent", "--mirostat-tau"},
    {"--mirostat-lr", "--mirostat-eta"},
    {"-sys", "--system"},
    {"--system-prompt", "--system"},
    {"-cnv", "--chat"},
    {"--conversation", "--chat"},
    {"-no-cnv", "--no-chat"},
    {"--no-conversation", "--no-chat"},
    {"--no-display-prompt", "--no-echo"},
    {"--chat-template-file", "--template"},
    {"-np", "--parallel"},
    {"-ub", "--ubatch-size"},
    {"-a", "--alias"},
    {"--override-kv", "--override"},
});

const CLI::App* find_command(const CLI::App& tern, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with('-')) continue;
    for (const CLI::App* command : tern.get_subcommands({})) {
      if (command->get_name() == argument) return command;
    }
    return nullptr;
  }
  return nullptr;
}

bool has_option(const CLI::App& command, std::string_view name) {
  return command.get_option_no_throw(std::string(name)) != nullptr;
}

// An option's name without its value: "--temp" of "--temp=0".
std::string_view name_of(std::string_view argument) { return argument.substr(0, argument.find('=')); }

// "-cnv" of `tern chat`: it always chats, so the option is dropped.
bool goes_without_saying(const CLI::App& command, std::string_view own) {
  return command.get_name() == "chat" && own == "--chat";
}

std::string known_argument(const CLI::App& command, const std::string& argument) {
  const std::string_view name = name_of(argument);
  const std::string value = argument.substr(name.size());
  const auto* const known = std::ranges::find(kKnownNames, name, &KnownName::other);
  if (known != kKnownNames.end()) {
    if (goes_without_saying(command, known->own)) return "";
    if (has_option(command, known->own)) return std::string(known->own) + value;
  }
  // One dash too few. As single letters, "-temp" would be the option -t with the value "emp".
  if (name.size() > 2 && name[1] != '-' && has_option(command, "-" + std::string(name))) return "-" + argument;
  return argument;
}

// Turns the words "help" and "version" into the options they stand for.
std::vector<std::string> without_help_command(std::vector<std::string> arguments) {
  if (arguments.empty() || (arguments.front() != "help" && arguments.front() != "version")) return arguments;
  if (arguments.front() == "version") {
    arguments.front() = "--version";
    return arguments;
  }
  arguments.erase(arguments.begin());
  if (!arguments.empty() && arguments.front() == "help") arguments.erase(arguments.begin());
  arguments.resize(std::min<size_t>(arguments.size(), 1));
  arguments.emplace_back("--help");
  return arguments;
}

}  // namespace

Result<std::vector<std::string>> known_arguments(const CLI::App& tern, int argc, const char* const* argv) {
  std::vector<std::string> arguments = without_help_command({argv + std::min(argc, 1), argv + argc});
  const CLI::App* const command = find_command(tern, arguments);
  if (!command) return arguments;
  std::vector<std::string> known;
  bool literal = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    literal = literal || argument == "--";
    if (literal || argument.size() < 2 || argument.front() != '-') {
      known.push_back(argument);
      continue;
    }
    if (command->get_name() == "chat" && (argument == "-no-cnv" || argument == "--no-conversation")) {
      return fail(ErrorCode::kInvalidArgument, "chat: for a text without a conversation there is 'tern run'");
    }
    // With a number, -b is llama.cpp's option. Tern's own -b says where to compute.
    const bool has_number = i + 1 < arguments.size() && !arguments[i + 1].empty() &&
                            std::ranges::all_of(arguments[i + 1], [](char c) { return c >= '0' && c <= '9'; });
    if (argument == "-b" && has_number && has_option(*command, "--batch-size")) {
      known.emplace_back("--batch-size");
      continue;
    }
    std::string own = known_argument(*command, argument);
    if (!own.empty()) known.push_back(std::move(own));
  }
  return known;
}

}  // namespace tern::cli
