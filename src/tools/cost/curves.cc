// The cost curves of a model on this machine: loaded from a folder, or measured and stored there.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <utility>

#include "base/files/system_info.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "engine/load/backends.h"
#include "engine/load/device_choice.h"
#include "routing/cost_curve.h"
#include "routing/curve_file.h"
#include "tern/routing.h"
#include "tern/tools.h"
#include "tools/cost/measure_curve.h"
#include "tools/energy/energy_nvml.h"

namespace tern {
namespace {

struct Device {
  std::string name;  // CostCurve::device
  BackendKind backend = BackendKind::kCpu;
  std::string gpu;             // its name, if it is a GPU
  bool counts_apart = false;   // the processor's counters do not include its energy
  double seconds_to_find = 0;  // spent at every start
};

struct Energy {
  std::unique_ptr<EnergyReader> reader;
  std::string reason;  // why there is no reader
};

Energy open_energy(const Device& device) {
  auto processor = open_energy_reader();
  if (!device.counts_apart) {
    if (processor) return {.reader = *std::move(processor), .reason = {}};
    return {.reader = nullptr, .reason = processor.error().message};
  }
  auto gpu = load_nvml().and_then([&](const Nvml& nvml) { return open_nvml(nvml, device.gpu); });
  if (!gpu) return {.reader = nullptr, .reason = gpu.error().message};
  if (!processor) return {.reader = *std::move(gpu), .reason = {}};
  return {.reader = add_readers(*std::move(processor), *std::move(gpu)), .reason = {}};
}

LoadOptions on_device(LoadOptions load, BackendKind backend) {
  load.backend = backend;
  return load;
}

// Makes sure that pipelines compiled on first use are in the disk cache too.
Result<void> run_a_little(const Engine& engine) {
  TRY(Session session, engine.new_session({.n_ctx = std::min(engine.info().n_ctx, 64)}));
  GenerateOptions options{.max_tokens = 4, .ignore_eos = true};
  options.sample.temperature = 0;
  return session.generate(std::vector<TokenId>{0}, options).transform([](const GenerateResult&) {});
}

// Loads the model twice. The second load takes as long as later starts: the file is in memory and pipelines are
// compiled.
struct Loaded {
  Engine engine;
  Cost cost;
};
double phase_seconds(const ModelInfo& info, std::string_view phase) {
  for (const auto& [name, seconds] : info.load_phases) {
    if (name == phase) return seconds;
  }
  return 0;
}
Result<Loaded> load_twice(const LoadOptions& load, EnergyReader* energy) {
  ModelInfo first;
  {
    TRY(const Engine engine, Engine::load(load));
    first = engine.info();
    TRY_STATUS(run_a_little(engine));
  }
  const auto before = energy ? energy->joules() : Result<double>(0);
  TRY(Engine engine, Engine::load(load));
  const auto after = energy ? energy->joules() : Result<double>(0);
  Cost cost{.seconds = EngineAccess::impl(engine).load_seconds};
  // Opening a GPU takes longer the first time in a process, which every start of the program pays.
  cost.seconds += std::max(phase_seconds(first, "GPU") - phase_seconds(engine.info(), "GPU"), 0.0);
  if (energy && before && after) cost.joules = *after - *before;
  return Loaded{.engine = std::move(engine), .cost = cost};
}

// The shortest of a few starts, within a time limit. 0: unknown.
double seconds_of_start(const CurveOptions& options, BackendKind backend) {
  constexpr int kMostStarts = 3;  // the first may read files from disk and compile kernels
  constexpr double kEnough = 6;   // seconds; then no further start
  double least = 0, all = 0;
  for (int i = 0; options.start_seconds && i < kMostStarts && all < kEnough; ++i) {
    const auto seconds = options.start_seconds(backend);
    if (!seconds) return 0;
    least = i == 0 ? *seconds : std::min(least, *seconds);
    all += *seconds;
  }
  return least;
}

Result<CostCurve> measure(const Device& device, const LoadOptions& load, const std::string& model,
                          double start_seconds) {
  const Energy energy = open_energy(device);
  TRY(const Loaded loaded, load_twice(on_device(load, device.backend), energy.reader.get()));
  const ModelInfo& info = loaded.engine.info();
  TRY(MeasuredCosts costs, measure_costs(*EngineAccess::impl(loaded.engine).executable,
                                         {.n_ctx = info.n_ctx,
                                          .n_vocab = info.n_vocab,
                                          .most_kv_bytes = read_memory_info().available_bytes / 8,
                                          .energy = energy.reader.get()}));
  CostCurve curve{.device = device.name,
                  .model = model,
                  .backend = device.backend,
                  .setup = loaded.cost,
                  .prompt = std::move(costs.prompt),
                  .steps = std::move(costs.steps),
                  .kv_out_seconds = costs.kv_out_seconds,
                  .kv_in_seconds = costs.kv_in_seconds,
                  .energy_source = {},
                  .energy_reason = energy.reason};
  curve.setup.seconds += device.seconds_to_find + costs.first_pass_seconds;
  if (start_seconds > 0) {
    curve.setup.seconds = std::max(start_seconds - prompt_cost(curve.prompt, 1).seconds, 0.0);
  }
  if (!energy.reader) return curve;
  if (costs.energy_reason.empty()) {
    curve.energy_source = energy.reader->source();
  } else {
    curve.energy_reason = std::move(costs.energy_reason);
  }
  return curve;
}

// Finds the GPU for these options: a hardware GPU, or the named one. A process loads a driver only once, so the longest
// search counts.
Result<Device> gpu_of(const LoadOptions& load) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<double> longest = 0;
  const auto start = Clock::now();
  TRY(const FoundGpu gpu, find_gpu(load.gpu.adapter));
  longest = std::max(longest.load(), std::chrono::duration<double>(Clock::now() - start).count());
  return Device{.name = gpu_curve_device(gpu.name, gpu.driver),
                .backend = BackendKind::kWebGpu,
                .gpu = gpu.name,
                .counts_apart = gpu.is_discrete,
                .seconds_to_find = longest.load()};
}

}  // namespace

Result<CurveSet> cost_curves(const CurveOptions& options) {
  LoadOptions load = options.load;
  if (load.model_path.empty()) {
    TRY(load.model_path, default_model_path());
  }
  if (!has_curves_for(load)) {
    return fail(
        ErrorCode::kInvalidArgument,
        "costs are measured with fused steps, whole batches and all of a GPU's features: leave such options as they "
        "are by default");
  }
  TRY_STATUS(choose_cpu_target());
  CurveSet set;
  std::string of_model;
  {
    TRY(Model model, open_model(load.model_path, load.on_progress, Access::kResident, load.metadata));
    Head head;
    TRY_STATUS(head.replace_in(model, load.head));
    of_model = curve_model(model, load.head);
    set.model_path = model.path;
    set.model_name = model.name;
    set.n_ctx = model.config.n_ctx;
    if (set.n_ctx < options.least_ctx) {
      return fail(ErrorCode::kInvalidArgument, "a job of {} tokens, but the context of {} holds {}; give fewer",
                  options.least_ctx, set.model_name, set.n_ctx);
    }
  }
  std::vector<Device> devices = {
      {.name = cpu_curve_device(ThreadPool::threads_for(load.n_threads)), .backend = BackendKind::kCpu, .gpu = {}}};
  if (auto gpu = gpu_of(load)) {
    devices.push_back(*std::move(gpu));
  } else {
    set.left_out.push_back({.device = "webgpu", .reason = gpu.error().message});
  }
  const CurveFolder kept(options.folder.empty() ? default_curve_folder() : options.folder, std::string(version()));
  for (const Device& device : devices) {
    std::optional<CostCurve> known;
    if (!options.again) known = kept.find(device.name, of_model);
    set.measured.push_back(!known);
    if (!known) {
      if (load.on_progress) load.on_progress({.what = "measuring " + device.name, .done = 0, .total = 1, .unit = ""});
      auto measured = measure(device, load, of_model, seconds_of_start(options, device.backend));
      // A device that cannot run the model is left out. Without the CPU there is nothing to compare with, so that
      // fails.
      if (!measured && device.backend == BackendKind::kCpu) return std::unexpected(measured.error());
      if (!measured) {
        set.measured.pop_back();
        set.left_out.push_back({.device = device.name, .reason = measured.error().message});
        continue;
      }
      if (const auto done = kept.keep(*measured); !done) warn("the costs are not kept: {}", done.error().message);
      known = *std::move(measured);
    }
    set.curves.push_back(*std::move(known));
  }
  return set;
}

Result<JobCost> measure_job(std::span<const CostCurve> curves, const Route& route, const LoadOptions& load,
                            const ExpectedJob& job) {
  LoadOptions there = on_device(load, route.is_split() ? BackendKind::kBoth : curves[route.reads].backend);
  there.job = job;
  std::array<CostCurve, 2> both;
  if (route.is_split()) {
    const bool is_first = curves[route.reads].backend == BackendKind::kCpu;
    both = {curves[is_first ? route.reads : route.writes], curves[is_first ? route.writes : route.reads]};
  }
  TRY(const Engine engine, load_by_curves(there, route.is_split() ? &both : nullptr));
  const int n_decoded = std::max(job.n_generate - 1, 0);
  const JobCost expected = predict(curves, route, job);
  const double seconds_of_run =
      std::max(expected.total.seconds - (job.counts_setup ? expected.setup.seconds : 0), 1e-3);
  TRY(const BenchResult rates, bench(engine, {.n_prompt = job.n_prompt,
                                              .n_generate = n_decoded,
                                              .repeats = static_cast<int>(std::clamp(1 / seconds_of_run, 1.0, 9.0)),
                                              .n_parallel = job.n_parallel,
                                              .memory = false}));
  const auto seconds = [&](int n, const Spread& rate) {
    return Cost{.seconds = n == 0 ? 0 : static_cast<double>(n) * job.n_parallel / rate.median};
  };
  JobCost cost{.setup = {.seconds = EngineAccess::impl(engine).load_seconds},
               .prompt = seconds(job.n_prompt, rates.prefill),
               .moving = {},
               .decode = seconds(n_decoded, rates.decode),
               .total = {}};
  cost.total.seconds = cost.prompt.seconds + cost.decode.seconds + (job.counts_setup ? cost.setup.seconds : 0);
  return cost;
}

}  // namespace tern
