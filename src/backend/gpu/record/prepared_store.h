// Keys and values on the device, and the program that runs the plan with them.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "backend/gpu/memory/gpu_kv_store.h"
#include "backend/gpu/record/program.h"

namespace tern::gpu {

class PreparedStore final : public GpuKvStore {
 public:
  // `prepare` records the program, or binds it again, whenever the store has new buffers.
  using Prepare = std::function<Result<void>(PreparedStore&)>;
  PreparedStore(Device& device, const Config& config, KvType type, bool together, Prepare prepare)
      : GpuKvStore(device, config, type, together, [this, prepare = std::move(prepare)] { return prepare(*this); }) {}

  // The buffers and layer paths that the program was recorded for.
  struct Version {
    uint64_t store = 0, ropes = 0;
    uint64_t layer_paths = 0;
    bool operator==(const Version&) const = default;
  };
  const Program& program() const { return program_; }
  const Version& recorded() const { return recorded_; }

  // Replaces the program with one recorded for `version`.
  void set_program(Program program, const Version& version) {
    program_ = std::move(program);
    set_recorded(version);
  }
  // Binds the program to the replacements of its old buffers.
  Result<void> rebind(Device& device, const Version& version) {
    TRY_STATUS(program_.rebind(device, replaced()));
    set_recorded(version);
    return {};
  }

  // Expires with the store.
  std::weak_ptr<const PreparedStore> watch() const { return alive_; }

 private:
  void set_recorded(const Version& version) {
    recorded_ = version;
    forget_replaced();
  }

  Program program_;
  Version recorded_;
  std::shared_ptr<const PreparedStore> alive_{this, [](const PreparedStore*) {}};
};

}  // namespace tern::gpu
