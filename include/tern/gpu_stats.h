// Which GPU computes and what it has done, for performance analysis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tern {

struct GpuAdapter {
  std::string name;                   // "NVIDIA H200"
  std::string vendor;                 // "nvidia"
  std::string driver;                 // description with version; may be empty
  std::vector<std::string> features;  // features that kernels may use; names as in GpuOptions::without
  // One line for each feature that is not used because the device computed wrong results in its test.
  std::vector<std::string> failed_tests;
};

// Fields that were not measured are 0. (GPU times need timestamps, which not every device has.)
struct GpuStats {
  int dispatches_per_token = 0;  // per decoded token
  int shaders = 0;               // distinct shader texts in use
  double pipeline_hit_rate = 0;  // share of the requested pipelines that existed already, 0 to 1
  int disk_hits = 0;             // pipelines loaded from the cache on disk
  double compile_seconds = 0;    // time spent compiling pipelines
  int compile_threads = 0;       // 0: unknown
  double upload_seconds = 0;     // time spent uploading weights to the device
  uint64_t upload_bytes = 0;     // bytes uploaded
  uint64_t device_bytes = 0;     // buffers on the device: weights, activations and KV caches
  // A decoded token takes gpu + host milliseconds. Both are 0 while the device decodes a reply by itself. The host
  // records commands while the GPU runs the previous token, so `host` includes only the recording time that the GPU had
  // to wait for.
  double gpu_ms_per_token = 0;     // from the start of its first dispatch to the end of its last
  double host_ms_per_token = 0;    // the rest of the time until the next token
  double record_ms_per_token = 0;  // the host's work: recording and submitting the token's dispatches
};

// The work of one of two devices so far (BackendKind::kBoth).
struct DeviceShare {
  std::string device;           // "cpu", "webgpu"
  uint64_t prompt_tokens = 0;   // tokens run together with others of their sequence
  uint64_t single_tokens = 0;   // tokens run alone, as in decode
  uint64_t tokens_brought = 0;  // tokens whose KV blocks were copied from the other device
};

// A kernel and its share of a decoded token's time.
struct GpuKernel {
  std::string name;    // "ternary_matvec"; kernels with the same name may have different texts
  std::string wgsl;    // its text as compiled
  int dispatches = 0;  // per token
  double us = 0;       // all its dispatches together, in sequence; 0 without timestamps
};

}  // namespace tern
