// The options of a conversation that `tern run --chat` and `tern chat` share.
#pragma once

#include <string>

#include "cli/support/common.h"
#include "tern/options.h"

namespace tern::cli {

class ChatFlags {
 public:
  void add(CLI::App& app, const std::string& group);

  bool any() const { return !template_file_.empty() || think_ || no_think_ || parse_special_; }
  ChatOptions options() const;

  // The text of --template; empty without it.
  Result<std::string> read_template() const;

 private:
  std::string template_file_;
  bool think_ = false;
  bool no_think_ = false;
  bool parse_special_ = false;
};

}  // namespace tern::cli
