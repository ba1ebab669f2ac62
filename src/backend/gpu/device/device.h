// Tern's interface to WebGPU. dawn/ implements it natively, web/ in browsers. The layers above do not know which one
// runs.
//
// Errors: what the device reports asynchronously (validation, device loss, out of memory) is kept and returned by the
// next call that can fail. Objects belong to one device, must not outlive it, and are used from one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/wgsl/module.h"
#include "base/files/byte_source.h"
#include "base/result.h"

namespace tern {
class ThreadPool;
}

namespace tern::gpu {

struct Limits {
  uint64_t binding_bytes = 0;     // of one storage binding
  uint64_t uniform_bytes = 0;     // of one uniform binding
  uint64_t buffer_bytes = 0;      // of one buffer
  uint32_t offset_alignment = 0;  // of a binding into a buffer
  uint32_t workgroups = 0;        // per dimension
  uint32_t invocations = 0;       // per workgroup
  uint32_t workgroup_bytes = 0;   // var<workgroup>
  uint32_t storage_buffers = 0;   // per kernel
  uint32_t immediate_bytes = 0;
};

struct Features {
  bool f16 = false;
  bool subgroups = false;
  bool packed_dot = false;  // dot4I8Packed as an instruction
  bool timestamps = false;
  uint32_t subgroup_min = 0, subgroup_max = 0;  // sizes, where there are subgroups
  std::vector<wgsl::MatrixShape> matrices;      // subgroup-matrix shapes; empty without
};

enum class AdapterType { kDiscrete, kIntegrated, kSoftware, kUnknown };

struct AdapterInfo {
  int index = 0;       // in list_adapters
  std::string name;    // "NVIDIA H200"
  std::string vendor;  // "nvidia"
  std::string driver;  // description with version
  std::string api;     // "Vulkan"
  AdapterType type = AdapterType::kUnknown;
  uint64_t memory_bytes = 0;  // of the largest heap on the device; 0: unknown
  Limits limits;
  Features features;  // what the adapter offers
};

// Features to ignore although the adapter has them, so that every fallback can be tested on one machine.
struct Restrictions {
  bool f16 = false, subgroups = false, subgroup_matrix = false, packed_dot = false, timestamps = false;
  bool default_limits =
      false;                  // WebGPU's guaranteed limits: 128 MiB bindings, 256 invocations, 16 KiB workgroup memory
  uint64_t memory_bytes = 0;  // treat the device as having this much memory; 0: its actual size
};

struct DeviceOptions {
  std::string adapter = {};    // part of its name (any case) or its index; empty: the best, hardware before software
  bool only_hardware = false;  // without a name, no software adapter
  bool validation = false;     // the API's own checks; without them some errors go undetected
  bool robustness = false;     // clamp indices in kernels
  Restrictions without = {};
  std::string cache_dir = {};  // folder that keeps compiled pipelines between runs; empty: none
};

enum class BufferUse {
  kWeights,  // storage, written by the host
  kWork,     // storage, read and written, host may read it through read()
  kUniform,  // uniform, written by the host
};

class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual uint64_t bytes() const = 0;
  virtual BufferUse use() const = 0;
};

class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual const wgsl::Module& module() const = 0;
};

// A part of a buffer; `bytes` 0 means up to its end.
struct BufferView {
  const Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  auto operator<=>(const BufferView&) const = default;
};

class BindGroup {
 public:
  virtual ~BindGroup() = default;
};

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
};

// One entry of a command list: a dispatch, or (where `pipeline` is null) a copy between buffers.
struct Command {
  const Pipeline* pipeline = nullptr;
  const BindGroup* bindings = nullptr;
  Grid grid;
  BufferView from, to;  // for a copy; its size is that of `from`
  // All values of the kernel's Immediates (its module's needs.immediate_bytes). Read only during the call.
  Bytes immediates = {};
};

inline constexpr uint64_t kMaxReadBytes = uint64_t{1} << 20;  // for one read_later

// Bytes being copied from the device, in the order of their submits.
class ReadBack {
 public:
  virtual ~ReadBack() = default;
  // Waits until the bytes have arrived. kDeviceLost.
  virtual Result<Bytes> wait() = 0;
};

struct PipelineStats {
  int compiled = 0;    // unique texts
  int hits = 0;        // requests for a pipeline that existed
  double seconds = 0;  // spent compiling
  int threads = 0;     // that compile; 0: unknown
  int disk_hits = 0;   // blobs taken from cache_dir
};

class Device {
 public:
  virtual ~Device() = default;

  virtual const AdapterInfo& adapter() const = 0;
  virtual const Limits& limits() const = 0;      // the device's, after restrictions
  virtual const Features& features() const = 0;  // in use, after restrictions
  virtual uint64_t allocated_bytes() const = 0;  // of live buffers
  virtual PipelineStats pipeline_stats() const = 0;

  // kOutOfMemory, with the label and the size. New memory is zero.
  virtual Result<std::unique_ptr<Buffer>> new_buffer(std::string_view label, uint64_t bytes, BufferUse use) = 0;

  // Ordered with submits. Offset and size are multiples of 4.
  virtual Result<void> write(const Buffer& buffer, uint64_t offset, Bytes bytes) = 0;

  // Writes bytes that may have to be read first, into `scratch`; a device may upload a file's own bytes directly
  // (StoredBytes::source()->file()). Large copies use `pool`, if not null. Also returns read errors.
  virtual Result<void> write_from(const Buffer& buffer, uint64_t offset, const StoredBytes& bytes, Scratch& scratch,
                                  ThreadPool* pool);

  // The pipeline for this text, compiled once. With validation it is compiled now; otherwise when it is first run,
  // together with all others still missing. Either way errors name the kernel and the line of the WGSL text.
  virtual Result<const Pipeline*> pipeline(const wgsl::Module& module) = 0;

  // Compiles together all pipelines of these commands that are not compiled yet, ahead of their first run.
  virtual Result<void> prepare(std::span<const Command> commands);

  // Starts compiling a pipeline that will take long, without waiting. Errors in its text.
  virtual Result<void> begin(const Pipeline& pipeline);

  // One view per binding of the pipeline's module, in its order. kInvalidArgument if a view exceeds a limit.
  virtual Result<std::unique_ptr<BindGroup>> bind(const Pipeline& pipeline, std::span<const BufferView> views) = 0;

  // Runs all commands, in order, as one command buffer and one submit.
  virtual Result<void> submit(std::span<const Command> commands) = 0;

  // Starts copying a view (at most kMaxReadBytes) to the host, after everything submitted so far; does not wait.
  // `commands` run before the copy, in the same submit.
  virtual Result<std::unique_ptr<ReadBack>> read_later(BufferView view, std::span<const Command> commands) = 0;

  // Copies a view to the host and waits for it.
  virtual Result<void> read(BufferView view, MutableBytes out) = 0;

  // Runs the commands and returns each dispatch's time on the device in seconds (copies: 0), measured within one
  // command buffer. kNotSupported without timestamps.
  virtual Result<std::vector<double>> time(std::span<const Command> commands) = 0;

  // Runs the commands (dispatches only) as submit() would, and returns the seconds from the first one's start to the
  // last one's end. Less than the sum of time(), whose timestamps separate the dispatches. kNotSupported without
  // timestamps.
  virtual Result<double> time_whole(std::span<const Command> commands) = 0;

  // Waits until everything submitted has run.
  virtual Result<void> wait() = 0;

  // Returns pending errors: the first since the last call that returned one.
  virtual Result<void> check() = 0;

  // Forgets the device, as if the driver had reset it. For tests.
  virtual void lose() = 0;
};

// All adapters of this machine (except Null adapters), best first: discrete, integrated, software. kNotFound, saying
// what to install, if there is no Vulkan loader or no adapter.
Result<std::vector<AdapterInfo>> list_adapters();

// kNotFound as for list_adapters, or if no adapter matches (the message lists them). A software adapter is used only if
// requested by name or if there is no other; the caller warns (adapter().type).
Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options);

// A device that only checks WGSL and bindings and runs nothing (Dawn's Null backend): for tests of shader texts.
// Without `validation` it only parses texts, to measure what validation costs the host.
Result<std::unique_ptr<Device>> open_validation_device(bool validation = true);

}  // namespace tern::gpu
