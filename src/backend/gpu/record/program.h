// A plan as a list of recorded dispatches: pipelines and bindings are made once, a run only fills in how many rows and
// positions there are.
#pragma once

#include <climits>
#include <map>
#include <memory>
#include <vector>

#include "backend/gpu/device/device.h"

namespace tern::gpu {

// What a run is about, as far as the host has to know it.
struct RunShape {
  int n_tokens = 1;
  int n_logit_rows = 1;
  int n_pos = 1;         // positions of the longest sequence after this batch
  bool one_each = true;  // every slice has one token
  // Workgroups of the one dispatch that computes all layers (record/one_dispatch.h); 0: they are computed step by step.
  uint32_t in_one = 0;
  int typical_slice = 1;  // tokens of the shortest slice, or a quarter of their mean where that is more
  int n_best = 0;         // of each row of logits only so many of the greatest are wanted (HeadCopy); 0: all are
  // A step of a stream: of a single row the token is wanted, with its row of the embedding table (DeviceSampler), and
  // no logits. is_embedded: the step before has made that row.
  bool embeds_next = false, is_embedded = false;
};

// Which runs a dispatch is for.
enum class Slices { kAny, kOneEach, kLonger };
enum class If { kAny, kYes, kNo };
struct When {
  int min_tokens = 1, max_tokens = INT_MAX;
  int min_pos = 0, max_pos = INT_MAX;      // n_pos
  Slices slices = Slices::kAny;            // kOneEach: where one_each holds; kLonger: where it does not
  int min_slice = 1, max_slice = INT_MAX;  // typical_slice
  int min_rows = 1, max_rows = INT_MAX;    // of the extent's kind
  int min_best = 0, max_best = INT_MAX;    // n_best
  If embeds_next = If::kAny, is_embedded = If::kAny;
};

// At least n workgroups along x and y, of which a dimension has `most`.
Grid grid_of(uint32_t n, uint32_t most);

enum class Axis { kNone, kY, kZ };
enum class Rows { kTokens, kLogits };

// How many workgroups a dispatch has.
struct Extent {
  Grid grid = {};           // what does not depend on the run
  Axis axis = Axis::kNone;  // of the grid has ⌈rows / rows_per_workgroup⌉
  Rows rows = Rows::kTokens;
  uint32_t rows_per_workgroup = 1;
  uint32_t positions_per_split = 0;  // z is ⌈n_pos / this⌉, at most max_splits; 0: it is not
  uint32_t max_splits = 0;
  When when = {};
};

// Which way of computing the layers a dispatch belongs to.
enum class Way { kAny, kInSteps, kInOne };

struct RecordedDispatch {
  const Pipeline* pipeline = nullptr;
  std::unique_ptr<BindGroup> bindings;
  std::vector<BufferView> views;  // what is bound
  Extent extent;
  int step = 0;  // of the plan
  Way way = Way::kAny;
};

class Program {
 public:
  void add(RecordedDispatch dispatch) { dispatches_.push_back(std::move(dispatch)); }

  // Appends the commands of steps [first_step, end_step) for this run.
  void commands(const RunShape& shape, std::vector<Command>& out, int first_step = 0, int end_step = INT_MAX) const;

  // Binds others in place of those that are named: tracing kernels anew would take a hundred times as long.
  Result<void> rebind(Device& device, const std::map<BufferView, BufferView>& replaced);

  // The plan's step of each command that commands() gives.
  std::vector<int> steps(const RunShape& shape) const;

 private:
  std::vector<RecordedDispatch> dispatches_;
};

}  // namespace tern::gpu
