// Tools that are more than functions to a client: custom tools, whose calls are a text, and functions in a namespace.
// The model knows all of them as functions.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/fields.h"
#include "server/api/grammars/grammars.h"
#include "server/api/tools/custom_input.h"
#include "tern/chat_reply.h"

namespace tern::server {

// What a client calls a function that the model knows by another name, or of another kind.
struct ClientTool {
  std::string name, space = {};  // space: its namespace, or nothing
  bool is_custom = false;
};

class ClientTools {
 public:
  // Adds the functions for the tool to a list in the format of ChatOptions::tools. False: it is of another type.
  bool read(Fields& tool, const Json& json, GrammarCache& grammars, Json& functions);
  // Fails if one of the functions has the name by which the model knows another tool.
  void check_names(Fields& fields, const Json& functions) const;
  // Null: the client knows the function as the model does.
  const ClientTool* find(std::string_view function) const;

  // The name by which the model knows a function in a namespace.
  static std::string function_name(std::string_view space, std::string_view name);

 private:
  void read_space(Fields& tool, const Json& json, Json& functions);
  void add(Fields& tool, const std::string& function, const ClientTool& known);

  std::map<std::string, ClientTool, std::less<>> tools_;
};

// A custom tool's call as the arguments of its function.
std::string custom_arguments(const std::string& input);

// Gives the calls of a reply the form that the client expects: the arguments of a custom tool's call become its input.
class ClientCalls {
 public:
  explicit ClientCalls(std::shared_ptr<const ClientTools> tools) : tools_(std::move(tools)) {}

  // `is_end`: nothing of the reply follows.
  std::vector<ChatDelta> take(std::vector<ChatDelta> deltas, bool is_end);
  const ClientTool* find(std::string_view function) const { return tools_ ? tools_->find(function) : nullptr; }

 private:
  void end_input(std::vector<ChatDelta>& out);

  std::shared_ptr<const ClientTools> tools_;
  std::optional<CustomInput> input_;  // of the call that is arriving, if it is a custom tool's
  int call_ = 0;
};

}  // namespace tern::server
