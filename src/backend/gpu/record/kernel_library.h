// Traces kernels and compiles them. Tracing calls the C++ function that writes the kernel's WGSL (wgsl/kernel.h). Files
// that were edited in a folder may replace that text.
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

// A traced kernel of type K that a library keeps.
template <class K>
struct TracedKernel {
  using Bindings = K::Bindings;
  const wgsl::Module& module;
};

// A folder in which kernels can be edited. The base class is that of browsers, where there are no folders.
class KernelFolder {
 public:
  explicit KernelFolder(std::string path) : path_(std::move(path)) {}
  virtual ~KernelFolder() = default;
  virtual Result<const Pipeline*> pipeline(Device& /*device*/, const wgsl::Module& /*module*/) {
    return fail(ErrorCode::kNotSupported, "{}: in a browser kernels cannot be taken from a folder", path_);
  }

 protected:
  std::string path_;
};

class KernelLibrary {
 public:
  // With `folder`, all kernels are taken from there.
  explicit KernelLibrary(Device& device, std::unique_ptr<KernelFolder> folder = nullptr)
      : device_(device), folder_(std::move(folder)) {}

  // Errors of the folder and the device. Only a device that validates (DeviceOptions) detects wrong bindings or entry
  // points of edited kernels; on others they may end the program.
  Result<const Pipeline*> pipeline(const wgsl::Module& module);

  // make(args...), traced once: a model's layers share kernels, and so do the programs of several stores.
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

  // Binds the kernel's buffers in its order. K: a wgsl::Kernel or a TracedKernel.
  template <class K, class... E>
  Result<RecordedDispatch> record(const K& kernel, const Extent& extent, const View<E>&... views) {
    return record_views(kernel.module, extent, ViewsOf<typename K::Bindings>::pack(views...));
  }

 private:
  // The part of the templates above that does not depend on their parameters, to keep the web build small.
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

  Device& device_;
  std::unique_ptr<KernelFolder> folder_;        // null: kernels are as Tern writes them
  std::map<Maker, std::deque<Traced>> traced_;  // few per maker; a deque keeps addresses valid
};

}  // namespace tern::gpu
