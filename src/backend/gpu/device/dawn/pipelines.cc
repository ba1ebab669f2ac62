// Kernels: from WGSL text to a pipeline, and bind groups.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "backend/gpu/device/dawn/device.h"
#include "backend/gpu/device/device_checks.h"

namespace tern::gpu {
namespace {

// The first error in the compiler's messages, as "line L:C: message".
std::optional<std::string> first_error(const wgpu::Instance& instance, const wgpu::ShaderModule& shader) {
  std::optional<std::string> error;
  const wgpu::Future future = shader.GetCompilationInfo(
      wgpu::CallbackMode::WaitAnyOnly,
      [](wgpu::CompilationInfoRequestStatus, const wgpu::CompilationInfo* info, std::optional<std::string>* out) {
        for (size_t i = 0; info != nullptr && i < info->messageCount; ++i) {
          const wgpu::CompilationMessage& message = info->messages[i];
          if (message.type != wgpu::CompilationMessageType::Error) continue;
          *out = format_text("line {}:{}: {}", message.lineNum, message.linePos, first_line(message.message));
          return;
        }
      },
      &error);
  instance.WaitAny(future, std::numeric_limits<uint64_t>::max());
  return error;
}

wgpu::BufferBindingType binding_type(wgsl::Access access) {
  switch (access) {
    case wgsl::Access::kRead:
      return wgpu::BufferBindingType::ReadOnlyStorage;
    case wgsl::Access::kReadWrite:
      return wgpu::BufferBindingType::Storage;
    case wgsl::Access::kUniform:
      return wgpu::BufferBindingType::Uniform;
  }
  return wgpu::BufferBindingType::Undefined;
}

wgpu::BindGroupLayout make_layout(const wgpu::Device& device, const wgsl::Module& module) {
  std::vector<wgpu::BindGroupLayoutEntry> entries(module.bindings.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].visibility = wgpu::ShaderStage::Compute;
    entries[i].buffer.type = binding_type(module.bindings[i].access);
  }
  wgpu::BindGroupLayoutDescriptor descriptor;
  descriptor.label = wgpu::StringView(module.name);
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return device.CreateBindGroupLayout(&descriptor);
}

}  // namespace

Result<wgpu::ShaderModule> DawnDevice::compile(const wgsl::Module& module) {
  wgpu::ShaderSourceWGSL source;
  source.code = wgpu::StringView(module.text);
  wgpu::ShaderModuleDescriptor descriptor;
  descriptor.label = wgpu::StringView(module.name);
  descriptor.nextInChain = &source;
  wgpu::ShaderModule shader = device_.CreateShaderModule(&descriptor);
  if (const auto error = first_error(instance_->api, shader))
    return fail(ErrorCode::kNotSupported, "kernel {}, {}", module.name, *error);
  return shader;
}

namespace {

wgpu::PipelineLayout layout_of(const wgpu::Device& device, const wgsl::Module& module,
                               const wgpu::BindGroupLayout& bindings) {
  wgpu::PipelineLayoutDescriptor descriptor;
  descriptor.bindGroupLayoutCount = 1;
  descriptor.bindGroupLayouts = &bindings;
  descriptor.immediateSize = module.needs.immediate_bytes;
  return device.CreatePipelineLayout(&descriptor);
}

wgpu::ComputePipelineDescriptor descriptor_of(const wgpu::Device& device, const wgsl::Module& module,
                                              const wgpu::BindGroupLayout& bindings, const wgpu::ShaderModule& shader) {
  wgpu::ComputePipelineDescriptor descriptor;
  descriptor.label = wgpu::StringView(module.name);
  descriptor.layout = layout_of(device, module, bindings);
  descriptor.compute.module = shader;
  descriptor.compute.entryPoint = wgpu::StringView(module.name);
  return descriptor;
}

}  // namespace

bool DawnDevice::is_compiling(const DawnPipeline& pipeline) const {
  return std::ranges::contains(compiling_, &pipeline, &Compiling::pipeline);
}

void DawnDevice::wait_for(const Compiling& one) const {
  instance_->api.WaitAny(one.future, std::numeric_limits<uint64_t>::max());
}

Result<void> DawnDevice::start(const DawnPipeline& pipeline) {
  const wgsl::Module& module = pipeline.module();
  ErrorScopes scopes(instance_->api, device_);
  TRY(const wgpu::ShaderModule shader, compile(module));
  const auto descriptor = descriptor_of(device_, module, pipeline.layout, shader);
  if (const auto error = scopes.take()) return fail(error->code, "kernel {}: {}", module.name, error->message);
  Compiling& made = compiling_.emplace_back(&pipeline);
  made.future = device_.CreateComputePipelineAsync(
      &descriptor, wgpu::CallbackMode::WaitAnyOnly,
      [](wgpu::CreatePipelineAsyncStatus status, wgpu::ComputePipeline handle, wgpu::StringView message,
         Compiling* out) {
        out->handle = std::move(handle);
        if (status != wgpu::CreatePipelineAsyncStatus::Success) out->error = first_line(message);
      },
      &made);
  return {};
}

Result<void> DawnDevice::begin(const Pipeline& pipeline) {
  if (!modes_.compiles_when_run || dawn(pipeline).handle || is_compiling(dawn(pipeline))) return {};
  const auto start_time = std::chrono::steady_clock::now();
  const auto started = start(dawn(pipeline));
  stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  return started;
}

Result<void> DawnDevice::prepare(std::span<const Command> commands) {
  const auto is_missing = [](const Command& c) { return c.pipeline != nullptr && !dawn(*c.pipeline).handle; };
  if (modes_.only_validates || std::ranges::none_of(commands, is_missing)) return {};
  const auto start_time = std::chrono::steady_clock::now();
  // The slowest compilations come first: Dawn has few threads, and a slow one should not start last. For an NVIDIA
  // driver 34 kB with subgroup matrices are as much work as 134 kB without.
  std::vector<const DawnPipeline*> missing;
  for (const Command& command : commands) {
    if (is_missing(command)) missing.push_back(&dawn(*command.pipeline));
  }
  std::ranges::sort(missing, std::ranges::greater(), [](const DawnPipeline* p) {
    const wgsl::Module& module = p->module();
    return std::pair(module.text.size() * (module.needs.subgroup_matrix ? 4 : 1), p);
  });
  const auto repeated = std::ranges::unique(missing);
  missing.erase(repeated.begin(), repeated.end());
  for (const DawnPipeline* const pipeline : missing) {
    if (!is_compiling(*pipeline)) TRY_STATUS(start(*pipeline));
  }
  std::string why_not;
  const DawnPipeline* failed = nullptr;
  for (auto made = compiling_.begin(); made != compiling_.end();) {
    if (!std::ranges::contains(missing, made->pipeline)) {
      ++made;
      continue;
    }
    wait_for(*made);
    if (made->handle) {
      made->pipeline->handle = std::move(made->handle);
      ++stats_.compiled;
    } else {
      failed = made->pipeline;
      why_not = made->error.empty() ? "the driver did not compile it" : made->error;
    }
    made = compiling_.erase(made);
  }
  stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_time).count();
  TRY_STATUS(errors_.take());
  if (!failed) return {};
  return fail(ErrorCode::kNotSupported, "kernel {}: {}", failed->module().name, why_not);
}

Result<std::unique_ptr<DawnPipeline>> DawnDevice::make_pipeline(const wgsl::Module& module) {
  if (modes_.compiles_when_run) return std::make_unique<DawnPipeline>(module, make_layout(device_, module), nullptr);
  ErrorScopes scopes(instance_->api, device_);
  TRY(const wgpu::ShaderModule shader, compile(module));
  wgpu::BindGroupLayout layout = make_layout(device_, module);
  wgpu::ComputePipeline handle;
  // The Null backend has only the guaranteed limits and no matrix shapes. For kernels beyond those, the text is still
  // checked.
  if (!modes_.only_validates ||
      (fits(module.needs, opened_.limits, opened_.features) && !module.needs.subgroup_matrix)) {
    const auto descriptor = descriptor_of(device_, module, layout, shader);
    handle = device_.CreateComputePipeline(&descriptor);
  }
  if (const auto error = scopes.take()) return fail(error->code, "kernel {}: {}", module.name, error->message);
  return std::make_unique<DawnPipeline>(module, std::move(layout), std::move(handle));
}

Result<const Pipeline*> DawnDevice::pipeline(const wgsl::Module& module) {
  TRY_STATUS(errors_.take());
  if (const auto found = pipelines_.find(module.text); found != pipelines_.end()) {
    ++stats_.hits;
    return found->second.get();
  }
  TRY_STATUS(check_needs(module, *this, !modes_.only_validates));
  const auto start = std::chrono::steady_clock::now();
  auto made = make_pipeline(module);
  stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  TRY_STATUS(errors_.take());
  TRY(auto pipeline, std::move(made));
  stats_.compiled += !modes_.compiles_when_run;
  const Pipeline* result = pipeline.get();
  const std::string_view text = pipeline->module().text;
  pipelines_.emplace(text, std::move(pipeline));
  return result;
}

Result<std::unique_ptr<BindGroup>> DawnDevice::bind(const Pipeline& pipeline, std::span<const BufferView> views) {
  TRY_STATUS(errors_.take());
  const wgsl::Module& module = pipeline.module();
  TRY_STATUS(check_views(module, views, *this));
  std::vector<wgpu::BindGroupEntry> entries(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].buffer = dawn(*views[i].buffer).handle;
    entries[i].offset = views[i].offset;
    entries[i].size = round_up(view_bytes(views[i]), 4);
  }
  ErrorScopes scopes(instance_->api, device_);
  wgpu::BindGroupDescriptor descriptor;
  descriptor.label = wgpu::StringView(module.name);
  descriptor.layout = dawn(pipeline).layout;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  wgpu::BindGroup handle = device_.CreateBindGroup(&descriptor);
  if (const auto error = scopes.take()) return fail(error->code, "kernel {}: {}", module.name, error->message);
  TRY_STATUS(errors_.take());
  return std::make_unique<DawnBindGroup>(std::move(handle));
}

}  // namespace tern::gpu
