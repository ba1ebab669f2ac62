#include "server/api/responses/response_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/format_text.h"
#include "server/api/replies/request_hints.h"

namespace tern::server {
namespace {

constexpr std::array<std::string_view, 4> kPromises = {"background", "conversation", "prompt", "context_management"};

bool read_summary(Fields& fields) {
  std::string summary;
  fields.within("reasoning", [&](Fields& reasoning) {
    reasoning.read("generate_summary", summary);  // the older name
    reasoning.read("summary", summary);
    constexpr std::array<std::string_view, 5> kKinds = {"", "none", "auto", "concise", "detailed"};
    if (!std::ranges::contains(kKinds, summary)) {
      reasoning.fail("summary", format_text("'{}' is none of auto, concise, detailed", summary.substr(0, 40)));
    }
  });
  return !summary.empty() && summary != "none";
}

}  // namespace

ResponseForm read_response_form(Fields& fields) {
  constexpr size_t kMostIncludes = 100;
  for (const std::string_view name : kPromises) {
    const Json* found = fields.find(name);
    const bool is_off = !found || *found == false || (found->is_array() && found->empty());
    if (!is_off) fields.fail(name, "is not supported");
  }
  refuse_what_is_no_text(fields);
  check_hints(fields);
  fields.within("text", check_verbosity);
  ResponseForm form{.summarizes = read_summary(fields)};
  std::vector<std::string> include;
  std::optional<int> top_logprobs;
  fields.read_texts("include", include, kMostIncludes);
  fields.read("top_logprobs", top_logprobs, Fields::Range{0, 20});
  form.encodes = std::ranges::contains(include, "reasoning.encrypted_content");
  const bool has_logprobs = std::ranges::contains(include, "message.output_text.logprobs");
  if (has_logprobs || top_logprobs.value_or(0) > 0) form.n_logprobs = top_logprobs.value_or(0);
  return form;
}

// The request's fields that the answer repeats, with defaults for those that are absent.
Json repeated_fields(const Json& body, const Sampling& sampling) {
  const auto or_else = [&](const char* name, Json otherwise) {
    const auto it = body.find(name);
    return it == body.end() || it->is_null() ? std::move(otherwise) : Json(*it);
  };
  return {{"background", false},
          {"error", nullptr},
          {"instructions", or_else("instructions", nullptr)},
          {"max_output_tokens", or_else("max_output_tokens", nullptr)},
          {"metadata", or_else("metadata", Json::object())},
          {"parallel_tool_calls", or_else("parallel_tool_calls", true)},
          {"previous_response_id", or_else("previous_response_id", nullptr)},
          {"reasoning", or_else("reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
          {"prompt_cache_key", or_else("prompt_cache_key", nullptr)},
          {"safety_identifier", or_else("safety_identifier", nullptr)},
          {"service_tier", "default"},
          {"store", or_else("store", true)},
          {"temperature", sampling.temperature},
          {"text", or_else("text", {{"format", {{"type", "text"}}}})},
          {"tool_choice", or_else("tool_choice", "auto")},
          {"tools", or_else("tools", Json::array())},
          {"top_logprobs", or_else("top_logprobs", 0)},
          {"top_p", sampling.top_p},
          {"truncation", or_else("truncation", "disabled")},
          {"user", or_else("user", nullptr)}};
}

}  // namespace tern::server
