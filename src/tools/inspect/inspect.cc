// Describes a model's contents. Works for any well-formed model, even one that Tern cannot run.
#include <filesystem>

#include "backend/kv_layout.h"
#include "backend/state_layout.h"
#include "base/text/format_text.h"
#include "engine/load/sampling_advice.h"
#include "engine/load/tokenizers.h"
#include "file/gguf/gguf.h"
#include "model/gguf/changes.h"
#include "model/model.h"
#include "tern/tools.h"
#include "tools/inspect/inspect_directory.h"
#include "tools/inspect/metadata_json.h"
#include "tools/inspect/metadata_text.h"

namespace tern {
namespace {

TensorInfo describe_tensor(const GgufTensor& tensor) {
  const GgmlTypeInfo* type = ggml_type_info(tensor.type);
  return {.name = std::string(tensor.name),
          .type = type ? std::string(type->name) : format_text("type {}", static_cast<uint32_t>(tensor.type)),
          .shape = tensor.shape,
          .offset = tensor.offset,
          .bytes = tensor.data.size()};
}

// Empty if all layers are alike.
std::vector<LayerShape> different_layers(const Config& c) {
  std::vector<LayerShape> layers;
  if (!c.layers_differ(&LayerConfig::n_heads) && !c.layers_differ(&LayerConfig::n_kv_heads) &&
      !c.layers_differ(&LayerConfig::d_ff)) {
    return layers;
  }
  for (int i = 0; i < c.n_layers; ++i) {
    const LayerConfig l = c.layer(i);
    layers.push_back({.n_heads = l.n_heads, .n_kv_heads = l.n_kv_heads, .d_ff = l.d_ff});
  }
  return layers;
}

// Adds facts that are only known for models that Tern can run. The error says why it cannot.
Result<void> add_model_facts(const std::string& path, KvType kv_type, FileInfo& info) {
  TRY(const Model model, open_model(path, {}, Access::kResident, info.changes));
  warn_of_ignored_keys(model);
  TRY_STATUS(make_tokenizer(*model.source));
  const Config& c = model.config;
  info.n_params = model.weights.n_params();
  info.bytes_per_token = model.weights.bytes_per_token(c.experts.n_used);
  info.kv_bytes_per_token = kv_bytes(c, 1, kv_type);
  info.state_bytes = StateLayout(c).kept_bytes();
  info.sampling = advice_for(model);
  info.layers = different_layers(c);
  return {};
}

Result<FileInfo> inspect_gguf(const std::string& path, const MetadataChanges& changes) {
  TRY(GgufFile file, GgufFile::open(path));
  TRY_STATUS(apply_changes(changes, file));
  FileInfo info;
  info.path = path;
  info.container = format_text("GGUF v{}", file.version());
  info.file_bytes = file.file_bytes();
  for (const auto& [key, value] : file.metadata()) {
    info.metadata.emplace_back(escaped_text(key, key.size()), metadata_text(value));
  }
  for (const GgufTensor& tensor : file.tensors()) {
    info.tensors.push_back(describe_tensor(tensor));
    info.n_params += static_cast<uint64_t>(tensor.n_elements());
  }
  return info;
}

Result<nlohmann::ordered_json> gguf_metadata(const std::string& path, bool whole_arrays,
                                             const MetadataChanges& changes) {
  TRY(GgufFile file, GgufFile::open(path));
  TRY_STATUS(apply_changes(changes, file));
  auto object = nlohmann::ordered_json::object();
  for (const auto& [key, value] : file.metadata()) object[std::string(key)] = metadata_json(value, whole_arrays);
  return object;
}

}  // namespace

Result<std::string> inspect_metadata_json(const std::string& path, bool whole_arrays, const MetadataChanges& changes) {
  using Json = nlohmann::ordered_json;
  std::error_code ignored;
  TRY(const Json metadata, std::filesystem::is_directory(path, ignored) ? directory_metadata(path, whole_arrays)
                                                                        : gguf_metadata(path, whole_arrays, changes));
  return metadata.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<FileInfo> inspect(const std::string& path, KvType kv_type, const MetadataChanges& changes) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  if (is_folder) TRY_STATUS(refuse_changes(changes, path));
  TRY(FileInfo info, is_folder ? inspect_directory(path) : inspect_gguf(path, changes));
  info.changes = changes;
  if (auto runs = add_model_facts(path, kv_type, info); !runs) info.not_supported = std::move(runs).error().message;
  return info;
}

}  // namespace tern
