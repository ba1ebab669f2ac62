#include "server/api/grammars/grammar_compiler.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/pauses.h"

namespace tern::server {
namespace {

TEST(GrammarCompiler, CompilesLargeOnesOneAtATimeAndBesideOthers) {
  GrammarCompiler compiler;
  std::atomic<int> n_running = 0, most_running = 0, n_made = 0;
  const auto caller = std::this_thread::get_id();
  const auto make = [&]() -> Result<GrammarPtr> {
    EXPECT_NE(std::this_thread::get_id(), caller);
    EXPECT_GT(::getpriority(PRIO_PROCESS, 0), 0) << "it should give way to others";
    EXPECT_NE(Pauses::of_thread(), nullptr) << "it should pause beside a model";
    most_running = std::max(most_running.load(), ++n_running);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --n_running;
    ++n_made;
    return Grammar::json_object();
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { EXPECT_NE(compiler.compile(1 << 20, make).value(), nullptr); });
    }
  }
  EXPECT_EQ(n_made, 8);
  EXPECT_EQ(most_running, 1);
}

TEST(GrammarCompiler, CompilesSmallOnesAtOnce) {
  GrammarCompiler compiler;
  const auto caller = std::this_thread::get_id();
  const auto made = compiler.compile(100, [&]() -> Result<GrammarPtr> {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return fail(ErrorCode::kNotSupported, "no");
  });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "no");
}

}  // namespace
}  // namespace tern::server
