#include "hub/store/hash.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::hub {

struct Hash::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Hash::Hash(Kind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* const function = kind == Kind::kSha1 ? EVP_sha1() : EVP_sha256();
  if (!state_->context) throw std::bad_alloc();
  CHECK(EVP_DigestInit_ex(state_->context, function, nullptr) == 1);
}

Hash::~Hash() = default;

void Hash::update(std::span<const std::byte> bytes) {
  CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Hash::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int n = 0;
  CHECK(EVP_DigestFinal_ex(state_->context, bytes.data(), &n) == 1);
  std::string text;
  for (unsigned int i = 0; i < n; ++i) text += format_text("{:02x}", bytes[i]);
  return text;
}

}  // namespace tern::hub
