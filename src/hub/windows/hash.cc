#include "hub/store/hash.h"

#include <windows.h>
// After windows.h.
#include <bcrypt.h>

#include <array>

#include "base/check.h"
#include "base/text/format_text.h"

namespace tern::hub {

struct Hash::State {
  size_t n_bytes = 0;
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  ~State() {
    if (hash) ::BCryptDestroyHash(hash);
    if (algorithm) ::BCryptCloseAlgorithmProvider(algorithm, 0);
  }
};

Hash::Hash(Kind kind) : state_(std::make_unique<State>()) {
  state_->n_bytes = kind == Kind::kSha1 ? 20 : 32;
  const wchar_t* const name = kind == Kind::kSha1 ? BCRYPT_SHA1_ALGORITHM : BCRYPT_SHA256_ALGORITHM;
  CHECK(::BCryptOpenAlgorithmProvider(&state_->algorithm, name, nullptr, 0) == 0);
  CHECK(::BCryptCreateHash(state_->algorithm, &state_->hash, nullptr, 0, nullptr, 0, 0) == 0);
}

Hash::~Hash() = default;

void Hash::update(std::span<const std::byte> bytes) {
  auto* const data = reinterpret_cast<UCHAR*>(const_cast<std::byte*>(bytes.data()));
  CHECK(::BCryptHashData(state_->hash, data, static_cast<ULONG>(bytes.size()), 0) == 0);
}

std::string Hash::hex() {
  std::array<UCHAR, 32> bytes;
  CHECK(::BCryptFinishHash(state_->hash, bytes.data(), static_cast<ULONG>(state_->n_bytes), 0) == 0);
  std::string text;
  for (size_t i = 0; i < state_->n_bytes; ++i) text += format_text("{:02x}", bytes.at(i));
  return text;
}

}  // namespace tern::hub
