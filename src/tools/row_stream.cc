#include "tools/row_stream.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/check.h"
#include "quant/formats/i2_s.h"
#include "tools/type_names.h"

namespace tern {
namespace {

constexpr size_t kChunkBytes = size_t{4} << 20;  // generated and written per thread at a time
constexpr size_t kCopyBytes = size_t{64} << 20;  // written at a time

// The number of rows after which rows and blocks of the file end together.
int rows_per_run(const MatrixInFile& matrix) {
  const FormatInfo& info = format_info(matrix.format);
  return info.fills_block ? info.block / std::gcd(info.block, matrix.cols) : 1;
}

}  // namespace

uint64_t MatrixInFile::bytes() const {
  const int64_t shape[] = {rows, cols};
  return ggml_tensor_bytes(ggml_type_of(format), shape).value_or(0);
}

Result<void> RowStream::append_matrix(const MatrixInFile& matrix, const MakeRows& make_rows) {
  CHECK(matrix.bytes() != 0);
  const uint64_t row = row_bytes(matrix.format, matrix.cols);
  const int per_run = rows_per_run(matrix);
  if (per_run == 1) return append_rows(matrix.rows, row, make_rows);
  CHECK(matrix.format == Format::kI2_S);
  const auto cols = static_cast<uint64_t>(matrix.cols);
  const auto make_runs = [&](int first, int n, MutableBytes out) {
    std::vector<std::byte> rows(static_cast<uint64_t>(n * per_run) * row);
    make_rows(first * per_run, n * per_run, rows);
    for (uint64_t r = 0; r * row < rows.size(); ++r) {
      copy_i2_s_codes(Bytes(rows).subspan(r * row, row), out, {.from_at = 0, .to_at = r * cols}, cols);
    }
  };
  return append_rows(matrix.rows / per_run, i2_s_bytes(static_cast<uint64_t>(per_run) * cols), make_runs);
}

Result<void> RowStream::append_rows(int rows, size_t row_bytes, const MakeRows& make_rows) {
  const int per_worker = static_cast<int>(std::max<size_t>(kChunkBytes / row_bytes, 1));
  for (int first = 0; first < rows; first += per_worker * pool_.size()) {
    const int n = std::min(rows - first, per_worker * pool_.size());
    buffer_.resize(row_bytes * static_cast<size_t>(n));
    pool_.run([&](int worker) {
      const int begin = n * worker / pool_.size();
      const int end = n * (worker + 1) / pool_.size();
      if (begin == end) return;
      make_rows(first + begin, end - begin,
                MutableBytes(buffer_).subspan(static_cast<size_t>(begin) * row_bytes,
                                              static_cast<size_t>(end - begin) * row_bytes));
    });
    TRY_STATUS(append(buffer_));
  }
  return {};
}

Result<void> RowStream::append(Bytes bytes) {
  if (stop_.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted; nothing was kept");
  // Copied tensors may be gigabytes. Writing in parts also makes the copy interruptible.
  for (; bytes.size() > kCopyBytes; bytes = bytes.subspan(kCopyBytes)) TRY_STATUS(append(bytes.first(kCopyBytes)));
  TRY_STATUS(writer_.append(bytes));
  done_ += bytes.size();
  if (on_progress_) on_progress_({.what = "writing", .done = done_, .total = total_, .unit = "B"});
  return {};
}

Result<void> check_free_space(const std::string& path, uint64_t needed) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path == "-" || (fs::exists(status) && !fs::is_regular_file(status))) return {};
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed) return {};  // creating the file reports an unusable folder
  return fail(ErrorCode::kIo,
              "{}: the model needs {} MB, but only {} MB are free in {}; make room or name another folder", path,
              needed / 1'000'000 + 1, space.available / 1'000'000, folder.string());
}

}  // namespace tern
