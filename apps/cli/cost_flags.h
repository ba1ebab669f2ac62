// The options of commands that say what a job costs: which job, on what, and how to say it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/common.h"
#include "tern/routing.h"

namespace tern::cli {

struct CostFlags {
  ExpectedJob job = {.counts_setup = true};
  Prefer prefer = Prefer::kSpeed;
  int n_threads = 0;
  std::string gpu;
  std::string format = "table";

  void add(CLI::App& app);
  // That was given on the command line; empty: none.
  std::string given() const;
  bool as_json() const { return format == "json"; }

  // Those of the model at this path; what is not kept is measured, with a progress bar. `again`: also what is kept.
  // kInvalidArgument where the model's context is too short for the job.
  Result<CurveSet> curves(const std::string& model_path, const MetadataChanges& metadata, bool again) const;
  LoadOptions load(const std::string& model_path, const MetadataChanges& metadata) const;

  // What was not asked for is shortened to such a context.
  ExpectedJob job_within(int n_ctx) const;

 private:
  std::vector<CLI::Option*> options_;  // those of the prompt and of what is generated come first
};

}  // namespace tern::cli
