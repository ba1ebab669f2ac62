// The energy of `tern bench --energy`, as part of its reports.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/terminal.h"
#include "tern/tools.h"

namespace tern::cli {

// Lines for the table; empty where energy was not asked for. `has_gpu`: a GPU computed, which is not measured.
std::string bench_energy_table(const BenchResult& result, bool has_gpu, const Style& style);

// Adds "energy": null where no counter could be read, and then "energy_reason". Nothing where it was not asked for.
void add_bench_energy(nlohmann::ordered_json& json, const BenchResult& result);

}  // namespace tern::cli
