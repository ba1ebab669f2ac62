#include "backend/cpu/ops/ops.h"

namespace tern::cpu {

// There are few rows, so the format's own decoder is fast enough.
void embed(const ops::Embed& op, WorkQueue& queue) {
  const auto cols = static_cast<size_t>(op.table->cols);
  const uint64_t bytes = row_bytes(op.table->format, op.table->cols);
  const FormatInfo& format = format_info(op.table->format);
  queue.for_ranges(static_cast<int>(op.tokens.size()), 1, [&](int begin, int end) {
    for (auto r = static_cast<size_t>(begin); r < static_cast<size_t>(end); ++r) {
      const Bytes row = op.table->data.subspan(static_cast<uint64_t>(op.tokens[r]) * bytes, bytes);
      const std::span<float> out(op.out + r * cols, cols);
      format.decode(row, out);
      if (op.scale == 1) continue;
      for (float& value : out) value *= op.scale;
    }
  });
}

}  // namespace tern::cpu
