// WebGPU's errors: error scopes collect those of one call; for all others the first error is kept.
#pragma once

#include <webgpu/webgpu_cpp.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tern::gpu {

// The first line of a message; Dawn adds lines about its context.
std::string first_line(wgpu::StringView message);

// WebGPU's error types as Tern's.
Error to_error(wgpu::ErrorType type, wgpu::StringView message);

// Keeps the first error until take(). WebGPU may call back on its own threads.
class ErrorState {
 public:
  void record(Error error) noexcept;
  void record_loss(std::string message) noexcept;

  // The first error since the last call that returned one. Once the device is lost, always returns that.
  Result<void> take();

 private:
  std::atomic<bool> pending_ = false;
  std::mutex mutex_;
  std::optional<Error> first_;
  std::optional<Error> loss_;
};

// Collects errors on `device` until take(). Scopes on one thread nest.
class ErrorScopes {
 public:
  ErrorScopes(const wgpu::Instance& instance, const wgpu::Device& device);
  ~ErrorScopes();
  ErrorScopes(const ErrorScopes&) = delete;
  ErrorScopes& operator=(const ErrorScopes&) = delete;

  // Ends the scopes and returns their error; out of memory comes before others.
  std::optional<Error> take();

 private:
  std::optional<Error> pop();

  const wgpu::Instance& instance_;
  const wgpu::Device& device_;
  bool open_ = true;
};

}  // namespace tern::gpu
