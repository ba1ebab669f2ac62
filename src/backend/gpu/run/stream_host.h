// What a token stream needs of the executable that runs its steps.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/gpu/record/device_sampler.h"
#include "backend/gpu/record/prepared_store.h"
#include "backend/gpu/run/token_stats.h"

namespace tern::gpu {

class GpuTokenStream;

class StreamHost {
 public:
  virtual ~StreamHost() = default;

  // Writes the rows' last tokens to the device, with tables for n_more positions after each row. From then on the
  // device holds what the stream's next step reads, until has_control() is false. Returns the shape of a step.
  virtual Result<RunShape> give_control(const GpuTokenStream& stream, const PreparedStore& store, Batch rows,
                                        int n_more) = 0;
  virtual bool has_control(const GpuTokenStream& stream) const = 0;
  virtual void end_control() = 0;

  // Queues a step and the copy of the tokens at `ids`. `shape` becomes what was run. In the result, the tokens follow a
  // word for has_failed() if it has a megakernel.
  struct QueuedStep {
    std::unique_ptr<ReadBack> ids;
    int megakernel_rows = 0;  // 0: computed in steps
  };
  virtual Result<QueuedStep> queue_step(PreparedStore& store, const Slice& first, const Program& sampler,
                                        const BufferView& ids, RunShape& shape) = 0;
  // The same in two parts, so that the host can change logits before the choice: first the layers, whose shape is
  // `shape` afterwards, then the choice.
  virtual Result<void> queue_layers(PreparedStore& store, RunShape& shape) = 0;
  virtual Result<QueuedStep> queue_choice(PreparedStore& store, const Slice& first, const Program& sampler,
                                          const BufferView& ids, const RunShape& shape) = 0;
  virtual bool has_failed(Bytes outcome) const = 0;
  // Computes later steps of so many rows without the megakernel, after one that failed.
  virtual void disable_megakernel(int n_rows) = 0;

  virtual DeviceSampler& sampler() = 0;
  virtual TokenStats& stats() = 0;
  virtual int n_vocab() const = 0;
  virtual const std::string& device_name() const = 0;
};

}  // namespace tern::gpu
