// Any bytes as a kept cost curve: refused with a message, or a usable curve that can be written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "routing/cost_curve.h"
#include "routing/curve_file.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto curve = tern::parse_curve(text, "1.2.3", "fuzz");
  if (!curve) {
    const std::string& message = curve.error().message;
    require(message.starts_with("fuzz: ") && message.size() < 1000);
    require(message.find_first_of("\n\r\x1b") == std::string::npos);
    return 0;
  }
  require(tern::check_curve(*curve).has_value());
  const tern::JobCost cost = tern::predict(*curve, {.n_prompt = 100, .n_generate = 10, .n_parallel = 3});
  require(cost.total.seconds >= 0 && cost.total.joules.value_or(0) >= 0);
  require(tern::parse_curve(tern::curve_text(*curve, "1.2.3"), "1.2.3", "fuzz").has_value());
  return 0;
}
