#include "tools/energy/energy_nvml.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/platform/library.h"

namespace tern {
namespace {

// Loads the library's function of this name.
template <class Function>
bool find(const platform::Library& library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(symbol));
  return function != nullptr;
}

std::unexpected<Error> nvml_error(const Nvml& nvml, int status, const char* what) {
  return fail(ErrorCode::kIo, "NVML cannot {}: {}", what, nvml.error(status));
}

class NvmlReader final : public EnergyReader {
 public:
  NvmlReader(const Nvml& nvml, void* device, std::string name) : nvml_(nvml), device_(device), name_(std::move(name)) {}
  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;
  ~NvmlReader() override { nvml_.shutdown(); }

  // Joules since the driver was loaded. The counter has 64 bits, so it does not wrap around.
  double seconds_between_updates() const override { return 0.1; }  // as measured on an H100
  Result<double> joules() override {
    unsigned long long millijoules = 0;
    if (const int status = nvml_.energy(device_, &millijoules)) return nvml_error(nvml_, status, "read joules");
    return static_cast<double>(millijoules) * 1e-3;
  }

  std::string source() const override { return format_text("nvml ({})", name_); }

 private:
  Nvml nvml_;
  void* device_;
  std::string name_;
};

class SumReader final : public EnergyReader {
 public:
  SumReader(std::unique_ptr<EnergyReader> a, std::unique_ptr<EnergyReader> b) : a_(std::move(a)), b_(std::move(b)) {}
  double seconds_between_updates() const override {
    return std::max(a_->seconds_between_updates(), b_->seconds_between_updates());
  }
  Result<double> joules() override {
    TRY(const double a, a_->joules());
    TRY(const double b, b_->joules());
    return a + b;
  }
  std::string source() const override { return a_->source() + " + " + b_->source(); }

 private:
  std::unique_ptr<EnergyReader> a_, b_;
};

// All GPUs with this name.
Result<std::vector<void*>> devices_called(const Nvml& nvml, const std::string& gpu) {
  unsigned n = 0;
  if (const int status = nvml.count(&n)) return nvml_error(nvml, status, "count GPUs");
  std::vector<void*> found;
  for (unsigned i = 0; i < n; ++i) {
    void* device = nullptr;
    std::array<char, 96> name = {};
    if (const int status = nvml.device(i, &device)) return nvml_error(nvml, status, "open a GPU");
    if (const int status = nvml.name(device, name.data(), name.size())) return nvml_error(nvml, status, "name a GPU");
    name.back() = '\0';
    if (gpu == name.data()) found.push_back(device);
  }
  return found;
}

Result<void*> only_device(const Nvml& nvml, const std::string& gpu) {
  TRY(const std::vector<void*> found, devices_called(nvml, gpu));
  if (found.empty()) return fail(ErrorCode::kNotFound, "NVML knows no GPU that is called {}", gpu);
  if (found.size() > 1) {
    return fail(ErrorCode::kNotSupported, "{} GPUs are called {}, and NVML does not tell which of them computes",
                found.size(), gpu);
  }
  unsigned long long millijoules = 0;
  if (const int status = nvml.energy(found.front(), &millijoules)) {
    return fail(ErrorCode::kNotSupported, "{} has no counter of joules: {}", gpu, nvml.error(status));
  }
  return found.front();
}

}  // namespace

Result<Nvml> load_nvml(const std::string& library) {
  platform::Library loaded(library);
  if (!loaded.is_open()) return fail(ErrorCode::kNotFound, "there is no {}, which comes with NVIDIA's driver", library);
  Nvml nvml;
  const bool is_whole =
      find(loaded, "nvmlInit_v2", nvml.init) && find(loaded, "nvmlShutdown", nvml.shutdown) &&
      find(loaded, "nvmlDeviceGetCount_v2", nvml.count) && find(loaded, "nvmlDeviceGetHandleByIndex_v2", nvml.device) &&
      find(loaded, "nvmlDeviceGetName", nvml.name) &&
      find(loaded, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy) && find(loaded, "nvmlErrorString", nvml.error);
  if (is_whole) {
    loaded.keep();
    return nvml;
  }
  return fail(ErrorCode::kNotFound, "{} is too old: it does not count joules", library);
}

Result<std::unique_ptr<EnergyReader>> open_nvml(const Nvml& nvml, const std::string& gpu) {
  if (const int status = nvml.init()) return nvml_error(nvml, status, "begin");
  const auto device = only_device(nvml, gpu);
  if (device) return std::make_unique<NvmlReader>(nvml, *device, gpu);
  nvml.shutdown();
  return std::unexpected(device.error());
}

std::unique_ptr<EnergyReader> add_readers(std::unique_ptr<EnergyReader> a, std::unique_ptr<EnergyReader> b) {
  return std::make_unique<SumReader>(std::move(a), std::move(b));
}

}  // namespace tern
