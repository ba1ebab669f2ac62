// `tern bench kernels`: its options and its report. It loads no model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/support/common.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {

class KernelsCommand {
 public:
  // Adds --shape and --cached.
  void add(CLI::App& app);

  // Returns an error if an option was given without `kernels`.
  Result<void> check_unused() const;

  // Returns an error for options of `app` that have no meaning here. `n_threads`, `repeats`: 0 for the default.
  Result<ExitCode> run(const CLI::App& app, int n_threads, int repeats, const std::string& format) const;

 private:
  std::string shape_ = "4096x4096";
  bool cached_ = false;
  const CLI::Option* shape_option_ = nullptr;
  const CLI::Option* cached_option_ = nullptr;
};

std::string bench_kernels_table(const KernelBenchOptions& options, const KernelBenchResult& result, const Style& style);
std::string bench_kernels_json(const KernelBenchOptions& options, const KernelBenchResult& result);

}  // namespace tern::cli
