#include "server/api/tools/client_tools.h"

#include <set>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

// The schema of a custom tool's text. `format` is {"type": "text"}, or a grammar with its syntax and definition, which
// chats have in an object inside.
Json text_schema(Fields& tool, GrammarCache& grammars) {
  Json schema = {{"type", "string"}};
  tool.within("format", [&](Fields& format) {
    std::string type = "text", syntax, definition;
    format.read("type", type);
    if (type == "text") return;
    if (type != "grammar") return format.fail("type", format_text("'{}' is not text or grammar", type.substr(0, 40)));
    const auto read = [&](Fields& grammar) {
      grammar.read("syntax", syntax);
      grammar.read("definition", definition);
      if (syntax != "lark" && syntax != "regex")
        return grammar.fail("syntax", format_text("'{}' is not lark or regex", syntax.substr(0, 40)));
      const auto kind = syntax == "lark" ? GrammarCache::Kind::kLark : GrammarCache::Kind::kRegex;
      const auto made = grammars.find_or_make(kind, definition);
      if (!made) return grammar.fail("definition", made.error().message);
      if (syntax == "lark") {
        schema["$lark"] = definition;
      } else {
        schema["pattern"] = "^(?:" + definition + ")$";
      }
    };
    format.find("grammar") ? format.within("grammar", read) : read(format);
  });
  return schema;
}

Json custom_function(Fields& tool, const std::string& name, GrammarCache& grammars) {
  std::string description;
  tool.read("description", description);
  const Json schema = text_schema(tool, grammars);
  Json function = {{"name", name}};
  if (!description.empty()) function["description"] = description;
  function["parameters"] = {{"type", "object"},
                            {"properties", {{"input", schema}}},
                            {"required", Json::array({"input"})},
                            {"additionalProperties", false}};
  if (schema.size() > 1) function["strict"] = true;  // a text is held to its grammar, or the request refused
  return {{"type", "function"}, {"function", std::move(function)}};
}

// Chat templates know no namespaces, so what is said about one stands before what is said about its function.
void describe(Json& function, const std::string& space_description) {
  if (space_description.empty()) return;
  Json& own = function["description"];
  if (own.is_null())
    own = space_description;
  else if (own.is_string())
    own = space_description + " " + own.get<std::string>();
}

}  // namespace

std::string ClientTools::function_name(std::string_view space, std::string_view name) {
  if (space.empty()) return std::string(name);
  return std::string(space) + (space.ends_with("__") ? "" : "__") + std::string(name);
}

bool ClientTools::read(Fields& tool, const Json& json, GrammarCache& grammars, Json& functions) {
  std::string type;
  tool.read("type", type);
  if (type == "function") {
    if (json.contains("function")) return functions.push_back(json), true;
    Json function = json;
    function.erase("type");
    functions.push_back({{"type", "function"}, {"function", std::move(function)}});
    return true;
  }
  if (type == "namespace") return read_space(tool, json, functions), true;
  if (type != "custom") return false;
  const auto read_custom = [&](Fields& custom) {
    std::string name;
    custom.read("name", name);
    if (name.empty()) return custom.fail("name", "is missing");
    functions.push_back(custom_function(custom, name, grammars));
    add(custom, name, {.name = name, .is_custom = true});
  };
  tool.find("custom") ? tool.within("custom", read_custom) : read_custom(tool);
  return true;
}

void ClientTools::read_space(Fields& tool, const Json& json, Json& functions) {
  std::string space, description;
  tool.read("name", space);
  tool.read("description", description);
  if (space.empty()) return tool.fail("name", "is missing");
  const Json* inside = tool.find("tools");
  if (!inside || !inside->is_array()) return tool.fail("tools", "must be a list of functions");
  for (size_t i = 0; i < inside->size(); ++i) {
    tool.within_element("tools", i, [&](Fields& one) {
      std::string type, name;
      one.read("type", type);
      one.read("name", name);
      if (type != "function")
        return one.fail("type", format_text("'{}' is not supported in a namespace", type.substr(0, 40)));
      if (name.empty()) return one.fail("name", "is missing");
      const std::string own = function_name(space, name);
      Json function = json["tools"][i];
      for (const char* member : {"type", "defer_loading"}) function.erase(member);
      function["name"] = own;
      describe(function, description);
      functions.push_back({{"type", "function"}, {"function", std::move(function)}});
      add(one, own, {.name = name, .space = space});
    });
  }
}

void ClientTools::add(Fields& tool, const std::string& function, const ClientTool& known) {
  if (!tools_.try_emplace(function, known).second)
    tool.fail("name", format_text("'{}' is the name of two tools", function.substr(0, 100)));
}

void ClientTools::check_names(Fields& fields, const Json& functions) const {
  std::set<std::string> seen;
  for (const Json& one : functions) {
    const Json function = one.is_object() ? one.value("function", Json()) : Json();
    const Json name = function.is_object() ? function.value("name", Json()) : Json();
    if (!name.is_string() || !find(name.get_ref<const std::string&>()) || seen.insert(name).second) continue;
    fields.fail("tools", format_text("'{}' is the name of two tools", name.get<std::string>().substr(0, 100)));
  }
}

const ClientTool* ClientTools::find(std::string_view function) const {
  const auto found = tools_.find(function);
  return found == tools_.end() ? nullptr : &found->second;
}

std::string custom_arguments(const std::string& input) { return dump(Json{{"input", input}}); }

std::vector<ChatDelta> ClientCalls::take(std::vector<ChatDelta> deltas, bool is_end) {
  if (!tools_) return deltas;
  std::vector<ChatDelta> out;
  for (ChatDelta& delta : deltas) {
    if (delta.kind == ChatDelta::Kind::kCallArguments && input_) {
      delta.text = input_->feed(delta.text);
      if (!delta.text.empty()) out.push_back(std::move(delta));
      continue;
    }
    end_input(out);
    if (delta.kind == ChatDelta::Kind::kCallBegin) {
      const ClientTool* tool = tools_->find(delta.name);
      if (tool && tool->is_custom) input_.emplace();
      call_ = delta.call;
    }
    out.push_back(std::move(delta));
  }
  if (is_end) end_input(out);
  return out;
}

void ClientCalls::end_input(std::vector<ChatDelta>& out) {
  if (!input_) return;
  std::string rest = input_->finish();
  input_.reset();
  if (!rest.empty()) {
    out.push_back({.kind = ChatDelta::Kind::kCallArguments, .text = std::move(rest), .call = call_});
  }
}

}  // namespace tern::server
