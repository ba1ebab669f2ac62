#include "model/source/source_reader.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>

namespace tern {
namespace {

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

// Accepts a vector as [n], [1, n] or [n, 1].
bool is_vector_of(std::span<const int64_t> shape, int64_t n) {
  int64_t elements = 1;
  for (const int64_t dim : shape) elements *= dim;
  return elements == n && std::ranges::count_if(shape, [](int64_t dim) { return dim != 1; }) <= 1;
}

}  // namespace

std::unexpected<Error> MetadataReader::missing(const std::string& name) const {
  return fail(ErrorCode::kCorruption, "{}: metadata key {} is missing; convert the model again", source_.path(), name);
}

Result<int> MetadataReader::integer(std::string_view key, int64_t most, std::optional<int64_t> fallback) const {
  const std::string name = prefix_ + std::string(key);
  TRY(const auto found, source_.get_int(name));
  const auto value = found ? found : fallback;
  if (!value) return missing(name);
  if (*value < 1 || *value > most) {
    return fail(ErrorCode::kCorruption, "{}: {} is {}, outside 1 to {}", source_.path(), name, *value, most);
  }
  return static_cast<int>(*value);
}

Result<std::vector<int>> MetadataReader::of_layers(std::string_view key, int64_t most, int n_layers,
                                                   std::vector<int> fallback) const {
  const std::string name = prefix_ + std::string(key);
  TRY(const auto list, source_.get_ints(name));
  if (!list) {
    TRY(const auto found, source_.get_int(name));
    if (!found && !fallback.empty()) return fallback;
    TRY(const int value, integer(key, most));
    return std::vector(static_cast<size_t>(n_layers), value);
  }
  if (list->size() != static_cast<size_t>(n_layers)) {
    return fail(ErrorCode::kCorruption, "{}: {} has {} values, but the model has {} layers; convert the model again",
                source_.path(), name, list->size(), n_layers);
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const int64_t value = (*list)[i];
    if (value == 0) {
      return fail(ErrorCode::kNotSupported,
                  "{}: {} is 0 in layer {}: Tern does not compute layers without attention or feed-forward, as DeciLM "
                  "models have; this model cannot be run",
                  source_.path(), name, i);
    }
    if (value < 1 || value > most) {
      return fail(ErrorCode::kCorruption, "{}: {} is {} in layer {}, outside 1 to {}; convert the model again",
                  source_.path(), name, value, i, most);
    }
  }
  return std::vector<int>(list->begin(), list->end());
}

Result<float> MetadataReader::positive(std::string_view key, std::optional<double> fallback) const {
  const std::string name = prefix_ + std::string(key);
  TRY(const auto found, source_.get_float(name));
  const auto value = found ? found : fallback;
  if (!value) return missing(name);
  const auto number = static_cast<float>(*value);
  if (!std::isfinite(number) || number <= 0) {
    return fail(ErrorCode::kCorruption, "{}: {} is {}, but must be a positive number", source_.path(), name, *value);
  }
  return number;
}

Result<std::optional<double>> MetadataReader::number(std::string_view key) const {
  return source_.get_float(prefix_ + std::string(key));
}

std::span<const Format> ternary_formats() { return ternary_row_formats(); }
std::span<const Format> float_formats() { return float_row_formats(); }

Result<Tensor> TensorReader::matrix(const std::string& name, int rows, int cols,
                                    std::span<const Format> formats) const {
  const int64_t shape[] = {rows, cols};
  return read(name, rows == 1 ? std::span(shape).last(1) : shape, formats);
}

Result<Linear> TensorReader::experts(const std::string& prefix, int n, int rows, int cols) const {
  const int64_t shape[] = {n, rows, cols};
  TRY(Linear tensor, read(prefix + ".weight", shape, float_formats()));
  tensor.n_experts = n;
  const std::string bias = prefix + ".bias";
  constexpr std::array kFloat = {Format::kF32};
  if (has(bias)) {
    TRY(tensor.bias, read(bias, std::span(shape).first(2), kFloat));
  }
  return tensor;
}

Result<Tensor> TensorReader::read(const std::string& name, std::span<const int64_t> expected,
                                  std::span<const Format> formats) const {
  TRY(const auto found, source_.find_tensor(name));
  if (!found) {
    return fail(ErrorCode::kCorruption, "{}: tensor {} is missing; the file is not a complete model", source_.path(),
                name);
  }
  const int64_t cols = expected.back();
  const bool vector_wanted = expected.size() == 1;
  if (vector_wanted ? !is_vector_of(found->shape, cols) : !std::ranges::equal(found->shape, expected)) {
    return fail(ErrorCode::kCorruption,
                "{}: tensor {} has shape {}, but the metadata asks for {}; the file was not converted correctly",
                source_.path(), name, shape_text(found->shape), shape_text(expected));
  }
  if (!found->format || std::ranges::find(formats, *found->format) == formats.end()) {
    return fail(ErrorCode::kNotSupported, "{}: tensor {} is {}, but Tern runs it only as {}; convert the model again",
                source_.path(), name, found->type_name, format_list(formats));
  }
  if (!std::isfinite(found->scale)) {
    return fail(ErrorCode::kCorruption, "{}: the scale of tensor {} is not a finite number; download the file again",
                source_.path(), name);
  }
  int64_t rows = 1;
  for (const int64_t dim : expected.first(expected.size() - 1)) rows *= dim;
  if (rows > INT_MAX) {
    return fail(ErrorCode::kNotSupported, "{}: tensor {} has {} rows, more than Tern's kernels count", source_.path(),
                name, rows);
  }
  return Tensor{.name = name,
                .format = *found->format,
                .rows = static_cast<int>(rows),
                .cols = static_cast<int>(cols),
                .data = found->data,
                .scale = found->scale};
}

Result<Tensor> TensorReader::vector(const std::string& name, int n) const {
  constexpr std::array kFloat = {Format::kF32};
  return matrix(name, 1, n, kFloat);
}

Result<Linear> TensorReader::linear(const std::string& prefix, int rows, int cols, bool int8_activations) const {
  const std::string name = prefix + ".weight", bias = prefix + ".bias", input_norm = prefix + "_norm_in.weight";
  TRY(Linear tensor, matrix(name, rows, cols, int8_activations ? ternary_formats() : float_formats()));
  if (has(prefix + ".scale")) {
    TRY(const Tensor scale, vector(prefix + ".scale", 1));
    Scratch scratch;
    TRY(const Bytes value, scale.data.read(0, sizeof(float), scratch));
    tensor.scale *= load<float>(value.data());
  }
  if (!std::isfinite(tensor.scale)) {
    return fail(ErrorCode::kCorruption, "{}: the scale of tensor {} is not a finite number; download the file again",
                source_.path(), name);
  }
  if (has(bias)) {
    TRY(tensor.bias, vector(bias, rows));
  }
  if (has(input_norm)) {
    TRY(tensor.input_norm, vector(input_norm, cols));
  }
  return tensor;
}

Tensor rows_of(const Tensor& tensor, std::string name, int first, int n) {
  const uint64_t bytes = row_bytes(tensor.format, tensor.cols);
  Tensor part = tensor;
  part.name = std::move(name);
  part.rows = n;
  part.data = tensor.data.subspan(static_cast<uint64_t>(first) * bytes, static_cast<uint64_t>(n) * bytes);
  return part;
}

}  // namespace tern
