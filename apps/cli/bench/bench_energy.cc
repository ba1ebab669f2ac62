#include "cli/bench/bench_energy.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

constexpr double kCoarseSeconds = 0.05;  // at one reading per millisecond, off by 2 % at each end

bool is_coarse(const std::optional<PartEnergy>& part) { return part && part->seconds_of_a_run < kCoarseSeconds; }

}  // namespace

std::string bench_energy_table(const BenchResult& result, bool has_gpu, const Style& style) {
  if (!result.energy) return "";
  const BenchEnergy& energy = *result.energy;
  if (energy.source.empty())
    return format_text("\n  energy   not measured, because no counter can be read: {}\n", one_line(energy.reason));
  std::string text = "\n" + style.dim("  energy      J/token   average W") + "\n";
  const auto row = [&](std::string_view name, const std::optional<PartEnergy>& part) {
    if (!part) return;
    text += format_text("  {}{}{}{}\n", pad(name, 9), pad_left(human_number(part->joules_per_token), 10),
                        pad_left(human_number(part->watts), 12),
                        is_coarse(part) ? "   coarse: the runs are shorter than 50 ms; use more tokens" : "");
  };
  row("prefill", energy.prefill);
  row("decode", energy.decode);
  text += format_text("  {}: the whole processor, other programs included{}\n", one_line(energy.source),
                      has_gpu ? "; the GPU, which did the work, is not measured" : "");
  return text;
}

void add_bench_energy(nlohmann::ordered_json& json, const BenchResult& result) {
  if (!result.energy) return;
  const BenchEnergy& energy = *result.energy;
  json["energy"] = nullptr;
  if (energy.source.empty()) {
    json["energy_reason"] = energy.reason;
    return;
  }
  const auto part = [](const std::optional<PartEnergy>& p) -> nlohmann::ordered_json {
    if (!p) return nullptr;
    return {{"joules_per_token", p->joules_per_token},
            {"watts", p->watts},
            {"seconds_of_a_run", p->seconds_of_a_run},
            {"is_coarse", is_coarse(p)}};
  };
  json["energy"] = {{"source", energy.source}, {"prefill", part(energy.prefill)}, {"decode", part(energy.decode)}};
}

}  // namespace tern::cli
