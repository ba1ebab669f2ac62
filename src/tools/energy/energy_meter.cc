#include "tools/energy/energy_meter.h"

namespace tern {

std::optional<EnergyMeter::Reading> EnergyMeter::read() {
  if (!reader_ || !error_.empty()) return std::nullopt;
  const auto joules = reader_->joules();
  if (joules) return Reading{*joules, Clock::now()};
  error_ = joules.error().message;
  return std::nullopt;
}

void EnergyMeter::end_part(Part& part, int n_tokens) {
  const auto now = read();
  if (now && at_ && n_tokens > 0) {
    part.joules += now->joules - at_->joules;
    part.seconds += std::chrono::duration<double>(now->time - at_->time).count();
    part.n_tokens += n_tokens;
    ++part.n_runs;
  }
  at_ = now;
}

std::optional<PartEnergy> EnergyMeter::energy_of(const Part& part) {
  if (part.n_tokens == 0 || part.seconds <= 0) return std::nullopt;
  return PartEnergy{.joules_per_token = part.joules / part.n_tokens,
                    .watts = part.joules / part.seconds,
                    .seconds_of_a_run = part.seconds / part.n_runs};
}

BenchEnergy EnergyMeter::result() const {
  if (!error_.empty()) return {.source = {}, .reason = error_, .prefill = {}, .decode = {}};
  if (!reader_) return {};
  return {.source = reader_->source(), .reason = {}, .prefill = energy_of(prefill_), .decode = energy_of(decode_)};
}

}  // namespace tern
