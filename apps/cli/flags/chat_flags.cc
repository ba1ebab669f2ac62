#include "cli/flags/chat_flags.h"

#include "base/result.h"
#include "cli/terminal/help.h"
#include "tern/tools.h"

namespace tern::cli {

void ChatFlags::add(CLI::App& app, const std::string& group) {
  app.add_option("--template", template_file_, "Use this Jinja chat template instead of the model's own")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(group);
  CLI::Option* think =
      app.add_flag("--think", think_, "Let a thinking model think before it answers, if its template supports that")
          ->group(group);
  app.add_flag("--no-think", no_think_, "Let it answer without thinking (default: as the template decides)")
      ->excludes(think)
      ->group(group);
  app.add_option("--reasoning-budget", budget_, "Tokens that it may think; then its thought is ended (-1: any number)")
      ->type_name("N")
      ->check(in_range(-1, 1e9, /*whole=*/true))
      ->group(group);
  app.add_flag("--parse-special", parse_special_,
               "Control tokens such as <|im_end|> count in messages, too; by default they are text there")
      ->group(group);
}

ChatOptions ChatFlags::options() const {
  ChatOptions options;
  if (think_) options.think = true;
  if (no_think_) options.think = false;
  options.parse_special = parse_special_;
  return options;
}

Result<std::string> ChatFlags::read_template() const {
  if (template_file_.empty()) return std::string();
  TRY(std::string text, read_text(template_file_));
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "{}: the template is empty", template_file_);
  return text;
}

}  // namespace tern::cli
