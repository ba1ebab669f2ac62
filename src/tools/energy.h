// What the processor has used, from the counters that the operating system shows.
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

// Processor packages, and their memory where the machine counts it apart. Errors of both: kNotFound where the machine
// has no such counters; kIo where they cannot be read, with what to do about it; kCorruption.

// `root` is a folder like /sys/class/powercap. Counters that have wrapped around are put right, unless one does so
// twice between two calls of joules(): 22 minutes at 200 W on most processors.
Result<std::unique_ptr<EnergyReader>> open_powercap(const std::string& root = "/sys/class/powercap");

// `root` is a folder like /sys/bus/event_source/devices/power. `open_event` gives the file descriptor of a counter that
// reads as one uint64_t, which the reader closes, or -1 and errno; tests replace it.
struct PerfEvent {
  uint32_t type = 0;
  uint64_t config = 0;
  int cpu = 0;
};
using OpenPerfEvent = std::function<int(const PerfEvent&)>;
int open_perf_event(const PerfEvent& event);
Result<std::unique_ptr<EnergyReader>> open_perf(const std::string& root = "/sys/bus/event_source/devices/power",
                                                const OpenPerfEvent& open_event = open_perf_event);

// A whole number and nothing else but white space around it. kCorruption, naming `path`.
Result<uint64_t> parse_counter(std::string_view text, const std::string& path);

// bench() with a given reader; null: energy is not measured.
Result<BenchResult> bench_with(const Engine& engine, const BenchOptions& options, EnergyReader* energy);

}  // namespace tern
