// Kernels on their way to the device: traced, or as edited in a folder of WGSL files.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/views.h"
#include "backend/gpu/record/program.h"

namespace tern::gpu {

// A kernel K that a library keeps.
template <class K>
struct TracedKernel {
  using Bindings = K::Bindings;
  const wgsl::Module& module;
};

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
  TracedKernel<K> traced(K (*make)(A...), const std::type_identity_t<std::remove_cvref_t<A>>&... args) {
    using Arguments = std::tuple<std::remove_cvref_t<A>...>;
    const auto of = reinterpret_cast<Maker>(make);
    const Arguments wanted(args...);
    const wgsl::Module* module = find(of, &wanted, [](const void* a, const void* b) {
      return *static_cast<const Arguments*>(a) == *static_cast<const Arguments*>(b);
    });
    if (!module) module = &keep(of, std::make_shared<const Arguments>(wanted), make(args...).module);
    return {*module};
  }

  // The kernel with its buffers bound, in its order. K: a wgsl::Kernel or one of those that are traced.
  template <class K, class... E>
  Result<RecordedDispatch> record(const K& kernel, const Extent& extent, const View<E>&... views) {
    return record_views(kernel.module, extent, ViewsOf<typename K::Bindings>::pack(views...));
  }

 private:
  // The rest of the templates above, which a page has to fetch but once.
  using Maker = void (*)();
  using Equal = bool (*)(const void* a, const void* b);
  struct Traced {
    std::shared_ptr<const void> arguments;
    wgsl::Module module;
  };
  const wgsl::Module* find(Maker make, const void* arguments, Equal equal) const;
  const wgsl::Module& keep(Maker make, std::shared_ptr<const void> arguments, wgsl::Module module);
  Result<RecordedDispatch> record_views(const wgsl::Module& module, const Extent& extent,
                                        std::span<const BufferView> views);

  Result<const Pipeline*> from_dir(const wgsl::Module& module);

  Device& device_;
  std::string dir_;
  std::map<std::string, const Pipeline*> loaded_;  // by file name
  std::map<Maker, std::deque<Traced>> traced_;     // few of each, in places where they stay
};

}  // namespace tern::gpu
