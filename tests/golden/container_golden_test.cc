// Models in directories: Hugging Face's compared with transformers' logits (make_family_goldens.py), MLC's with the
// logits of their dequantized weights (make_container_goldens.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "golden/golden_support.h"

namespace tern::golden {
namespace {

// The results of checking MLC's shards are kept in a folder that is removed after the test.
class ContainerGolden : public testing::Test {
 protected:
  ContainerGolden() { ::setenv("XDG_CACHE_HOME", cache_.c_str(), 1); }
  ~ContainerGolden() override { std::filesystem::remove_all(cache_); }

  const std::filesystem::path cache_ =
      std::filesystem::temp_directory_path() / ("tern_container_golden_" + std::to_string(::getpid()));
};

// Without fusion, packed experts are multiplied by floats, too, not by int8 blocks.
TEST_F(ContainerGolden, HuggingFaceDirectoriesAgreeWithTransformers) {
  int n_directories = 0;
  for (Golden& golden : read_goldens("families")) {
    if (!golden.has_directory) continue;
    ++n_directories;
    golden.model_path.resize(golden.model_path.size() - std::string_view(".gguf").size());
    for (const BackendKind backend : {BackendKind::kRef, BackendKind::kCpu}) {
      const bool fuse = golden.name != "gpt_oss_mxfp4";
      const auto logits = compute_logits(golden, {{.backend = backend, .n_threads = 2, .fuse = fuse}});
      EXPECT_LT(nmse(logits, golden.logits), 1e-9) << golden.name;
      expect_same_top1(golden, logits);
    }
  }
  EXPECT_EQ(n_directories, 30);
}

// On the reference only float rounding remains. The CPU's kernels quantize activations in blocks of 32. Their error of
// about 1/250 of a block's largest value per activation has an NMSE of a few 1e-5.
TEST_F(ContainerGolden, MlcDirectoriesGiveWhatTheirCodesStandFor) {
  const auto goldens = read_goldens("containers");
  ASSERT_EQ(goldens.size(), 3u);
  for (const Golden& golden : goldens) {
    const auto exact = compute_logits(golden, {{.backend = BackendKind::kRef, .fuse = false}});
    EXPECT_LT(nmse(exact, golden.logits), 1e-9) << golden.name;
    expect_same_top1(golden, exact);
    const auto logits = compute_logits(golden, {{.backend = BackendKind::kCpu, .n_threads = 2}});
    EXPECT_LT(nmse(logits, golden.logits), 1e-3) << golden.name;
  }
}

}  // namespace
}  // namespace tern::golden
