// Checks that the text of every kernel is unchanged since its last review. One configuration of each kernel is kept as
// text if people can read it; the others only as a hash. TERN_UPDATE_GOLDENS=1 rewrites both; the change is then
// reviewed with the commit. TERN_WRITE_KERNELS=DIR writes all texts to DIR, to read them or compile them elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "backend/gpu/kernels/golden/golden_cases_test_support.h"
#include "base/fnv1a.h"
#include "base/text/format_text.h"
#include "support/checkout.h"

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = source_path("tests/golden/kernels");
const fs::path kHashes = kFolder / "hashes.txt";  // one line per file: "FILE HASH"
const std::string kHowTo = "If the change is meant, run\n  TERN_UPDATE_GOLDENS=1 " +
                           build_path("bin/kernel_golden_test") + "\nand review the diff.";

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string kernel_of(const std::string& file) { return file.substr(0, file.find('.')); }

// Texts that are longer than this are not read in a review.
constexpr size_t kMostText = 20'000;
constexpr int64_t kMostLines = 16'000;  // of all texts

// A kernel's variants differ in few lines from the one that is kept as text: other types of keys and values, another
// shape of matrices, other weights, or a sum instead of a value.
bool is_variant(std::string_view kernel) {
  constexpr std::array<std::string_view, 4> kEndings = {"_f32", "_16x16x16", "_16x16x32", "_of_logits_8x8x8"};
  constexpr std::array<std::string_view, 2> kCodes = {"embed_", "float_linear_codes"};
  // As the kernels without experts, except for where rows begin.
  constexpr std::array<std::string_view, 4> kOfExperts = {"expert_linear", "expert_glu", "expert_norm_glu",
                                                          "expert_matmul"};
  constexpr std::array<std::string_view, 44> kVariants = {"float_linear_bf16",
                                                          "float_linear_int8_signs",
                                                          "float_linear_columns_int8",
                                                          "float_glu_columns",
                                                          "float_glu_matmul",
                                                          "float_matmul_add",
                                                          "ternary_matmul_matrix_8x8x8",
                                                          "ternary_matmul_matrix_add_8x8x8",
                                                          "ternary_qkv_interleaved_f16",
                                                          "batch_qkv_f32_8x8x8",
                                                          "normed_qkv_f16",
                                                          "normed_glu_columns",
                                                          "normed_matvec_add",
                                                          "norm_halves",
                                                          "qkv_heads",
                                                          "attention_window_f16",
                                                          "attention_split_f16",
                                                          "heads_attention_split_f16",
                                                          "ternary_matvec_add",
                                                          "halve_tokens_exactly",
                                                          "sample_level_count_start",
                                                          "sample_level_share_start",
                                                          "sample_weigh_none",
                                                          "sample_weigh_share",
                                                          "sample_level_share_after_count",
                                                          "sample_level_share_after_floor",
                                                          "sample_weigh_floor",
                                                          "sample_again",
                                                          "sample_surprise",
                                                          "sample_typical_start",
                                                          "sample_typical_next",
                                                          "sample_typical_cut",
                                                          "sample_drop",
                                                          "sample_drop_min_p",
                                                          "sample_drop_untypical",
                                                          "sample_drop_top",
                                                          "sample_xtc",
                                                          "estimated_input",
                                                          "int8_rows_normed",
                                                          "int8_linear_add_columns",
                                                          "int8_glu_columns",
                                                          "int8_glu_leaving",
                                                          "rotate_leaving",
                                                          "sigmoid_mul_leaving"};
  const auto ends = [&](std::string_view ending) { return kernel.ends_with(ending); };
  if (std::ranges::any_of(kEndings, ends) || std::ranges::contains(kVariants, kernel)) return true;
  if (kernel.ends_with("_q8_0")) return kernel != "attention_q8_0" && kernel != "kv_append_q8_0";
  const auto begins = [&](std::string_view start) { return kernel.starts_with(start); };
  if (std::ranges::any_of(kOfExperts, begins)) return true;
  if (std::ranges::any_of(kCodes, begins)) return !kernel.ends_with("codes4_byte_mins") && kernel != "embed_f16";
  return false;
}

// The cases that are kept as text, one per kernel that is no variant: that of the smallest model for megakernels; else
// that of a large model on a device with all features, or the first.
std::set<std::string> kept_files(const std::vector<GoldenCase>& cases) {
  std::map<std::string, const GoldenCase*> kept;
  for (const GoldenCase& c : cases) {
    const std::string kernel = kernel_of(c.file);
    if (is_variant(kernel)) continue;
    const auto [at, is_new] = kept.try_emplace(kernel, &c);
    const bool is_preferred = c.file.ends_with(".small.all.wgsl") ||
                              (c.file.ends_with(".bitnet-2b.all.wgsl") && !at->second->file.contains(".small."));
    if (!is_new && is_preferred) at->second = &c;
  }
  std::set<std::string> files;
  for (const auto& [kernel, c] : kept) {
    if (c->module.text.size() <= kMostText || c->file.contains(".small.")) files.insert(c->file);
  }
  return files;
}

std::string hash_of(const std::string& text) { return format_text("{:016x}", fnv1a(text)); }

std::map<std::string, std::string> read_hashes() {
  std::map<std::string, std::string> hashes;
  std::ifstream in(kHashes);
  for (std::string file, hash; in >> file >> hash;) hashes[file] = hash;
  return hashes;
}

void write(const fs::path& folder, const GoldenCase& c) {
  std::ofstream(folder / c.file, std::ios::binary) << c.module.text;
}

void update(const std::vector<GoldenCase>& cases) {
  fs::remove_all(kFolder);
  fs::create_directories(kFolder);
  const auto kept = kept_files(cases);
  std::map<std::string, std::string> hashes;
  for (const GoldenCase& c : cases) {
    if (kept.contains(c.file)) {
      write(kFolder, c);
    } else {
      hashes[c.file] = hash_of(c.module.text);
    }
  }
  std::ofstream out(kHashes);
  for (const auto& [file, hash] : hashes) out << file << ' ' << hash << '\n';
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

// "line 12: is …, was …" for the first difference.
std::string first_difference(const std::string& text, const std::string& golden) {
  std::istringstream a(text), b(golden);
  std::string is, was;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(a, is)), more_golden = static_cast<bool>(std::getline(b, was));
    if (!more) is = "(end)";
    if (!more_golden) was = "(end)";
    if (is != was || !more) return "line " + std::to_string(line) + "\n  is:  " + is + "\n  was: " + was;
  }
}

TEST(KernelGoldens, TextsAreWhatWasReviewed) {
  const std::vector<GoldenCase> cases = golden_cases();
  if (is_set("TERN_UPDATE_GOLDENS")) update(cases);
  if (is_set("TERN_WRITE_KERNELS")) {
    const fs::path folder = std::getenv("TERN_WRITE_KERNELS");
    fs::create_directories(folder);
    for (const GoldenCase& c : cases) write(folder, c);
  }
  const auto kept = kept_files(cases);
  const auto hashes = read_hashes();
  int differing = 0;
  for (const GoldenCase& c : cases) {
    if (!kept.contains(c.file)) {
      const auto hash = hashes.find(c.file);
      if (hash == hashes.end()) {
        ADD_FAILURE() << c.file << " has no line in " << kHashes;
      } else if (hash->second != hash_of(c.module.text) && ++differing <= 3) {
        ADD_FAILURE() << c.file << " has another hash";
      }
    } else if (!fs::exists(kFolder / c.file)) {
      ADD_FAILURE() << kFolder / c.file << " does not exist";
    } else if (const std::string golden = read_file(kFolder / c.file); golden != c.module.text) {
      if (++differing <= 3) ADD_FAILURE() << kFolder / c.file << ", " << first_difference(c.module.text, golden);
    }
  }
  EXPECT_EQ(differing, 0) << "kernels differ from their goldens. " << kHowTo;
}

TEST(KernelGoldens, EveryFileAndHashHasItsKernel) {
  std::set<std::string> files;
  for (const GoldenCase& c : golden_cases()) EXPECT_TRUE(files.insert(c.file).second) << c.file << " is there twice";
  int64_t n_lines = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path() == kHashes) continue;
    n_lines += std::ranges::count(read_file(entry.path()), '\n');
    EXPECT_TRUE(files.contains(entry.path().filename().string())) << entry.path() << " is of no kernel. " << kHowTo;
  }
  EXPECT_LE(n_lines, kMostLines) << "more than a review can read";
  for (const auto& [file, hash] : read_hashes()) {
    EXPECT_TRUE(files.contains(file)) << file << " in " << kHashes << " is of no kernel. " << kHowTo;
  }
}

// 48 KiB is the workgroup memory of NVIDIA's driver.
TEST(KernelGoldens, SeveralRowsOfALargeModelFitInto48KiB) {
  for (const GoldenCase& c : golden_cases()) {
    if (!c.file.starts_with("ternary_rows.")) continue;
    EXPECT_LE(c.module.needs.workgroup_bytes, 48u * 1024) << c.file;
  }
}

// The pipeline cache sees only the text of a Config.
TEST(KernelGoldens, TracingTwiceGivesTheSameText) {
  const auto first = golden_cases(), second = golden_cases();
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].module.text, second[i].module.text) << first[i].file;
}

}  // namespace
}  // namespace tern::gpu
