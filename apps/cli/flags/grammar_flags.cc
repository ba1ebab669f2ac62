#include "cli/flags/grammar_flags.h"

#include "cli/support/common.h"
#include "cli/terminal/help.h"
#include "cli/terminal/output.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

using Made = Result<std::shared_ptr<const Grammar>>;

Made from_file(const std::string& file, Made (*make)(std::string_view)) {
  TRY(const std::string text, read_text(file));
  Made made = make(text);
  if (!made) return fail(made.error().code, "{}: {}", one_line(file), made.error().message);
  return made;
}

}  // namespace

void GrammarFlags::add(CLI::App& app) {
  constexpr const char* kGroup = "Form of the text";
  CLI::Option* schema =
      app.add_option("--json-schema", schema_,
                     "Only JSON that is valid by this schema: a file, or the schema itself, from { to }")
          ->type_name("SCHEMA")
          ->check(not_empty())
          ->group(kGroup);
  CLI::Option* object =
      app.add_flag("--json-mode", json_object_, "Only a JSON object")->excludes(schema)->group(kGroup);
  CLI::Option* gbnf =
      app.add_option("--grammar", gbnf_file_, "Only what this grammar allows, in llama.cpp's notation (GBNF)")
          ->type_name("FILE")
          ->check(not_empty())
          ->excludes(schema)
          ->excludes(object)
          ->group(kGroup);
  regex_option_ = app.add_option("--regex", regex_, "Only what this regular expression matches, from start to end")
                      ->type_name("PATTERN")
                      ->excludes(schema)
                      ->excludes(object)
                      ->excludes(gbnf)
                      ->group(kGroup);
}

Result<std::shared_ptr<const Grammar>> GrammarFlags::grammar() const {
  if (json_object_) return Grammar::json_object();
  if (!gbnf_file_.empty()) return from_file(gbnf_file_, Grammar::gbnf);
  if (regex_option_->count() > 0) return Grammar::regex(regex_);
  if (schema_.empty()) return nullptr;
  const size_t start = schema_.find_first_not_of(" \t\r\n");
  if (start != schema_.npos && schema_[start] == '{') return Grammar::json_schema(schema_);
  return from_file(schema_, Grammar::json_schema);
}

}  // namespace tern::cli
