#include "file/safetensors/safetensors_directory.h"

#include <algorithm>
#include <filesystem>

#include "base/json_reader.h"
#include "base/text/quoted.h"
#include "file/file_name.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestDirectoryIndex = size_t{16} << 20;
constexpr std::string_view kOneFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";
constexpr std::string_view kMixedRevisions =
    "the files belong to different revisions of the model, or are damaged; download all of them again";

std::unexpected<Error> no_weights(const Folder& folder) {
  std::string_view advice = "download the model's safetensors files into it";
  for (const std::string& name : folder.names()) {
    const std::string extension = fs::path(name).extension().string();
    if (extension == ".gguf") advice = "it has GGUF files, so name one of them";
    if (extension == ".bin" || extension == ".pth" || extension == ".pt") {
      advice = "it seems to have weights in PyTorch's pickle format; get the model as safetensors or GGUF";
    }
  }
  return fail(ErrorCode::kNotFound, "{}: neither {} nor {} is there; {}", folder.path(), kOneFile, kIndexFile, advice);
}

// Shard and index must agree on every tensor in both directions.
Result<void> check_shard(const SafetensorsFile& file, std::vector<std::string> indexed, const std::string& index_path) {
  for (const std::string& name : indexed) {
    if (!file.find(name)) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} is not in this file, though {} places it there: {}",
                  file.path(), tern::quoted(name), index_path, kMixedRevisions);
    }
  }
  std::ranges::sort(indexed);
  for (const SafetensorsTensor& tensor : file.tensors()) {
    if (!std::ranges::binary_search(indexed, tensor.name)) {
      return fail(ErrorCode::kCorruption, "{}: tensor {} is in this file, but {} does not place it there: {}",
                  file.path(), tern::quoted(tensor.name), index_path, kMixedRevisions);
    }
  }
  return {};
}

}  // namespace

Result<ShardTensors> parse_safetensors_index(std::string_view text, std::string_view path) {
  TRY(const Json root, parse_json(text, path, {.max_bytes = kLongestDirectoryIndex, .unique_names = true}));
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (!root.is_object() || map == root.end() || !map->is_object() || map->empty()) {
    return fail(ErrorCode::kCorruption, "{}: no \"weight_map\", so this is not an index of safetensors files", path);
  }
  ShardTensors shards;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !is_plain_name(file.get_ref<const std::string&>())) {
      return fail(ErrorCode::kCorruption, "{}: weight_map places tensor {} in {}, which is not a file name", path,
                  tern::quoted(name), tern::quoted(file.dump(-1, ' ', true)));
    }
    shards[file.get<std::string>()].push_back(name);
  }
  return shards;
}

Result<SafetensorsDirectory> SafetensorsDirectory::open(const Folder& folder, Access access) {
  SafetensorsDirectory model;
  model.path_ = folder.path();
  if (folder.has(kOneFile)) {
    TRY(auto opened, folder.open(kOneFile, access));
    TRY(SafetensorsFile file, SafetensorsFile::read(std::move(opened)));
    model.files_.push_back(std::move(file));
    return model;
  }
  if (!folder.has(kIndexFile)) return no_weights(folder);
  const std::string index_path = folder.path_of(kIndexFile);
  TRY(const auto index, folder.open(kIndexFile));
  TRY(ShardTensors shards, parse_safetensors_index(as_text(index->resident()), index_path));
  std::vector<std::string> names;
  for (const auto& [name, tensors] : shards) names.push_back(name);
  std::ranges::sort(names);
  for (const std::string& name : names) {
    if (!folder.has(name)) {
      return fail(ErrorCode::kNotFound, "{}: file {} is missing, though {} lists it among {}; download it too",
                  folder.path(), tern::quoted(name), kIndexFile, names.size());
    }
    TRY(auto opened, folder.open(name, access));
    TRY(SafetensorsFile file, SafetensorsFile::read(std::move(opened)));
    TRY_STATUS(check_shard(file, std::move(shards[name]), index_path));
    model.files_.push_back(std::move(file));
  }
  return model;
}

uint64_t SafetensorsDirectory::file_bytes() const {
  uint64_t bytes = 0;
  for (const SafetensorsFile& file : files_) bytes += file.file_bytes();
  return bytes;
}

std::vector<const SafetensorsTensor*> SafetensorsDirectory::tensors() const {
  std::vector<const SafetensorsTensor*> all;
  for (const SafetensorsFile& file : files_) {
    for (const SafetensorsTensor& tensor : file.tensors()) all.push_back(&tensor);
  }
  return all;
}

const SafetensorsTensor* SafetensorsDirectory::find(std::string_view name) const {
  for (const SafetensorsFile& file : files_) {
    if (const SafetensorsTensor* tensor = file.find(name)) return tensor;
  }
  return nullptr;
}

void SafetensorsDirectory::populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const {
  uint64_t before = 0;
  for (const SafetensorsFile& file : files_) {
    if (!file.file()) continue;
    file.file()->populate([&](uint64_t done, uint64_t) { on_progress(before + done, file_bytes()); });
    before += file.file_bytes();
  }
}

}  // namespace tern
