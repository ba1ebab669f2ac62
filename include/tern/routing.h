// What a job costs on each device of this machine, and which device should run it. The costs come from curves that are
// measured once for each model and device and kept in the user's cache folder (docs/devices.md).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tern/engine.h"

namespace tern {

// "cpu", as -b has it.
std::string_view backend_name(BackendKind kind);

// Joules are those of the processor and, where it computes, of the GPU, as their counters have them; none where a
// counter that belongs to it cannot be read.
struct Cost {
  double seconds = 0;
  std::optional<double> joules = {};
};

// Something measured at a number of tokens.
struct CurvePoint {
  int tokens = 0;
  Cost cost = {};
};

// One token of each of so many replies, by how many tokens each has before it. At least one point; the tokens ascend.
struct StepCurve {
  int replies = 1;
  std::vector<CurvePoint> points = {};
};

struct CostCurve {
  std::string device = {};  // "cpu: AMD EPYC …, avx2, 2 threads", "webgpu: NVIDIA H200, driver …"
  std::string model = {};   // its shape and format, which are all that a cost depends on
  BackendKind backend = BackendKind::kCpu;
  Cost setup = {};                      // until the first pass, and what that takes beyond a later one
  std::vector<CurvePoint> prompt = {};  // reading a whole prompt of so many tokens; at least one, the tokens ascend
  std::vector<StepCurve> steps = {};    // for one reply, and then for more at a time, ascending
  // Seconds to read a token's keys and values, all layers', from the device, and to write them to it.
  double kv_out_seconds = 0, kv_in_seconds = 0;
  std::string energy_source = {};  // "powercap (package-0)"; empty: not measured, because of
  std::string energy_reason = {};  // … this
};

struct JobCost {
  Cost setup;
  Cost prompt;
  Cost moving;  // the prompt's keys and values from the device that reads to the one that writes; without joules: 0
  Cost decode;  // the tokens after the first, which belongs to the prompt
  Cost total;   // with the set-up where the job counts it
};

// Between measured points costs are linear; beyond them they go on as between the last two. Replies at a time read
// their prompts one after the other and write together.
JobCost predict(const CostCurve& curve, const ExpectedJob& job);

// Which device reads the prompts of a job and which writes the replies, both by their curves.
struct Route {
  size_t reads = 0, writes = 0;
  bool is_split() const { return reads != writes; }
  bool operator==(const Route&) const = default;
};
// Keys and values move in blocks of so many tokens.
inline constexpr int kMovedTogether = 64;

// "webgpu", "webgpu, then cpu".
std::string route_name(std::span<const CostCurve> curves, const Route& route);

// As predict() of one curve; where the route is split, the model is loaded on both devices.
JobCost predict(std::span<const CostCurve> curves, const Route& route, const ExpectedJob& job);

// The cheapest way through the devices of one model, at least one, and why in one line. By speed where energy is asked
// for and not known of all; the reason says so. A device alone is chosen where a second one brings less than 5 %; of
// equal ones the first.
struct RouteChoice {
  Route route;
  std::string reason;  // "webgpu, then cpu takes 0.4 s for 512 + 128 tokens, cpu 0.9 s, webgpu 0.5 s"
};
RouteChoice choose_route(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer);
// The cheapest of those that are split; none with fewer than two devices.
std::optional<Route> best_split(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer);

// For jobs of all lengths that a context of n_ctx holds, the model being loaded: what the best device alone costs, as a
// multiple of what each job costs where it is cheapest, on one device or on two; the mean over lengths. 1: one device
// is the best for all.
struct ManyJobs {
  size_t alone = 0;  // the best device for all
  double factor = 1;
};
ManyJobs many_jobs(std::span<const CostCurve> curves, int n_ctx, Prefer prefer);

// Where the route changes as one number of the job grows from 1 to `most`: from this number on it is `to`.
struct Crossover {
  int tokens = 0;
  Route from, to;
};
std::vector<Crossover> crossovers(std::span<const CostCurve> curves, ExpectedJob job, int ExpectedJob::* varied,
                                  int most, Prefer prefer);

// ---- measuring

struct CurveOptions {
  LoadOptions load = {};    // the model, its head, the threads, and which GPU; a software one only by its name
  int least_ctx = 0;        // tokens of context that the model has to have
  bool again = false;       // measure also what is kept
  std::string folder = {};  // where curves are kept; empty: in the user's cache folder
  // Seconds of a program of its own that loads the model on a backend, writes a token and ends, as only such a program
  // opens a driver for the first time; an error, and without it: loading counts as it takes in this one.
  std::function<Result<double>(BackendKind)> start_seconds = {};
};

// A device that has no curve, and why.
struct DeviceLeftOut {
  std::string device;
  std::string reason;
};

struct CurveSet {
  std::string model_path, model_name;
  int n_ctx = 0;                  // of the model
  std::vector<CostCurve> curves;  // the CPU's first
  std::vector<bool> measured;     // of each: now, not before
  std::vector<DeviceLeftOut> left_out;
};

// The curves of a model on the CPU and on the GPU, where there is one: those that are kept, and the others measured,
// which takes less than 20 s, and kept. What is kept wrongly (cut short, of another version) is measured again, and
// what cannot be kept is warned of. Errors: those of opening the model, and of running it on the CPU; kInvalidArgument,
// before anything is measured: its context is too short, or `load` changes what is computed (a plan without fused
// steps, say).
Result<CurveSet> cost_curves(const CurveOptions& options);

// Runs such a job on the route's device, or on both, where each pass is placed by itself: what it took, to compare with
// what predict() says; moving is a part of writing. Errors: those of loading the model there; kInvalidArgument: the job
// is longer than the context.
Result<JobCost> measure_job(std::span<const CostCurve> curves, const Route& route, const LoadOptions& load,
                            const ExpectedJob& job);

}  // namespace tern
