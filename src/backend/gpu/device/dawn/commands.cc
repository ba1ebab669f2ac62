// Running commands: one encoder, one submit. submit() is in the token loop, so it creates no strings and no lists.
#include <array>

#include "backend/gpu/device/dawn/device.h"
#include "backend/gpu/device/device_checks.h"
#include "base/check.h"

namespace tern::gpu {

namespace {

constexpr uint32_t kQueriesPerSet = 4096;  // WebGPU's maximum

}  // namespace

// Two timestamps per dispatch, in as many query sets as they need.
class TimestampQueries {
 public:
  TimestampQueries(const wgpu::Device& device, size_t n_dispatches) : n_dispatches_(n_dispatches) {
    for (size_t first = 0; first < 2 * n_dispatches; first += kQueriesPerSet) {
      wgpu::QuerySetDescriptor descriptor;
      descriptor.type = wgpu::QueryType::Timestamp;
      descriptor.count = static_cast<uint32_t>(std::min<size_t>(kQueriesPerSet, 2 * n_dispatches - first));
      sets_.push_back(device.CreateQuerySet(&descriptor));
    }
    wgpu::BufferDescriptor descriptor;
    descriptor.label = "timestamps";
    descriptor.usage = wgpu::BufferUsage::QueryResolve | wgpu::BufferUsage::CopySrc;
    descriptor.size = std::max<uint64_t>(n_dispatches * 2 * sizeof(uint64_t), sizeof(uint64_t));
    buffer_ = device.CreateBuffer(&descriptor);
  }

  wgpu::PassTimestampWrites of(size_t dispatch) const {
    const uint32_t query = 2 * dispatch % kQueriesPerSet;
    wgpu::PassTimestampWrites writes;
    writes.querySet = sets_[2 * dispatch / kQueriesPerSet];
    writes.beginningOfPassWriteIndex = query;
    writes.endOfPassWriteIndex = query + 1;
    return writes;
  }

  void resolve(const wgpu::CommandEncoder& encoder) const {
    for (size_t i = 0; i < sets_.size(); ++i)
      encoder.ResolveQuerySet(sets_[i], 0, sets_[i].GetCount(), buffer_, i * kQueriesPerSet * sizeof(uint64_t));
  }

  const wgpu::Buffer& buffer() const { return buffer_; }
  size_t n_dispatches() const { return n_dispatches_; }

 private:
  size_t n_dispatches_;
  std::vector<wgpu::QuerySet> sets_;
  wgpu::Buffer buffer_;
};

namespace {

void encode_copy(const wgpu::CommandEncoder& encoder, const Command& command) {
  encoder.CopyBufferToBuffer(dawn(*command.from.buffer).handle, command.from.offset, dawn(*command.to.buffer).handle,
                             command.to.offset, round_up(view_bytes(command.from), 4));
}

// Encodes dispatches, and sets only what changed since the pass's last dispatch.
class PassEncoder {
 public:
  explicit PassEncoder(wgpu::ComputePassEncoder pass) : pass_(std::move(pass)) {}

  void dispatch(const Command& command) {
    if (command.pipeline != pipeline_) {
      pass_.SetPipeline(dawn(*command.pipeline).handle);
      pipeline_ = command.pipeline;
    }
    if (command.bindings != bindings_) {
      pass_.SetBindGroup(0, dawn(*command.bindings).handle);
      bindings_ = command.bindings;
    }
    if (!command.immediates.empty()) {
      pass_.SetImmediates(0, command.immediates.data(), command.immediates.size());
    }
    pass_.DispatchWorkgroups(command.grid.x, command.grid.y, command.grid.z);
  }

  const wgpu::ComputePassEncoder& pass() const { return pass_; }

 private:
  wgpu::ComputePassEncoder pass_;
  const Pipeline* pipeline_ = nullptr;
  const BindGroup* bindings_ = nullptr;
};

}  // namespace

void DawnDevice::encode(const wgpu::CommandEncoder& encoder, std::span<const Command> commands) const {
  std::optional<PassEncoder> pass;
  for (const Command& command : commands) {
    if (command.pipeline == nullptr) {
      if (pass) pass->pass().End();
      pass.reset();
      encode_copy(encoder, command);
      continue;
    }
    if (!pass) pass.emplace(encoder.BeginComputePass());
    pass->dispatch(command);
  }
  if (pass) pass->pass().End();
}

void DawnDevice::encode_timed(const wgpu::CommandEncoder& encoder, std::span<const Command> commands,
                              const TimestampQueries& queries) const {
  size_t dispatch = 0;
  std::optional<PassEncoder> pass;
  const auto end_pass = [&] {
    if (pass) pass->pass().End();
    pass.reset();
  };
  for (const Command& command : commands) {
    if (command.pipeline == nullptr) {
      end_pass();
      encode_copy(encoder, command);
      continue;
    }
    const wgpu::PassTimestampWrites writes = queries.of(dispatch++);
    if (modes_.timestamps_inside_passes) {
      if (!pass) pass.emplace(encoder.BeginComputePass());
      pass->pass().WriteTimestamp(writes.querySet, writes.beginningOfPassWriteIndex);
      pass->dispatch(command);
      pass->pass().WriteTimestamp(writes.querySet, writes.endOfPassWriteIndex);
    } else {
      wgpu::ComputePassDescriptor descriptor;
      descriptor.timestampWrites = &writes;
      pass.emplace(encoder.BeginComputePass(&descriptor));
      pass->dispatch(command);
      end_pass();
    }
  }
  end_pass();
}

Result<void> DawnDevice::finish(const wgpu::CommandEncoder& encoder) {
  const wgpu::CommandBuffer buffer = encoder.Finish();
  queue_.Submit(1, &buffer);
  return errors_.take();
}

Result<void> DawnDevice::submit(std::span<const Command> commands) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_commands(commands, *this));
  TRY_STATUS(prepare(commands));
  const wgpu::CommandEncoder encoder = device_.CreateCommandEncoder();
  encode(encoder, commands);
  return finish(encoder);
}

Result<std::vector<double>> DawnDevice::time(std::span<const Command> commands) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_commands(commands, *this));
  TRY_STATUS(prepare(commands));
  if (!opened_.features.timestamps) return fail(ErrorCode::kNotSupported, "{} cannot measure times", opened_.info.name);
  size_t n_dispatches = 0;
  for (const Command& command : commands) n_dispatches += command.pipeline != nullptr;
  std::vector<double> seconds(commands.size(), 0.0);
  const TimestampQueries queries(device_, n_dispatches);
  const wgpu::CommandEncoder encoder = device_.CreateCommandEncoder();
  encode_timed(encoder, commands, queries);
  queries.resolve(encoder);
  TRY_STATUS(finish(encoder));

  std::vector<std::array<uint64_t, 2>> ticks(n_dispatches);  // ns
  TRY_STATUS(read_all(queries.buffer(), 0, std::as_writable_bytes(std::span(ticks))));
  for (size_t i = 0, dispatch = 0; i < commands.size(); ++i) {
    if (commands[i].pipeline == nullptr) continue;
    const auto [begin, end] = ticks[dispatch++];
    seconds[i] = end > begin ? static_cast<double>(end - begin) * 1e-9 : 0.0;
  }
  return seconds;
}

Result<double> DawnDevice::time_whole(std::span<const Command> commands) {
  TRY_STATUS(errors_.take());
  TRY_STATUS(check_commands(commands, *this));
  TRY_STATUS(prepare(commands));
  if (!opened_.features.timestamps) return fail(ErrorCode::kNotSupported, "{} cannot measure times", opened_.info.name);
  const TimestampQueries queries(device_, 1);
  const wgpu::CommandEncoder encoder = device_.CreateCommandEncoder();
  const wgpu::PassTimestampWrites writes = queries.of(0);
  wgpu::ComputePassDescriptor descriptor;
  descriptor.timestampWrites = &writes;
  PassEncoder pass(encoder.BeginComputePass(&descriptor));
  for (const Command& command : commands) {
    CHECK(command.pipeline != nullptr);
    pass.dispatch(command);
  }
  pass.pass().End();
  queries.resolve(encoder);
  TRY_STATUS(finish(encoder));
  std::array<uint64_t, 2> ticks{};  // ns
  TRY_STATUS(read_all(queries.buffer(), 0, std::as_writable_bytes(std::span(ticks))));
  return ticks[1] > ticks[0] ? static_cast<double>(ticks[1] - ticks[0]) * 1e-9 : 0.0;
}

}  // namespace tern::gpu
