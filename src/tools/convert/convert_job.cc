#include "tools/convert/convert_job.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tern {
namespace {

// Maps a new row to its old row. In q and k, rows i and i + head_dim/2 of a head become rows 2i and 2i + 1.
int old_row(const ConvertJob& job, int row) {
  if (!job.row_order.empty()) return job.row_order[static_cast<size_t>(row)];
  if (job.heads_to_interleave == 0) return row;
  const int head_dim = job.rows() / job.heads_to_interleave;
  const int at = row % head_dim;
  return row - at + at / 2 + at % 2 * (head_dim / 2);
}

void encode(Format to, std::span<const float> values, std::span<const float> importance, MutableBytes out) {
  const FormatInfo& format = format_info(to);
  if (format.encode_weighted && !importance.empty()) {
    format.encode_weighted(values, importance, out);
  } else {
    format.encode(values, out);
  }
}

}  // namespace

void make_rows(const ConvertJob& job, int first, MutableBytes out, std::span<PackingLoss> losses) {
  const uint64_t in_bytes = row_bytes(*job.from.format, job.cols());
  const uint64_t out_bytes = row_bytes(job.format, job.cols());
  const double most =
      holds_only_codes(job.format) ? rounding_of_codes(*job.from.format) : std::numeric_limits<double>::infinity();
  std::vector<float> values(static_cast<size_t>(job.cols())), packed(values.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    const auto row = static_cast<uint64_t>(old_row(job, first + static_cast<int>(i)));
    const Bytes in = job.from.data.resident().subspan(row * in_bytes, in_bytes);
    const MutableBytes to = out.subspan(i * out_bytes, out_bytes);
    if (job.keeps_rows()) {
      std::ranges::copy(in, to.begin());
      continue;
    }
    format_info(*job.from.format).decode(in, values);
    for (float& value : values) {
      // I2_S stores bare codes, whatever the source's scale is.
      value = job.format == Format::kI2_S ? static_cast<float>((value > 0) - (value < 0)) : value * job.scale;
    }
    if (!job.column_order.empty()) {
      packed = values;
      std::ranges::transform(job.column_order, values.begin(),
                             [&](int old) { return packed[static_cast<size_t>(old)]; });
    }
    const std::span<const float> importance = job.importance_of(first + static_cast<int>(i));
    encode(job.format, values, importance, to);
    if (!job.is_packing()) continue;
    format_info(job.format).decode(to, packed);
    losses[i] = measure_packing(values, packed, importance, most);
  }
}

}  // namespace tern
