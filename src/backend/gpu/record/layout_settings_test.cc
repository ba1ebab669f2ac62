#include "backend/gpu/record/layout_settings.h"

#include <gtest/gtest.h>

namespace tern::gpu {
namespace {

TEST(LayoutSettings, SetWhatTheyName) {
  Layouts l;
  EXPECT_TRUE(apply_setting(l, "square=8x4x64"));
  EXPECT_EQ(l.square.lanes, 8u);
  EXPECT_EQ(l.square.rows_per_group, 4u);
  EXPECT_EQ(l.square.workgroup, 64u);
  EXPECT_TRUE(apply_setting(l, "fglutile=4x2x1x3x2"));
  EXPECT_EQ(l.float_glu_tiles.small.subgroup_rows, 4u);
  EXPECT_EQ(l.float_glu_tiles.small.subgroup_tokens, 2u);
  EXPECT_EQ(l.float_glu_tiles.small.matrices_of_rows, 1u);
  EXPECT_EQ(l.float_glu_tiles.small.matrices_of_tokens, 3u);
  EXPECT_EQ(l.float_glu_tiles.small.stages, 2u);
  EXPECT_TRUE(apply_setting(l, "groups=128x3"));
  EXPECT_EQ(l.groups_workgroup, 128u);
  EXPECT_EQ(l.groups_rounds, 3u);
  EXPECT_TRUE(apply_setting(l, "int8=0"));
  EXPECT_FALSE(l.int8_x);
  using Tiles = std::vector<Layouts::FewTile>;
  EXPECT_TRUE(apply_setting(l, "fewtiles=24") && apply_setting(l, "fewtile=16x16x4x128"));
  EXPECT_EQ(l.most_in_few_tiles, 24);
  EXPECT_EQ(l.few_tiles, (Tiles{{16, 16, 4, 128}, {32, 32, 8, 128}, {64, 64, 4, 64, 2}}));
  EXPECT_TRUE(apply_setting(l, "fewtile2=16x32x4x64x1x1x2"));
  EXPECT_EQ(l.few_tiles_of_two_bits.front(), (Layouts::FewTile{16, 32, 4, 64, 1, 1, 2}));
  EXPECT_TRUE(apply_setting(l, "fewtokens=16x100x64x8x2") && apply_setting(l, "fewtokensfrom=5"));
  EXPECT_EQ(l.few_tokens.front(), (Layouts::FewTokens{16, 100, 64, 8, 2}));
  EXPECT_EQ(l.few_tokens_from, 5);
  EXPECT_TRUE(apply_setting(l, "headtile=64x16x4x128x2") && apply_setting(l, "headtile=16x0x1x0"));
  EXPECT_EQ(l.head_tiles, (Tiles{{64, 16, 4, 128, 2}}));
  EXPECT_FALSE(apply_setting(l, "headtile=64x16x3x128")) << "splits are a power of two";
  for (const std::string_view wrong :
       {"fewtile=64x16x4", "fewtile=48x16x4x128", "fewtile=8x16x4x128", "fewtile=16x24x4x128", "fewtile=16x16x4x96",
        "fewtile=16x32x4x128x1x1x3", "fewtile=256x16x4x128", "etile=16x16x1x64x1x2", "fewtokens=16x0x64x8",
        "fewtokens=16x0x64x8x3"}) {
    EXPECT_FALSE(apply_setting(l, wrong)) << wrong;
  }
  l.expert_tiles.clear();
  EXPECT_TRUE(apply_setting(l, "etile=64x128x1x64x4x2") && apply_setting(l, "etilesfrom=5"));
  EXPECT_EQ(l.expert_tiles, (Tiles{{64, 128, 1, 64, 4, 2}}));
  EXPECT_TRUE(l.expert_tiles_from == 5 && l.expert_float_tiles_from == 5);
  EXPECT_TRUE(apply_setting(l, "fewfrom=12") && apply_setting(l, "headtilesfrom=3"));
  EXPECT_EQ(l.few_tiles_from, 12);
  EXPECT_EQ(l.head_tiles_from, 3);
  EXPECT_TRUE(apply_setting(l, "ftilesfrom=9") && apply_setting(l, "fcolsfrom=4") &&
              apply_setting(l, "headcolsfrom=5"));
  EXPECT_EQ(l.float_tiles_from, 9);
  EXPECT_TRUE(apply_setting(l, "narrowfrom=40"));
  EXPECT_EQ(l.narrow_tiles_from, 40);
  EXPECT_EQ(l.columns_from, 4);
  EXPECT_EQ(l.head_columns_from, 5);
}

TEST(LayoutSettings, RefuseWhatIsNoSetting) {
  for (const char* text : {"", "square", "square=", "square=8", "square=8x4", "square=8x4x64x2", "square=8x4x64 ",
                           "square=8xx64", "square=-8x4x64", "square=99999999999x1x1", "ttile=1x1x1x1", "norm=1x2",
                           "norm=x", "circle=8x4x64", "groups=1", "=8", "norm=1x2x3x4x5x6"}) {
    Layouts l;
    EXPECT_FALSE(apply_setting(l, text)) << text;
    EXPECT_EQ(l.square.lanes, Layouts{}.square.lanes) << text;
  }
}

TEST(LayoutSettings, EveryValueOfAKnobIsASetting) {
  for (const bool is_ternary : {true, false}) {
    for (const Knob& knob : knobs(is_ternary)) {
      EXPECT_GE(knob.values.size(), 2u) << knob.name;
      for (const std::string& value : knob.values) {
        Layouts l;
        const std::string setting = knob.name + "=" + value;
        EXPECT_TRUE(apply_setting(l, setting)) << setting;
        EXPECT_TRUE(is_layout_setting(setting)) << setting;
      }
    }
  }
  EXPECT_FALSE(is_layout_setting("glu=0x0x0"));
  EXPECT_FALSE(is_layout_setting("ftile=2x2x2x2x9"));
  EXPECT_FALSE(is_layout_setting("glu"));
}

}  // namespace
}  // namespace tern::gpu
