#include "engine/load/device_choice.h"

#include <algorithm>
#include <utility>

#include "backend/hybrid/hybrid_backend.h"
#include "base/files/system_info.h"
#include "base/fnv1a.h"
#include "base/text/format_text.h"
#include "engine/load/backends.h"
#include "engine/load/pass_costs.h"
#include "quant/format.h"
#include "routing/curve_file.h"
#include "tern/engine.h"
#include "tern/routing.h"

namespace tern {
namespace {

// The names, formats and sizes of all tensors, which determine the costs.
std::string tensors_text(const Model& model) {
  std::string text;
  const auto add = [&](const Tensor& t) {
    text += format_text("{} {} {}x{}\n", t.name, format_info(t.format).name, t.rows, t.cols);
  };
  for (const Layer& layer : model.weights.layers) {
    for (const Tensor* tensor : layer.tensors()) add(*tensor);
  }
  add(model.weights.token_embd);
  add(model.weights.output);
  return text;
}

}  // namespace

std::string cpu_curve_device(int n_threads) {
  const CpuInfo cpu = read_cpu_info();
  return format_text("cpu: {}, {}, {} thread{}", cpu.name.empty() ? "unknown processor" : cpu.name, cpu_target(),
                     n_threads, n_threads == 1 ? "" : "s");
}

std::string gpu_curve_device(const std::string& name, const std::string& driver) {
  return format_text("webgpu: {}, {}", name, driver.empty() ? "unknown driver" : driver);
}

std::string curve_model(const Model& model, HeadKind head) {
  const Config& c = model.config;
  const std::string shape =
      format_text("{} {} heads of {}, {} of keys, context {}, rope {}\n{}", c.architecture, c.n_heads, c.head_dim,
                  c.n_kv_heads, c.n_ctx, c.ropes.size(), tensors_text(model));
  const Format linear =
      model.weights.layers.empty() ? model.weights.output.format : model.weights.layers.front().ffn_down.format;
  return format_text("{}, {} layers of {}, {} + {}{}, {:016x}", c.architecture, c.n_layers, c.d_model,
                     format_info(linear).name, format_info(model.weights.output.format).name,
                     head == HeadKind::kExact ? " exact" : "", fnv1a(shape));
}

bool has_curves_for(const LoadOptions& options) {
  const GpuOptions& gpu = options.gpu;
  return options.fuse && !options.embeddings && options.max_batch == 0 && gpu.wgsl_dir.empty() && gpu.without.empty() &&
         !gpu.validation && !gpu.robustness;
}

namespace {

// The kept curves of the CPU and the GPU.
Result<std::array<CostCurve, 2>> kept_curves(const Model& model, const LoadOptions& options, int n_threads) {
  const auto unknown = [&] {
    const bool is_usual = options.head == HeadKind::kAuto || options.head == HeadKind::kFile;
    return fail(ErrorCode::kNotFound,
                "it is not known what this model costs{} on the CPU and on the GPU, so passes cannot be shared out; {}",
                is_usual ? "" : " with such a head", is_usual ? "measure the costs first" : "use the file's head");
  };
  const CurveFolder kept(default_curve_folder(), std::string(version()));
  if (!kept.exists()) return unknown();  // true for most users; loading must not be slower for them
  const std::string of_model = curve_model(model, options.head);
  auto cpu = kept.find(cpu_curve_device(n_threads), of_model);
  if (!cpu) return unknown();
  TRY(const FoundGpu gpu, find_gpu(options.gpu.adapter));
  auto on_gpu = kept.find(gpu_curve_device(gpu.name, gpu.driver), of_model);
  if (!on_gpu) return unknown();
  return std::array{*std::move(cpu), *std::move(on_gpu)};
}

BackendKind better_alone(const std::array<CostCurve, 2>& curves, const LoadOptions& options) {
  const auto seconds = [&](const CostCurve& curve) { return predict(curve, options.job).total.seconds; };
  return std::ranges::min_element(curves, {}, seconds)->backend;
}

// For the jobs of a loaded model. A second copy of the model must be worth its memory.
ChosenDevice choose_for_many(const std::array<CostCurve, 2>& curves, const Model& model, Prefer prefer) {
  constexpr double kWorthTwoCopies = 1.1;
  const ManyJobs jobs = many_jobs(curves, model.config.n_ctx, prefer);
  const BackendKind alone = curves[jobs.alone].backend;
  if (jobs.factor < kWorthTwoCopies) {
    return {.backend = alone,
            .reason = format_text("{} alone costs {:.2f} times what jobs of all lengths do where each is cheapest",
                                  backend_name(alone), jobs.factor)};
  }
  return {.backend = BackendKind::kBoth,
          .reason = format_text("cpu and webgpu, for jobs of all lengths: {} alone would cost {:.2f} times as much",
                                backend_name(alone), jobs.factor),
          .alone = alone,
          .curves = curves};
}

}  // namespace

std::optional<ChosenDevice> choose_by_curves(const Model& model, const LoadOptions& options, int n_threads) {
  if (model.config.has_recurrent_layers()) return std::nullopt;  // two devices cannot share their states
  if (options.prefer == Prefer::kGpu || !has_curves_for(options)) return std::nullopt;
  const auto curves = kept_curves(model, options, n_threads);
  if (!curves) return std::nullopt;
  if (options.job.any_length) return choose_for_many(*curves, model, options.prefer);
  RouteChoice choice = choose_route(*curves, options.job, options.prefer);
  if (choice.route.is_split()) {
    return ChosenDevice{.backend = BackendKind::kBoth,
                        .reason = std::move(choice.reason),
                        .alone = better_alone(*curves, options),
                        .curves = *curves};
  }
  return ChosenDevice{.backend = (*curves)[choice.route.reads].backend, .reason = std::move(choice.reason)};
}

Result<ChosenDevice> both_by_curves(const Model& model, const LoadOptions& options, int n_threads) {
  if (!has_curves_for(options)) {
    return fail(ErrorCode::kInvalidArgument,
                "what passes cost on two devices is known with fused steps, whole batches and all of a GPU's features: "
                "leave such options as they are by default, or choose one device");
  }
  if (options.prefer == Prefer::kGpu) {
    return fail(ErrorCode::kInvalidArgument,
                "two devices share passes by speed or by energy, not by preferring the GPU");
  }
  TRY(auto curves, kept_curves(model, options, n_threads));
  const RouteChoice choice = choose_route(curves, options.job, options.prefer);
  return ChosenDevice{.backend = BackendKind::kBoth,
                      .reason = format_text("cpu and webgpu, by costs: {}", choice.reason),
                      .curves = std::move(curves)};
}

std::unique_ptr<Executable> combine_by_curves(std::array<std::unique_ptr<Executable>, 2> devices,
                                              const std::array<CostCurve, 2>& curves, const LoadOptions& options) {
  return hybrid::combine({hybrid::Device{.name = "cpu", .executable = std::move(devices[0])},
                          hybrid::Device{.name = "webgpu", .executable = std::move(devices[1])}},
                         PassCosts(curves, options.prefer, options.job.n_generate));
}

}  // namespace tern
