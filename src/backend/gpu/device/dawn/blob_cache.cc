#include "backend/gpu/device/dawn/blob_cache.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/files/draft_file.h"
#include "base/text/format_text.h"

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

// A file consists of this header and the blob.
struct Header {
  char magic[8] = {'t', 'e', 'r', 'n', 'b', 'l', 'b', '1'};
  uint64_t bytes = 0;     // of the blob
  uint64_t checksum = 0;  // of the key and the blob
};

constexpr uint64_t kMaxBlobBytes = uint64_t{1} << 28;

// FNV-1a over words, with a shift that carries high bits into low ones. Two seeds give independent hashes.
uint64_t hash(Bytes bytes, uint64_t seed) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t state = seed ^ (bytes.size() * kPrime);
  while (!bytes.empty()) {
    const size_t n = std::min<size_t>(bytes.size(), 8);
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), n);
    state = (state ^ word) * kPrime;
    state ^= state >> 29;
    bytes = bytes.subspan(n);
  }
  return state ^ (state >> 32);
}

constexpr uint64_t kSeed = 0xcbf29ce484222325;
constexpr uint64_t kOtherSeed = 0x9e3779b97f4a7c15;

uint64_t checksum(Bytes key, Bytes blob) { return hash(blob, hash(key, kOtherSeed)); }

std::optional<std::vector<std::byte>> read_blob(const fs::path& path, Bytes key) {
  std::ifstream file(path, std::ios::binary);
  Header header, expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) return std::nullopt;
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || header.bytes > kMaxBlobBytes || size != sizeof(header) + header.bytes) return std::nullopt;
  std::vector<std::byte> blob(header.bytes);
  if (!file.read(reinterpret_cast<char*>(blob.data()), static_cast<std::streamsize>(blob.size()))) return std::nullopt;
  if (checksum(key, blob) != header.checksum) return std::nullopt;
  return blob;
}

void write_blob(const fs::path& path, Bytes key, Bytes blob) {
  Header header;
  header.bytes = blob.size();
  header.checksum = checksum(key, blob);
  auto draft = DraftFile::create(path.string(), {.removes_old_drafts = false});
  if (!draft) return;
  const bool is_whole = draft->file().write(std::as_bytes(std::span(&header, 1))) && draft->file().write(blob);
  if (is_whole) [[maybe_unused]]
    const auto kept = draft->keep();
}

}  // namespace

BlobCache::BlobCache(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
}

fs::path BlobCache::file_of(Bytes key) const {
  return folder_ / format_text("{:016x}{:016x}.blob", hash(key, kSeed), hash(key, kOtherSeed));
}

size_t BlobCache::load(Bytes key, MutableBytes out) noexcept try {
  const auto blob = read_blob(file_of(key), key);
  if (!blob) {
    ++misses_;
    return 0;
  }
  if (!blob->empty() && out.size() >= blob->size()) {
    std::memcpy(out.data(), blob->data(), blob->size());
    ++hits_;
  }
  return blob->size();
} catch (const std::exception&) {
  return 0;
}

void BlobCache::store(Bytes key, Bytes blob) noexcept try {
  if (blob.size() <= kMaxBlobBytes) write_blob(file_of(key), key, blob);
} catch (const std::exception&) {
  return;
}

}  // namespace tern::gpu
