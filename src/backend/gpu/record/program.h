// A plan as a list of recorded dispatches. Pipelines and bindings are made once; a run only fills in its numbers of
// rows and positions.
#pragma once

#include <climits>
#include <map>
#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"
#include "backend/gpu/memory/batch/run_shape.h"

namespace tern::gpu {

// The runs that a dispatch is for: those whose RunShape is within all limits, which are inclusive.
enum class Slices { kAny, kDecodeBatch, kLonger };
enum class If { kAny, kYes, kNo };
struct When {
  int min_tokens = 1, max_tokens = INT_MAX;
  int min_pos = 0, max_pos = INT_MAX;      // n_pos
  Slices slices = Slices::kAny;            // kDecodeBatch: is_decode_batch is true; kLonger: it is false
  int min_slice = 1, max_slice = INT_MAX;  // slice_tokens_estimate
  int min_rows = 1, max_rows = INT_MAX;    // rows of the extent's kind
  int min_best = 0, max_best = INT_MAX;    // n_best
  If embeds_next = If::kAny, is_embedded = If::kAny, moves_states = If::kAny;
};

// A grid of at least n workgroups in x and y, each dimension at most `most`.
Grid grid_of(uint32_t n, uint32_t most);

enum class Axis { kNone, kY, kZ };
enum class Rows { kTokens, kLogits, kSequences };

// The number of workgroups of a dispatch.
struct Extent {
  Grid grid = {};           // the part that does not depend on the run
  Axis axis = Axis::kNone;  // this dimension has ⌈rows · parts / rows_per_workgroup⌉ + more
  Rows rows = Rows::kTokens;
  uint32_t rows_per_workgroup = 1;
  uint32_t parts = 1, more = 0;
  uint32_t positions_per_split = 0;  // z is ⌈n_pos / this⌉, at most max_splits; 0: not split
  uint32_t max_splits = 0;
  When when = {};
};

// The layer path (layer_path.h) that a dispatch belongs to. kAny: it runs on both.
enum class DispatchPath { kAny, kSteps, kMegakernel };

struct RecordedDispatch {
  const Pipeline* pipeline = nullptr;
  std::unique_ptr<BindGroup> bindings;
  std::vector<BufferView> views;  // the bound views
  Extent extent;
  int step = 0;  // of the plan
  DispatchPath path = DispatchPath::kAny;
};

class Program {
 public:
  void add(RecordedDispatch dispatch) { dispatches_.push_back(std::move(dispatch)); }

  // Appends the commands of steps [first_step, end_step) for this run.
  void commands(const RunShape& shape, std::vector<Command>& out, int first_step = 0, int end_step = INT_MAX) const;

  // Binds replacements for these views: tracing the kernels again would take a hundred times as long.
  Result<void> rebind(Device& device, const std::map<BufferView, BufferView>& replaced);

  // The plan's step for each command that commands() returns.
  std::vector<int> steps(const RunShape& shape) const;

 private:
  std::vector<RecordedDispatch> dispatches_;
};

}  // namespace tern::gpu
