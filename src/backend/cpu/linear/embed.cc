#include <vector>

#include "backend/cpu/linear/interleave.h"
#include "backend/cpu/ops/ops.h"

namespace tern::cpu {

// There are few rows, so the format's own decoder is fast enough.
void embed(const ops::Embed& op, WorkQueue& queue) {
  const auto cols = static_cast<size_t>(op.table->cols);
  const bool is_rearranged = op.table->is_rearranged;  // the head is the same matrix
  const uint64_t in_file = row_bytes(op.table->format, op.table->cols);
  const uint64_t bytes = is_rearranged ? interleaved_row_bytes(op.table->format, op.table->cols) : in_file;
  const FormatInfo& format = format_info(op.table->format);
  queue.for_ranges(static_cast<int>(op.tokens.size()), 1, [&](int begin, int end) {
    std::vector<std::byte> blocks(is_rearranged ? in_file : 0);
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      Bytes row = op.table->data.subspan(static_cast<uint64_t>(op.tokens[r]) * bytes, bytes);
      if (is_rearranged) {
        read_back_row(op.table->format, row, op.table->cols, blocks);
        row = blocks;
      }
      const std::span<float> out(op.out + r * cols, cols);
      format.decode(row, out);
      if (op.scale == 1) continue;
      for (float& value : out) value *= op.scale;
    }
  });
}

}  // namespace tern::cpu
