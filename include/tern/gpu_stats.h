// Which GPU computes and what it has done, for finding out where the time goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tern {

struct GpuAdapter {
  std::string name;                   // "NVIDIA H200"
  std::string vendor;                 // "nvidia"
  std::string driver;                 // description with version; may be empty
  std::vector<std::string> features;  // features that kernels may use, named as in GpuOptions::without
  // What the device computed wrongly when it was tested: a line for each feature that is left out for that.
  std::vector<std::string> failed_tests;
};

// A field that was not measured is 0. (Times on the device need timestamps, which not every device has.)
struct GpuStats {
  int dispatches_per_token = 0;  // of one decoded token
  int shaders = 0;               // different shader texts in use
  double pipeline_hit_rate = 0;  // share of the requested pipelines that existed already, 0 to 1
  int disk_hits = 0;             // pipelines that came from the cache on disk
  double compile_seconds = 0;    // making pipelines
  int compile_threads = 0;       // 0: nobody knows
  double upload_seconds = 0;     // moving weights to the device
  uint64_t upload_bytes = 0;     // how many bytes that were
  uint64_t device_bytes = 0;     // buffers on the device: weights, activations and KV caches
  // A decoded token takes gpu + host milliseconds; both are 0 while the device is decoding a reply by itself.
  // Recording happens while the GPU is busy with the previous token, so it is part of `host` only as far as the GPU had
  // to wait for it.
  double gpu_ms_per_token = 0;     // from the start of its first dispatch to the end of its last
  double host_ms_per_token = 0;    // the rest of the time until the next token
  double record_ms_per_token = 0;  // the host's work: recording and submitting its dispatches
};

// What one of two devices has done of a model's work so far (BackendKind::kBoth).
struct DeviceShare {
  std::string device;           // "cpu", "webgpu"
  uint64_t prompt_tokens = 0;   // run with others of their sequence
  uint64_t single_tokens = 0;   // run alone, as those of replies are
  uint64_t tokens_brought = 0;  // whose keys and values came from the other device, in whole blocks
};

// A kernel and its share of a decoded token.
struct GpuKernel {
  std::string name;    // "ternary_matvec"; kernels with the same name may have different texts
  std::string wgsl;    // its text as compiled
  int dispatches = 0;  // within a token
  double us = 0;       // of all of them together, one after the other; 0 without timestamps
};

}  // namespace tern
