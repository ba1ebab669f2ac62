#include "tools/energy/energy.h"

#include <charconv>

#include "base/text/quoted.h"

namespace tern {

Result<uint64_t> parse_counter(std::string_view text, const std::string& path) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::string_view all = text;
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::kCorruption, "{} says {}, which is not a counter's value", path, quoted(all));
  return value;
}

Result<std::unique_ptr<EnergyReader>> open_energy_reader() {
  auto powercap = open_powercap();
  if (powercap) return powercap;
  auto perf = open_perf();
  if (perf) return perf;
  return fail(ErrorCode::kNotSupported, "{}; {}", powercap.error().message, perf.error().message);
}

}  // namespace tern
