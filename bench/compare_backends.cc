// How far apart are two backends' logits? Feeds the same tokens one by one and prints the normalized mean squared error
// of each against the reference, worst and mean.
//
//   compare_backends MODEL N_TOKENS
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "backend/cpu/cpu_backend.h"
#include "backend/gpu/run/webgpu_backend.h"
#include "backend/kv_cache.h"
#include "backend/ref/ref_backend.h"
#include "model/model.h"

namespace tern {
namespace {

std::vector<std::vector<float>> logits_of(Executable& e, const std::vector<TokenId>& tokens, KvType kv) {
  auto cache = e.new_cache(static_cast<int>(tokens.size()), kv).value();
  std::vector<std::vector<float>> rows;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto row = e.run(*cache, {.tokens = std::span(&tokens[i], 1), .first_pos = static_cast<int>(i)}).value();
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

void print(const char* name, const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  double worst = 0, sum = 0;
  int same = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double error = 0, norm = 0;
    for (size_t j = 0; j < a[i].size(); ++j) {
      error += std::pow(static_cast<double>(a[i][j]) - b[i][j], 2);
      norm += std::pow(static_cast<double>(b[i][j]), 2);
    }
    worst = std::max(worst, error / norm);
    sum += error / norm;
    same += std::ranges::max_element(a[i]) - a[i].begin() == std::ranges::max_element(b[i]) - b[i].begin();
  }
  std::printf("%-32s mean %.2e worst %.2e, top-1 %d of %zu\n", name, sum / static_cast<double>(a.size()), worst, same,
              a.size());
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) {
  using namespace tern;
  if (argc != 3) return 2;
  const Model model = open_model(argv[1]).value();
  std::vector<TokenId> tokens;
  for (int i = 0; i < std::atoi(argv[2]); ++i)
    tokens.push_back((i * 37 + 11) * 13 % std::min(model.config.n_vocab, 3000));
  ThreadPool pool(2);
  for (const KvType kv : {KvType::kF32, KvType::kF16}) {
    std::printf("%s\n", kv == KvType::kF32 ? "f32 cache" : "f16 cache");
    const Plan plain = make_plan(model.config, model.weights, {.fuse = Fusions::none()});
    const Plan fused = make_plan(model.config, model.weights, {.fuse = Fusions::all()});
    const auto ref = logits_of(*ref::compile(plain, {}).value(), tokens, kv);
    print("cpu", logits_of(*cpu::compile(fused, {}, pool).value(), tokens, kv), ref);
    print("webgpu", logits_of(*gpu::compile(plain, {}).value(), tokens, kv), ref);
    print("webgpu fused", logits_of(*gpu::compile(fused, {}).value(), tokens, kv), ref);
    CompileOptions poor;
    poor.gpu.without = {"subgroups", "f16", "dot4"};
    print("webgpu fused, without features", logits_of(*gpu::compile(fused, poor).value(), tokens, kv), ref);
    poor.gpu.without = {"limits"};
    print("webgpu fused, default limits", logits_of(*gpu::compile(fused, poor).value(), tokens, kv), ref);
  }
}
