// How many replies a service accepts, and when.

#include "server/api/service/model_service.h"

#include <semaphore>
#include <utility>

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

// Lets no step end before the test says so.
class StepGate final : public ServiceObserver {
 public:
  void on_first_token(double) override {}
  void on_token(double) override {}
  void on_end(const ReplyEvent&) override {}
  void on_step(double, int, double) override {
    if (is_open_) return;
    in_step_.release();
    goes_on_.acquire();
  }
  void wait_for_step() { in_step_.acquire(); }
  void end_step() { goes_on_.release(); }
  void open() {
    is_open_ = true;
    goes_on_.release();
  }

 private:
  std::atomic<bool> is_open_ = false;
  std::counting_semaphore<> in_step_{0}, goes_on_{0};
};

std::shared_ptr<RunningReplies> replies(size_t n) {
  const std::vector<GenerateOptions> options(n, {.max_tokens = 3});
  std::vector<std::vector<TokenId>> prompts(1, stories().tokenizer().encode("Once upon a time"));
  return std::make_shared<RunningReplies>(std::move(prompts), options, RunningReplies::ReplyMode());
}

class ModelServiceCounts : public testing::Test {
 protected:
  void SetUp() override {
    service_ =
        ModelService::start(stories(), {.scheduler = {.max_replies = 1}, .max_waiting = 1, .observer = &gate_}).value();
  }
  void TearDown() override {
    gate_.open();
    EXPECT_TRUE(service_->drain(std::chrono::minutes(1)));
  }
  int n_there() const {
    const ModelService::Status status = service_->status();
    return status.n_running + status.n_waiting;
  }

  StepGate gate_;
  std::unique_ptr<ModelService> service_;
};

TEST_F(ModelServiceCounts, ThoseThatAStepHasTakenWhileItGoesOn) {
  ASSERT_TRUE(service_->ask(replies(1)));
  gate_.wait_for_step();
  EXPECT_EQ(n_there(), 1);
  EXPECT_TRUE(service_->ask(replies(1)));
  EXPECT_EQ(n_there(), 2);
  gate_.end_step();
  gate_.wait_for_step();  // this step has taken the second reply
  EXPECT_EQ(n_there(), 2);
  const auto refused = service_->ask(replies(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 429);
  EXPECT_TRUE(refused.error().message.contains("1 replies wait already, of at most 1")) << refused.error().message;
}

// A prompt's other replies begin only once the first has read it.
TEST_F(ModelServiceCounts, ThoseThatHaveNotBegunYet) {
  ASSERT_TRUE(service_->ask(replies(2)));
  for (int step = 0; step < 2; ++step) {
    gate_.wait_for_step();
    EXPECT_EQ(n_there(), 2);
    EXPECT_FALSE(service_->ask(replies(1)));
    gate_.end_step();
  }
}

}  // namespace
}  // namespace tern::server::test
