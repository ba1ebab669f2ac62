// `tern bench --url`: load test of a server. It loads no model itself.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/support/common.h"
#include "load/load_run.h"
#include "load/metrics.h"

namespace tern::cli {

class UrlCommand {
 public:
  // Adds --url and the options that belong to it.
  void add(CLI::App& app);

  bool is_given() const { return url_option_->count() > 0; }

  // Returns an error if an option was given without --url.
  Result<void> check_unused() const;

  // Returns an error for options of `app` that have no meaning here. `model`: its name on the server; empty: the first
  // one.
  Result<ExitCode> run(const CLI::App& app, const std::string& model, bool as_json);

 private:
  Result<void> check(const CLI::App& app, bool as_json) const;
  Result<load::Prompts> prompts() const;

  load::LoadOptions options_;
  load::MadeText text_;
  load::Deadlines deadlines_;
  std::string prompt_file_;
  std::string api_ = "chat";
  std::string svg_;
  double think_ms_ = 0;
  bool with_rows_ = false;
  bool check_same_ = false;

  const CLI::Option* url_option_ = nullptr;
  std::vector<const CLI::Option*> own_options_;  // all but --url

  CLI::Option* own(CLI::Option* option, const char* type_name);
  bool was_given(const std::string& name) const;
  void add_load(CLI::App& app);
  void add_requests(CLI::App& app);
  void add_output(CLI::App& app);
};

}  // namespace tern::cli
