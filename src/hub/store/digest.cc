#include "hub/store/digest.h"

#include <span>
#include <vector>

#include "base/platform/disk_file.h"
#include "hub/store/hash.h"

namespace tern::hub {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::unexpected<Error> cannot_read(const std::string& path, std::error_code why) {
  return fail(ErrorCode::kIo, "{}: cannot read it back to check it: {}", path, why.message());
}

}  // namespace

Result<std::string> digest_like(const std::string& etag, const std::string& path,
                                const std::function<bool(uint64_t done)>& on_progress) {
  const bool is_git = etag.size() == 40;
  const auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kRead);
  if (!file) return cannot_read(path, file.error());
  const auto info = file->info();
  if (!info) return cannot_read(path, info.error());
  Hash hash(is_git ? Hash::Kind::kSha1 : Hash::Kind::kSha256);
  if (is_git) {
    const std::string header = format_text("blob {}", info->size);
    hash.update(std::as_bytes(std::span(header.c_str(), header.size() + 1)));  // including its terminating zero
  }
  std::vector<std::byte> buffer(kBufferBytes);
  uint64_t done = 0;
  while (true) {
    const auto n = file->read_some(buffer);
    if (!n) return cannot_read(path, n.error());
    if (*n == 0) return hash.hex();
    hash.update(std::span(buffer).first(*n));
    done += *n;
    if (!on_progress(done)) return fail(ErrorCode::kInterrupted, "interrupted while checking {}", path);
  }
}

}  // namespace tern::hub
