// Options of the commands that report what a job costs: the job, the devices, and the output format.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/support/common.h"
#include "tern/routing.h"

namespace tern::cli {

struct CostFlags {
  ExpectedJob job = {.counts_setup = true};
  Prefer prefer = Prefer::kSpeed;
  int n_threads = 0;
  std::string gpu;
  std::string format = "table";

  void add(CLI::App& app);
  // Name of the first of these options that is on the command line; empty: none.
  std::string given() const;
  bool as_json() const { return format == "json"; }

  // Returns the cost curves of the model at this path. Curves that are not stored yet are measured, with a progress
  // bar; `again` also measures stored ones. kInvalidArgument: the model's context is too short for the job.
  Result<CurveSet> curves(const std::string& model_path, const MetadataChanges& metadata, bool again) const;
  LoadOptions load(const std::string& model_path, const MetadataChanges& metadata) const;

  // The job, with the lengths that were not given shortened to fit this context.
  ExpectedJob job_within(int n_ctx) const;

 private:
  std::vector<CLI::Option*> options_;  // the prompt's and the generation's come first
};

}  // namespace tern::cli
