// What families read a model with: values with their bounds, and tensors by name, type and shape in one call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/source.h"
#include "model/weights.h"

namespace tern {

// Reads `ARCH.key` values, with their bounds.
class MetadataReader {
 public:
  MetadataReader(const ModelSource& source, std::string prefix) : source_(source), prefix_(std::move(prefix) + ".") {}

  // 1 to `most`. kCorruption: outside, or absent without a fallback.
  Result<int> integer(std::string_view key, int64_t most, std::optional<int64_t> fallback = {}) const;
  // The same of every layer: one number for all, or a list of theirs. Absent: `fallback`, where it is not empty.
  // kNotSupported: a list with a 0, which stands for a layer that lacks the part.
  Result<std::vector<int>> of_layers(std::string_view key, int64_t most, int n_layers,
                                     std::vector<int> fallback = {}) const;
  // Finite and above 0.
  Result<float> positive(std::string_view key, std::optional<double> fallback = {}) const;

  // Any number; nullopt where the key is absent.
  Result<std::optional<double>> number(std::string_view key) const;

  const ModelSource& source() const { return source_; }

 private:
  std::unexpected<Error> missing(const std::string& name) const;

  const ModelSource& source_;
  std::string prefix_;
};

// The formats of matrices that int8 activations meet, and that float ones do.
std::span<const Format> ternary_formats();
std::span<const Format> float_formats();

class TensorReader {
 public:
  explicit TensorReader(ModelSource& source) : source_(source) {}

  bool has(const std::string& name) const { return source_.has_tensor(name); }

  // A [rows, cols] matrix in one of `formats`. kCorruption: absent, another shape; kNotSupported: another type.
  Result<Tensor> matrix(const std::string& name, int rows, int cols, std::span<const Format> formats) const;

  // A vector of n float32 values.
  Result<Tensor> vector(const std::string& name, int n) const;

  // `PREFIX.weight`, the matrix of a linear layer: ternary with `int8_activations`, else in one of float_formats().
  // Multiplied by the one value of `PREFIX.scale` where the file has it; with `PREFIX.bias` and the norm of its input,
  // `PREFIX_norm_in.weight`, where it has them.
  Result<Linear> linear(const std::string& prefix, int rows, int cols, bool int8_activations) const;

 private:
  ModelSource& source_;
};

// `n` rows of `tensor` from row `first` on, as a tensor of its own: a part of a fused matrix.
Tensor rows_of(const Tensor& tensor, std::string name, int first, int n);

}  // namespace tern
