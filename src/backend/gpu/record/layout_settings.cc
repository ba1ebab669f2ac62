#include "backend/gpu/record/layout_settings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

namespace tern::gpu {
namespace {

// Numbers as in "16x1x512": up to seven.
struct Numbers {
  std::array<uint32_t, 7> values = {};
  size_t n = 0;
};

std::optional<Numbers> numbers_of(std::string_view text) {
  Numbers numbers;
  while (numbers.n < numbers.values.size()) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers.values[numbers.n]);
    if (error != std::errc()) return std::nullopt;
    ++numbers.n;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return numbers;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

MatvecLayout* matvec_of(Layouts& l, std::string_view name) {
  const std::pair<std::string_view, MatvecLayout*> all[] = {{"square", &l.square},
                                                            {"wide", &l.wide},
                                                            {"glu", &l.glu},
                                                            {"qkv", &l.qkv},
                                                            {"head", &l.head},
                                                            {"fsquare", &l.float_square},
                                                            {"fwide", &l.float_wide},
                                                            {"fglu", &l.float_glu},
                                                            {"fqkv", &l.float_qkv},
                                                            {"i8row", &l.int8_row},
                                                            {"i8glurow", &l.int8_glu_row},
                                                            {"i8rows", &l.int8_columns_layout},
                                                            {"i8glurows", &l.int8_glu_columns_layout},
                                                            {"tcols", &l.ternary_columns},
                                                            {"estimates", &l.estimates},
                                                            {"estrows", &l.estimates_of_rows}};
  const auto found = std::ranges::find(all, name, [](const auto& entry) { return entry.first; });
  return found == std::end(all) ? nullptr : found->second;
}

PromptTile* tile_of(Layouts& l, std::string_view name) {
  const std::pair<std::string_view, PromptTile*> all[] = {
      {"ftile", &l.float_tiles.small},    {"fglutile", &l.float_glu_tiles.small},
      {"ttile", &l.ternary_tiles.small},  {"tglutile", &l.ternary_glu_tiles.small},
      {"fbigtile", &l.float_tiles.big},   {"fbigglutile", &l.float_glu_tiles.big},
      {"tbigtile", &l.ternary_tiles.big}, {"tbigglutile", &l.ternary_glu_tiles.big}};
  const auto found = std::ranges::find(all, name, [](const auto& entry) { return entry.first; });
  return found == std::end(all) ? nullptr : found->second;
}

std::vector<Layouts::FewTile>* tiles_of(Layouts& l, std::string_view name) {
  if (name == "fewtile") return &l.few_tiles;
  if (name == "fewtile2") return &l.few_tiles_of_two_bits;
  if (name == "headtile") return &l.head_tiles;
  return name == "etile" ? &l.expert_tiles : nullptr;
}

// Replaces the tile for the same number of tokens, or adds one; a tile with 0 rows removes it.
bool set_tile(std::vector<Layouts::FewTile>& tiles, const Layouts::FewTile& tile) {
  const bool is_some = std::has_single_bit(tile.tokens) && tile.tokens >= 16 && tile.tokens <= 128;
  if (!is_some || tile.rows % 16 != 0 || tile.tokens % (16 * tile.subgroup_tokens) != 0) return false;
  const bool has_columns = std::has_single_bit(tile.columns) && tile.columns >= 32;
  const bool has_powers = std::has_single_bit(tile.splits) && std::has_single_bit(tile.ahead);
  if (tile.rows > 0 && !(has_columns && has_powers)) return false;
  std::erase_if(tiles, [&](const Layouts::FewTile& other) { return other.tokens == tile.tokens; });
  if (tile.rows == 0) return true;
  const auto next = std::ranges::find_if(tiles, [&](const auto& other) { return other.tokens > tile.tokens; });
  tiles.insert(next, tile);
  return true;
}

bool apply_number(Layouts& l, std::string_view name, uint32_t a) {
  if (name == "norm") {
    l.norm_workgroup = a;
  } else if (name == "attention") {
    l.attention_workgroup = a;
  } else if (name == "stage") {
    l.stage_bits = a;
  } else if (name == "ahead") {
    l.most_ahead = a;
  } else if (name == "int8") {
    l.int8_x = a != 0;
  } else if (name == "i8from") {
    for (auto& rows : l.int8_rows) rows.from = rows.from_wide = static_cast<int>(a);
  } else if (name == "i8most") {
    for (auto& rows : l.int8_rows) rows.most = static_cast<int>(a);
  } else if (name == "i8cols") {
    l.int8_columns = a;
  } else if (name == "matrices") {
    l.float_matrices = a != 0;
  } else if (name == "heads") {
    l.heads_in_attention = a != 0;
  } else if (name == "splits") {
    l.most_splits = l.most_splits_of_groups = a;
  } else if (name == "splitwg") {
    l.split_workgroup = a;
  } else if (name == "group") {
    l.group_heads = a != 0 ? Layouts::Group::kAlways : Layouts::Group::kNever;
  } else if (name == "madefrom") {
    l.made_heads_together_from = static_cast<int>(a);
  } else if (name == "groupsfrom") {
    l.groups_from = static_cast<int>(a);
  } else if (name == "bigfrom") {
    l.big_tiles_from = a;
  } else if (name == "mattnfrom") {
    l.attention_on_matrices_from = static_cast<int>(a);
  } else if (name == "fewcols") {
    l.few_columns = a;
  } else if (name == "cols") {
    l.columns_of_ternary = a;
  } else if (name == "batches") {
    l.batches_from = static_cast<int>(a);
  } else if (name == "subgroups") {
    l.batch_subgroups = a;
  } else if (name == "glusubgroups") {
    l.batch_glu_subgroups = a;
  } else if (name == "inbatches") {
    l.most_in_batches = static_cast<int>(a);
  } else if (name == "incols") {
    l.most_in_columns = static_cast<int>(a);
  } else if (name == "fcols") {
    l.columns = a;
  } else if (name == "fewtiles") {
    l.most_in_few_tiles = static_cast<int>(a);
  } else if (name == "etilesfrom") {
    l.expert_tiles_from = l.expert_float_tiles_from = a;
  } else if (name == "fewfrom") {
    l.few_tiles_from = static_cast<int>(a);
  } else if (name == "fewtokensfrom") {
    l.few_tokens_from = static_cast<int>(a);
  } else if (name == "headtilesfrom") {
    l.head_tiles_from = static_cast<int>(a);
  } else if (name == "ftilesfrom") {
    l.float_tiles_from = static_cast<int>(a);
  } else if (name == "narrowfrom") {
    l.narrow_tiles_from = static_cast<int>(a);
  } else if (name == "fcolsfrom") {
    l.columns_from = static_cast<int>(a);
  } else if (name == "headcolsfrom") {
    l.head_columns_from = static_cast<int>(a);
  } else if (name == "headm") {
    l.head_matrices_from = static_cast<int>(a);
  } else if (name == "split") {
    l.split_attention_from = static_cast<int>(a);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool apply_setting(Layouts& layouts, std::string_view setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = setting.substr(0, equals);
  const auto numbers = numbers_of(setting.substr(equals + 1));
  if (!numbers) return false;
  const auto [a, b, c, d, stages, columns, ahead] = numbers->values;
  if (auto* const tiles = tiles_of(layouts, name)) {
    return numbers->n >= 4 &&
           set_tile(*tiles, {a, b, c, d, std::max(stages, 1u), std::max(columns, 1u), std::max(ahead, 1u)});
  }
  if (MatvecLayout* matvec = matvec_of(layouts, name)) {
    if (numbers->n == 3) *matvec = {a, b, c};
    return numbers->n == 3;
  }
  if (PromptTile* tile = tile_of(layouts, name)) {
    if (numbers->n == 5) *tile = {a, b, c, d, stages};
    if (numbers->n >= 6) *tile = {a, b, c, d, stages, columns};
    if (numbers->n == 7) tile->ahead = ahead;
    return numbers->n >= 5;
  }
  if (name == "fewtokens") {
    const bool is_tile = numbers->n == 5 && a > 0 && a % 16 == 0 && c > 0 && stages > 0 && d % stages == 0;
    if (is_tile) layouts.few_tokens.insert(layouts.few_tokens.begin(), {a, b, c, d, stages});
    return is_tile;
  }
  if (name == "mattn") {
    if (numbers->n == 2) layouts.matrix_attention_subgroups = a, layouts.matrix_attention_chunk = b;
    return numbers->n == 2;
  }
  if (name == "gsplit") {
    if (numbers->n == 3) layouts.split_groups = layouts.split_groups_of_large_heads = {a, b, c};
    return numbers->n == 3;
  }
  if (name == "groups") {
    if (numbers->n == 2) layouts.groups_workgroup = a, layouts.groups_rounds = b;
    return numbers->n == 2;
  }
  return numbers->n == 1 && apply_number(layouts, name, a);
}

std::vector<Knob> knobs(bool is_ternary) {
  // In order of the time at stake.
  const std::vector<std::string> matvecs = {"8x1x128",  "8x2x256",  "16x1x128", "16x1x256",
                                            "16x2x256", "16x1x512", "32x1x256", "32x2x256"};
  const std::vector<std::string> heads = {"16x1x256", "16x4x256", "32x1x256", "32x2x256", "32x4x256"};
  const std::vector<std::string> workgroups = {"256", "512", "1024"};
  const std::vector<std::string> tiles = {"2x2x2x2x2", "2x2x2x4x1", "2x2x2x4x2", "4x2x2x4x1",
                                          "4x2x2x4x2", "2x4x2x2x2", "2x2x4x4x1"};
  const std::vector<std::string> glu_tiles = {"2x2x2x2x2", "4x2x1x4x1", "4x2x1x4x2", "2x2x2x4x1",
                                              "2x4x2x2x1", "2x4x2x2x2", "4x4x1x2x1"};
  const std::vector<std::string> big_tiles = {"4x2x2x2x1x64", "4x2x2x4x1x64", "4x2x2x4x1x32"};
  const std::vector<std::string> big_glu_tiles = {"4x2x1x4x1x64", "2x2x2x4x1x32", "4x2x2x2x1x32"};
  const std::vector<std::string> attentions = {"2x32", "2x64", "4x16"}, workgroups_for_big_tiles = {"64", "256"};
  if (is_ternary) {
    return {{"glu", false, matvecs},          {"wide", false, matvecs},
            {"square", false, matvecs},       {"qkv", false, matvecs},
            {"head", false, heads},           {"norm", false, workgroups},
            {"attention", false, workgroups}, {"tglutile", true, glu_tiles},
            {"ttile", true, tiles},           {"bigfrom", true, workgroups_for_big_tiles},
            {"mattn", true, attentions}};
  }
  return {{"fglu", false, matvecs},
          {"fwide", false, matvecs},
          {"fsquare", false, matvecs},
          {"fqkv", false, matvecs},
          {"i8from", false, {"1", "2"}},
          {"i8row", false, matvecs},
          {"i8glurow", false, matvecs},
          {"head", false, heads},
          {"ahead", false, {"4", "8", "16"}},
          {"attention", false, workgroups},
          {"fglutile", true, glu_tiles},
          {"ftile", true, tiles},
          {"fbigglutile", true, big_glu_tiles},
          {"fbigtile", true, big_tiles},
          {"bigfrom", true, workgroups_for_big_tiles},
          {"mattn", true, attentions}};
}

bool is_layout_setting(std::string_view setting) {
  for (const bool is_ternary : {true, false}) {
    for (const Knob& knob : knobs(is_ternary)) {
      if (std::ranges::any_of(knob.values, [&](const auto& value) { return setting == knob.name + "=" + value; })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace tern::gpu
