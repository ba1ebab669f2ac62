// SHA-1 and SHA-256, by a library of the system.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tern::hub {

class Hash {
 public:
  enum class Kind { kSha1, kSha256 };
  explicit Hash(Kind kind);
  ~Hash();
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;

  void update(std::span<const std::byte> bytes);
  std::string hex();  // of all bytes; the last call

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tern::hub
