// Fetching tensors from a GGUF file by name, type and shape in one call.
#pragma once

#include <initializer_list>
#include <string>

#include "base/result.h"
#include "file/gguf.h"
#include "model/weights.h"

namespace tern {

class GgufTensors {
 public:
  explicit GgufTensors(const GgufFile& file) : file_(file) {}

  bool has(const std::string& name) const { return file_.find_tensor(name) != nullptr; }

  // A [rows, cols] matrix in one of `formats`. kCorruption: absent, another shape; kNotSupported: another type.
  Result<Tensor> matrix(const std::string& name, int rows, int cols, std::span<const Format> formats) const;

  // A vector of n float32 values.
  Result<Tensor> vector(const std::string& name, int n) const;

  // `PREFIX.weight`, a ternary matrix; multiplied by the one value of `PREFIX.scale` where the file has it.
  Result<Tensor> ternary(const std::string& prefix, int rows, int cols) const;

 private:
  const GgufFile& file_;
};

}  // namespace tern
