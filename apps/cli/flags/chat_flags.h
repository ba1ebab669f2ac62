// The options of a conversation that `tern run --chat` and `tern chat` share.
#pragma once

#include <string>

#include "cli/support/common.h"
#include "tern/chat.h"

namespace tern::cli {

class ChatFlags {
 public:
  void add(CLI::App& app, const std::string& group);

  bool any() const { return !template_file_.empty() || think_ || no_think_ || parse_special_ || budget_ >= 0; }
  ChatOptions options() const;
  int thoughts() const { return budget_; }  // tokens in a reply; see ThoughtLimit

  // The text of --template; empty without it.
  Result<std::string> read_template() const;

 private:
  std::string template_file_;
  bool think_ = false;
  bool no_think_ = false;
  int budget_ = -1;
  bool parse_special_ = false;
};

}  // namespace tern::cli
