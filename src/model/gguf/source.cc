#include "model/gguf/source.h"

#include <algorithm>
#include <vector>

#include "base/text/format_text.h"
#include "base/text/quoted.h"
#include "model/families/family.h"
#include "model/gguf/vocab.h"
#include "model/source/expert_tensors.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

// The matrices of a layer's experts; a file may have the first two as one tensor.
constexpr std::string_view kGateExperts = "ffn_gate_exps.weight", kUpExperts = "ffn_up_exps.weight",
                           kJoinedExperts = "ffn_gate_up_exps.weight";

}  // namespace

GgufSource::GgufSource(GgufFile file, Access access, MetadataChanges changes)
    : file_(std::move(file)),
      container_(format_text("GGUF v{}", file_.version())),
      changes_(std::move(changes)),
      made_(access) {}

// llama.cpp's converter permutes the rows in some architectures.
RopePairs GgufSource::rope_pairs(std::string_view architecture) const {
  const Family* family = find_family(architecture);
  return family ? family->gguf_pairs : RopePairs::kHalves;
}

Result<std::optional<SourceText>> GgufSource::read_text() const {
  TRY(auto vocab, read_gguf_vocab(file_));
  if (!vocab) return std::nullopt;
  TRY(auto chat_template, read_gguf_chat_template(file_));
  return SourceText{.vocab = std::move(*vocab), .chat_template = std::move(chat_template)};
}

Result<std::optional<std::string>> GgufSource::get_string(std::string_view key) const {
  TRY(const auto view, file_.get_string(key));
  return view ? std::optional(std::string(*view)) : std::nullopt;
}

Result<std::optional<std::vector<int64_t>>> GgufSource::get_ints(std::string_view key) const {
  const GgufValue* value = file_.find(key);
  if (!value || !value->is_array) return std::nullopt;
  return file_.get_ints(key);
}

Result<std::optional<std::vector<float>>> GgufSource::get_floats(std::string_view key) const {
  const GgufValue* value = file_.find(key);
  if (!value || !value->is_array) return std::nullopt;
  return file_.get_floats(key);
}

std::vector<std::string> GgufSource::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : file_.metadata()) keys.emplace_back(key);
  return keys;
}

std::vector<NamedTensor> GgufSource::tensor_names() const {
  std::vector<NamedTensor> names;
  for (const GgufTensor& tensor : file_.tensors()) {
    NamedTensor& name = names.emplace_back(std::string(tensor.name), std::vector{std::string(tensor.name)});
    if (!name.in_file.ends_with(kJoinedExperts)) continue;
    const std::string layer = name.in_file.substr(0, name.in_file.size() - kJoinedExperts.size());
    name.names = {layer + std::string(kGateExperts), layer + std::string(kUpExperts)};
  }
  return names;
}

const GgufTensor* GgufSource::joined_experts(std::string_view name) const {
  for (const std::string_view end : {kGateExperts, kUpExperts}) {
    if (!name.ends_with(end)) continue;
    return file_.find_tensor(std::string(name.substr(0, name.size() - end.size())) + std::string(kJoinedExperts));
  }
  return nullptr;
}

// Repacks an I2_S matrix whose rows begin or end inside blocks, so that each row has its own blocks.
Result<SourceTensor> GgufSource::in_rows(SourceTensor flat) {
  if (!is_i2_s_row(flat.shape.back())) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} is I2_S with rows of {} values; Tern takes rows of {} or more, a multiple of {}", path(),
                flat.name, flat.shape.back(), kI2sLeastRow, kI2sRowUnit);
  }
  const auto rows = static_cast<uint64_t>(flat.shape.front()), cols = static_cast<uint64_t>(flat.shape.back());
  const uint64_t stride = row_bytes(Format::kI2_S, flat.shape.back());
  const auto make = [from = flat.data, cols, stride](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
    const uint64_t first_block = first * cols / kI2sBlock, at = first * cols % kI2sBlock;
    Scratch scratch;
    TRY(const Bytes blocks, from.read(first_block * kI2sBlockBytes, i2_s_bytes(at + n * cols), scratch));
    std::ranges::fill(out, std::byte{0});
    for (uint64_t r = 0; r < n; ++r) {
      copy_i2_s_codes(blocks, out.subspan(r * stride, stride), {.from_at = at + r * cols, .to_at = 0}, cols);
    }
    return {};
  };
  std::vector<std::byte> tail(kI2sTailBytes);
  store(tail.data(), flat.scale);
  TRY(flat.data, made_.make(std::make_unique<MadeRows>(stride, rows, make, std::move(tail)), path()));
  return flat;
}

Result<SourceTensor> GgufSource::read_tensor(const GgufTensor& found, std::string_view name) const {
  const StoredBytes& data = found.data;
  const uint64_t at = data.is_resident() ? reinterpret_cast<uintptr_t>(data.data()) : found.offset;
  if (at % alignof(float) != 0) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} at byte {} is not aligned to 4 bytes; write the file with general.alignment 32",
                file_.path(), name, found.offset);
  }
  const GgmlTypeInfo* type = ggml_type_info(found.type);
  const FormatInfo* format = type ? find_format(type->name) : nullptr;
  return SourceTensor{.name = std::string(name),
                      .format = format ? std::optional(format->format) : std::nullopt,
                      .type_name = type ? std::string(type->name) : "of an unknown type",
                      .shape = found.shape,
                      .data = data};
}

Result<std::optional<SourceTensor>> GgufSource::find_tensor(std::string_view name) {
  if (const SourceTensor* made = made_.find(name)) return *made;
  const GgufTensor* found = file_.find_tensor(name);
  if (const GgufTensor* joined = found ? nullptr : joined_experts(name)) {
    TRY(SourceTensor both, read_tensor(*joined, name));
    return made_.add(half_of_experts(std::move(both), name.ends_with(kGateExperts), made_));
  }
  if (!found) return std::nullopt;
  TRY(SourceTensor tensor, read_tensor(*found, name));
  if (tensor.format == Format::kI2_S) {
    Scratch scratch;
    TRY(const Bytes tail, tensor.data.last(kI2sTailBytes).read_all(scratch));
    tensor.scale = i2_s_scale(tail);
    if (tensor.shape.size() == 2 && tensor.shape.back() % kI2sBlock != 0) {
      TRY(tensor, in_rows(std::move(tensor)));
      return made_.add(std::move(tensor));
    }
  }
  // Gains and biases in half precision are converted, because kernels read floats.
  if (tensor.shape.size() == 1 && (tensor.format == Format::kF16 || tensor.format == Format::kBF16)) {
    TRY(tensor, make_f32_vector(std::move(tensor), made_, path()));
    return made_.add(std::move(tensor));
  }
  return tensor;
}

Result<void> check_extensions(const GgufFile& file, const MetadataChanges& changes) {
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("prism.hadamard.")) continue;  // rotation.h
    if (key.starts_with("prism.") && !std::ranges::contains(changes.ignored_keys, key)) {
      return fail(
          ErrorCode::kNotSupported,
          "{}: metadata {} is an extension of the Prism fork that Tern does not know, so it might print garbage; "
          "get a file without it, or ignore the key if you know that it changes nothing",
          file.path(), quoted(key));
    }
  }
  return {};
}

}  // namespace tern
