#include "backend/repack.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "plan/step_weights.h"
#include "quant/formats/i2_s.h"

namespace tern {
namespace {

// The common scale of a tensor whose decoded values are −s, 0 and s; 0 while only zeros have been seen.
Result<float> common_scale(const Tensor& w, std::span<const float> row, float scale) {
  for (const float value : row) {
    const float magnitude = std::abs(value);
    if (magnitude == 0 || magnitude == scale) continue;
    if (scale != 0) {
      return fail(ErrorCode::kNotSupported,
                  "tensor {}: its {} blocks have different scales ({} and {}), but a ternary matrix has one; convert "
                  "the model to I2_S",
                  w.name, format_info(w.format).name, scale, magnitude);
    }
    scale = magnitude;
  }
  return scale;
}

// The scale of all rows.
Result<float> scale_of(const Tensor& w) {
  const uint64_t stride = row_bytes(w.format, w.cols);
  std::vector<float> row(static_cast<size_t>(w.cols));
  float scale = 0;
  const auto look = [&](RowRange rows, Bytes bytes) -> Result<void> {
    for (uint64_t r = 0; r < static_cast<uint64_t>(rows.count); ++r) {
      format_info(w.format).decode(bytes.subspan(r * stride, stride), row);
      TRY(scale, common_scale(w, row, scale));
    }
    return {};
  };
  TRY_STATUS(read_rows(w.data, stride, {0, w.rows}, look));
  return scale;
}

Result<void> encode_rows(const Tensor& w, RowRange rows, MutableBytes i2_s) {
  const uint64_t in_stride = row_bytes(w.format, w.cols), out_stride = row_bytes(Format::kI2_S, w.cols);
  std::vector<float> row(static_cast<size_t>(w.cols));
  const auto encode = [&](RowRange part, Bytes bytes) -> Result<void> {
    for (uint64_t r = 0; r < static_cast<uint64_t>(part.count); ++r) {
      format_info(w.format).decode(bytes.subspan(r * in_stride, in_stride), row);
      for (float& value : row) value = value == 0 ? 0.0f : std::copysign(1.0f, value);
      encode_i2_s(row, i2_s.subspan((static_cast<uint64_t>(part.first - rows.first) + r) * out_stride, out_stride));
    }
    return {};
  };
  return read_rows(w.data, in_stride, rows, encode);
}

Result<Repacked> to_i2_s(const Tensor& w) {
  Repacked out{.tensor = w, .bytes = {}, .made = {}};
  TRY(const float scale, scale_of(w));
  out.tensor.format = Format::kI2_S;
  out.tensor.scale = w.scale * scale;
  if (w.data.is_resident()) {
    out.bytes.resize(tensor_bytes(Format::kI2_S, w.rows, w.cols));
    TRY_STATUS(encode_rows(w, {0, w.rows}, out.bytes));
    out.tensor.data = out.bytes;  // moving a vector keeps the address of its bytes
    return out;
  }
  const auto make = [w](uint64_t first, uint64_t n, MutableBytes rows) {
    return encode_rows(w, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, rows);
  };
  out.made = std::make_unique<MadeRows>(row_bytes(Format::kI2_S, w.cols), static_cast<uint64_t>(w.rows), make,
                                        std::vector<std::byte>(kI2sTailBytes));
  out.tensor.data = StoredBytes(*out.made, 0, out.made->size());
  return out;
}

// The same values, block by block: blocks of both formats have the same size and one scale each.
Repacked to_two_bits(const Tensor& w, Format to) {
  const uint64_t in_bytes = row_bytes(w.format, w.cols);
  const uint64_t out_bytes = row_bytes(to, w.cols);
  Repacked out{.tensor = w, .bytes = std::vector<std::byte>(tensor_bytes(to, w.rows, w.cols)), .made = {}};
  std::vector<float> row(static_cast<size_t>(w.cols));
  for (uint64_t r = 0; r < static_cast<uint64_t>(w.rows); ++r) {
    format_info(w.format).decode(w.data.subspan(r * in_bytes, in_bytes), row);
    format_info(to).encode(row, MutableBytes(out.bytes).subspan(r * out_bytes, out_bytes));
  }
  out.tensor.format = to;
  out.tensor.data = out.bytes;
  return out;
}

class Repacker {
 public:
  Result<void> replace(const Tensor*& w) {
    if (w->format == Format::kI2_S || w->is_rearranged) return {};
    TRY(auto repacked, to_i2_s(*w));
    w = &done_.emplace_back(std::move(repacked)).tensor;
    return {};
  }
  void replace_packed(const Tensor*& w) {
    const bool has_256 = w->format == Format::kTQ1_0 || w->format == Format::kSTQ1_0;
    if (has_256) w = &done_.emplace_back(to_two_bits(*w, Format::kTQ2_0)).tensor;
    if (w->format == Format::kPTQ1_0) w = &done_.emplace_back(to_two_bits(*w, Format::kPQ2_0)).tensor;
  }
  std::deque<Repacked> take() { return std::move(done_); }

 private:
  std::deque<Repacked> done_;  // a deque: addresses stay valid
};

}  // namespace

Result<void> for_ternary_matrices(Plan& plan, const std::function<Result<void>(const Tensor*&)>& visit) {
  for (Step& step : plan.steps) {
    TRY_STATUS(try_each_weight(step.body, [&](const Tensor*& w, WeightRole role) -> Result<void> {
      return role == WeightRole::kTernary ? visit(w) : Result<void>();
    }));
  }
  return {};
}

Result<std::deque<Repacked>> repack_ternary(Plan& plan) {
  Repacker repacker;
  TRY_STATUS(for_ternary_matrices(plan, [&](const Tensor*& w) { return repacker.replace(w); }));
  return repacker.take();
}

std::deque<Repacked> repack_block_inputs(Plan& plan) {
  Repacker repacker;
  for_block_matrices(plan, [&](const Tensor*& w) { repacker.replace_packed(w); });
  return repacker.take();
}

Result<Repacked> reencode(const Tensor& w, Format format) {
  const FormatInfo& to = format_info(format);
  if (w.cols % to.block != 0) {
    return fail(ErrorCode::kNotSupported,
                "tensor {}: rows of {} values are not whole blocks of {}, which {} needs; use the file's head", w.name,
                w.cols, to.block, to.name);
  }
  const uint64_t in_stride = row_bytes(w.format, w.cols), out_stride = row_bytes(format, w.cols);
  const auto make = [w, &to, in_stride, out_stride](uint64_t first, uint64_t n, MutableBytes out) -> Result<void> {
    std::vector<float> row(static_cast<size_t>(w.cols));
    const auto encode = [&](RowRange part, Bytes bytes) -> Result<void> {
      for (uint64_t r = 0; r < static_cast<uint64_t>(part.count); ++r) {
        format_info(w.format).decode(bytes.subspan(r * in_stride, in_stride), row);
        to.encode(row, out.subspan((static_cast<uint64_t>(part.first) - first + r) * out_stride, out_stride));
      }
      return {};
    };
    return read_rows(w.data, in_stride, {static_cast<int64_t>(first), static_cast<int64_t>(n)}, encode);
  };
  Repacked out{.tensor = w, .bytes = {}, .made = {}};
  out.made = std::make_unique<MadeRows>(out_stride, static_cast<uint64_t>(w.rows), make);
  out.tensor.format = format;
  out.tensor.data = StoredBytes(*out.made, 0, out.made->size());
  return out;
}

namespace {

Result<HostMemory> read_on(ThreadPool& pool, const Tensor& w) {
  TRY(auto memory, HostMemory::allocate(w.data.size(), "a matrix in another format"));
  memory.advise_huge_pages();
  const MutableBytes all(memory.data(), memory.bytes());
  const auto rows = static_cast<uint64_t>(w.rows), workers = static_cast<uint64_t>(pool.size());
  const uint64_t stride = row_bytes(w.format, w.cols);
  std::vector<Result<void>> done(static_cast<size_t>(workers));
  pool.run([&](int worker) {
    const auto number = static_cast<uint64_t>(worker);
    const uint64_t begin = rows * number / workers, end = rows * (number + 1) / workers;
    if (begin == end) return;
    done[static_cast<size_t>(worker)] =
        w.data.source()->read(w.data.offset() + begin * stride, all.subspan(begin * stride, (end - begin) * stride));
  });
  for (Result<void>& part : done) TRY_STATUS(std::move(part));
  return memory;
}

}  // namespace

Result<MaterializedTensors> make_resident(Plan& plan, ThreadPool& pool) {
  MaterializedTensors made;
  std::map<const Tensor*, const Tensor*> copies;
  const auto replace = [&](const Tensor*& w, WeightRole role) -> Result<void> {
    if (role != WeightRole::kMatrix || w->data.is_resident()) return {};
    const Tensor*& copy = copies[w];
    if (!copy) {
      TRY(auto memory, read_on(pool, *w));
      Tensor& tensor = made.tensors.emplace_back(*w);
      tensor.data = Bytes(memory.data(), memory.bytes());
      made.memory.push_back(std::move(memory));
      copy = &tensor;
    }
    w = copy;
    return {};
  };
  for (Step& step : plan.steps) TRY_STATUS(try_each_weight(step.body, replace));
  return made;
}

namespace {

bool is_in_file(const Tensor& w) { return !w.data.is_resident() && w.data.source()->file(); }

// As try_each_weight, with tables that are looked up on the host.
template <class F>
Result<void> try_each_of_host(StepBody& body, F&& f) {
  if (auto* embed = std::get_if<step::Embed>(&body); embed && embed->on_host) return f(embed->table);
  return try_each_weight(body, [&](const Tensor*& w, WeightRole) -> Result<void> { return f(w); });
}

Result<void> read_alone(const StoredBytes& data, MutableBytes into) {
  constexpr uint64_t kPiece = 8 << 20;
  for (uint64_t at = 0; at < data.size(); at += kPiece) {
    const uint64_t n = std::min(kPiece, data.size() - at);
    TRY_STATUS(data.source()->read(data.offset() + at, into.subspan(at, n)));
  }
  return {};
}

}  // namespace

bool has_weights_in_files(Plan& plan) {
  bool has = false;
  for (Step& step : plan.steps) {
    CHECK(try_each_of_host(step.body, [&](const Tensor*& w) -> Result<void> {
      has = has || is_in_file(*w);
      return {};
    }));
  }
  return has;
}

Result<MaterializedTensors> bring_weights(Plan& plan, const std::function<bool(const Tensor*)>& stays) {
  MaterializedTensors made;
  std::map<const Tensor*, const Tensor*> copies;
  std::map<std::pair<StoredBytes::Identity, uint64_t>, uint64_t> places;  // several tensors may be of one place
  uint64_t bytes = 0;
  const auto wants = [&](const Tensor* w) { return !w->data.is_resident() && !stays(w); };
  const auto visit = [&](const auto& use) -> Result<void> {
    for (Step& step : plan.steps) {
      TRY_STATUS(try_each_of_host(step.body, [&](const Tensor*& w) { return wants(w) ? use(w) : Result<void>(); }));
    }
    return {};
  };
  TRY_STATUS(visit([&](const Tensor*& w) -> Result<void> {
    const bool is_new = places.try_emplace({w->data.identity(), w->data.size()}, bytes).second;
    if (is_new) bytes += round_up(w->data.size(), 64);
    return {};
  }));
  if (bytes == 0) return made;
  // One allocation, because a browser's memory grows by more than is asked for.
  TRY(auto memory, HostMemory::allocate(bytes, "the weights"));
  const MutableBytes all(memory.data(), bytes);
  std::set<uint64_t> read;
  TRY_STATUS(visit([&](const Tensor*& w) -> Result<void> {
    const Tensor*& copy = copies[w];
    if (!copy) {
      const uint64_t at = places.at({w->data.identity(), w->data.size()});
      const MutableBytes place = all.subspan(at, w->data.size());
      if (read.insert(at).second) TRY_STATUS(read_alone(w->data, place));
      Tensor& tensor = made.tensors.emplace_back(*w);
      tensor.data = Bytes(place);
      copy = &tensor;
    }
    w = copy;
    return {};
  }));
  made.memory.push_back(std::move(memory));
  return made;
}

void for_block_matrices(Plan& plan, const std::function<void(const Tensor*&)>& visit) {
  for (Step& step : plan.steps) {
    const auto is_blocks = [&](const SlotUse& use) {
      return use.reads && plan.slot(use.slot).type == SlotType::kInt8Blocks;
    };
    if (!std::ranges::any_of(slot_uses(step.body), is_blocks)) continue;
    for_each_weight(step.body, [&](const Tensor*& w, WeightRole role) {
      if (role == WeightRole::kMatrix) visit(w);
    });
  }
}

}  // namespace tern
