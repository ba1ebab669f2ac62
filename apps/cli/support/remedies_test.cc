#include "cli/support/remedies.h"

#include <gtest/gtest.h>

namespace tern::cli {
namespace {

TEST(Remedies, HaveTheirFlags) {
  EXPECT_EQ(with_flags("heads of 6 dimensions; use the cpu backend"),
            "heads of 6 dimensions; use the cpu backend (-b cpu)");
  EXPECT_EQ(with_flags("use the cpu backend, or another head"),
            "use the cpu backend (-b cpu), or another head (--head)");
  EXPECT_EQ(with_flags("not there; name a model, or set TERN_MODEL"),
            "not there; name a model (-m FILE), or set TERN_MODEL");
}

TEST(Remedies, AreNotSaidTwice) {
  EXPECT_EQ(with_flags("name a model with -m FILE"), "name a model with -m FILE");
  EXPECT_EQ(with_flags("cannot open it"), "cannot open it");
}

}  // namespace
}  // namespace tern::cli
