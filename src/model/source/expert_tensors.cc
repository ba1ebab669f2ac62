#include "model/source/expert_tensors.h"

#include <algorithm>

namespace tern {
namespace {

// Where the rows of an expert are.
struct ExpertRows {
  const StoredBytes* data;
  uint64_t first;  // row in `data`
};

// Makes rows of [n_experts · rows, cols], `stride` bytes each, from those that find(expert) names.
template <class Find>
MadeRows::Make copied_from(uint64_t rows, uint64_t stride, const Find& find) {
  return [=](uint64_t begin, uint64_t n, MutableBytes out) -> Result<void> {
    Scratch scratch;
    for (uint64_t row = begin; row < begin + n;) {
      const uint64_t here = std::min(begin + n - row, rows - row % rows);
      const ExpertRows from = find(row / rows);
      TRY(const Bytes bytes, from.data->read((from.first + row % rows) * stride, here * stride, scratch));
      std::ranges::copy(bytes, out.subspan((row - begin) * stride, here * stride).begin());
      row += here;
    }
    return {};
  };
}

}  // namespace

Result<SourceTensor> stack_experts(SourceTensor first, std::span<const SourceTensor> others, ComputedTensors& made,
                                   const std::string& path) {
  if (!first.format || first.shape.size() != 2) return first;  // the family refuses it
  std::vector<StoredBytes> parts = {first.data};
  for (const SourceTensor& other : others) {
    if (other.format != first.format || other.shape != first.shape) {
      return fail(ErrorCode::kCorruption, "{}: the experts' matrices of {} have different types or shapes", path,
                  first.name);
    }
    parts.push_back(other.data);
  }
  const auto rows = static_cast<uint64_t>(first.shape[0]);
  const uint64_t stride = row_bytes(*first.format, first.shape[1]);
  const auto make = copied_from(rows, stride, [parts](uint64_t expert) { return ExpertRows{&parts[expert], 0}; });
  first.data = made.make_later(std::make_unique<MadeRows>(stride, rows * parts.size(), make));
  first.shape.insert(first.shape.begin(), static_cast<int64_t>(parts.size()));
  return first;
}

SourceTensor half_of_experts(SourceTensor tensor, bool is_first, ComputedTensors& made) {
  if (!tensor.format || tensor.shape.size() != 3 || tensor.shape[1] % 2 != 0) return tensor;
  const auto n_experts = static_cast<uint64_t>(tensor.shape[0]), rows = static_cast<uint64_t>(tensor.shape[1]) / 2;
  const uint64_t stride = row_bytes(*tensor.format, tensor.shape[2]), skipped = is_first ? 0 : rows;
  const auto make = copied_from(rows, stride, [from = tensor.data, rows, skipped](uint64_t expert) {
    return ExpertRows{&from, expert * (2 * rows) + skipped};
  });
  tensor.data = made.make_later(std::make_unique<MadeRows>(stride, rows * n_experts, make));
  tensor.shape[1] /= 2;
  return tensor;
}

}  // namespace tern
