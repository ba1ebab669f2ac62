#include "server/api/replies/request_hints.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text/format_text.h"

namespace tern::server {
namespace {

void check_choice(Fields& fields, std::string_view name, std::span<const std::string_view> choices) {
  std::optional<std::string> value;
  fields.read(name, value);
  if (!value || std::ranges::contains(choices, *value)) return;
  std::string list;
  for (const std::string_view choice : choices) list += (list.empty() ? "" : ", ") + std::string(choice);
  fields.fail(name, format_text("'{}' is none of {}", value->substr(0, 40), list));
}

}  // namespace

void refuse_what_is_no_text(Fields& fields) {
  constexpr size_t kMostModalities = 8;
  std::vector<std::string> modalities;
  fields.read_texts("modalities", modalities, kMostModalities);
  for (const std::string& one : modalities) {
    if (one != "text") fields.fail("modalities", format_text("'{}' is not supported: models write text", one));
  }
  // Even an empty object asks for it.
  if (fields.find("audio")) fields.fail("audio", "is not supported: models write text");
  if (fields.find("web_search_options")) fields.fail("web_search_options", "is not supported: nothing searches here");
  if (fields.find("moderation")) fields.fail("moderation", "is not supported: nothing moderates here");
}

void check_verbosity(Fields& fields) {
  constexpr std::array<std::string_view, 3> kVerbosities = {"low", "medium", "high"};
  check_choice(fields, "verbosity", kVerbosities);
}

void check_hints(Fields& fields) {
  constexpr std::array<std::string_view, 5> kTiers = {"auto", "default", "flex", "scale", "priority"};
  constexpr std::array<std::string_view, 4> kTexts = {"user", "safety_identifier", "prompt_cache_key",
                                                      "prompt_cache_retention"};
  check_choice(fields, "service_tier", kTiers);
  check_verbosity(fields);
  for (const std::string_view name : kTexts) {
    std::string ignored;
    fields.read(name, ignored);
  }
  fields.within("prompt_cache_options", [](Fields&) {});
  fields.within("prediction", [](Fields& prediction) {
    constexpr std::array<std::string_view, 1> kTypes = {"content"};
    check_choice(prediction, "type", kTypes);
  });
}

ApiResult<Json> read_metadata(const Fields& fields) {
  constexpr size_t kMost = 16, kMostName = 64, kMostText = 512;
  const Json* given = fields.find("metadata");
  if (!given) return Json(nullptr);
  const auto is_text = [](const Json& json) {
    return json.is_string() && json.get_ref<const std::string&>().size() <= kMostText;
  };
  const bool is_fine =
      given->is_object() && given->size() <= kMost && std::ranges::all_of(given->items(), [&](const auto& item) {
        return item.key().size() <= kMostName && is_text(item.value());
      });
  if (is_fine) return *given;
  const std::string name = fields.path_of("metadata");
  return refuse(format_text("{}: must be an object of up to {} texts of up to {} bytes, with names of up to {}", name,
                            kMost, kMostText, kMostName),
                name);
}

}  // namespace tern::server
