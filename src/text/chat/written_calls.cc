#include "text/chat/written_calls.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format_text.h"
#include "text/unicode/utf8.h"

namespace tern {
namespace {

using Json = nlohmann::ordered_json;
using Values = MarkedCalls::Values;

// A part of the prompt; what a message says is quoted.
struct Part {
  std::string text;
  bool is_quoted;
};

// As Python writes JSON, or its own literals: with spaces, as models are used to.
std::string literal(const Json& value, bool is_python = false) {
  if (is_python && value.is_null()) return "None";
  if (is_python && value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (!value.is_structured()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += literal(key) + ": ";
    text += literal(item, is_python);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Templates that write calls themselves refuse the same.
Result<void> check_arguments(const ToolCall& call, size_t number) {
  constexpr int kMostDepth = 48;
  if (call.name.empty()) return fail(ErrorCode::kInvalidArgument, "message {}: a tool call without a name", number);
  if (call.arguments.empty()) return {};
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument, "message {}: the arguments of '{}': {}", number, printable(call.name),
                what);
  };
  int deepest = 0;
  const auto watch = [&](int depth, Json::parse_event_t event, Json&) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start)
      deepest = std::max(deepest, depth + 1);
    return deepest <= kMostDepth;
  };
  const Json arguments = Json::parse(call.arguments, watch, /*allow_exceptions=*/false);
  if (deepest > kMostDepth) return wrong(format_text("JSON nested more than {} deep", kMostDepth));
  if (arguments.is_discarded()) return wrong("not valid JSON");
  if (!arguments.is_object()) return wrong("not a JSON object");
  return {};
}

Json arguments_of(const ToolCall& call) {
  Json arguments = Json::parse(call.arguments.empty() ? "{}" : call.arguments, nullptr, /*allow_exceptions=*/false);
  return arguments.is_object() ? arguments : Json::object();
}

const char* type_name(const Json& value) { return value.is_number() ? "number" : value.type_name(); }

std::string pairs_of(const MarkedCalls& form, const Json& arguments) {
  std::vector<std::pair<std::string, Json>> pairs;
  for (const auto& [key, value] : arguments.items()) pairs.emplace_back(key, value);
  if (form.is_sorted) std::ranges::sort(pairs, {}, &std::pair<std::string, Json>::first);
  std::string text;
  for (const auto& [key, value] : pairs) {
    if (!text.empty()) text += form.pair_between;
    const bool has_other = !value.is_string() && !form.key_end_other.empty();
    text += form.key_begin + key + (has_other ? form.key_end_other : form.key_end);
    if (!form.type_end.empty()) text += type_name(value) + form.type_end;
    if (form.values == Values::kPython) {
      text += literal(value, true);
    } else if (!value.is_string()) {
      text += literal(value);
    } else {
      const auto own = value.get<std::string>();
      const bool is_marked = !form.text_begin.empty() && own.find_first_of("<&\n") != std::string::npos;
      text += is_marked ? form.text_begin + own + form.text_end : own;
    }
    text += form.value_end + (form.value_end_name.empty() ? "" : key + form.value_end_name);
  }
  return text;
}

std::string marked_call(const MarkedCalls& form, const ToolCall& call, size_t index) {
  std::string text;
  for (const CallPiece& piece : form.pieces) {
    switch (piece.kind) {
      case CallPiece::Kind::kText:
        text += piece.text;
        break;
      case CallPiece::Kind::kName:
        text += call.name;
        break;
      case CallPiece::Kind::kId:
        text += call.id;
        break;
      case CallPiece::Kind::kIndex:
        text += std::to_string(index);
        break;
      case CallPiece::Kind::kArguments:
        text += form.values == Values::kJson ? literal(arguments_of(call)) : pairs_of(form, arguments_of(call));
    }
  }
  return text;
}

std::string json_call(const ToolCallFormat& form, const ToolCall& call) {
  Json json;
  if (!form.id.empty() && form.id_is_first && !call.id.empty()) json[form.id] = call.id;
  json[form.name] = call.name;
  json[form.arguments] = arguments_of(call);
  if (!form.id.empty() && !form.id_is_first && !call.id.empty()) json[form.id] = call.id;
  return literal(json);
}

// The calls as the model would write them.
std::vector<Part> parts_of(const ToolCallFormat& form, const std::vector<ToolCall>& calls) {
  std::vector<Part> parts = {{form.begin, false}};
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool is_section = form.is_list || form.marked;
    if (i > 0 && is_section) parts.push_back({form.marked ? form.marked->between : ", ", false});
    if (i > 0 && !is_section) parts.insert(parts.end(), {{form.end + "\n" + form.begin, false}});
    if (i == 0 && form.is_list) parts.push_back({"[", false});
    parts.push_back({form.marked ? marked_call(*form.marked, calls[i], i) : json_call(form, calls[i]), true});
  }
  parts.push_back({(form.is_list ? "]" : "") + form.end, false});
  return parts;
}

// A word that no message contains but by a guess among 2^64.
std::string new_word() {
  std::random_device random;
  return format_text("calls{:08x}{:08x}", random(), random());
}

ChatPrompt joined(const std::vector<Part>& parts) {
  ChatPrompt prompt;
  for (const Part& part : parts) {
    const size_t begin = prompt.text.size();
    prompt.text += part.text;
    if (!part.is_quoted || part.text.empty()) continue;
    if (!prompt.quoted.empty() && prompt.quoted.back().end == begin) {
      prompt.quoted.back().end = prompt.text.size();
    } else {
      prompt.quoted.push_back({begin, prompt.text.size()});
    }
  }
  return prompt;
}

// The parts of text[begin, end) with their marks of quotation.
void add_range(const ChatPrompt& prompt, size_t begin, size_t end, std::vector<Part>& parts) {
  for (const TextRange& quoted : prompt.quoted) {
    const size_t from = std::clamp(quoted.begin, begin, end), to = std::clamp(quoted.end, begin, end);
    if (from > begin) parts.push_back({prompt.text.substr(begin, from - begin), false});
    if (to > from) parts.push_back({prompt.text.substr(from, to - from), true});
    begin = std::max(begin, to);
  }
  if (end > begin) parts.push_back({prompt.text.substr(begin, end - begin), false});
}

}  // namespace

bool has_to_write_calls(const ChatFormat& format) {
  if (format.has_tool_calls || !format.calls || format.has_channels) return false;
  if (!format.calls->marked) return true;
  return format.calls->marked->values != Values::kGemma && format.calls->marked->values != Values::kElements;
}

Result<ChatPrompt> render_with_calls(const ChatFormat& format, std::span<const ChatMessage> messages,
                                     const RenderMessages& render) {
  if (!has_to_write_calls(format)) return render(messages);
  std::vector<ChatMessage> all(messages.begin(), messages.end());
  std::vector<std::pair<std::string, std::vector<Part>>> written;
  for (ChatMessage& message : all) {
    if (message.tool_calls.empty()) continue;
    const auto number = static_cast<size_t>(&message - all.data()) + 1;
    for (const ToolCall& call : message.tool_calls) TRY_STATUS(check_arguments(call, number));
    written.emplace_back(new_word(), parts_of(*format.calls, message.tool_calls));
    message.content += written.back().first;
    message.tool_calls.clear();
  }
  TRY(const ChatPrompt prompt, render(all));
  std::vector<Part> parts;
  size_t done = 0;
  for (const auto& [word, calls] : written) {
    const size_t at = prompt.text.find(word, done);
    if (at == prompt.text.npos || prompt.text.find(word, at + 1) != prompt.text.npos)
      return fail(ErrorCode::kNotSupported, "the model's chat template changes what an assistant's message says");
    add_range(prompt, done, at, parts);
    const bool may_quote = std::ranges::any_of(
        prompt.quoted, [at](const TextRange& quoted) { return quoted.begin <= at && at < quoted.end; });
    for (const Part& part : calls) parts.push_back({part.text, part.is_quoted && may_quote});
    done = at + word.size();
  }
  add_range(prompt, done, prompt.text.size(), parts);
  return joined(parts);
}

}  // namespace tern
