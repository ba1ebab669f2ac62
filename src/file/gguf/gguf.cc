// Opens a GGUF file: header, metadata, tensors. The look-ups are in gguf_lookup.cc.
#include "file/gguf/gguf.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf_cursor.h"
#include "file/gguf/gguf_header.h"
#include "file/gguf/gguf_limits.h"
#include "file/gguf/gguf_metadata.h"
#include "file/gguf/gguf_override.h"
#include "file/gguf/gguf_tensors.h"

namespace tern {
namespace {

// The specification requires a multiple of 8. Tern relies on it, because f32 tensors are read in place.
constexpr int64_t kLeastAlignment = 8;
// Bytes of a file's beginning: those that are read first, as vocabularies of 150,000 tokens take 8 MB; and those behind
// the list of tensors that may stay in memory.
constexpr uint64_t kFirstBeginning = 1 << 20, kMostUnused = 1 << 16;

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path, Access access) {
  TRY(GgufFile file, open_part(path, access));
  TRY(const auto n_parts, file.get_int("split.count"));
  if (n_parts.value_or(1) <= 1) return file;
  return open_split(std::move(file), *n_parts, access);
}

Result<GgufFile> GgufFile::parse(Bytes bytes, const std::string& name) {
  GgufCursor cursor(bytes, name);
  TRY(GgufFile file, parse_part(cursor));
  TRY(const auto n_parts, file.get_int("split.count"));
  if (n_parts.value_or(1) <= 1) return file;
  return fail(ErrorCode::kNotSupported, "{}: this is one part of a model split into {} files; open it as a file",
              file.path_, *n_parts);
}

Result<GgufFile> GgufFile::read(std::vector<std::unique_ptr<File>> parts) {
  std::optional<GgufFile> model;
  for (std::unique_ptr<File>& file : parts) {
    TRY(GgufFile part, open_in_pieces(std::move(file)));
    if (!model) {
      model = std::move(part);
    } else {
      TRY_STATUS(model->append(std::move(part)));
    }
  }
  CHECK(model);
  return *std::move(model);
}

Result<GgufFile> GgufFile::open_part(const std::string& path, Access access) {
  TRY(auto file, open_file(path, access));
  if (file->resident().empty()) return open_in_pieces(std::move(file));
  GgufCursor cursor(file->resident(), path);
  TRY(GgufFile part, parse_part(cursor));
  part.files_.push_back(std::move(file));
  return part;
}

// The length of the tensor list is unknown until it is read, so the beginning is read again, longer, until it contains
// the whole list.
Result<GgufFile> GgufFile::open_in_pieces(std::unique_ptr<File> file) {
  for (uint64_t n = std::min(kFirstBeginning, file->size());; n = std::min(2 * n, file->size())) {
    std::vector<std::byte> beginning(n);
    TRY_STATUS(file->read(0, beginning));
    GgufCursor cursor(beginning, *file, file->path());
    auto part = parse_part(cursor);
    if (!part && cursor.needs_more()) continue;
    if (!part) return part;
    if (n - cursor.position() > kMostUnused) {  // strings point into it, so it is read again from where it stays
      beginning = std::vector(beginning.begin(), beginning.begin() + static_cast<ptrdiff_t>(cursor.position()));
      GgufCursor again(beginning, *file, file->path());
      part = parse_part(again);
      if (!part) return part;
    }
    part->beginnings_.push_back(std::move(beginning));
    part->files_.push_back(std::move(file));
    return part;
  }
}

Result<GgufFile> GgufFile::parse_part(GgufCursor& cursor) {
  const Bytes bytes = cursor.bytes();
  GgufFile file;
  file.path_ = cursor.path();
  file.bytes_ = bytes;
  file.file_bytes_ = cursor.file_bytes();
  TRY(const GgufHeader header, read_gguf_header(cursor));
  file.version_ = header.version;
  TRY(GgufMetadata metadata, read_gguf_metadata(cursor, header.n_metadata));
  file.metadata_ = std::move(metadata.entries);
  file.metadata_index_ = std::move(metadata.index);

  TRY(const auto declared, file.get_int("general.alignment"));
  const int64_t alignment = declared.value_or(kGgufDefaultAlignment);
  if (alignment < kLeastAlignment || alignment > std::numeric_limits<uint32_t>::max() ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    const auto at = static_cast<uint64_t>(file.find("general.alignment")->data.data() - bytes.data());
    return fail(
        ErrorCode::kCorruption,
        "{}: general.alignment at byte {} is {}, which is not a power of two of at least {}: the file is damaged; "
        "fetch or convert it again",
        file.path_, at, alignment, kLeastAlignment);
  }
  TRY(GgufTensors tensors, read_gguf_tensors(cursor, header.n_tensors, static_cast<uint64_t>(alignment)));
  file.tensors_ = std::move(tensors.entries);
  file.tensor_index_ = std::move(tensors.index);
  return file;
}

void GgufFile::populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const {
  uint64_t before = 0;
  for (const auto& file : files_) {
    file->populate([&](uint64_t done, uint64_t) { on_progress(before + done, file_bytes()); });
    before += file->size();
  }
}

int64_t GgufTensor::n_elements() const {
  int64_t n = 1;
  for (const int64_t dim : shape) n *= dim;
  return n;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = metadata_index_.find(key);
  return found == metadata_index_.end() ? nullptr : &metadata_[found->second].second;
}

void GgufFile::override_value(GgufOverride value) {
  const GgufOverride& kept = *overrides_.emplace_back(std::make_shared<const GgufOverride>(std::move(value)));
  const GgufValue as_value{.kind = kept.kind, .data = as_bytes(kept.data), .is_override = true};
  const auto [at, is_new] = metadata_index_.try_emplace(kept.key, metadata_.size());
  if (is_new) metadata_.emplace_back(kept.key, as_value);
  metadata_[at->second].second = as_value;
}

}  // namespace tern
