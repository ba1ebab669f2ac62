// Measures the costs of prompts and steps on an executable.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "tern/energy.h"
#include "tern/routing.h"

namespace tern {

struct MeasureOptions {
  int n_ctx = 0;  // the model's context length
  int n_vocab = 0;
  KvType kv_type = KvType::kF16;
  // Approximate time limit in seconds. At least one prompt and a few steps are measured; costlier cases are
  // extrapolated from cheaper ones.
  double budget = 7;
  uint64_t most_kv_bytes = 0;            // limit for keys and values; 0: none
  EnergyReader* energy = nullptr;        // null: joules are not measured
  std::function<double()> seconds = {};  // since any start; empty: the system clock
};

struct MeasuredCosts {
  double first_pass_seconds = 0;  // compared with later passes
  std::vector<CurvePoint> prompt;
  std::vector<StepCurve> steps;
  double kv_out_seconds = 0, kv_in_seconds = 0;  // per token of keys and values, read from and written to a store
  std::string energy_reason;                     // why there are no joules despite a reader: it failed
};

// Uses arbitrary tokens, since time does not depend on them. kInvalidArgument: a context of fewer than 8 tokens; also
// errors of running.
Result<MeasuredCosts> measure_costs(Executable& executable, const MeasureOptions& options);

}  // namespace tern
