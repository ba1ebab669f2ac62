// A directory of Qwen3.5 with the layer that proposes draft tokens, for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "file/safetensors/safetensors_test_support.h"
#include "quant/format.h"

namespace tern {

// Adds a second file to a copy of tests/golden/families/qwen35: layer 3 again, as that layer, and what is around it.
// `more`: the name of one more tensor.
inline void add_draft_layer(const std::filesystem::path& folder, const std::string& more = {}) {
  const std::string first = "first.safetensors", second = "second.safetensors", layer = "model.layers.3.";
  std::filesystem::rename(folder / "model.safetensors", folder / first);
  const auto source = SafetensorsFile::open((folder / first).string()).value();
  nlohmann::json places;
  SafetensorsBytes file;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& shape, const std::string& data) {
    file.tensor(name, "F32", shape, data);
    places[name] = second;
  };
  for (const SafetensorsTensor& tensor : source.tensors()) {
    places[tensor.name] = first;
    if (!tensor.name.starts_with(layer)) continue;
    std::vector<float> values(static_cast<size_t>(tensor.n_elements()));
    format_info(Format::kBF16).decode(tensor.data, values);
    add("mtp.layers.0." + tensor.name.substr(layer.size()), tensor.shape, raw_values(values));
  }
  std::vector<float> joined;
  for (int i = 0; i < 32 * 64; ++i) joined.push_back(static_cast<float>(i));
  add("mtp.fc.weight", {32, 64}, raw_values(joined));
  add("mtp.pre_fc_norm_embedding.weight", {32}, raw_values(std::vector<float>(32, 0.25f)));
  add("mtp.pre_fc_norm_hidden.weight", {32}, raw_values(std::vector<float>(32, 0.5f)));
  add("mtp.norm.weight", {32}, raw_values(std::vector<float>(32, 0.75f)));
  if (!more.empty()) add(more, {1}, raw_values(std::vector<float>{1}));
  file.write(folder / second);
  std::ofstream(folder / "model.safetensors.index.json") << nlohmann::json{{"weight_map", places}}.dump();
}

}  // namespace tern
