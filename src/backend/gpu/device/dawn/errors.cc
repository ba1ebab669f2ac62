#include "backend/gpu/device/dawn/errors.h"

#include <limits>
#include <utility>

namespace tern::gpu {

std::string first_line(wgpu::StringView message) {
  const std::string_view text = message;
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

Error to_error(wgpu::ErrorType type, wgpu::StringView message) {
  switch (type) {
    case wgpu::ErrorType::OutOfMemory:
      return {ErrorCode::kOutOfMemory, "WebGPU: out of memory: " + first_line(message)};
    case wgpu::ErrorType::Validation:
      return {ErrorCode::kNotSupported, "WebGPU: " + first_line(message)};
    default:
      return {ErrorCode::kNotSupported, "WebGPU: internal error: " + first_line(message)};
  }
}

void ErrorState::record(Error error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!first_) first_ = std::move(error);
  pending_.store(true, std::memory_order_release);
}

void ErrorState::record_loss(std::string message) noexcept {
  const std::lock_guard lock(mutex_);
  if (!loss_) loss_ = Error{ErrorCode::kDeviceLost, std::move(message)};
  pending_.store(true, std::memory_order_release);
}

Result<void> ErrorState::take() {
  if (!pending_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  if (loss_) return std::unexpected(*loss_);
  pending_.store(false, std::memory_order_release);
  return std::unexpected(*std::exchange(first_, std::nullopt));
}

ErrorScopes::ErrorScopes(const wgpu::Instance& instance, const wgpu::Device& device)
    : instance_(instance), device_(device) {
  device_.PushErrorScope(wgpu::ErrorFilter::Validation);
  device_.PushErrorScope(wgpu::ErrorFilter::Internal);
  device_.PushErrorScope(wgpu::ErrorFilter::OutOfMemory);
}

ErrorScopes::~ErrorScopes() {
  if (open_) take();
}

std::optional<Error> ErrorScopes::take() {
  open_ = false;
  std::optional<Error> memory = pop(), internal = pop(), validation = pop();
  if (memory) return memory;
  return validation ? validation : internal;
}

std::optional<Error> ErrorScopes::pop() {
  std::optional<Error> error;
  const wgpu::Future future = device_.PopErrorScope(
      wgpu::CallbackMode::WaitAnyOnly,
      [](wgpu::PopErrorScopeStatus status, wgpu::ErrorType type, wgpu::StringView message, std::optional<Error>* out) {
        if (status == wgpu::PopErrorScopeStatus::Success && type != wgpu::ErrorType::NoError)
          *out = to_error(type, message);
      },
      &error);
  instance_.WaitAny(future, std::numeric_limits<uint64_t>::max());
  return error;
}

}  // namespace tern::gpu
