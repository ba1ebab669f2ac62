// Implements NpyWriter and read_text of the public API.
#include "base/files/mapped_file.h"
#include "file/npy_writer.h"
#include "tern/tools.h"

namespace tern {

struct NpyWriter::Impl {
  NpyStream stream;
};

Result<NpyWriter> NpyWriter::create(const std::string& path, size_t rows, size_t cols) {
  TRY(auto stream, NpyStream::create(path, rows, cols));
  return NpyWriter(std::make_unique<Impl>(std::move(stream)));
}

NpyWriter::NpyWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NpyWriter::NpyWriter(NpyWriter&&) noexcept = default;
NpyWriter::~NpyWriter() = default;

Result<void> NpyWriter::append(std::span<const float> row) { return impl_->stream.append(row); }
Result<void> NpyWriter::finish() { return impl_->stream.finish(); }

Result<std::string> read_text(const std::string& path) { return read_text_file(path); }

}  // namespace tern
