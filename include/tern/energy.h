// The processor's energy use, from the operating system's counters.
#pragma once

#include <memory>
#include <string>

#include "tern/error.h"

namespace tern {

class EnergyReader {
 public:
  virtual ~EnergyReader() = default;

  // Joules of all domains together since a fixed start; never decreases. The counters cover the whole machine, other
  // programs included.
  virtual Result<double> joules() = 0;
  // The interval at which the counters are updated.
  virtual double seconds_between_updates() const { return 0.001; }

  virtual std::string source() const = 0;  // "powercap (package-0, dram)"
};

// Opens the counters of the processor packages, and of their memory if it is counted separately. kNotSupported: no
// counter can be read; the message gives the reasons.
Result<std::unique_ptr<EnergyReader>> open_energy_reader();

}  // namespace tern
