#include "cli/manual/manual_description.h"

#include "cli/terminal/help.h"

namespace tern::cli {
namespace {

// Infers the kind from the help page's word for the value, which is the same in all commands.
ArgumentKind kind_of(const std::string& value, bool has_choices) {
  if (has_choices) return ArgumentKind::kChoice;
  if (value.empty()) return ArgumentKind::kNone;
  if (value == "DIR") return ArgumentKind::kFolder;
  const bool is_file = value == "FILE" || value == "IN" || value.starts_with("OUT");
  return is_file ? ArgumentKind::kFile : ArgumentKind::kText;
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription about;
  about.description = option.get_description();
  about.group = option.get_group();
  about.positional = option.get_positional();
  about.list = option.get_delimiter() == ',';
  about.choices = choices_of(option);
  if (about.positional) {
    about.value = option.get_option_text().empty() ? option.get_name(true) : option.get_option_text();
    about.names = {about.value};
  } else {
    if (option.get_type_size() != 0) about.value = option.get_type_name();
    for (const std::string& name : option.get_snames()) about.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) about.names.push_back("--" + name);
  }
  about.kind = kind_of(about.value, !about.choices.empty());
  return about;
}

CommandDescription describe_command(const CLI::App& app) {
  CommandDescription about{.name = app.get_name(),
                           .group = app.get_group(),
                           .description = app.get_description(),
                           .usage = app.get_usage(),
                           .footer = app.get_footer(),
                           .options = {}};
  for (const CLI::Option* option : app.get_options()) {
    const bool hidden = option->get_group().empty();
    if (!hidden && option != app.get_help_ptr()) about.options.push_back(describe_option(*option));
  }
  if (const CLI::Option* help = app.get_help_ptr()) {  // CLI11 creates it first; shown last, as in help
    about.options.push_back(describe_option(*help));
    if (about.options.size() > 1) about.options.back().group = about.options[about.options.size() - 2].group;
  }
  return about;
}

}  // namespace

ProgramDescription describe_program(const CLI::App& tern) {
  ProgramDescription about{.program = describe_command(tern), .commands = {}};
  for (const CLI::App* command : tern.get_subcommands({})) {
    if (!command->get_group().empty()) about.commands.push_back(describe_command(*command));
  }
  return about;
}

}  // namespace tern::cli
