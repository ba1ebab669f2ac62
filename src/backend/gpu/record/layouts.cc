#include "backend/gpu/record/layouts.h"

#include <algorithm>
#include <bit>

#include "backend/gpu/kernels/attention/attention.h"
#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

Caps caps_of(const Device& device) {
  const Features& f = device.features();
  Caps caps{.packed_dot = f.packed_dot, .subgroup = f.subgroups ? f.subgroup_min : 0};
  if (caps.subgroup < 4) caps.subgroup = 0;  // smaller ones are not worth using
  return caps;
}

Layouts layouts_for(const Device& device, std::span<const std::string> without) {
  const Features& f = device.features();
  Layouts layouts;
  if (std::ranges::contains(without, "expert-tiles")) layouts.expert_tiles.clear();
  if (device.adapter().type != AdapterType::kSoftware || std::ranges::contains(without, "serial")) return layouts;
  if (caps_of(device).subgroup == 0 || f.subgroup_min != f.subgroup_max) return layouts;
  layouts.serial = true;
  for (MatvecLayout* layout : {&layouts.square, &layouts.wide, &layouts.glu, &layouts.qkv, &layouts.head,
                               &layouts.float_square, &layouts.float_wide, &layouts.float_glu, &layouts.float_qkv}) {
    *layout = {1, 1, 16};
  }
  // Rows share the float activations they load, as long as that outweighs the longer text.
  for (MatvecLayout* layout : {&layouts.head, &layouts.float_square, &layouts.float_wide, &layouts.float_qkv}) {
    layout->rows_per_group = 4;
  }
  layouts.float_glu.rows_per_group = 2;
  layouts.columns = 1;
  layouts.most_in_columns = 0;
  layouts.stage_bits = 0;
  layouts.int8_x = false;
  layouts.most_ahead = 0;
  layouts.norm_workgroup = f.subgroup_min;
  return layouts;
}

bool has_f16_matrices(const Device& device, const Layouts& layouts) {
  const Features& f = device.features();
  return layouts.float_matrices && f.f16 && f.subgroups && f.subgroup_min == f.subgroup_max &&
         (device.adapter().type != AdapterType::kSoftware || layouts.software_matrices);
}

Activation activation(GluAct act) {
  switch (act) {
    case GluAct::kRelu2:
      return Activation::kRelu2;
    case GluAct::kSilu:
      return Activation::kSilu;
    case GluAct::kGeluTanh:
      return Activation::kGeluTanh;
    case GluAct::kSwigluOai:
      return Activation::kSwigluOai;
  }
  CHECK(false);
}

uint32_t attention_workgroup(const Device& device, uint32_t wanted, uint32_t head_dim_of_codes) {
  const Limits& limits = device.limits();
  uint32_t values_each = caps_of(device).subgroup > 0 ? 6 : 16;  // the rest is for reductions
  if (head_dim_of_codes > 0) {
    const uint32_t more = kv_weights_per_position<wgsl::I8x4>(head_dim_of_codes) - 1;  // per position of a chunk
    const AttentionConfig any{.heads = {1, 1, head_dim_of_codes}, .caps = {}, .workgroup = head_dim_of_codes};
    values_each += ceil_div(more, fit(any).per_pos);
  }
  const uint32_t bytes_each = sizeof(float) * values_each;
  return std::min({wanted, limits.invocations, std::bit_floor(limits.workgroup_bytes / bytes_each)});
}

}  // namespace tern::gpu
