// Reads the processor's energy from the counters of the operating system.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/energy.h"
#include "tern/tools.h"

namespace tern {

// The readers below count processor packages, and their memory if it has a separate counter. Errors: kNotFound: no such
// counters; kIo: they cannot be read, with a remedy; kCorruption: invalid values.

// `root`: a folder like /sys/class/powercap. Counter wrap-around is corrected unless it happens twice between two calls
// of joules(): 22 minutes at 200 W on most processors.
Result<std::unique_ptr<EnergyReader>> open_powercap(const std::string& root = "/sys/class/powercap");

// `root`: a folder like /sys/bus/event_source/devices/power. `open_event` returns the file descriptor of a counter that
// reads as one uint64_t and that the reader closes, or -1 and errno. Tests replace it.
struct PerfEvent {
  uint32_t type = 0;
  uint64_t config = 0;
  int cpu = 0;
};
using OpenPerfEvent = std::function<int(const PerfEvent&)>;
int open_perf_event(const PerfEvent& event);
Result<std::unique_ptr<EnergyReader>> open_perf(const std::string& root = "/sys/bus/event_source/devices/power",
                                                const OpenPerfEvent& open_event = open_perf_event);

// Parses a whole number with optional white space around it. kCorruption: anything else; the message names `path`.
Result<uint64_t> parse_counter(std::string_view text, const std::string& path);

// bench() with the given reader; null: energy is not measured.
Result<BenchResult> bench_with(const Engine& engine, const BenchOptions& options, EnergyReader* energy);

}  // namespace tern
