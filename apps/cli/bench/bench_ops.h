// The report of `tern bench ops`.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {

std::string bench_ops_table(const ModelInfo& info, const OpBenchOptions& options, const OpBenchResult& result,
                            const Style& style);
std::string bench_ops_json(const ModelInfo& info, const OpBenchOptions& options, const OpBenchResult& result);

}  // namespace tern::cli
