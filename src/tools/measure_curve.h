// Measures what prompts and steps cost on an executable.
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
  int n_ctx = 0;  // of the model
  int n_vocab = 0;
  KvType kv_type = KvType::kF16;
  // About how long it may take, in seconds; at least a prompt and a few steps are measured. What costs more is left to
  // be concluded from what costs less.
  double budget = 7;
  uint64_t most_kv_bytes = 0;            // that keys and values may take; 0: no bound
  EnergyReader* energy = nullptr;        // null: joules are not measured
  std::function<double()> seconds = {};  // since some start; empty: the machine's own clock
};

struct MeasuredCosts {
  double first_pass_seconds = 0;  // beyond what a later one takes
  std::vector<CurvePoint> prompt;
  std::vector<StepCurve> steps;
  double kv_out_seconds = 0, kv_in_seconds = 0;  // of a token's keys and values, read from a store and written to it
  std::string energy_reason;                     // why there are no joules although there is a reader: it failed
};

// Any tokens do, since time does not depend on what is said. kInvalidArgument: a context of fewer than 8 tokens; and
// what running gives.
Result<MeasuredCosts> measure_costs(Executable& executable, const MeasureOptions& options);

}  // namespace tern
