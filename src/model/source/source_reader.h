// Helpers with which families read a model: values with their bounds, and tensors by name, type and shape in one call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/source/source.h"
#include "model/source/weights.h"

namespace tern {

// Reads `ARCH.key` values and checks their bounds.
class MetadataReader {
 public:
  MetadataReader(const ModelSource& source, std::string prefix) : source_(source), prefix_(std::move(prefix) + ".") {}

  // An integer from 1 to `most`. kCorruption: out of range, or absent without a fallback.
  Result<int> integer(std::string_view key, int64_t most, std::optional<int64_t> fallback = {}) const;
  // The same for every layer, from one number or a list. Absent: `fallback`, if it is not empty. kNotSupported: a list
  // with a 0, which means that the layer lacks the part.
  Result<std::vector<int>> of_layers(std::string_view key, int64_t most, int n_layers,
                                     std::vector<int> fallback = {}) const;
  // A finite number above 0.
  Result<float> positive(std::string_view key, std::optional<double> fallback = {}) const;

  // Any number; nullopt: the key is absent.
  Result<std::optional<double>> number(std::string_view key) const;

  const ModelSource& source() const { return source_; }

 private:
  std::unexpected<Error> missing(const std::string& name) const;

  const ModelSource& source_;
  std::string prefix_;
};

// The matrix formats for int8 activations, and those for float activations.
std::span<const Format> ternary_formats();
std::span<const Format> float_formats();

class TensorReader {
 public:
  explicit TensorReader(ModelSource& source) : source_(source) {}

  bool has(const std::string& name) const { return source_.has_tensor(name); }

  // A [rows, cols] matrix in one of `formats`. kCorruption: absent, another shape; kNotSupported: another type.
  Result<Tensor> matrix(const std::string& name, int rows, int cols, std::span<const Format> formats) const;

  // The matrices of a mixture's experts, [n, rows, cols], and `PREFIX.bias`, [n, rows], if the file has it. Errors as
  // of matrix().
  Result<Linear> experts(const std::string& prefix, int n, int rows, int cols) const;

  // A vector of n float32 values.
  Result<Tensor> vector(const std::string& name, int n) const;

  // The matrix `PREFIX.weight` of a linear layer: ternary with `int8_activations`, else in one of float_formats(). If
  // the file has `PREFIX.scale`, its one value is folded in. `PREFIX.bias` and the norm of the input,
  // `PREFIX_norm_in.weight`, are included if present.
  Result<Linear> linear(const std::string& prefix, int rows, int cols, bool int8_activations) const;

 private:
  // A tensor of this shape in one of `formats`, with all its rows in one matrix.
  Result<Tensor> read(const std::string& name, std::span<const int64_t> shape, std::span<const Format> formats) const;

  ModelSource& source_;
};

// The `n` rows of a fused matrix from row `first` on, as a tensor.
Tensor rows_of(const Tensor& tensor, std::string name, int first, int n);

}  // namespace tern
