// Kernels: from WGSL text to a pipeline, and the buffers bound to one.
#include <algorithm>
#include <chrono>
#include <limits>

#include "backend/gpu/dawn/device.h"
#include "base/check.h"

namespace tern::gpu {
namespace {

// The first error among the compiler's messages, as "line L:C: message".
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

bool overlap(const BufferView& a, const BufferView& b) {
  return a.offset < b.offset + view_bytes(b) && b.offset < a.offset + view_bytes(a);
}

// WebGPU lets a kernel write to a buffer only if nothing else of the kernel sees that part of it, and never lets it
// also read the same buffer through another binding, whatever part.
Result<void> check_aliases(const wgsl::Module& module, std::span<const BufferView> views) {
  for (size_t i = 0; i < views.size(); ++i) {
    if (module.bindings[i].access != wgsl::Access::kReadWrite) continue;
    for (size_t j = 0; j < views.size(); ++j) {
      if (i == j || views[i].buffer != views[j].buffer) continue;
      const bool both_write = module.bindings[j].access == wgsl::Access::kReadWrite;
      if (both_write && !overlap(views[i], views[j])) continue;
      return fail(ErrorCode::kInvalidArgument, "kernel {}: {} writes to the buffer that {} {}", module.name,
                  module.bindings[i].name, module.bindings[j].name, both_write ? "writes to" : "reads");
    }
  }
  return {};
}

}  // namespace

bool DawnDevice::fits(const wgsl::Requirements& needs) const {
  return needs.workgroup_bytes <= limits_.workgroup_bytes && needs.invocations <= limits_.invocations &&
         needs.storage_buffers <= limits_.storage_buffers && needs.immediate_bytes <= limits_.immediate_bytes &&
         std::ranges::all_of(needs.matrices, [&](const wgsl::MatrixShape& shape) {
           return std::ranges::contains(features_.matrices, shape);
         });
}

Result<void> DawnDevice::check_needs(const wgsl::Module& module) const {
  const wgsl::Requirements& needs = module.needs;
  const auto missing = [&](std::string_view what) {
    return fail(ErrorCode::kNotSupported, "kernel {}: {} has no {}", module.name, info_.name, what);
  };
  if (needs.f16 && !features_.f16) return missing("f16 arithmetic (shader-f16)");
  if (needs.subgroups && !features_.subgroups) return missing("subgroups");
  if (needs.packed_dot && !features_.packed_dot) return missing("packed 8-bit dot products");
  if (only_validates_) return {};
  if (needs.subgroup_matrix && features_.matrices.empty()) return missing("subgroup matrices");
  if (!fits(needs)) {
    return fail(ErrorCode::kNotSupported,
                "kernel {} needs {} invocations, {} bytes of workgroup memory, {} storage buffers, {} immediate bytes "
                "and {} subgroup-matrix shapes; {} offers {}, {}, {}, {}, or not those shapes",
                module.name, needs.invocations, needs.workgroup_bytes, needs.storage_buffers, needs.immediate_bytes,
                needs.matrices.size(), info_.name, limits_.invocations, limits_.workgroup_bytes,
                limits_.storage_buffers, limits_.immediate_bytes);
  }
  return {};
}

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

Result<std::unique_ptr<DawnPipeline>> DawnDevice::make_pipeline(const wgsl::Module& module) {
  ErrorScopes scopes(instance_->api, device_);
  TRY(const wgpu::ShaderModule shader, compile(module));
  wgpu::BindGroupLayout layout = make_layout(device_, module);
  wgpu::ComputePipeline handle;
  // The Null backend has the guaranteed limits and no matrix shapes; beyond them the text itself can still be checked.
  if (!only_validates_ || (fits(module.needs) && !module.needs.subgroup_matrix)) {
    wgpu::PipelineLayoutDescriptor layout_descriptor;
    layout_descriptor.bindGroupLayoutCount = 1;
    layout_descriptor.bindGroupLayouts = &layout;
    layout_descriptor.immediateSize = module.needs.immediate_bytes;
    wgpu::ComputePipelineDescriptor descriptor;
    descriptor.label = wgpu::StringView(module.name);
    descriptor.layout = device_.CreatePipelineLayout(&layout_descriptor);
    descriptor.compute.module = shader;
    descriptor.compute.entryPoint = wgpu::StringView(module.name);
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
  TRY_STATUS(check_needs(module));
  const auto start = std::chrono::steady_clock::now();
  auto made = make_pipeline(module);
  stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  TRY_STATUS(errors_.take());
  TRY(auto pipeline, std::move(made));
  ++stats_.compiled;
  const Pipeline* result = pipeline.get();
  const std::string_view text = pipeline->module().text;
  pipelines_.emplace(text, std::move(pipeline));
  return result;
}

Result<void> DawnDevice::check_view(const wgsl::Module& module, size_t index, const BufferView& view) const {
  const wgsl::BindingDecl& binding = module.bindings[index];
  const auto broken = [&](std::string_view what, uint64_t limit) {
    return fail(ErrorCode::kInvalidArgument, "kernel {}, binding {}: {} bytes at {}: {} {}", module.name, binding.name,
                view_bytes(view), view.offset, what, limit);
  };
  CHECK(view.buffer != nullptr);
  const bool uniform = binding.access == wgsl::Access::kUniform;
  const uint64_t bytes = view_bytes(view), end = round_up(view.buffer->bytes(), 4);
  if ((dawn(*view.buffer).use == BufferUse::kUniform) != uniform) {
    return fail(ErrorCode::kInvalidArgument, "kernel {}, binding {} is {}, the buffer is not", module.name,
                binding.name, uniform ? "uniform" : "storage");
  }
  if (view.offset % limits_.offset_alignment != 0)
    return broken("offsets must be a multiple of", limits_.offset_alignment);
  if (view.offset >= end || bytes > end - view.offset) return broken("the buffer's bytes are", view.buffer->bytes());
  const uint64_t limit = uniform ? limits_.uniform_bytes : limits_.binding_bytes;
  if (bytes > limit) return broken("one binding may have at most", limit);
  if (bytes < binding.element_bytes) return broken("one element has bytes:", binding.element_bytes);
  return {};
}

Result<std::unique_ptr<BindGroup>> DawnDevice::bind(const Pipeline& pipeline, std::span<const BufferView> views) {
  TRY_STATUS(errors_.take());
  const wgsl::Module& module = pipeline.module();
  if (views.size() != module.bindings.size()) {
    return fail(ErrorCode::kInvalidArgument, "kernel {} has {} bindings, not {}", module.name, module.bindings.size(),
                views.size());
  }
  std::vector<wgpu::BindGroupEntry> entries(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    TRY_STATUS(check_view(module, i, views[i]));
    entries[i].binding = static_cast<uint32_t>(i);
    entries[i].buffer = dawn(*views[i].buffer).handle;
    entries[i].offset = views[i].offset;
    entries[i].size = round_up(view_bytes(views[i]), 4);
  }
  TRY_STATUS(check_aliases(module, views));
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
