// Checks a model by the beginnings of its files and returns the error that loading it would give.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "engine/load/tokenizers.h"
#include "file/gguf/gguf.h"
#include "model/gguf/changes.h"
#include "model/gguf/source.h"
#include "model/hf/source.h"
#include "model/mlc/source.h"
#include "model/model.h"
#include "tern/file_preview.h"

namespace tern {
namespace {

// A file of which only the beginning is known. All later bytes have the same value, so that a float of any type reads
// as a number near 1; values that readers compute from small tensors (scales, RoPE factors) are then harmless.
class PreviewedFile final : public File {
 public:
  explicit PreviewedFile(const FilePreview& preview) : preview_(preview) {}

  const std::string& path() const override { return preview_.path; }
  uint64_t size() const override { return preview_.bytes; }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    if (offset == 0) return preview_.read_beginning(into);  // everything before the tensors' data is read from offset 0
    constexpr int kNearOne = 0x3F;                          // 0.75 in f32 and bf16, 1.8 in f16
    std::memset(into.data(), kNearOne, into.size());
    return {};
  }

 private:
  FilePreview preview_;
};

// A file that is read completely.
class WholeFile final : public File {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)) {}
  Result<void> bring(const FilePreview& preview) {
    constexpr uint64_t kMost = uint64_t{64} << 20;  // twice the size of the largest tokenizers
    if (preview.bytes > kMost) {
      return fail(ErrorCode::kCorruption, "{}: {} bytes are too many for a file of this name, which has at most {}",
                  path_, preview.bytes, kMost);
    }
    bytes_.resize(preview.bytes);
    return preview.read_beginning(bytes_);
  }

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  Bytes resident() const override { return bytes_; }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
    return {};
  }

 private:
  std::string path_;
  std::vector<std::byte> bytes_;
};

Result<void> check_not_empty(const FilePreview& file) {
  if (file.bytes == 0) return fail(ErrorCode::kCorruption, "{}: the file is empty", file.path);
  return {};
}

std::string_view name_in_folder(std::string_view path) { return path.substr(path.rfind('/') + 1); }

class PreviewedFolder final : public Folder {
 public:
  explicit PreviewedFolder(std::span<const FilePreview> files) {
    const std::string& first = files.front().path;
    path_ = first.substr(0, first.size() - std::min(first.size(), name_in_folder(first).size() + 1));
    for (const FilePreview& file : files) files_.emplace(name_in_folder(file.path), file);
  }

  const std::string& path() const override { return path_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, file] : files_) names.push_back(name);
    return names;
  }
  bool has(std::string_view name) const override { return files_.contains(name); }
  Result<std::unique_ptr<File>> open(std::string_view name, Access access) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) return fail(ErrorCode::kNotFound, "{}: there is no such file", path_of(name));
    TRY_STATUS(check_not_empty(found->second));
    if (access == Access::kPieces) return std::make_unique<PreviewedFile>(found->second);
    auto file = std::make_unique<WholeFile>(found->second.path);
    TRY_STATUS(file->bring(found->second));
    return file;
  }
  bool has_weights() const override { return false; }

 private:
  std::string path_;
  std::map<std::string, FilePreview, std::less<>> files_;
};

Result<std::unique_ptr<ModelSource>> open_previews(std::span<const FilePreview> files, const MetadataChanges& changes) {
  auto folder = std::make_shared<PreviewedFolder>(files);
  if (is_mlc_directory(*folder) || is_hf_directory(*folder)) {
    TRY_STATUS(refuse_changes(changes, folder->path()));
    return open_source(std::move(folder), {}, Access::kPieces);
  }
  std::vector<std::unique_ptr<File>> parts;
  for (const FilePreview& file : files) {
    TRY_STATUS(check_not_empty(file));
    parts.push_back(std::make_unique<PreviewedFile>(file));
  }
  TRY(GgufFile file, GgufFile::read(std::move(parts)));
  TRY_STATUS(apply_changes(changes, file));
  return std::make_unique<GgufSource>(std::move(file), Access::kResident, changes);
}

}  // namespace

Result<void> check_model_header(std::span<const FilePreview> files) { return check_model_header_with(files, {}); }

Result<void> check_model_header_with(std::span<const FilePreview> files, const MetadataChanges& changes) {
  if (files.empty()) return fail(ErrorCode::kInvalidArgument, "there is no file to look at");
  TRY(auto source, open_previews(files, changes));
  const std::string path = source->path();
  TRY(const Model model, read_model(path, std::move(source)));
  TRY_STATUS(make_tokenizer(*model.source));
  return {};
}

}  // namespace tern
