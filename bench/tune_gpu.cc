// Which kernel layouts are fastest on this GPU: decodes with each and prints a table.
//
//   tune_gpu MODEL [--pos N] [--tokens N] [--rows N | --prompt N [--batch N]] [--layers N] [--kv f16|f32|q8_0]
//   [--gpu NAME] [--no-norms | --no-fuse] [--full-head] [--wgsl DIR]
//   [NAME=LANESxROWSxWORKGROUP | norm=N | attention=N | split=N | splits=N | splitwg=N | group=1 | heads=0 | stage=BITS
//   | madefrom=N | groups=WORKGROUPxROUNDS | groupsfrom=N | int8=0 | ahead=N | fewcols=N | cols=N
//   | incols=N | fcols=N | headm=N | fcolsfrom=N | headcolsfrom=N | ftilesfrom=N | narrowfrom=N | fewfrom=N
//   | fewtiles=N | fewtokensfrom=N | fewtokens=TOKENSxFROMxROWSxSPLITSxTEAMS | headtilesfrom=N | etilesfrom=N
//   | i8from=N | i8most=N | i8cols=N | etile=FEW | ftile=TILE | fglutile=TILE
//   | ttile=TILE | tglutile=TILE | fewtile=FEW | fewtile2=FEW | headtile=FEW]...
//
// With --layers, only the model's first layers. With --full-head all logits are computed (Layouts::estimates).
//
// TILE is a PromptTile's numbers with x between them, FEW those of Layouts::FewTile. With 0 rows, no tile is used for
// that many tokens.
//
// With --rows, that many sequences decode together; times are those of a step, rates of all sequences. With --prompt, a
// prompt of that many tokens is read, --batch at a time; times and rates are the prompt's, dispatches those of its last
// batch.
//
// Arguments of one variant are joined with commas. They change the device's default layouts or, with "gpu" in front, a
// GPU's defaults. Without variants, a sweep changes one layout at a time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "backend/gpu/record/layout_settings.h"
#include "backend/gpu/run/executable.h"
#include "backend/kv_cache.h"
#include "backend/kv_layout.h"
#include "model/model.h"
#include "plan/plan.h"

namespace tern::gpu {
namespace {

struct Measured {
  double ms_per_token = 0, gpu_ms = 0, waits_ms = 0, records_ms = 0, timed_ms = 0;
  size_t dispatches = 0;
  std::map<std::string, std::pair<int, double>> kernels;  // count, seconds

  void add(const TokenTimes& times) {
    for (const OpTime& op : times.ops) {
      auto& [count, total] = kernels[op.kernel];
      count += op.dispatches;
      total += op.seconds;
      dispatches += static_cast<size_t>(op.dispatches);
      timed_ms += op.seconds * 1e3;
    }
  }
};

constexpr int kRepeats = 5;

struct Setup {
  int pos = 128, tokens = 200, rows = 1;
  int prompt = 0, batch = 512;
  size_t layers = SIZE_MAX;
  KvType kv = KvType::kF16;
  std::string model, gpu, wgsl;
  Fusions fuse = Fusions::all();
  bool full_head = false;
  std::vector<std::string> variants;
};

bool apply(Layouts& l, const std::string& variant) {
  std::stringstream settings(variant);
  std::string setting;
  while (std::getline(settings, setting, ',')) {
    const bool is_base = setting == "base" || setting == "gpu";
    if (!is_base && !apply_setting(l, setting)) return false;
  }
  return true;
}

// Variants for the kinds of layers that the model has: ternary, or float (names that begin with f).
std::vector<std::string> sweep(bool is_ternary) {
  std::vector<std::string> variants = {"base"};
  const std::vector<std::string> names = is_ternary ? std::vector<std::string>{"square", "wide", "glu", "qkv"}
                                                    : std::vector<std::string>{"fsquare", "fwide", "fglu", "fqkv"};
  for (const std::string& name : names) {
    for (const char* layout :
         {"4x1x128", "4x2x128", "8x1x64", "8x1x128", "8x1x256", "8x2x64", "8x2x256", "8x4x128", "16x1x128", "16x2x128",
          "16x2x256", "32x1x128", "32x1x256", "32x2x128", "32x2x256", "32x4x128"}) {
      variants.push_back(name + "=" + layout);
    }
  }
  if (!is_ternary) variants.insert(variants.end(), {"stage=0", "stage=2", "stage=8", "stage=16", "heads=0"});
  for (const char* layout : {"8x1x256", "8x2x256", "8x4x256", "16x1x256", "16x2x256", "16x4x256", "32x1x128",
                             "32x1x256", "32x2x128", "32x2x256", "32x4x128", "32x8x256"}) {
    variants.push_back(std::string("head=") + layout);
    variants.push_back(std::string("estimates=") + layout);
  }
  for (const char* other : {"norm=128", "norm=512", "norm=1024", "attention=128", "attention=512"})
    variants.emplace_back(other);
  return variants;
}

// A number of sequences, each with its own blocks.
class Sequences {
 public:
  static Result<Sequences> create(GpuExecutable& executable, const Setup& setup) {
    Sequences made;
    TRY(made.store_, executable.new_kv_store(kKvBlock, setup.kv));
    made.n_ctx_ = setup.pos + setup.tokens + 8;
    const int each = kv_blocks_for(made.n_ctx_);
    TRY_STATUS(made.store_->reserve(setup.rows * each));
    for (KvBlockId id = 0; id < setup.rows * each; ++id) {
      TRY_STATUS(made.store_->allocate(id));
      made.blocks_.push_back(id);
    }
    const bool has_states = made.store_->state_bytes() > 0;
    for (int row = 0; row < setup.rows; ++row) {
      if (has_states) TRY_STATUS(made.store_->allocate_state(row));
      made.starts_.push_back(
          {.tokens = {&made.token(), 1},
           .first_pos = setup.pos,
           .blocks = std::span(made.blocks_).subspan(static_cast<size_t>(row * each), static_cast<size_t>(each)),
           .n_ctx = made.n_ctx_,
           .state = has_states ? row : StateId{-1}});
    }
    return made;
  }
  Result<std::unique_ptr<TokenStream>> decode(GpuExecutable& executable, int n_tokens) {
    const std::vector<DeviceSampling> greedy(starts_.size(), DeviceSampling{.temperature = 0});
    return executable.decode(*store_, starts_, n_tokens, greedy);
  }
  Result<TokenTimes> time_ops(GpuExecutable& executable, int repeats) {
    return executable.time_ops(*store_, starts_, repeats);
  }

 private:
  static const TokenId& token() {
    static const TokenId kToken = 1;
    return kToken;
  }
  std::unique_ptr<KvStore> store_;
  std::vector<KvBlockId> blocks_;
  std::vector<Slice> starts_;
  int n_ctx_ = 0;
};

// Decodes `tokens` tokens from `pos` on, three times. Returns the fastest run.
Result<Measured> measure_decode(GpuExecutable& executable, const Setup& setup) {
  TRY(auto sequences, Sequences::create(executable, setup));
  Measured m;
  m.ms_per_token = 1e9;
  for (int round = 0; round < 3; ++round) {
    TRY(auto stream, sequences.decode(executable, setup.tokens));
    for (int i = 0; i < 8; ++i) TRY_STATUS(stream->next());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 8; i < setup.tokens; ++i) TRY_STATUS(stream->next());
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    m.ms_per_token = std::min(m.ms_per_token, elapsed.count() / (setup.tokens - 8));
  }
  if (executable.device().features().timestamps) {
    TRY(const TokenTimes times, sequences.time_ops(executable, kRepeats));
    m.add(times);
  }
  const GpuStats stats = *executable.gpu_stats();
  m.gpu_ms = stats.gpu_ms_per_token;
  m.waits_ms = stats.host_ms_per_token;
  m.records_ms = stats.record_ms_per_token;
  return m;
}

// Reads the prompt kRepeats times. Returns the fastest run.
Result<Measured> measure_prompt(GpuExecutable& executable, const Setup& setup) {
  TRY(const auto cache, executable.new_cache(setup.prompt, setup.kv));
  std::vector<TokenId> tokens(static_cast<size_t>(setup.prompt));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(i * 7919 % 20000);
  const auto batch_at = [&](int first) {
    const int n = std::min(setup.batch, setup.prompt - first);
    return cache->place(
        {.tokens = std::span(tokens).subspan(static_cast<size_t>(first), static_cast<size_t>(n)), .first_pos = first});
  };
  Measured m;
  m.ms_per_token = 1e9;
  int last = 0;
  for (int round = 0; round < kRepeats; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int first = 0; first < setup.prompt; first += setup.batch) {
      const Slice slice = batch_at(last = first);
      TRY_STATUS(executable.run(cache->store(), {&slice, 1}));
    }
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    m.ms_per_token = std::min(m.ms_per_token, elapsed.count());
  }
  if (executable.device().features().timestamps) {
    const Slice slice = batch_at(last);
    TRY(const TokenTimes times, executable.time_ops(cache->store(), {&slice, 1}, kRepeats));
    m.add(times);
  }
  return m;
}

Result<Measured> measure(GpuExecutable& executable, const Setup& setup) {
  auto m = setup.prompt > 0 ? measure_prompt(executable, setup) : measure_decode(executable, setup);
  executable.set_layouts(layouts_for(executable.device(), {}));
  return m;
}

int run(const Setup& setup) {
  auto model = open_model(setup.model);
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 1;
  if (setup.layers < model->weights.layers.size()) {
    model->weights.layers.resize(setup.layers);
    model->config.n_layers = static_cast<int>(setup.layers);
  }
  const Plan plan = make_plan(model->config, model->weights, {.fuse = setup.fuse});
  auto device = open_device({.adapter = setup.gpu});
  if (!device) return std::fprintf(stderr, "%s\n", device.error().message.c_str()), 1;
  CompileOptions options;
  options.max_batch = std::min(std::max(64, setup.prompt > 0 ? setup.batch : 0), model->config.n_ctx);
  options.max_logit_rows = std::max(16, setup.rows);
  options.gpu.wgsl_dir = setup.wgsl;
  options.exact_head = setup.full_head ? ExactHead::kNo : ExactHead::kWherePays;
  auto executable = GpuExecutable::create(std::move(*device), plan, options);
  if (!executable) return std::fprintf(stderr, "%s\n", executable.error().message.c_str()), 1;
  std::printf("%s\n", (*executable)->description().c_str());
  const auto variants = setup.variants.empty() ? sweep(model->config.int8_activations) : setup.variants;
  for (const std::string& variant : variants) {
    Layouts layouts = variant.starts_with("gpu") ? Layouts{} : layouts_for((*executable)->device(), {});
    if (!apply(layouts, variant)) return std::fprintf(stderr, "%s: no such setting\n", variant.c_str()), 2;
    (*executable)->set_layouts(layouts);
    const auto m = measure(**executable, setup);
    if (!m) {
      std::printf("%-28s %s\n", variant.c_str(), m.error().message.c_str());
      continue;
    }
    std::printf("%-28s %7.3f ms %7.1f tok/s  gpu %6.3f waits %5.3f records %5.3f  timed %6.3f ms %zu:", variant.c_str(),
                m->ms_per_token, 1000 * std::max(setup.rows, setup.prompt) / m->ms_per_token, m->gpu_ms, m->waits_ms,
                m->records_ms, m->timed_ms, m->dispatches);
    for (const auto& [name, total] : m->kernels)
      std::printf(" %s %.2f*%d", name.c_str(), total.second * 1e6 / total.first, total.first);
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tern::gpu

int main(int argc, char** argv) {
  tern::gpu::Setup setup;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--pos" && i + 1 < argc) {
      setup.pos = std::atoi(argv[++i]);
    } else if (arg == "--tokens" && i + 1 < argc) {
      setup.tokens = std::atoi(argv[++i]);
    } else if (arg == "--rows" && i + 1 < argc) {
      setup.rows = std::clamp(std::atoi(argv[++i]), 1, 64);
    } else if (arg == "--prompt" && i + 1 < argc) {
      setup.prompt = std::atoi(argv[++i]);
    } else if (arg == "--batch" && i + 1 < argc) {
      setup.batch = std::max(8, std::atoi(argv[++i]));
    } else if (arg == "--layers" && i + 1 < argc) {
      setup.layers = static_cast<size_t>(std::max(1, std::atoi(argv[++i])));
    } else if (arg == "--kv" && i + 1 < argc) {
      const std::string type = argv[++i];
      setup.kv = type == "f32" ? tern::KvType::kF32 : type == "q8_0" ? tern::KvType::kQ8_0 : tern::KvType::kF16;
    } else if (arg == "--gpu" && i + 1 < argc) {
      setup.gpu = argv[++i];
    } else if (arg == "--wgsl" && i + 1 < argc) {
      setup.wgsl = argv[++i];
    } else if (arg == "--no-norms") {
      setup.fuse.norms = false;
    } else if (arg == "--full-head") {
      setup.full_head = true;
    } else if (arg == "--no-fuse") {
      setup.fuse = tern::Fusions::none();
    } else if (setup.model.empty()) {
      setup.model = arg;
    } else {
      setup.variants.push_back(arg);
    }
  }
  if (setup.model.empty())
    return std::fputs(
               "usage: tune_gpu MODEL [--pos N] [--tokens N] [--rows N | --prompt N [--batch N]] [--layers N] [--kv "
               "f16|f32|q8_0] "
               "[--gpu NAME] "
               "[--no-norms | --no-fuse] [--full-head] [--wgsl DIR] "
               "[VARIANT]...\n",
               stderr),
           2;
  return tern::gpu::run(setup);
}
