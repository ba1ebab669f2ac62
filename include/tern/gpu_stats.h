// Which GPU computes and what it did, for people who want to know where the time goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tern {

struct GpuAdapter {
  std::string name;                   // "NVIDIA H200"
  std::string vendor;                 // "nvidia"
  std::string driver;                 // description with version; may be empty
  std::vector<std::string> features;  // that kernels may use, by their names in GpuOptions::without
};

// A field that was not measured is 0. (Times on the device need timestamps, which not every device has.)
struct GpuStats {
  int dispatches_per_token = 0;  // of one decoded token
  int shaders = 0;               // different shader texts in use
  double pipeline_hit_rate = 0;  // of all pipelines asked for, the part that had been made before, 0 to 1
  int disk_hits = 0;             // pipelines that came out of the cache on disk
  double compile_seconds = 0;    // making pipelines
  double upload_seconds = 0;     // moving weights to the device
  uint64_t upload_bytes = 0;     // … and how many
  uint64_t device_bytes = 0;     // buffers on the device: weights, activations and KV caches
  // A decoded token takes gpu + host milliseconds, each 0 while a reply is under way that the device decodes by itself.
  // Recording happens while the GPU is busy with the token before, so it is part of `host` only as far as the GPU had
  // to wait for it.
  double gpu_ms_per_token = 0;     // from the start of its first dispatch to the end of its last
  double host_ms_per_token = 0;    // what else passes until the next token is there
  double record_ms_per_token = 0;  // the host's work: recording and submitting its dispatches
};

// A kernel and its part in a decoded token.
struct GpuKernel {
  std::string name;    // "ternary_matvec"; kernels of one name may differ in their texts
  std::string wgsl;    // its text, as it was compiled
  int dispatches = 0;  // within a token
  double us = 0;       // of all of them together, one after the other; 0 without timestamps
};

}  // namespace tern
