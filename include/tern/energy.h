// What the processor has used, from the counters that the operating system shows.
#pragma once

#include <memory>
#include <string>

#include "tern/error.h"

namespace tern {

class EnergyReader {
 public:
  virtual ~EnergyReader() = default;

  // Since some start; never less than the time before. All domains together. The counters are the machine's: what else
  // runs is in them.
  virtual Result<double> joules() = 0;
  // How often the counters move.
  virtual double seconds_between_updates() const { return 0.001; }

  virtual std::string source() const = 0;  // "powercap (package-0, dram)"
};

// Processor packages, and their memory where the machine counts it apart. kNotSupported, with the reasons, where no
// counter can be read.
Result<std::unique_ptr<EnergyReader>> open_energy_reader();

}  // namespace tern
