#include "tools/inspect/inspect_directory.h"

#include <filesystem>
#include <numeric>

#include "base/files/cache_folder.h"
#include "base/json_reader.h"
#include "base/thread_pool.h"
#include "file/mlc/mlc.h"
#include "file/safetensors/safetensors_directory.h"
#include "tools/inspect/metadata_json.h"
#include "tools/inspect/metadata_text.h"

namespace tern {
namespace {

constexpr size_t kLongestValue = 200;

// Flattens nested objects to paths such as "model_config.hidden_size".
void add_members(const Json& object, const std::string& prefix, FileInfo& info) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + escaped_text(key, key.size());
    if (value.is_object() && !value.empty()) {
      add_members(value, name + ".", info);  // parse_json limits the depth
    } else {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', true);
      info.metadata.emplace_back(name, escaped_text(text, kLongestValue));
    }
  }
}

Result<Json> read_config(const std::string& path) {
  TRY(const auto file, open_file(path));
  return parse_json(as_text(file->resident()), path, {.max_bytes = size_t{1} << 20});
}

// Same as add_members, but keeps the values as JSON.
void add_json_members(const Json& object, const std::string& prefix, bool whole_arrays, nlohmann::ordered_json& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object() && !value.empty()) {
      add_json_members(value, prefix + key + ".", whole_arrays, out);
    } else {
      out[prefix + key] = value.is_array() ? shortened_array(value, whole_arrays) : nlohmann::ordered_json(value);
    }
  }
}

Result<void> add_config(const std::string& path, FileInfo& info) {
  TRY(const Json config, read_config(path));
  if (config.is_object()) add_members(config, "", info);
  return {};
}

int64_t product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

template <class FileTensor>
void add_tensor(const FileTensor& tensor, FileInfo& info) {
  info.tensors.push_back({.name = escaped_text(tensor.name, tensor.name.size()),
                          .type = escaped_text(tensor.dtype, tensor.dtype.size()),
                          .shape = tensor.shape,
                          .offset = tensor.offset,
                          .bytes = tensor.data.size()});
  info.n_params += static_cast<uint64_t>(product(tensor.shape));
}

std::string config_path(const std::string& folder) {
  const char* const name = is_mlc_directory(folder) ? "mlc-chat-config.json" : "config.json";
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

Result<nlohmann::ordered_json> directory_metadata(const std::string& path, bool whole_arrays) {
  auto object = nlohmann::ordered_json::object();
  TRY(const Json config, read_config(config_path(path)));
  if (config.is_object()) add_json_members(config, "", whole_arrays, object);
  return object;
}

Result<FileInfo> inspect_directory(const std::string& path) {
  FileInfo info;
  info.path = path;
  if (is_mlc_directory(path)) {
    info.container = "MLC";
    TRY(const auto model,
        MlcDirectory::open(path, {.stamp_folder = user_cache_folder(), .n_threads = ThreadPool::available_cpus()}));
    info.file_bytes = model.file_bytes();
    for (const MlcTensor& tensor : model.tensors()) add_tensor(tensor, info);
    TRY_STATUS(add_config(config_path(path), info));
    return info;
  }
  info.container = "safetensors";
  TRY(const auto model, SafetensorsDirectory::open(path));
  info.file_bytes = model.file_bytes();
  for (const SafetensorsTensor* tensor : model.tensors()) add_tensor(*tensor, info);
  TRY_STATUS(add_config(config_path(path), info));
  return info;
}

}  // namespace tern
