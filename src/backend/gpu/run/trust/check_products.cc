#include "backend/gpu/run/trust/check_products.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "backend/gpu/kernels/ternary/ternary_batch.h"
#include "backend/gpu/memory/batch/batch_words.h"
#include "backend/gpu/record/head_copy.h"
#include "backend/gpu/record/steps/phases.h"
#include "backend/kv_layout.h"
#include "quant/format.h"

namespace tern::gpu {
namespace {

constexpr int kRows = 32;
// Limit of the mean squared error divided by the mean square. The devices' own rounding (f16, int8 in short blocks) is
// far below; unrelated values are at 1 and above.
constexpr double kMostError = 0.05;

// A step that multiplies rows of one or two matrices by a row of floats.
struct Product {
  int step;
  SlotId in, out;
  const Tensor* gain;  // of an RMS norm before the product; null: none
  float eps;
  const Tensor* w;
  const Tensor* up = nullptr;  // with it, the result is act(w · x) · (up · x)
  GluAct act = {};
  bool is_int8 = false;  // rows are quantized to int8 first, each as a whole, so outliers determine the rounding
  // In a mixture of experts, the slot with each row's experts; the first one is compared.
  std::optional<SlotId> chosen = {};
  const Tensor *bias = nullptr, *up_bias = nullptr;
  float limit = 0;
};

struct ProductOf {
  int step;
  SlotId logits;

  std::optional<Product> operator()(const step::FloatLinear& s) const {
    if (s.out != logits) return std::nullopt;
    return Product{.step = step, .in = s.in, .out = s.out, .gain = s.norm.gain, .eps = s.norm.eps, .w = s.w};
  }
  std::optional<Product> operator()(const step::FloatGlu& s) const { return glu(s, false); }
  std::optional<Product> operator()(const step::TernaryGlu& s) const { return glu(s, true); }
  std::optional<Product> operator()(const step::ExpertGlu& s) const {
    return Product{.step = step,
                   .in = s.in,
                   .out = s.out,
                   .gain = s.norm.gain,
                   .eps = s.norm.eps,
                   .w = s.w_gate,
                   .up = s.w_up,
                   .act = s.act,
                   .chosen = s.chosen,
                   .bias = s.gate_bias,
                   .up_bias = s.up_bias,
                   .limit = s.experts.limit};
  }
  template <class S>
  std::optional<Product> operator()(const S&) const {
    return std::nullopt;
  }

 private:
  template <class S>
  Product glu(const S& s, bool is_int8) const {
    return {.step = step,
            .in = s.in,
            .out = s.out,
            .gain = s.norm.gain,
            .eps = s.norm.eps,
            .w = s.w_gate,
            .up = s.w_up,
            .act = s.act,
            .is_int8 = is_int8};
  }
};

// The first feed-forward layer, the first one of experts, and the head, as in plans for devices: they read floats.
std::vector<Product> products_of(const Plan& plan) {
  std::vector<Product> products;
  const auto is_first = [&](const Product& product) {
    return std::ranges::none_of(products, [&](const Product& other) {
      return other.up && other.chosen.has_value() == product.chosen.has_value();
    });
  };
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const auto product = std::visit(ProductOf{i, plan.logits}, plan.steps[static_cast<size_t>(i)].body);
    if (!product || plan.slot(product->in).type != SlotType::kF32) continue;
    if (!product->up || is_first(*product)) products.push_back(*product);
  }
  return products;
}

using Row = std::vector<double>;

// Rows [first, first + count).
Result<std::vector<Row>> read_matrix(const Tensor& w, int first, int count) {
  const uint64_t bytes = row_bytes(w.format, w.cols);
  Scratch scratch;
  TRY(const Bytes stored,
      w.data.read(static_cast<uint64_t>(first) * bytes, static_cast<uint64_t>(count) * bytes, scratch));
  std::vector<float> values(static_cast<size_t>(count) * static_cast<size_t>(w.cols));
  std::vector<Row> rows;
  for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
    const std::span row = std::span(values).subspan(r * static_cast<size_t>(w.cols), static_cast<size_t>(w.cols));
    format_info(w.format).decode(stored.subspan(r * bytes, bytes), row);
    Row& made = rows.emplace_back(row.begin(), row.end());
    for (double& value : made) value *= w.scale;
  }
  return rows;
}

double dot(const Row& a, const Row& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// Rounds like step::Quantize (docs/numerics.md).
void round_to_int8(Row& row) {
  double largest = 1e-5;
  for (const double x : row) largest = std::max(largest, std::abs(x));
  const double scale = 127 / largest;
  for (double& x : row) x = std::nearbyint(x * scale) / scale;
}

double activated(GluAct act, double x) {
  switch (act) {
    case GluAct::kRelu2:
      return x > 0 ? x * x : 0;
    case GluAct::kSilu:
      return x / (1 + std::exp(-x));
    case GluAct::kGeluTanh:
      return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case GluAct::kSwigluOai:
      return x / (1 + std::exp(-1.702 * x));
  }
  return 0;
}

class Check {
 public:
  Check(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work, int max_logit_rows)
      : device_(device), plan_(plan), program_(program), work_(work), max_logit_rows_(max_logit_rows) {}

  // Compiles all kernels together, including those for a token after each of `positions`.
  Result<void> prepare(const std::set<int>& numbers_of_tokens, std::span<const int> positions,
                       std::span<const Command> others) {
    std::vector<Command> commands(others.begin(), others.end());
    for (const int n : numbers_of_tokens) {
      const int n_logit_rows = n <= max_logit_rows_ ? n : 1;
      program_.commands({.n_tokens = n,
                         .n_logit_rows = n_logit_rows,
                         .n_pos = n,
                         .is_decode_batch = n == 1,
                         .slice_tokens_estimate = n},
                        commands);
    }
    for (const int n_pos : positions) program_.commands({.n_pos = n_pos}, commands);
    program_.commands({.megakernel_workgroups = 1}, commands);
    for (const int n_best : {1, kMostBestLogits}) program_.commands({.n_best = n_best}, commands);
    return device_.prepare(commands);
  }

  Result<void> run(int n_tokens) {
    TRY_STATUS(begin(n_tokens));
    int next = 0;
    for (const Product& product : products_of(plan_)) {
      if (plan_.slot(product.out).rows == RowsOf::kLogits && shape_.n_logit_rows < n_tokens) continue;
      TRY_STATUS(submit(next, product.step));
      TRY_STATUS(compare(product));
      next = product.step + 1;
    }
    return {};
  }

 private:
  Result<void> begin(int n_tokens) {
    std::vector<TokenId> tokens(static_cast<size_t>(n_tokens));
    std::iota(tokens.begin(), tokens.end(), plan_.config.n_vocab / 2);  // skips tokens that no text contains
    const std::vector<KvBlockId> unused(static_cast<size_t>(kv_blocks_for(n_tokens)));
    const auto logits = n_tokens <= max_logit_rows_ ? WantLogits::kAll : WantLogits::kLast;
    const Slice slice{.tokens = tokens, .logits = logits, .blocks = unused, .n_ctx = n_tokens};
    BatchWords words;
    words.set({&slice, 1}, work_.ropes());
    shape_ = words.shape;
    return words.write(device_, work_);
  }

  Result<void> submit(int first, int end) {
    std::vector<Command> commands;
    program_.commands(shape_, commands, first, end);
    return commands.empty() ? Result<void>() : device_.submit(commands);
  }

  // Values [first, first + count) of a slot of floats, for each row; if there are many rows, for the first and last
  // ones.
  Result<std::vector<Row>> read_slot(SlotId id, int first, int count) {
    constexpr int kAtEachEnd = 4;
    const Slot& slot = plan_.slot(id);
    const int n_rows = slot.rows == RowsOf::kBatch ? shape_.n_tokens : shape_.n_logit_rows;
    std::vector<Row> rows;
    for (int r = 0; r < n_rows; ++r) {
      if (r == kAtEachEnd) r = std::max(r, n_rows - kAtEachEnd);
      std::vector<float> values(static_cast<size_t>(count));
      BufferView view = work_.view_of_rows(id, shape_.n_tokens);
      view.offset += (static_cast<uint64_t>(r) * static_cast<uint64_t>(slot.width) + static_cast<uint64_t>(first)) * 4;
      view.bytes = values.size() * 4;
      TRY_STATUS(device_.read(view, std::as_writable_bytes(std::span(values))));
      rows.emplace_back(values.begin(), values.end());
    }
    return rows;
  }

  // The rows that are multiplied with the weights.
  Result<std::vector<Row>> read_input(const Product& product) {
    TRY(auto rows, read_slot(product.in, 0, plan_.slot(product.in).width));
    TRY(rows, normed(std::move(rows), product));
    if (product.is_int8) {
      for (Row& row : rows) round_to_int8(row);
    }
    return rows;
  }

  static Result<std::vector<Row>> normed(std::vector<Row> rows, const Product& product) {
    if (product.gain == nullptr) return rows;
    TRY(const auto gains, read_matrix(*product.gain, 0, product.gain->rows));
    Row gain;
    for (const Row& part : gains) gain.insert(gain.end(), part.begin(), part.end());
    for (Row& row : rows) {
      const double factor = 1 / std::sqrt(dot(row, row) / static_cast<double>(row.size()) + product.eps);
      for (size_t i = 0; i < row.size(); ++i) row[i] *= factor * gain[i];
    }
    return rows;
  }

  // The values of a product with rows of floats.
  class Expected {
   public:
    // Rows [first, first + count), of an expert's matrices if there are any.
    static Result<Expected> read(const Product& product, int expert, int first, int count) {
      Expected rows(product, static_cast<size_t>(first));
      const int at = product.chosen ? expert * product.w->expert_rows() + first : first;
      TRY(rows.w_, read_matrix(*product.w, at, count));
      if (product.up) {
        TRY(rows.up_, read_matrix(*product.up, at, count));
      }
      if (product.bias) {
        TRY(const auto bias, read_matrix(*product.bias, expert, 1));
        TRY(const auto up_bias, read_matrix(*product.up_bias, expert, 1));
        rows.bias_ = bias.front(), rows.up_bias_ = up_bias.front();
      }
      return rows;
    }
    double of(size_t row, const Row& x) const {
      const double sum = with_bias(dot(w_[row], x), bias_, row);
      if (!p_->up) return sum;
      const double up = with_bias(dot(up_[row], x), up_bias_, row), more = p_->act == GluAct::kSwigluOai ? 1 : 0;
      const double limit = p_->limit > 0 ? p_->limit : std::numeric_limits<double>::infinity();
      return activated(p_->act, std::min(sum, limit)) * (std::clamp(up, -limit, limit) + more);
    }

   private:
    Expected(const Product& product, size_t first) : p_(&product), first_(first) {}
    double with_bias(double sum, const Row& bias, size_t row) const {
      return bias.empty() ? sum : sum + bias[first_ + row];
    }

    const Product* p_;
    size_t first_;
    std::vector<Row> w_, up_;
    Row bias_, up_bias_;
  };

  Result<void> compare(const Product& product) {
    const int rows = product.chosen ? product.w->expert_rows() : product.w->rows;
    const int count = std::min(kRows, rows), first = (rows - count) / 2;
    TRY(const auto x, read_input(product));
    TRY_STATUS(submit(product.step, product.step + 1));
    TRY(const auto got, read_slot(product.out, first, count));
    std::vector<Row> experts(x.size(), Row{0});
    if (product.chosen) {
      TRY(experts, read_slot(*product.chosen, 0, 1));
    }
    double error = 0, power = 0;
    std::optional<Expected> expected;
    for (size_t t = 0; t < x.size(); ++t) {
      if (!expected || product.chosen) {
        TRY(expected, Expected::read(product, static_cast<int>(experts[t][0]), first, count));
      }
      for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
        const double value = expected->of(r, x[t]);
        error += (got[t][r] - value) * (got[t][r] - value);
        power += value * value;
      }
    }
    // Weights that are not finite are detected when a token is computed (engine/kv/not_finite.h).
    if (!std::isfinite(power) || power == 0 || error <= kMostError * power) return {};
    return fail(
        ErrorCode::kNotSupported, "the GPU {} computes wrongly ({}{}: a relative error of {:.2g}); use the cpu backend",
        device_.adapter().name, product.w->name, shape_.n_tokens > 1 ? ", of a prompt" : "", std::sqrt(error / power));
  }

  Device& device_;
  const Plan& plan_;
  const Program& program_;
  const WorkBuffers& work_;
  int max_logit_rows_;
  RunShape shape_;
};

}  // namespace

Result<void> check_products(Device& device, const Plan& plan, const Program& program, const WorkBuffers& work,
                            int max_batch, int max_logit_rows, const Layouts& layouts,
                            std::span<const Command> others) {
  Check check(device, plan, program, work, max_logit_rows);
  // One token; enough for the first tiles, and for the first ones for two matrices of tokens; and a prompt that uses
  // only kernels of prompts.
  std::set<int> numbers = {1, std::max(kMatmulTokens, layouts.few_tiles_from),
                           static_cast<int>(kMostBatchTokens) / 2 + 1,
                           std::max({layouts.most_in_columns, layouts.most_in_batches, layouts.most_in_few_tiles}) + 1};
  // The most tokens in columns; those of the largest tiles for few tokens; a trial's history at a time; the largest
  // batch, which has larger tiles; and the first of each size for experts.
  const bool has_tiles = !device.features().matrices.empty() && device.adapter().type != AdapterType::kSoftware;
  if (has_tiles) numbers.insert({layouts.head_tiles_from - 1, layouts.most_in_few_tiles, kKvBlock, max_batch});
  if (const ExpertConfig& experts = plan.config.experts; has_tiles && experts.n > 0) {
    const ExpertKernels kernels{experts.n, experts.n_used, layouts.expert_tiles, /*on_matrices=*/true};
    for (const auto& phase : expert_phases({layouts, max_batch}, kernels)) numbers.insert(phase.when.min_tokens);
  }
  std::erase_if(numbers, [&](int n) { return n < 1 || n > std::min(max_batch, plan.config.n_vocab / 2); });
  // GPUs compile these now; software drivers, which take longer, when they are needed.
  std::vector<int> positions;
  if (device.adapter().type != AdapterType::kSoftware) positions = {layouts.split_attention_from, plan.config.n_ctx};
  TRY_STATUS(check.prepare(numbers, positions, others));
  for (const int n_tokens : numbers) TRY_STATUS(check.run(n_tokens));
  return {};
}

}  // namespace tern::gpu
