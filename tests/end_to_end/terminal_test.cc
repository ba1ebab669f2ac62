// `tern chat` in a pseudo-terminal, with keys as a terminal sends them.
#include "end_to_end/terminal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tern::test {
namespace {

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!terminal_.works()) GTEST_SKIP() << "there are no pseudo-terminals here";
    ASSERT_TRUE(terminal_.shows("/help lists the commands")) << terminal_.all();
    if (!terminal_.shows("\x1b[?2004h")) GTEST_SKIP() << "Tern was built without isocline";
  }

  // The conversation's text, from a saved file.
  std::string story() {
    terminal_.type("/save " + folder_.path("saved.json") + "\r");
    EXPECT_TRUE(terminal_.shows("saved to")) << terminal_.all();
    return nlohmann::json::parse(read_file(folder_.path("saved.json"))).at("messages").at(0).at("content");
  }

  void leave() {
    EXPECT_TRUE(terminal_.shows("\x1b[?2004h"));
    terminal_.type("\x04");
    EXPECT_EQ(terminal_.exit_code(), 0) << terminal_.all();
  }

  ScratchFolder folder_;
  Terminal terminal_{folder_};
};

TEST_F(TerminalTest, KeysEditAndNoneLeavesCharacters) {
  terminal_.type("lived a bear");
  terminal_.type("\x1b[H\x1b[15~\x1b[5~\x1b[2~\x1b[24;5~There ");           // Home, and keys that do nothing
  terminal_.type("\x1b[F\x1b[1;3D\x1b[1;5Dbrown \x1b[F");                   // two words back
  terminal_.type(" x y\x17\x17\x1b[1;5D\x1b[1;5C\x1b[Cand a fox\x1bz.\r");  // two words deleted
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("There lived brown a bear and a fox.")) << story();
  leave();
}

TEST_F(TerminalTest, APastedTextIsOneMessageAndComesBackFromTheHistory) {
  terminal_.type("\x1b[200~One day\r\nthe bear\tand\x1b[A the fox\x1b[201~");
  ASSERT_TRUE(terminal_.shows("the fox")) << terminal_.all();
  terminal_.type(" met.\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("One day\nthe bear\tand[A the fox met.")) << story();
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("/reset\r");
  ASSERT_TRUE(terminal_.shows("forgotten"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("\x1b[A\x1b[A\x1b[A\x1b[A");  // the message was entered before /reset and /save
  ASSERT_TRUE(terminal_.shows("One day")) << terminal_.all();
  terminal_.type("\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("One day\nthe bear\tand[A the fox met.")) << story();
  leave();
}

TEST_F(TerminalTest, WideCharactersLongLinesAndAnotherWidth) {
  std::string line;
  for (int i = 0; i < 60; ++i) line += "世";
  terminal_.type(line);
  terminal_.resize(30);
  terminal_.type("\x1b[Hx\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004l"));
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h")) << terminal_.all();
  EXPECT_TRUE(story().starts_with("x" + line)) << story();
  leave();
}

TEST_F(TerminalTest, TabCompletesCommandsAndTwoSlashesAreNone) {
  terminal_.type("/set te\t0\r");
  EXPECT_TRUE(terminal_.shows("temp is 0")) << terminal_.all();
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  terminal_.type("//help\r");
  ASSERT_TRUE(terminal_.shows("\x1b[?2004h"));
  EXPECT_TRUE(story().starts_with("/help")) << story();
  leave();
}

TEST_F(TerminalTest, CtrlCEmptiesTheLineAndCtrlDLeaves) {
  terminal_.type("nonsense\x03");
  EXPECT_TRUE(terminal_.shows("press Ctrl-D or type /quit to leave")) << terminal_.all();
  leave();
}

}  // namespace
}  // namespace tern::test
