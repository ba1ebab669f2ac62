#include "server/api/service/response_store.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

using namespace std::chrono_literals;

ResponseStore::Kept kept(size_t n) { return {.response = {{"text", std::string(n, 'x')}}, .items = Json::array({n})}; }

TEST(ResponseStore, TheOldestLeaveWhenThereIsNoRoom) {
  ResponseStore store({.bytes = 700});
  for (const char* id : {"a", "b", "c"}) store.keep(id, kept(200));
  EXPECT_TRUE(store.find("a", ""));
  store.keep("d", kept(200));
  EXPECT_FALSE(store.find("a", ""));
  EXPECT_EQ(store.find("b", "")->items, Json::array({200}));
  store.keep("large", kept(1000));  // it would never fit
  EXPECT_FALSE(store.find("large", ""));
  EXPECT_TRUE(store.find("d", ""));
}

TEST(ResponseStore, AllLeaveAfterATime) {
  ResponseStore store({.age = 1h});
  const auto start = ResponseStore::Clock::now();
  store.keep("a", kept(1), start);
  store.keep("b", kept(1), start + 30min);
  EXPECT_TRUE(store.find("a", "", start + 59min));
  EXPECT_FALSE(store.find("a", "", start + 61min));
  EXPECT_TRUE(store.find("b", "", start + 61min));
}

TEST(ResponseStore, ErasingMakesRoom) {
  ResponseStore store({.bytes = 500});
  store.keep("a", kept(200));
  store.keep("b", kept(200));
  EXPECT_TRUE(store.erase("a", ""));
  EXPECT_FALSE(store.erase("a", ""));
  store.keep("c", kept(200));
  EXPECT_TRUE(store.find("b", ""));
  EXPECT_TRUE(store.find("c", ""));
}

TEST(ResponseStore, WhatIsKeptForOneIsNotThereForOthers) {
  ResponseStore store;
  ResponseStore::Kept one = kept(1);
  one.items = Json::array({{{"id", "msg_1"}}});
  one.owner = "a";
  store.keep("id", one);
  for (const char* other : {"b", ""}) {
    EXPECT_FALSE(store.find("id", other));
    EXPECT_TRUE(store.find_items({"msg_1"}, other).empty());
    EXPECT_FALSE(store.erase("id", other));
  }
  EXPECT_EQ(store.find_items({"msg_1"}, "a").size(), 1u);
  EXPECT_TRUE(store.erase("id", "a"));
}

}  // namespace
}  // namespace tern::server
