#include "model/ternary_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "quant/formats/i2_s.h"

namespace tern {
namespace {

constexpr uint64_t kLook = 16384;  // bytes
constexpr size_t kFewest = 256;    // bytes: 1,024 equal weights are no coincidence

// The same two-bit code four times: −1, 0, +1.
constexpr std::array kAllEqual = {std::byte{0x00}, std::byte{0x55}, std::byte{0xAA}};

}  // namespace

Result<std::string_view> why_not_ternary(const Tensor& tensor) {
  if (tensor.format != Format::kI2_S) return "";
  Scratch scratch;
  TRY(const Bytes look, tensor.data.read(0, std::min(tensor.data.size(), kLook + kI2sTailBytes), scratch));
  const uint64_t whole = static_cast<uint64_t>(tensor.cols) / kI2sBlock * kI2sBlockBytes;
  const bool is_filled = tensor.cols % kI2sBlock != 0;  // rows end in unused codes: check the first row only
  const Bytes all = look.first(look.size() - kI2sTailBytes);
  const Bytes codes = is_filled ? all.first(std::min<uint64_t>(all.size(), whole)) : all;
  if (find_i2_s_code3(look) >= 0) return "holds two-bit codes that no ternary weight has";
  const bool all_equal = !codes.empty() && std::ranges::contains(kAllEqual, codes.front()) &&
                         std::ranges::all_of(codes, [&](std::byte b) { return b == codes.front(); });
  if (all_equal && codes.size() >= kFewest) return "has the same value everywhere";
  if (!std::isfinite(tensor.scale) || tensor.scale == 0) return "has a scale that is zero or not a number";
  return "";
}

}  // namespace tern
