// Energy and time of prefill and decode, summed over runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tools/energy/energy.h"

namespace tern {

class EnergyMeter {
 public:
  // If `reader` is null, all calls do nothing. `reader` must outlive the meter.
  explicit EnergyMeter(EnergyReader* reader) : reader_(reader) {}

  // Call these around the parts of each run, in this order. After a failed reading no more are taken; result() says
  // why.
  void begin() { at_ = read(); }
  void end_prefill(int n_tokens) { end_part(prefill_, n_tokens); }
  void end_decode(int n_tokens) { end_part(decode_, n_tokens); }

  BenchEnergy result() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    double joules = 0;
    Clock::time_point time;
  };
  struct Part {
    double joules = 0;
    double seconds = 0;
    int n_tokens = 0;
    int n_runs = 0;
  };

  std::optional<Reading> read();
  void end_part(Part& part, int n_tokens);
  static std::optional<PartEnergy> energy_of(const Part& part);

  EnergyReader* reader_;
  std::optional<Reading> at_;  // the start of the current part
  Part prefill_, decode_;
  std::string error_;
};

}  // namespace tern
