#include "file/npy_writer.h"

#include <utility>

#include "base/bytes.h"
#include "base/text/format_text.h"

namespace tern {
namespace {

// Magic, version 1.0, u16 length, then a Python dictionary padded with spaces so that the data starts at a multiple of
// 64.
std::string npy_header(size_t rows, size_t cols) {
  constexpr std::string_view kMagicAndVersion{"\x93NUMPY\x01\x00", 8};
  constexpr size_t kLengthBytes = sizeof(uint16_t);
  std::string text = format_text("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  const size_t unpadded = kMagicAndVersion.size() + kLengthBytes + text.size() + 1;  // 1: the closing newline
  text.append(round_up(unpadded, 64) - unpadded, ' ');
  text += '\n';
  std::string header(kMagicAndVersion);
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace

Result<NpyStream> NpyStream::create(const std::string& path, size_t rows, size_t cols) {
  TRY(OutputFile file, OutputFile::create(path));
  TRY_STATUS(file.write(as_bytes(npy_header(rows, cols))));
  return NpyStream(std::move(file), rows, cols);
}

Result<void> NpyStream::append(std::span<const float> row) {
  if (row.size() != cols_ || rows_written_ == rows_) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: row {} of {} values does not fit an array of {} rows of {}; append rows "
                "of the array's shape",
                file_.path(), rows_written_ + 1, row.size(), rows_, cols_);
  }
  TRY_STATUS(file_.write(std::as_bytes(row)));
  ++rows_written_;
  return {};
}

Result<void> NpyStream::finish() {
  if (rows_written_ != rows_) {
    return fail(ErrorCode::kInvalidArgument, "{}: finished after {} of {} rows; append all rows first", file_.path(),
                rows_written_, rows_);
  }
  return file_.finish();
}

}  // namespace tern
