#include "hub/complete_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/mapped_file.h"

namespace tern::hub {
namespace {

using Json = nlohmann::json;

// Adds the string values of the object `map`; does nothing for other JSON.
void add_values(const Json& map, std::set<std::string>& names) {
  if (!map.is_object()) return;
  for (const Json& value : map) {
    if (value.is_string()) names.insert(value.get<std::string>());
  }
}

// The files named in {"weight_map": {TENSOR: FILE}} of safetensors or {"records": [{"dataPath": FILE}]} of MLC.
std::set<std::string> named_in(const Json& index) {
  std::set<std::string> names;
  if (!index.is_object()) return names;
  if (const auto map = index.find("weight_map"); map != index.end()) add_values(*map, names);
  const auto records = index.find("records");
  if (records == index.end() || !records->is_array()) return names;
  for (const Json& record : *records) {
    if (!record.is_object()) continue;
    const auto path = record.find("dataPath");
    if (path != record.end() && path->is_string()) names.insert(path->get<std::string>());
  }
  return names;
}

}  // namespace

bool is_complete(const Choice& choice, const std::string& folder) {
  if (!choice.model.empty()) return true;
  const auto has = [&](const std::string& path) {
    return std::ranges::contains(choice.files, path, &RemoteFile::path);
  };
  constexpr std::array<const char*, 3> kIndexes = {"model.safetensors.index.json", "tensor-cache.json",
                                                   "ndarray-cache.json"};
  for (const char* name : kIndexes) {
    if (!has(name)) continue;
    const Result<std::string> text = read_text_file(folder + "/" + name);
    const std::set<std::string> named =
        text ? named_in(Json::parse(*text, nullptr, /*allow_exceptions=*/false)) : std::set<std::string>();
    return !named.empty() && std::ranges::all_of(named, has);
  }
  // Without an index the weights are one file, which is fetched last.
  return !has("mlc-chat-config.json");
}

}  // namespace tern::hub
