#include "mcp/tool_output.h"

#include "base/text/human_numbers.h"

namespace tern::mcp {
namespace {

std::string text_in(const Json& object, const char* name) {
  const auto value = object.find(name);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

// "[image, image/png, 12 kB]"
std::string bytes_in_brackets(const std::string& kind, const Json& block, const char* data) {
  std::string text = "[" + kind;
  if (const std::string type = text_in(block, "mimeType"); !type.empty()) text += ", " + type;
  const auto bytes = block.find(data);
  if (bytes != block.end() && bytes->is_string()) {
    text += ", " + std::to_string(bytes->get_ref<const std::string&>().size() / 4 * 3) + " bytes";
  }
  return text + "]";
}

std::string resource_text(const Json& resource) {
  const std::string uri = text_in(resource, "uri");
  if (resource.contains("text")) return "[resource " + uri + "]\n" + text_in(resource, "text");
  return bytes_in_brackets("resource " + uri, resource, "blob");
}

std::string block_text(const Json& block) {
  if (!block.is_object()) return "";
  const std::string type = text_in(block, "type");
  if (type == "text") return text_in(block, "text");
  if (type == "image" || type == "audio") return bytes_in_brackets(type, block, "data");
  if (type == "resource_link") return "[resource " + text_in(block, "uri") + ", " + text_in(block, "name") + "]";
  if (type == "resource" && block.contains("resource") && block["resource"].is_object()) {
    return resource_text(block["resource"]);
  }
  return "[" + (type.empty() ? "something without a type" : type) + "]";
}

}  // namespace

ToolOutput read_output(const Json& result) {
  ToolOutput output;
  if (const auto flag = result.find("isError"); flag != result.end() && flag->is_boolean()) output.is_error = *flag;
  if (const auto content = result.find("content"); content != result.end() && content->is_array()) {
    for (const Json& block : *content) {
      const std::string text = block_text(block);
      if (!output.text.empty() && !text.empty()) output.text += "\n";
      output.text += text;
    }
  }
  if (const auto value = result.find("structuredContent"); value != result.end() && output.text.empty()) {
    output.text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (output.text.empty()) output.text = output.is_error ? "the tool failed" : "(nothing)";
  return output;
}

}  // namespace tern::mcp
