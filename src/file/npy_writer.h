// NumPy's .npy, version 1.0 (numpy.lib.format): one array of numbers after a short text header.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "file/output_file.h"

namespace tern {

// Streams float32 [rows, cols] in C order, row by row, so that a large array is never in memory as a whole.
class NpyStream {
 public:
  // All calls may return kIo; see OutputFile.
  static Result<NpyStream> create(const std::string& path, size_t rows, size_t cols);

  // kInvalidArgument: the row does not have `cols` values, or all rows are already written.
  Result<void> append(std::span<const float> row);

  // The file exists only after this call. kInvalidArgument: rows are missing.
  Result<void> finish();

 private:
  NpyStream(OutputFile file, size_t rows, size_t cols) : file_(std::move(file)), rows_(rows), cols_(cols) {}

  OutputFile file_;
  size_t rows_;
  size_t cols_;
  size_t rows_written_ = 0;
};

}  // namespace tern
