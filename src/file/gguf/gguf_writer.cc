#include "file/gguf/gguf_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ranges>
#include <utility>

#include "base/check.h"
#include "base/text/quoted.h"
#include "file/gguf/gguf_limits.h"

namespace tern {
namespace {

constexpr std::string_view kAlignmentKey = "general.alignment";

template <class T>
void put(std::string& out, T value) {
  std::array<std::byte, sizeof(T)> bytes;
  store(bytes.data(), value);
  out += as_text(bytes);
}

void put_string(std::string& out, std::string_view text) {
  put<uint64_t>(out, text.size());
  out += text;
}

}  // namespace

GgufWriter::GgufWriter(std::string path, uint32_t alignment) : path_(std::move(path)), alignment_(alignment) {
  CHECK(std::has_single_bit(alignment) && alignment >= 8);
  if (alignment != kGgufDefaultAlignment) add_u32(kAlignmentKey, alignment);
}

void GgufWriter::add_key(std::string_view key, GgufKind kind) {
  CHECK(!file_);  // metadata is added before begin()
  if (!keys_.emplace(key).second && doubled_key_.empty()) doubled_key_ = key;
  ++n_metadata_;
  put_string(metadata_, key);
  put(metadata_, kind);
}

void GgufWriter::add_array_head(std::string_view key, GgufKind element, uint64_t count) {
  add_key(key, GgufKind::kArray);
  put(metadata_, element);
  put(metadata_, count);
}

template <class T>
void GgufWriter::add_scalar(std::string_view key, GgufKind kind, T value) {
  DCHECK(sizeof(T) == gguf_kind_bytes(kind));
  add_key(key, kind);
  put(metadata_, value);
}

void GgufWriter::add_u8(std::string_view key, uint8_t value) { add_scalar(key, GgufKind::kU8, value); }
void GgufWriter::add_i8(std::string_view key, int8_t value) { add_scalar(key, GgufKind::kI8, value); }
void GgufWriter::add_u16(std::string_view key, uint16_t value) { add_scalar(key, GgufKind::kU16, value); }
void GgufWriter::add_i16(std::string_view key, int16_t value) { add_scalar(key, GgufKind::kI16, value); }
void GgufWriter::add_u32(std::string_view key, uint32_t value) { add_scalar(key, GgufKind::kU32, value); }
void GgufWriter::add_i32(std::string_view key, int32_t value) { add_scalar(key, GgufKind::kI32, value); }
void GgufWriter::add_u64(std::string_view key, uint64_t value) { add_scalar(key, GgufKind::kU64, value); }
void GgufWriter::add_i64(std::string_view key, int64_t value) { add_scalar(key, GgufKind::kI64, value); }
void GgufWriter::add_f32(std::string_view key, float value) { add_scalar(key, GgufKind::kF32, value); }
void GgufWriter::add_f64(std::string_view key, double value) { add_scalar(key, GgufKind::kF64, value); }
void GgufWriter::add_bool(std::string_view key, bool value) {
  add_scalar(key, GgufKind::kBool, static_cast<uint8_t>(value));
}

void GgufWriter::add_string(std::string_view key, std::string_view value) {
  add_key(key, GgufKind::kString);
  put_string(metadata_, value);
}

void GgufWriter::add_u32s(std::string_view key, std::span<const uint32_t> values) {
  add_array_head(key, GgufKind::kU32, values.size());
  metadata_ += as_text(std::as_bytes(values));
}

void GgufWriter::add_i32s(std::string_view key, std::span<const int32_t> values) {
  add_array_head(key, GgufKind::kI32, values.size());
  metadata_ += as_text(std::as_bytes(values));
}

void GgufWriter::add_f32s(std::string_view key, std::span<const float> values) {
  add_array_head(key, GgufKind::kF32, values.size());
  metadata_ += as_text(std::as_bytes(values));
}

void GgufWriter::add_strings(std::string_view key, std::span<const std::string_view> values) {
  add_array_head(key, GgufKind::kString, values.size());
  for (const std::string_view value : values) put_string(metadata_, value);
}

void GgufWriter::add(std::string_view key, const GgufValue& value) {
  if (key == kAlignmentKey) return;
  if (value.is_array) {
    add_array_head(key, value.kind, value.count);
  } else {
    add_key(key, value.kind);
    if (value.kind == GgufKind::kString) put<uint64_t>(metadata_, value.data.size());
  }
  metadata_ += as_text(value.data);
}

Result<void> GgufWriter::add_tensor(std::string_view name, GgmlType type, std::span<const int64_t> shape) {
  CHECK(!file_);  // tensors are declared before begin()
  if (name.empty() || name.size() > kGgufLongestName) {
    return fail(ErrorCode::kInvalidArgument, "{}: a tensor's name has {} bytes; give it 1 to {}", path_, name.size(),
                kGgufLongestName);
  }
  const auto bytes = ggml_tensor_bytes(type, shape);
  if (!bytes || shape.size() > kGgufMostDimensions) {
    const GgmlTypeInfo* info = ggml_type_info(type);
    std::string dims;
    for (const int64_t dim : shape) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
    return fail(
        ErrorCode::kInvalidArgument,
        "{}: tensor {} of shape [{}] cannot be stored as {}; GGUF takes 1 to {} dimensions and rows of whole blocks "
        "(here {} values)",
        path_, tern::quoted(name), dims, info ? info->name : "an unknown type", kGgufMostDimensions,
        info ? info->block : 1);
  }
  if (!tensor_names_.emplace(name).second) {
    return fail(ErrorCode::kInvalidArgument, "{}: tensor {} was declared twice; give each its own name", path_,
                tern::quoted(name));
  }
  tensors_.push_back({std::string(name), type, {shape.begin(), shape.end()}, *bytes});
  return {};
}

Result<void> GgufWriter::begin() {
  CHECK(!file_);
  if (!doubled_key_.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: metadata {} was added twice; add each key once", path_,
                tern::quoted(doubled_key_));
  }
  std::string head = "GGUF";
  put<uint32_t>(head, 3);
  put<uint64_t>(head, tensors_.size());
  put<uint64_t>(head, n_metadata_);
  head += std::exchange(metadata_, {});
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    put_string(head, tensor.name);
    put(head, static_cast<uint32_t>(tensor.shape.size()));
    for (const int64_t dim : tensor.shape | std::views::reverse) put(head, dim);
    put(head, tensor.type);
    put(head, offset);
    offset += round_up(tensor.bytes, alignment_);
  }
  TRY(OutputFile file, OutputFile::create(path_));
  file_.emplace(std::move(file));
  TRY_STATUS(file_->write(as_bytes(head)));
  return write_padding(head.size());
}

Result<void> GgufWriter::append(Bytes data) {
  CHECK(file_);  // after begin()
  if (data.empty()) return {};
  const uint64_t room = current_ < tensors_.size() ? tensors_[current_].bytes - current_bytes_ : 0;
  if (data.size() > room) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: {} bytes were given where {} lacks {}; append each tensor's own bytes", path_, data.size(),
                current_ < tensors_.size() ? tern::quoted(tensors_[current_].name) : "no tensor", room);
  }
  TRY_STATUS(file_->write(data));
  current_bytes_ += data.size();
  if (data.size() < room) return {};
  TRY_STATUS(write_padding(current_bytes_));
  ++current_;
  current_bytes_ = 0;
  return {};
}

Result<void> GgufWriter::write_padding(uint64_t written) {
  const std::string zeros(round_up(written, alignment_) - written, '\0');
  return file_->write(as_bytes(zeros));
}

Result<void> GgufWriter::finish() {
  CHECK(file_);  // after begin()
  if (current_ < tensors_.size()) {
    return fail(ErrorCode::kInvalidArgument, "{}: tensor {} has only {} of its {} bytes; append all data first", path_,
                tern::quoted(tensors_[current_].name), current_bytes_, tensors_[current_].bytes);
  }
  return file_->finish();
}

}  // namespace tern
