// Writes tensors whose rows are made on all CPUs, a few megabytes at a time.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "file/gguf_writer.h"
#include "quant/format.h"
#include "tern/options.h"

namespace tern {

struct MatrixInFile {
  Format format;
  int rows, cols;

  // Its tail included; 0 where the format's blocks do not fit.
  uint64_t bytes() const;
};

class RowStream {
 public:
  // `total`: bytes to come, for the progress report. Once `stop` is requested, whatever is appended is kInterrupted.
  RowStream(GgufWriter& writer, uint64_t total, const OnProgress& on_progress, std::stop_token stop)
      : writer_(writer),
        pool_(ThreadPool::available_cpus()),
        total_(total),
        on_progress_(on_progress),
        stop_(std::move(stop)) {}

  // Rows [first, first + n) as they lie in the file; called by several threads at once. out.size() is n · row_bytes.
  using MakeRows = std::function<void(int first, int n, MutableBytes out)>;
  Result<void> append_rows(int rows, size_t row_bytes, const MakeRows& make_rows);

  // The same of a matrix whose rows are made with blocks of their own. Those of I2_S are joined where its blocks run
  // across rows in a file. matrix.bytes() is not 0.
  Result<void> append_matrix(const MatrixInFile& matrix, const MakeRows& make_rows);

  Result<void> append(Bytes bytes);

 private:
  GgufWriter& writer_;
  ThreadPool pool_;
  const uint64_t total_;
  uint64_t done_ = 0;
  const OnProgress& on_progress_;
  const std::stop_token stop_;
  std::vector<std::byte> buffer_;
};

// kIo where the disk that `path` is on has less than `needed` bytes free: before an hour of writing, not after it.
// Pipes and devices have no such limit.
Result<void> check_free_space(const std::string& path, uint64_t needed);

}  // namespace tern
