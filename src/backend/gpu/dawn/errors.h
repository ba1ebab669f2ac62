// Where errors of WebGPU go: error scopes for those of one call, a kept first error for all others.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tern::gpu {

// The first line of a message; Dawn adds lines on what it was doing.
std::string first_line(wgpu::StringView message);

// What Tern makes of WebGPU's error types.
Error to_error(wgpu::ErrorType type, wgpu::StringView message);

// Keeps the first error until somebody asks. WebGPU's callbacks may come from its own threads.
class ErrorState {
 public:
  void record(Error error) noexcept;
  void record_loss(std::string message) noexcept;

  // The first error since the last call that returned one. The loss of the device stays forever.
  Result<void> take();

 private:
  std::atomic<bool> pending_ = false;
  std::mutex mutex_;
  std::optional<Error> first_;
  std::optional<Error> loss_;
};

// Collects what goes wrong on `device` until take(). On one thread, scopes nest.
class ErrorScopes {
 public:
  ErrorScopes(const wgpu::Instance& instance, const wgpu::Device& device);
  ~ErrorScopes();
  ErrorScopes(const ErrorScopes&) = delete;
  ErrorScopes& operator=(const ErrorScopes&) = delete;

  // Ends the scopes. The error, out of memory before others.
  std::optional<Error> take();

 private:
  std::optional<Error> pop();

  const wgpu::Instance& instance_;
  const wgpu::Device& device_;
  bool open_ = true;
};

}  // namespace tern::gpu
