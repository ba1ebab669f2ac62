// tern embed: embedding vectors of texts, as lines of numbers or JSON.
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

std::vector<std::vector<double>> vectors_in(const std::string& out) {
  std::vector<std::vector<double>> vectors;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    vectors.emplace_back(std::istream_iterator<double>(numbers), std::istream_iterator<double>());
  }
  return vectors;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(Embed, TextsBecomeVectorsOfLengthOne) {
  const RunResult result =
      run_tern({"embed", "-b", "cpu", "A boat on the sea.", "A ship on the sea.", "Seven times 8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto vectors = vectors_in(result.out);
  ASSERT_EQ(vectors.size(), 3u);
  for (const auto& vector : vectors) {
    EXPECT_EQ(vector.size(), 512u);
    EXPECT_NEAR(product(vector, vector), 1, 1e-5);
  }
  EXPECT_GT(product(vectors[0], vectors[1]), product(vectors[0], vectors[2]));
}

TEST(Embed, LinesOfAFileAreTexts) {
  const ScratchFolder folder;
  const std::string file = folder.write("lines.txt", "A boat on the sea.\r\nSeven times 8\n");
  const RunResult lines = run_tern({"embed", "-b", "cpu", "-f", file});
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(lines.out, run_tern({"embed", "-b", "cpu", "A boat on the sea.", "Seven times 8"}).out);
  EXPECT_NE(lines.out, run_tern({"embed", "-b", "cpu", "-f", file, "--pooling", "mean"}).out);
}

TEST(Embed, JsonLines) {
  const RunResult result = run_tern({"embed", "-b", "cpu", "--json", "one", "two"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  int index = 0;
  for (std::string line; std::getline(lines, line); ++index) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["index"], index);
    EXPECT_GT(json["n_tokens"], 0);
    EXPECT_EQ(json["embedding"].size(), 512u);
  }
  EXPECT_EQ(index, 2);
}

TEST(Embed, SaysWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_TRUE(
      failed_with(run_tern({"embed", "-f", folder.write("lines.txt", "one\n\ntwo\n")}), 2, {"line 2 is empty"}));
  EXPECT_TRUE(failed_with(run_tern({"embed", "-f", folder.write("none.txt", "")}), 2, {"there are no texts"}));
  EXPECT_TRUE(failed_with(run_tern({"embed", "one", "-f", "two"}), 2, {"-f"}));
  EXPECT_TRUE(failed_with(run_tern({"embed", "one", "--pooling", "cls"}), 2, {"--pooling", "last"}));
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "boat ";
  EXPECT_TRUE(failed_with(run_tern({"embed", "one", words}), 2, {"text 2 has ", "was trained for", "shorten it"}));
}

}  // namespace
}  // namespace tern::test
