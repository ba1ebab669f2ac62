#include "model/gguf_tensors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "quant/i2_s.h"

namespace tern {
namespace {

struct TypeAndFormat {
  GgmlType type;
  Format format;
};
constexpr TypeAndFormat kFormats[] = {
    {GgmlType::kF32, Format::kF32},   {GgmlType::kF16, Format::kF16},     {GgmlType::kBF16, Format::kBF16},
    {GgmlType::kQ8_0, Format::kQ8_0}, {GgmlType::kQ4_0, Format::kQ4_0},   {GgmlType::kQ6_K, Format::kQ6_K},
    {GgmlType::kI2_S, Format::kI2_S}, {GgmlType::kTQ1_0, Format::kTQ1_0}, {GgmlType::kTQ2_0, Format::kTQ2_0},
};
constexpr std::array kTernaryFormats = {Format::kI2_S, Format::kTQ1_0, Format::kTQ2_0};

const TypeAndFormat* find_format_of(GgmlType type) {
  const auto* row = std::ranges::find(kFormats, type, &TypeAndFormat::type);
  return row == std::end(kFormats) ? nullptr : row;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

std::string format_list(std::span<const Format> formats) {
  std::string text;
  for (const Format format : formats) text += (text.empty() ? "" : ", ") + std::string(format_info(format).name);
  return text;
}

// [n], [1, n] and [n, 1] all hold a vector.
bool is_vector_of(std::span<const int64_t> shape, int64_t n) {
  int64_t elements = 1;
  for (const int64_t dim : shape) elements *= dim;
  return elements == n && std::ranges::count_if(shape, [](int64_t dim) { return dim != 1; }) <= 1;
}

}  // namespace

Result<Tensor> GgufTensors::matrix(const std::string& name, int rows, int cols, std::span<const Format> formats) const {
  const GgufTensor* found = file_.find_tensor(name);
  if (!found) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is missing; the file is not a complete model", file_.path(),
                name);
  }
  const int64_t expected[] = {rows, cols};
  const bool vector_wanted = rows == 1;
  if (vector_wanted ? !is_vector_of(found->shape, cols) : !std::ranges::equal(found->shape, expected)) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} has shape {}, but the metadata asks for {}; the file was not converted right",
                file_.path(), name, shape_text(found->shape),
                shape_text(vector_wanted ? std::span(expected).last(1) : expected));
  }
  const TypeAndFormat* row = find_format_of(found->type);
  if (!row || std::ranges::find(formats, row->format) == formats.end()) {
    const GgmlTypeInfo* type = ggml_type_info(found->type);
    return fail(ErrorCode::kNotSupported, "{}: tensor {} is {}, but Tern runs it only as {}; convert the model again",
                file_.path(), name, type ? type->name : "of an unknown type", format_list(formats));
  }
  if (reinterpret_cast<uintptr_t>(found->data.data()) % alignof(float) != 0) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} at byte {} is not aligned to 4 bytes; write the file with general.alignment 32",
                file_.path(), name, found->offset);
  }
  return Tensor{.name = name, .format = row->format, .rows = rows, .cols = cols, .data = found->data};
}

Result<Tensor> GgufTensors::vector(const std::string& name, int n) const {
  constexpr std::array kFloat = {Format::kF32};
  return matrix(name, 1, n, kFloat);
}

Result<Tensor> GgufTensors::ternary(const std::string& prefix, int rows, int cols) const {
  const std::string name = prefix + ".weight";
  TRY(Tensor tensor, matrix(name, rows, cols, kTernaryFormats));
  if (tensor.format == Format::kI2_S) tensor.scale = i2_s_scale(tensor.data);
  if (has(prefix + ".scale")) {
    TRY(const Tensor scale, vector(prefix + ".scale", 1));
    tensor.scale *= load<float>(scale.data.data());
  }
  if (!std::isfinite(tensor.scale)) {
    return fail(ErrorCode::kCorruption, "{}: the scale of tensor {} is not a finite number; download the file again",
                file_.path(), name);
  }
  return tensor;
}

}  // namespace tern
