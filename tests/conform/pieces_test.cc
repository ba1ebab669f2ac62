// Models on the CPU whose weights are read in pieces, as in a browser.
#include <gtest/gtest.h>

#include <filesystem>

#include "backend/cpu/cpu_backend.h"
#include "backend/kv_cache.h"
#include "base/thread_pool.h"
#include "model/model.h"
#include "support/checkout.h"

namespace tern {
namespace {

// Models whose files are not in memory compute the same as those whose files are: also where vectors or tables are made
// from the file's.
TEST(Pieces, ModelsComputeTheSame) {
  const auto logits_of = [](const std::string& path, Access access) {
    const Model model = open_model(path, {}, access).value();
    const Plan plan = make_plan(model.config, model.weights, {.fuse = Fusions::host()});
    ThreadPool pool(2);
    const auto executable = cpu::compile(plan, {.max_batch = 8, .max_logit_rows = 8}, pool).value();
    const auto cache = executable->new_cache(16, KvType::kF32).value();
    const std::vector<TokenId> tokens = {1, 5, 17, 5, 60};
    const auto logits = executable->run(*cache, {.tokens = tokens, .first_pos = 0, .logits = WantLogits::kAll});
    return std::vector<float>(logits->begin(), logits->end());
  };
  std::vector<std::string> paths = {source_path("models/tern-stories.gguf")};
  for (const char* folder : {"bitnet", "families", "packed"}) {
    for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/golden/") + folder)) {
      if (entry.path().extension() == ".gguf") paths.push_back(entry.path().string());
    }
  }
  ASSERT_GT(paths.size(), 40u);
  for (const std::string& path : paths) {
    EXPECT_EQ(logits_of(path, Access::kPieces), logits_of(path, Access::kResident)) << path;
  }
}

}  // namespace
}  // namespace tern
