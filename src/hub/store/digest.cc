#include "hub/store/digest.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"

namespace tern::hub {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

class Hash {
 public:
  explicit Hash(const EVP_MD* kind) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    CHECK(context_ && EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1);
  }
  void update(const void* data, size_t size) { CHECK(EVP_DigestUpdate(context_.get(), data, size) == 1); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
    unsigned int n = 0;
    CHECK(EVP_DigestFinal_ex(context_.get(), bytes.data(), &n) == 1);
    std::string text;
    for (unsigned int i = 0; i < n; ++i) text += format_text("{:02x}", bytes[i]);
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

std::unexpected<Error> cannot_read(const std::string& path) {
  return fail(ErrorCode::kIo, "{}: cannot read it back to check it: {}", path, std::strerror(errno));
}

}  // namespace

Result<std::string> digest_like(const std::string& etag, const std::string& path,
                                const std::function<bool(uint64_t done)>& on_progress) {
  const bool is_git = etag.size() == 40;
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return cannot_read(path);
  Hash hash(is_git ? EVP_sha1() : EVP_sha256());
  if (is_git) {
    const std::string header = format_text("blob {}", info.st_size);
    hash.update(header.c_str(), header.size() + 1);  // including its terminating zero
  }
  std::vector<char> buffer(kBufferBytes);
  uint64_t done = 0;
  while (true) {
    const ssize_t n = ::read(file.fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_read(path);
    if (n == 0) return hash.hex();
    hash.update(buffer.data(), static_cast<size_t>(n));
    done += static_cast<uint64_t>(n);
    if (!on_progress(done)) return fail(ErrorCode::kInterrupted, "interrupted while checking {}", path);
  }
}

}  // namespace tern::hub
