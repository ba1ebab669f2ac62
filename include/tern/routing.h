// Predicts what a job costs on each device of this machine, and chooses the device. The costs come from curves that are
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

// "cpu", as for the -b option.
std::string_view backend_name(BackendKind kind);

// `joules` is the energy of the processor and, if it computes, the GPU, from their counters; none if one of these
// counters cannot be read.
struct Cost {
  double seconds = 0;
  std::optional<double> joules = {};
};

// A cost measured at a number of tokens.
struct CurvePoint {
  int tokens = 0;
  Cost cost = {};
};

// The cost of one decode step of `replies` replies, by the number of tokens that each has in its context. At least one
// point, in ascending order of tokens.
struct StepCurve {
  int replies = 1;
  std::vector<CurvePoint> points = {};
};

struct CostCurve {
  std::string device = {};  // "cpu: AMD EPYC …, avx2, 2 threads", "webgpu: NVIDIA H200, driver …"
  std::string model = {};   // its shape and format, which alone determine the costs
  BackendKind backend = BackendKind::kCpu;
  Cost setup = {};                      // until the first pass, plus what that pass takes beyond a later one
  std::vector<CurvePoint> prompt = {};  // prefill of a whole prompt, by its length; at least one point, ascending
  std::vector<StepCurve> steps = {};    // for one reply first, then for more at a time, ascending
  // Seconds per token to read its keys and values of all layers from the device, and to write them to the device.
  double kv_out_seconds = 0, kv_in_seconds = 0;
  std::string energy_source = {};  // "powercap (package-0)"; empty: not measured
  std::string energy_reason = {};  // … for this reason
};

struct JobCost {
  Cost setup;
  Cost prompt;
  Cost moving;  // copying the prompt's KV blocks from the prefill device to the decode device; counts as 0 J
  Cost decode;  // the tokens after the first, which counts as part of the prompt
  Cost total;   // includes `setup` if the job counts it
};

// Interpolates linearly between measured points and extrapolates from the last two. Parallel replies prefill their
// prompts one after the other and decode together.
JobCost predict(const CostCurve& curve, const ExpectedJob& job);

// The devices for a job's prefill and decode, as indices of their curves.
struct Route {
  size_t reads = 0, writes = 0;
  bool is_split() const { return reads != writes; }
  bool operator==(const Route&) const = default;
};
// KV blocks move in groups of this many tokens.
inline constexpr int kMovedTogether = 64;

// "webgpu", "webgpu, then cpu".
std::string route_name(std::span<const CostCurve> curves, const Route& route);

// Predicts the cost of a job on a route. On a split route the model is loaded on both devices.
JobCost predict(std::span<const CostCurve> curves, const Route& route, const ExpectedJob& job);

// Chooses the cheapest route for a job, with a one-line reason. There must be at least one curve. If energy is
// requested but not known for all devices, it chooses by speed, and the reason says so. A split route must save more
// than 5 % over the best single device. On a tie the first one wins.
struct RouteChoice {
  Route route;
  std::string reason;  // "webgpu, then cpu takes 0.4 s for 512 + 128 tokens, cpu 0.9 s, webgpu 0.5 s"
};
RouteChoice choose_route(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer);
// The cheapest split route; none with fewer than two devices.
std::optional<Route> best_split(std::span<const CostCurve> curves, const ExpectedJob& job, Prefer prefer);

// Compares the best single device with the cheapest route of each job, for jobs of all lengths that fit a context of
// n_ctx, without loading. `factor` is the mean ratio of these costs; 1 means that one device is best for all jobs.
struct ManyJobs {
  size_t alone = 0;  // the single device that is best overall
  double factor = 1;
};
ManyJobs many_jobs(std::span<const CostCurve> curves, int n_ctx, Prefer prefer);

// A change of route as one number of the job grows from 1 to `most`: from `tokens` on, the route is `to`.
struct Crossover {
  int tokens = 0;
  Route from, to;
};
std::vector<Crossover> crossovers(std::span<const CostCurve> curves, ExpectedJob job, int ExpectedJob::* varied,
                                  int most, Prefer prefer);

// ---- measuring

struct CurveOptions {
  LoadOptions load = {};    // the model, its head, the threads, and the GPU; a software GPU must be named
  int least_ctx = 0;        // minimum context length that the model must support
  bool again = false;       // measure again even if a curve is kept
  std::string folder = {};  // folder of the kept curves; empty: in the user's cache folder
  // Returns the seconds that a separate program takes to load the model on a backend, decode one token and exit; only a
  // new process opens a driver for the first time. On an error, or if empty: the load time in this process is used.
  std::function<Result<double>(BackendKind)> start_seconds = {};
};

// A device without a curve, and the reason.
struct DeviceLeftOut {
  std::string device;
  std::string reason;
};

struct CurveSet {
  std::string model_path, model_name;
  int n_ctx = 0;                  // the model's context length
  std::vector<CostCurve> curves;  // the CPU first
  std::vector<bool> measured;     // for each curve: measured now, not loaded from the folder
  std::vector<DeviceLeftOut> left_out;
};

// Returns the curves of a model on the CPU and, if there is one, on the GPU. Loads the kept curves; measures and keeps
// the others, which takes less than 20 s. A damaged curve file, or one of another version, is measured again. If a
// curve cannot be kept, a warning says so. Errors: those of opening the model and of running it on the CPU;
// kInvalidArgument, before measuring: the model's context is too short, or `load` changes what is computed (e.g. a plan
// without fused steps).
Result<CurveSet> cost_curves(const CurveOptions& options);

// Runs a job on the route's device, or on both devices, where each pass is placed separately. Returns the measured
// cost, for comparison with predict(); moving counts as decode. Errors: those of loading the model there;
// kInvalidArgument: the job is longer than the context.
Result<JobCost> measure_job(std::span<const CostCurve> curves, const Route& route, const LoadOptions& load,
                            const ExpectedJob& job);

}  // namespace tern
