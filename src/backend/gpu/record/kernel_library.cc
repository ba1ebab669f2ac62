#include "backend/gpu/record/kernel_library.h"

#include <algorithm>
#include <utility>

namespace tern::gpu {

Result<const Pipeline*> KernelLibrary::pipeline(const wgsl::Module& module) {
  return folder_ ? folder_->pipeline(device_, module) : device_.pipeline(module);
}

const wgsl::Module* KernelLibrary::find(Maker make, const void* arguments, Equal equal) const {
  const auto made = traced_.find(make);
  if (made == traced_.end()) return nullptr;
  const auto found =
      std::ranges::find_if(made->second, [&](const Traced& t) { return equal(t.arguments.get(), arguments); });
  return found == made->second.end() ? nullptr : &found->module;
}

const wgsl::Module& KernelLibrary::keep(Maker make, std::shared_ptr<const void> arguments, wgsl::Module module) {
  return traced_[make].emplace_back(Traced{std::move(arguments), std::move(module)}).module;
}

Result<RecordedDispatch> KernelLibrary::record_views(const wgsl::Module& module, const Extent& extent,
                                                     std::span<const BufferView> views) {
  TRY(const Pipeline* made, pipeline(module));
  TRY(auto bindings, device_.bind(*made, views));
  return RecordedDispatch{
      .pipeline = made, .bindings = std::move(bindings), .views = {views.begin(), views.end()}, .extent = extent};
}

}  // namespace tern::gpu
