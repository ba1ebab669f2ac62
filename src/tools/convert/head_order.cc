#include "tools/convert/head_order.h"

#include <numeric>

namespace tern {
namespace {

// The old index of each row (or column): n_before that stay, then those of the heads of values, `each` of a head.
std::vector<int> order_of(const DeltaConfig& d, int n_before, int each) {
  std::vector<int> order(static_cast<size_t>(n_before + d.n_v_heads * each));
  std::iota(order.begin(), order.end(), 0);
  const int n_sharing = d.n_v_heads / d.n_k_heads;
  for (int head = 0; head < d.n_v_heads; ++head) {
    const int old = head % d.n_k_heads * n_sharing + head / d.n_k_heads;
    for (int i = 0; i < each; ++i) order[static_cast<size_t>(n_before + head * each + i)] = n_before + old * each + i;
  }
  return order;
}

}  // namespace

void put_heads_in_turns(const DeltaConfig& d, ConvertJob& job) {
  if (d.n_v_heads == d.n_k_heads) return;
  const auto ends_with = [&](std::string_view end) { return job.from.name.ends_with(end); };
  if (ends_with(".attn_qkv.weight") || ends_with(".ssm_conv1d.weight")) {
    job.row_order = order_of(d, 2 * d.key_width(), d.head_dim);
  } else if (ends_with(".attn_gate.weight")) {
    job.row_order = order_of(d, 0, d.head_dim);
  } else if (ends_with(".ssm_alpha.weight") || ends_with(".ssm_beta.weight")) {
    job.row_order = order_of(d, 0, 1);
  } else if (ends_with(".ssm_a") || ends_with(".ssm_dt.bias")) {
    job.column_order = order_of(d, 0, 1);
  } else if (ends_with(".ssm_out.weight")) {
    job.column_order = order_of(d, 0, d.head_dim);
  }
}

}  // namespace tern
