// The text of every kernel is as it was when it was last looked at. TERN_UPDATE_GOLDENS=1 writes the files anew; the
// change is then reviewed with the commit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "backend/gpu/kernels/golden_cases.h"

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(TERN_SOURCE_DIR) / "src/backend/gpu/kernels/golden";
constexpr std::string_view kHowTo = "If the change is meant, run\n  TERN_UPDATE_GOLDENS=1 " TERN_BINARY_DIR
                                    "/bin/kernel_golden_test\nand review the diff.";

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool updating() {
  const char* value = std::getenv("TERN_UPDATE_GOLDENS");
  return value != nullptr && *value != '\0' && *value != '0';
}

void update(const std::vector<GoldenCase>& cases) {
  fs::create_directories(kFolder);
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".wgsl") fs::remove(entry.path());
  }
  for (const GoldenCase& c : cases) std::ofstream(kFolder / c.file, std::ios::binary) << c.module.text;
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
  if (updating()) update(cases);
  int differing = 0;
  for (const GoldenCase& c : cases) {
    const fs::path path = kFolder / c.file;
    if (!fs::exists(path)) {
      ADD_FAILURE() << path << " does not exist";
    } else if (const std::string golden = read_file(path); golden != c.module.text) {
      if (++differing <= 3) ADD_FAILURE() << path << ", " << first_difference(c.module.text, golden);
    }
  }
  EXPECT_EQ(differing, 0) << "kernels differ from their goldens. " << kHowTo;
}

TEST(KernelGoldens, EveryFileHasItsKernel) {
  std::set<std::string> files;
  for (const GoldenCase& c : golden_cases()) EXPECT_TRUE(files.insert(c.file).second) << c.file << " is there twice";
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    EXPECT_TRUE(files.contains(entry.path().filename().string())) << entry.path() << " is of no kernel. " << kHowTo;
  }
}

// The text is all that the pipeline cache sees of a Config.
TEST(KernelGoldens, TracingTwiceGivesTheSameText) {
  const auto first = golden_cases(), second = golden_cases();
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].module.text, second[i].module.text) << first[i].file;
}

}  // namespace
}  // namespace tern::gpu
