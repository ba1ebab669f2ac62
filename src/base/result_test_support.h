// Checks of results that are failures, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace tern {

// Expects this code, and a message of one line that contains `part` and starts with `begin`.
template <class T>
void expect_failure(const Result<T>& result, ErrorCode code, std::string_view part, std::string_view begin = "") {
  ASSERT_FALSE(result) << "accepted, though it should fail with: " << part;
  const std::string& message = result.error().message;
  EXPECT_EQ(result.error().code, code) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  EXPECT_TRUE(message.starts_with(begin)) << message;
  EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
}

}  // namespace tern
