#include "hub/net/certificates.h"

#include <gtest/gtest.h>

#include <map>

#include "hub/hub_test_support.h"

namespace tern::hub {
namespace {

std::string found(const std::map<std::string, std::string>& variables, std::span<const char* const> files) {
  return certificate_file(
      [&](const char* name) {
        const auto variable = variables.find(name);
        return variable == variables.end() ? nullptr : variable->second.c_str();
      },
      files);
}

TEST(Certificates, OfTheEnvironmentComeFirst) {
  const TestFolder folder;
  folder.write("bundle", "x");
  const std::string there = folder.path("bundle");
  const char* const files[] = {there.c_str()};
  EXPECT_EQ(found({{"SSL_CERT_FILE", "/s"}}, files), "/s");
  EXPECT_EQ(found({{"SSL_CERT_FILE", "/s"}, {"CURL_CA_BUNDLE", "/c"}}, files), "/c");
  EXPECT_EQ(found({{"SSL_CERT_FILE", ""}}, files), there);
}

TEST(Certificates, AreTheFirstThatAreThere) {
  const TestFolder folder;
  folder.write("bundle", "x");
  folder.write("other", "x");
  const std::string none = folder.path("none"), there = folder.path("bundle"), other = folder.path("other");
  const char* const files[] = {none.c_str(), there.c_str(), other.c_str()};
  EXPECT_EQ(found({}, files), there);
  EXPECT_EQ(found({}, std::span(files).first(1)), "");
}

}  // namespace
}  // namespace tern::hub
