// Opening a GGUF file: header, metadata, tensors. The look-ups are in gguf_lookup.cc.
#include "file/gguf.h"

#include <bit>
#include <limits>

#include "base/quoted.h"
#include "file/gguf_cursor.h"
#include "file/gguf_header.h"
#include "file/gguf_metadata.h"
#include "file/gguf_tensors.h"

namespace tern {
namespace {

constexpr uint64_t kDefaultAlignment = 32;
// The specification wants a multiple of 8. Tern relies on it: f32 tensors are read in place.
constexpr int64_t kLeastAlignment = 8;

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
  TRY(GgufFile file, open_part(path));
  TRY(const auto n_parts, file.get_int("split.count"));
  if (n_parts.value_or(1) <= 1) return file;
  return open_split(std::move(file), *n_parts);
}

Result<GgufFile> GgufFile::parse(Bytes bytes, std::string name) {
  TRY(GgufFile file, parse_part(bytes, std::move(name)));
  TRY(const auto n_parts, file.get_int("split.count"));
  if (n_parts.value_or(1) <= 1) return file;
  return fail(ErrorCode::kNotSupported, "{}: this is one part of a model split into {} files; open it as a file",
              file.path_, *n_parts);
}

Result<GgufFile> GgufFile::open_part(const std::string& path) {
  TRY(MappedFile mapped, MappedFile::open(path));
  TRY(GgufFile file, parse_part(mapped.bytes(), path));
  file.file_ = std::move(mapped);
  return file;
}

Result<GgufFile> GgufFile::parse_part(Bytes bytes, std::string name) {
  GgufFile file;
  file.path_ = std::move(name);
  file.bytes_ = bytes;
  GgufCursor cursor(bytes, file.path_);
  TRY(const GgufHeader header, read_gguf_header(cursor));
  file.version_ = header.version;
  TRY(GgufMetadata metadata, read_gguf_metadata(cursor, header.n_metadata));
  file.metadata_ = std::move(metadata.entries);
  file.metadata_index_ = std::move(metadata.index);

  TRY(const auto declared, file.get_int("general.alignment"));
  const int64_t alignment = declared.value_or(kDefaultAlignment);
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

uint64_t GgufFile::file_bytes() const {
  uint64_t bytes = bytes_.size();
  for (const MappedFile& part : other_parts_) bytes += part.bytes().size();
  return bytes;
}

void GgufFile::populate(const std::function<void(uint64_t, uint64_t)>& on_progress) const {
  if (!file_) return;
  uint64_t before = 0;
  const auto bring = [&](const MappedFile& part) {
    part.populate([&](uint64_t done, uint64_t) { on_progress(before + done, file_bytes()); });
    before += part.bytes().size();
  };
  bring(*file_);
  for (const MappedFile& part : other_parts_) bring(part);
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

}  // namespace tern
