// The energy of `tern bench --energy`, as part of its reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {

// Lines for the table; empty if energy was not requested. `has_gpu`: a GPU computed, and its energy is not measured.
std::string bench_energy_table(const BenchResult& result, bool has_gpu, const Style& style);

// Adds "energy". If no counter can be read, it is null and "energy_reason" says why. Adds nothing if not requested.
void add_bench_energy(nlohmann::ordered_json& json, const BenchResult& result);

}  // namespace tern::cli
