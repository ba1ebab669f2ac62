// Any bytes as an importance matrix in the old format: refused with a message, or every value is a mean of squares.
// (fuzz_gguf covers the new format.)
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "file/gguf/imatrix.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto imatrix = tern::Imatrix::parse_dat({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!imatrix) {
    const std::string& message = imatrix.error().message;
    require(message.starts_with("fuzz: ") && message.size() < 1000);
    require(message.find_first_of("\n\r\x1b") == std::string::npos);
    return 0;
  }
  require(!imatrix->entries().empty());
  for (const auto& [name, means] : imatrix->entries()) {
    require(!means.empty() && imatrix->find(name).size() == means.size());
    for (const float mean : means) require(std::isfinite(mean) && mean >= 0);
  }
  return 0;
}
