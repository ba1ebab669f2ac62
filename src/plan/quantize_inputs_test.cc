// Which rows plans for hosts quantize to int8 blocks (Fusions::int8_blocks).
#include <gtest/gtest.h>

#include "plan/fuse.h"
#include "plan/plan_test_support.h"

namespace tern {
namespace {

// A plan of float steps on two slots of floats, x and y, before and after fusion.
struct FloatSteps {
  FloatSteps() {
    for (const char* name : {"x", "y", "z"}) {
      plan.slots.push_back({.name = name, .type = SlotType::kF32, .rows = RowsOf::kBatch, .width = 256});
    }
  }
  void linear(int in, const Tensor& w, int out) {
    plan.steps.push_back({w.name, step::FloatLinear{SlotId{in}, &w, SlotId{out}}});
  }
  std::vector<std::string_view> quantized() {
    fuse(plan, {.int8_blocks = true});
    std::vector<std::string_view> names;
    for (const Step& step : plan.steps) names.push_back(op_name(step.body));
    return names;
  }
  Plan plan;
  Tensor packed = {.name = "packed", .format = Format::kQ4_0, .rows = 256, .cols = 256, .data = {}};
  Tensor plain = {.name = "plain", .format = Format::kF16, .rows = 256, .cols = 256, .data = {}};
};
using Ops = std::vector<std::string_view>;

TEST(Fuse, RowsForPackedWeightsAreQuantizedOnce) {
  FloatSteps f;
  f.linear(0, f.packed, 1);
  f.linear(0, f.packed, 2);
  EXPECT_EQ(f.quantized(), (Ops{"quantize_blocks", "float_linear", "float_linear"}));
  const auto& quantize = std::get<step::QuantizeBlocks>(f.plan.steps[0].body);
  EXPECT_EQ(quantize.in, SlotId{0});
  EXPECT_EQ(f.plan.slot(quantize.out).type, SlotType::kInt8Blocks);
  EXPECT_EQ(f.plan.slot(quantize.out).width, 256);
  EXPECT_EQ(std::get<step::FloatLinear>(f.plan.steps[1].body).in, quantize.out);
  EXPECT_EQ(std::get<step::FloatLinear>(f.plan.steps[2].body).in, quantize.out);
}

TEST(Fuse, RowsForPlainWeightsStayFloats) {
  FloatSteps f;
  f.linear(0, f.plain, 1);
  f.linear(0, f.packed, 2);
  f.linear(0, f.plain, 1);
  EXPECT_EQ(f.quantized(), (Ops{"float_linear", "quantize_blocks", "float_linear", "float_linear"}));
  EXPECT_EQ(std::get<step::FloatLinear>(f.plan.steps[0].body).in, SlotId{0});
  EXPECT_EQ(std::get<step::FloatLinear>(f.plan.steps[3].body).in, SlotId{0});
}

TEST(Fuse, WhatIsWrittenAgainIsQuantizedAgain) {
  FloatSteps f;
  f.linear(0, f.packed, 1);
  f.plan.steps.push_back({"add", step::Add{SlotId{1}, SlotId{0}}});
  f.linear(0, f.packed, 2);
  EXPECT_EQ(f.quantized(), (Ops{"quantize_blocks", "float_linear", "add", "quantize_blocks", "float_linear"}));
  EXPECT_EQ(f.plan.slots.size(), 4U) << "one slot holds both, one after the other";
}

TEST(Fuse, AGateAndUpOfOneKindAloneAreQuantized) {
  for (const bool both : {true, false}) {
    FloatSteps f;
    f.plan.steps.push_back(
        {"glu", step::FloatGlu{SlotId{0}, &f.packed, both ? &f.packed : &f.plain, GluAct::kSilu, SlotId{1}}});
    EXPECT_EQ(f.quantized(), both ? (Ops{"quantize_blocks", "float_glu"}) : (Ops{"float_glu"}));
  }
}

}  // namespace
}  // namespace tern
