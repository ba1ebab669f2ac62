// What loading a model would say, from the beginnings of its files.
#include <algorithm>
#include <cstring>

#include "engine/tokenizers.h"
#include "file/gguf.h"
#include "model/gguf/source.h"
#include "model/model.h"
#include "tern/file_preview.h"

namespace tern {
namespace {

// Its beginning is the file's own. All after that reads as if every float32 were 1: what a reader computes from small
// tensors (scales, factors of RoPE) is then as good as any.
class PreviewedFile final : public File {
 public:
  explicit PreviewedFile(const FilePreview& preview) : preview_(preview) {}

  const std::string& path() const override { return preview_.path; }
  uint64_t size() const override { return preview_.bytes; }
  Result<void> read(uint64_t offset, MutableBytes into) const override {
    if (offset == 0) return preview_.read_beginning(into);  // all before the tensors' data is read from 0 on
    const float one = 1;
    std::byte bytes[sizeof one];
    std::memcpy(bytes, &one, sizeof one);
    for (std::byte& byte : into) byte = bytes[offset++ % sizeof one];
    return {};
  }

 private:
  FilePreview preview_;
};

}  // namespace

Result<void> check_model_header(std::span<const FilePreview> parts) {
  std::vector<std::unique_ptr<File>> files;
  for (const FilePreview& part : parts) {
    if (part.bytes == 0) return fail(ErrorCode::kCorruption, "{}: the file is empty", part.path);
    files.push_back(std::make_unique<PreviewedFile>(part));
  }
  if (files.empty()) return fail(ErrorCode::kInvalidArgument, "there is no file to look at");
  TRY(GgufFile file, GgufFile::read(std::move(files)));
  TRY(const Model model, read_model(parts.front().path, std::make_unique<GgufSource>(std::move(file))));
  TRY_STATUS(make_tokenizer(*model.source));
  return {};
}

}  // namespace tern
