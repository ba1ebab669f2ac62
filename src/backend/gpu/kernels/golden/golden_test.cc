// Checks that the text of every kernel is unchanged since its last review. One configuration of each kernel is kept as
// text, the others only as a hash. TERN_UPDATE_GOLDENS=1 rewrites both; the change is then reviewed with the commit.
// TERN_WRITE_KERNELS=DIR writes all texts to DIR, to read them or compile them elsewhere.
#include <gtest/gtest.h>

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

// The cases that are kept as text, one per kernel: that of a large model on a device with all features, or the first.
std::map<std::string, std::string> kept_files(const std::vector<GoldenCase>& cases) {
  std::map<std::string, std::string> kept;
  for (const GoldenCase& c : cases) {
    const auto [at, is_new] = kept.try_emplace(kernel_of(c.file), c.file);
    if (!is_new && c.file.ends_with(".bitnet-2b.all.wgsl")) at->second = c.file;
  }
  return kept;
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
    if (kept.at(kernel_of(c.file)) == c.file) {
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
    if (kept.at(kernel_of(c.file)) != c.file) {
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
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path() == kHashes) continue;
    EXPECT_TRUE(files.contains(entry.path().filename().string())) << entry.path() << " is of no kernel. " << kHowTo;
  }
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
