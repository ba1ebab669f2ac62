#include "load/reply_chunk.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/result.h"

namespace tern::load {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxMessage = 200;  // bytes of an error message that are shown

// An object's member; null if it is absent or `json` is not an object.
const Json& at(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

void append_text(std::string& text, const Json& value) {
  if (value.is_string()) text += value.get_ref<const std::string&>();
}

std::optional<int64_t> count(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  return std::max<int64_t>(value.get<int64_t>(), 0);
}

void add_delta(ReplyChunk& chunk, const Json& delta) {
  append_text(chunk.content, at(delta, "content"));
  chunk.text = chunk.content;
  for (const char* key : {"reasoning_content", "reasoning", "refusal"}) append_text(chunk.text, at(delta, key));
  for (const Json& call : at(delta, "tool_calls")) {
    for (const char* key : {"name", "arguments"}) append_text(chunk.text, at(at(call, "function"), key));
  }
}

std::optional<Usage> usage_of(const Json& usage) {
  const std::optional<int64_t> output = count(at(usage, "completion_tokens"));
  if (!output) return std::nullopt;
  return Usage{.output_tokens = *output,
               .prompt_tokens = count(at(usage, "prompt_tokens")).value_or(0),
               .cached_tokens = count(at(at(usage, "prompt_tokens_details"), "cached_tokens"))};
}

std::string as_line(std::string text) {
  if (text.size() > kMaxMessage) {
    size_t end = kMaxMessage;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // keep characters whole
    text.resize(end);
    text += "…";
  }
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

// `depth` bounds the recursion; no server nests its errors deeper.
std::string message_of(const Json& error, int depth = 3) {
  if (error.is_string()) return error.get<std::string>();
  if (depth == 0) return "";
  for (const char* key : {"message", "error", "detail"}) {
    if (std::string message = message_of(at(error, key), depth - 1); !message.empty()) return message;
  }
  return "";
}

}  // namespace

Result<ReplyChunk> parse_chunk(Api api, std::string_view data) {
  const Json json = Json::parse(data, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail(ErrorCode::kCorruption, "{}", "an event that is no JSON: " + error_message(data));
  ReplyChunk chunk;
  if (const Json& error = at(json, "error"); !error.is_null()) {
    const std::string message = message_of(error);
    chunk.error = message.empty() ? as_line(std::string(data)) : as_line(message);
  }
  if (const Json& choices = at(json, "choices"); choices.is_array()) {
    for (const Json& choice : choices) {
      if (api == Api::kChat) {
        ReplyChunk part;
        add_delta(part, at(choice, "delta"));
        chunk.content += part.content;
        chunk.text += part.text;
      } else {
        append_text(chunk.content, at(choice, "text"));
        chunk.text = chunk.content;
      }
      if (const Json& reason = at(choice, "finish_reason"); reason.is_string()) chunk.finish_reason = reason;
    }
  }
  chunk.usage = usage_of(at(json, "usage"));
  return chunk;
}

std::string error_message(std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const std::string message = message_of(json);
  return as_line(message.empty() || json.is_string() ? std::string(body) : message);
}

std::optional<std::string> first_model(std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const Json& data = at(json, "data");
  if (!data.is_array() || data.empty()) return std::nullopt;
  const Json& id = at(data.front(), "id");
  if (!id.is_string()) return std::nullopt;
  return id.get<std::string>();
}

}  // namespace tern::load
