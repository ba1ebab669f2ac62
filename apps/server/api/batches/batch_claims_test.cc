#include "server/api/batches/batch_claims.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace tern::server {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Claims : public testing::Test {
 protected:
  Claims() { fs::remove_all(folder_); }
  std::unique_ptr<BatchClaims> open(const std::string& worker, size_t n = 6,
                                    milliseconds lease = std::chrono::hours(1)) {
    return BatchClaims::open({.folder = folder_, .worker = worker, .lease = lease}, n, "queue").value();
  }
  static std::set<size_t> take_all(BatchClaims& claims) {
    std::set<size_t> all;
    while (const auto claim = claims.next().value()) {
      EXPECT_TRUE(all.insert(claim->range).second);
    }
    return all;
  }
  // Imitates a worker that was killed: its files remain.
  void make_dead(const std::string& worker, size_t range, int taking = 0) {
    write(std::format("ranges/{:08}.{}", range, taking), worker);
    write("workers/" + worker, "");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(fs::path(folder_) / name) << text;
  }

  const std::string folder_ = (fs::temp_directory_path() / "claims").string();
};

TEST_F(Claims, EachRangeIsTakenOnce) {
  std::vector<std::set<size_t>> taken(8);
  {
    std::vector<std::unique_ptr<BatchClaims>> all;  // no worker ends before all have finished
    for (size_t i = 0; i < taken.size(); ++i) all.push_back(open("w" + std::to_string(i), 200));
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < taken.size(); ++i) threads.emplace_back([&, i] { taken[i] = take_all(*all[i]); });
    threads.clear();
  }
  std::set<size_t> together;
  size_t n = 0;
  for (const auto& some : taken) {
    together.insert(some.begin(), some.end());
    n += some.size();
  }
  EXPECT_EQ(n, 200u);
  EXPECT_EQ(together.size(), 200u);
}

TEST_F(Claims, WhoStartsAgainHasWhatItHadAndDidNotFinish) {
  {
    const auto first = open("a");
  }  // creates the folders
  make_dead("a", 1), make_dead("a", 4), make_dead("a", 5);
  write("ranges/00000005.done", "a");
  write("ranges/00000004.1", "b");  // another worker took it over
  const auto b = open("b");
  EXPECT_EQ(b->next().value()->range, 4u);
  const auto a = open("a");
  const auto claim = a->next().value();
  EXPECT_EQ(claim->range, 1u);
  EXPECT_TRUE(claim->was_begun);
  EXPECT_EQ(take_all(*a), (std::set<size_t>{0, 2, 3}));
}

TEST_F(Claims, WhatTheDeadHadIsTakenByWhoHasWaitedLongEnough) {
  const auto patient = open("patient", 2), other = open("other", 2, milliseconds(30));
  make_dead("x", 0), make_dead("x", 1);
  for (size_t n = 0; n < 2;) {
    EXPECT_FALSE(patient->next().value());
    if (const auto claim = other->next().value()) {
      EXPECT_TRUE(claim->was_begun);
      ++n;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(fs::exists(folder_ + "/ranges/00000000.1") && fs::exists(folder_ + "/ranges/00000001.1"));
}

TEST_F(Claims, TheLivingKeepWhatTheyHave) {
  const auto slow = open("slow", 1, milliseconds(600));
  ASSERT_TRUE(slow->next().value());
  const auto other = open("other", 1, std::chrono::hours(1));
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(other->next().value());
}

TEST_F(Claims, WhoEndsLeavesAtOnce) {
  auto a = open("a", 1);
  ASSERT_TRUE(a->next().value());
  const auto b = open("b", 1);
  EXPECT_FALSE(b->next().value());
  a.reset();
  EXPECT_TRUE(b->next().value());
}

TEST_F(Claims, AllAreDoneWhenEachIs) {
  const auto a = open("a", 2), b = open("b", 2);
  EXPECT_FALSE(a->all_are_done().value());
  ASSERT_TRUE(a->next().value() && b->next().value());
  ASSERT_TRUE(a->finish(0) && b->finish(1));
  EXPECT_TRUE(a->finish(1));  // harmless, although another worker has finished it
  EXPECT_TRUE(a->all_are_done().value() && b->all_are_done().value());
  EXPECT_FALSE(open("c", 2)->next().value());
  EXPECT_TRUE(open("d", 0)->all_are_done().value());
}

TEST_F(Claims, FoldersThatWillNotDoAreRefused) {
  const auto a = open("a");
  const auto other = BatchClaims::open({.folder = folder_, .worker = "b"}, 6, "another");
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(other.error().message.contains("belongs to other requests")) << other.error().message;
  EXPECT_EQ(BatchClaims::open({.folder = "/dev/null/x", .worker = "b"}, 6, "queue").error().code, ErrorCode::kIo);
  write("ranges/00000099.0", "stranger"), write("ranges/notes", ""), write("ranges/00000001x", "");
  EXPECT_EQ(take_all(*a).size(), 6u);
}

}  // namespace
}  // namespace tern::server
