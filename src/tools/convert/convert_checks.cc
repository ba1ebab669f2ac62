#include "tools/convert/convert_checks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tern {

bool is_head(std::string_view tensor) { return tensor == "token_embd.weight" || tensor == "output.weight"; }

Result<float> common_magnitude(const std::string& path, const SourceTensor& t) {
  const auto rows = static_cast<uint64_t>(t.shape.front());
  const uint64_t bytes = row_bytes(*t.format, t.shape.back());
  std::vector<float> values(static_cast<size_t>(t.shape.back()));
  float found = 0;
  for (uint64_t r = 0; r < rows; ++r) {
    format_info(*t.format).decode(t.data.subspan(r * bytes, bytes), values);
    for (const float value : values) {
      const float magnitude = std::abs(value);
      if (magnitude == 0 || magnitude == found) continue;
      if (found != 0) {
        return fail(ErrorCode::kNotSupported,
                    "{}: tensor {} has blocks of different scales ({} and {}), but I2_S has one scale; choose another "
                    "type: tq2_0 or tq1_0",
                    path, t.name, found, magnitude);
      }
      found = magnitude;
    }
  }
  return found;
}

Result<void> check_fit(const std::string& path, const ConvertJob& job, std::span<const PackingLoss> rows) {
  const auto found = std::ranges::find_if(rows, [](const PackingLoss& row) { return row.misfit >= 0; });
  if (found == rows.end()) return {};
  const auto row = found - rows.begin();
  if (!std::isfinite(found->wanted)) {
    return fail(ErrorCode::kCorruption, "{}: tensor {}, row {}: {} is no weight; the model is damaged", path,
                job.from.name, row, found->wanted);
  }
  const std::string_view format = format_info(job.format).name;
  const std::string_view remedy = is_head(job.from.name) ? "choose another head" : "choose another type";
  if (holds_only_codes(job.format)) {
    return fail(ErrorCode::kNotSupported,
                "{}: tensor {} is not {}: in row {}, {} would turn {} into {}; {}: q8_0 or q6_k", path, job.from.name,
                holds_only_signs(job.format) ? "binary" : "ternary", row, format, found->wanted, found->packed, remedy);
  }
  return fail(ErrorCode::kNotSupported, "{}: tensor {}, row {}: {} is too great for {}; {}: bf16 or f32", path,
              job.from.name, row, found->wanted, format, remedy);
}

}  // namespace tern
