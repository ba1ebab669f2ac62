// Checks that the token loop allocates nothing, by replacing operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backend/kv_cache.h"
#include "backend/ops.h"
#include "engine/engine_impl.h"
#include "support/checkout.h"

namespace {
std::atomic<long> allocations = 0;
}  // namespace

// After inlining, GCC sees a test created by `new` and released by free(), but not that `new` is malloc() here.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void* operator new(std::size_t size) {
  ++allocations;
  if (void* at = std::malloc(size)) return at;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  if (void* at = std::aligned_alloc(static_cast<size_t>(alignment), (size + static_cast<size_t>(alignment) - 1) &
                                                                        ~(static_cast<size_t>(alignment) - 1)))
    return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }

namespace tern {
namespace {

TEST(TokenLoop, AllocatesNothing) {
  const std::string path = source_path("models/tern-stories.gguf");
  const Engine engine = Engine::load({.model_path = path, .n_threads = 2}).value();
  Executable& executable = *EngineAccess::impl(engine).executable;
  const auto cache = executable.new_cache(128, KvType::kF16).value();
  std::vector<TokenId> prompt(20, 5);
  ASSERT_TRUE(executable.run(*cache, {.tokens = prompt, .first_pos = 0, .logits = WantLogits::kNone}));
  const long before = allocations;
  for (int pos = 20; pos < 60; ++pos) {
    const TokenId token = pos;
    const auto logits = executable.run(*cache, {.tokens = {&token, 1}, .first_pos = pos, .logits = WantLogits::kLast});
    ASSERT_TRUE(logits);
    ASSERT_EQ(logits->size(), 8192u);
  }
  EXPECT_EQ(allocations - before, 0);
}

// A session's steps, sampling included, allocate nothing either, except for the growing text and a few allocations for
// each KV block.
void expect_only_text_grows(HeadKind head) {
  const std::string path = source_path("models/tern-stories.gguf");
  const Engine engine = Engine::load({.model_path = path, .n_threads = 2, .head = head}).value();
  Session session = engine.new_session().value();
  const auto prompt = engine.tokenizer().encode("Once upon a time");
  Generation generation =
      session.begin(prompt, {.sample = {.repeat_penalty = 1.1f}, .stop = {}, .ignore_eos = true}).value();
  ASSERT_TRUE(generation.next());
  long before = allocations, in_new_blocks = 0;
  size_t room = generation.result().text.capacity();
  for (int i = 0; i < 200; ++i) {
    const int n_used = session.n_used();
    const long so_far = allocations;
    ASSERT_TRUE(generation.next());
    const long for_text = generation.result().text.capacity() != room ? 1 : 0;
    before += for_text;
    room = generation.result().text.capacity();
    const bool is_new_block = n_used / kKvBlock != session.n_used() / kKvBlock || n_used % kKvBlock == 0;
    if (is_new_block) in_new_blocks += allocations - so_far - for_text;
  }
  EXPECT_EQ(allocations - before - in_new_blocks, 0);
  EXPECT_LE(in_new_blocks, 3 * 6);
  EXPECT_GT(room, 100u);
}

TEST(TokenLoop, StepsOfAGenerationAllocateOnlyForTheirText) { expect_only_text_grows(HeadKind::kFile); }
TEST(TokenLoop, SoDoStepsWithAnExactHead) { expect_only_text_grows(HeadKind::kExact); }

TEST(TokenLoop, TheCounterCounts) {
  const long before = allocations;
  const std::vector<int> values(100);
  EXPECT_GT(allocations - before, 0);
  EXPECT_EQ(values.size(), 100u);
}

}  // namespace
}  // namespace tern
