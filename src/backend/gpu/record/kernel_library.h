// Kernels on their way to the device: traced, or as edited in a folder of WGSL files.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/views.h"
#include "backend/gpu/record/program.h"

namespace tern::gpu {

class KernelLibrary {
 public:
  // With `wgsl_dir`, every kernel is written there as NAME-HASH.wgsl when it is first used (HASH is of the text that
  // Tern wrote), and is loaded from that file when the file exists.
  KernelLibrary(Device& device, std::string wgsl_dir) : device_(device), dir_(std::move(wgsl_dir)) {}

  // kIo where the folder cannot be written or a file not be read; kCorruption for an edited file that does not compile,
  // with its path and line. Only a device that validates (DeviceOptions) finds bindings or an entry point that do not
  // fit; on another they may end the program.
  Result<const Pipeline*> pipeline(const wgsl::Module& module);

  // make(args...), traced once: the layers of a model are alike, and so are the programs of several stores.
  template <class K, class... A>
  const K& traced(K (*make)(A...), const std::type_identity_t<std::remove_cvref_t<A>>&... args) {
    using Arguments = std::tuple<std::remove_cvref_t<A>...>;
    using Kernels = std::deque<std::pair<Arguments, K>>;  // few, in places where they stay
    std::shared_ptr<void>& of_make = traced_[reinterpret_cast<void (*)()>(make)];
    if (!of_make) of_make = std::make_shared<Kernels>();
    Kernels& kernels = *static_cast<Kernels*>(of_make.get());
    const Arguments wanted(args...);
    for (const auto& [arguments, kernel] : kernels) {
      if (arguments == wanted) return kernel;
    }
    return kernels.emplace_back(wanted, make(args...)).second;
  }

  // The kernel with its buffers bound, in its order.
  template <class... P, class... E>
  Result<RecordedDispatch> record(const wgsl::Kernel<P...>& kernel, const Extent& extent, const View<E>&... views) {
    const auto packed = ViewsOf<typename wgsl::Kernel<P...>::Bindings>::pack(views...);
    TRY(const Pipeline* made, pipeline(kernel.module));
    TRY(auto bindings, device_.bind(*made, packed));
    return RecordedDispatch{
        .pipeline = made, .bindings = std::move(bindings), .views = {packed.begin(), packed.end()}, .extent = extent};
  }

 private:
  Result<const Pipeline*> from_dir(const wgsl::Module& module);

  Device& device_;
  std::string dir_;
  std::map<std::string, const Pipeline*> loaded_;  // by file name
  std::map<void (*)(), std::shared_ptr<void>> traced_;
};

}  // namespace tern::gpu
