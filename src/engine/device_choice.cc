#include "engine/device_choice.h"

#include <vector>

#include "base/fnv1a.h"
#include "base/format_text.h"
#include "base/system_info.h"
#include "engine/backends.h"
#include "quant/format.h"
#include "routing/curve_file.h"
#include "tern/engine.h"
#include "tern/routing.h"

namespace tern {
namespace {

// Everything that decides which steps run on how many numbers of which format.
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

std::optional<ChosenDevice> choose_by_curves(const Model& model, const LoadOptions& options, int n_threads) {
  if (options.prefer == Prefer::kGpu || !has_curves_for(options)) return std::nullopt;
  const CurveFolder kept(default_curve_folder(), std::string(version()));
  if (!kept.exists()) return std::nullopt;  // most people's, whose start is not to be slower
  const std::string of_model = curve_model(model, options.head);
  auto cpu = kept.find(cpu_curve_device(n_threads), of_model);
  if (!cpu) return std::nullopt;
  const auto gpu = find_gpu(options.gpu.adapter);
  if (!gpu) return std::nullopt;
  auto on_gpu = kept.find(gpu_curve_device(gpu->name, gpu->driver), of_model);
  if (!on_gpu) return std::nullopt;
  const std::vector<CostCurve> curves = {*std::move(cpu), *std::move(on_gpu)};
  DeviceChoice choice = choose_device(curves, options.job, options.prefer);
  return ChosenDevice{.backend = curves[choice.index].backend, .reason = std::move(choice.reason)};
}

}  // namespace tern
