// Loads an engine from a file: the model, the backend it runs on, and its description.
#include <algorithm>
#include <array>
#include <chrono>

#include "backend/kv_layout.h"
#include "base/check.h"
#include "base/files/file.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "engine/load/backends.h"
#include "engine/load/device_choice.h"
#include "engine/load/layer_split.h"
#include "engine/load/sampling_advice.h"
#include "engine/load/tokenizers.h"
#include "model/pooling.h"
#include "tern/engine.h"

namespace tern {
namespace {

constexpr int kMostThreads = 1024;
// In one pass; 256 rows are no faster. A browser tab has one conversation, and memory that it asks for counts even if
// it is never touched: with fewer rows, prompts are as fast.
#ifdef __EMSCRIPTEN__
constexpr int kMostLogitRows = 8, kMostLogitRowsOnGpu = 32, kMostBatchOnHost = 64;
#else
constexpr int kMostLogitRows = 64, kMostLogitRowsOnGpu = kMostLogitRows, kMostBatchOnHost = 256;
#endif

ModelInfo describe_model(const Model& model) {
  const Config& c = model.config;
  ModelInfo info;
  info.path = model.path;
  info.name = model.name;
  info.architecture = c.architecture;
  info.n_params = model.weights.n_params();
  info.file_bytes = model.source->file_bytes();
  info.bytes_per_token = model.weights.bytes_per_token(c.experts.n_used);
  info.kv_bytes_per_token = kv_bytes(c, 1, KvType::kF16);
  info.n_vocab = c.n_vocab;
  info.n_ctx = c.n_ctx;
  info.n_layers = c.n_layers;
  info.sampling = advice_for(model);
  info.n_embd = c.d_model;
  return info;
}

Result<void> load_text(Engine::Impl& impl, const std::string& chat_template) {
  TRY(ModelText text, read_model_text(*impl.model.source, chat_template));
  if (!text.tokenizer) return {};
  // Embeddings are padded to round sizes, so rows without a token are normal; tokens without a row are not.
  if (text.tokenizer->vocab_size() > impl.model.config.n_vocab) {
    return fail(ErrorCode::kCorruption,
                "{}: the tokenizer has {} tokens, but token_embd.weight has only {} rows; convert the model again",
                impl.model.path, text.tokenizer->vocab_size(), impl.model.config.n_vocab);
  }
  impl.tokenizer = std::move(text.tokenizer);
  impl.chat_template = std::move(text.chat_template);
  impl.turns = text.turns;
  return {};
}

// Prompt tokens per pass on a GPU; more brings no gain.
constexpr int kMostBatchOnGpu = 2048;

// Reads the file into memory before the first token, and reports progress in case the disk is slow.
void read_ahead(const Model& model, const OnProgress& on_progress) {
  model.source->populate([&](uint64_t done, uint64_t total) {
    if (on_progress) on_progress({.what = "loading", .done = done, .total = total, .unit = "B"});
  });
}

// `layers`: only these.
Result<std::unique_ptr<Executable>> compile_one(Engine::Impl& impl, BackendKind backend, const LoadOptions& load,
                                                CompileOptions options, Plan& plan,
                                                std::optional<LayerRange> layers = {}) {
  const bool has_head = !layers || layers->end == impl.model.config.n_layers;
  const bool is_gpu = backend == BackendKind::kWebGpu;
  const int most = is_gpu ? kMostLogitRowsOnGpu : kMostLogitRows;
  if (!is_gpu && load.max_batch == 0) options.max_batch = std::min(options.max_batch, kMostBatchOnHost);
  options.max_logit_rows = std::min(most, options.max_batch);
  if (!load.embeddings && has_head) {
    TRY(options.exact_head, exact_head_for(backend, load.head));
  }
  const Fusions fusions = load.fuse ? fusions_for(backend) : Fusions::none();
  const bool keeps_hidden = impl.model.prediction && !load.embeddings && has_head;
  plan = make_plan(impl.model.config, impl.model.weights,
                   {.fuse = fusions, .layers = layers, .embeddings = load.embeddings, .keeps_hidden = keeps_hidden});
  options.end_phase("plan");
  PhaseTimes* const times = options.times;
  if (!is_gpu) options.times = nullptr;
  auto executable = compile_on(backend, plan, options, *impl.pool);
  if (times) times->end(is_gpu ? "checks" : "weights");
  return executable;
}

Result<void> compile_for(Engine::Impl& impl, BackendKind backend, const LoadOptions& load,
                         const CompileOptions& options) {
  impl.backend = backend;
  TRY(impl.executable, compile_one(impl, backend, load, options, impl.plan));
  return {};
}

Result<void> compile_for_both(Engine::Impl& impl, const ChosenDevice& chosen, const LoadOptions& load,
                              const CompileOptions& options) {
  impl.backend = BackendKind::kBoth;
  impl.info.choice = chosen.reason;
  impl.gpu_plan = std::make_unique<Plan>();
  std::array<std::unique_ptr<Executable>, 2> devices;
  LoadOptions on_gpu = load;
  if (load.head == HeadKind::kExact) on_gpu.head = HeadKind::kAuto;  // the same text, with or without the int8 copy
  TRY(devices[1], compile_one(impl, BackendKind::kWebGpu, on_gpu, options, *impl.gpu_plan));
  TRY(devices[0], compile_one(impl, BackendKind::kCpu, load, options, impl.plan));
  impl.executable = combine_by_curves(std::move(devices), *chosen.curves, load);
  return {};
}

// The first layers on the CPU, the others on a GPU.
Result<void> compile_split(Engine::Impl& impl, LayerSplit split, const LoadOptions& load, CompileOptions options) {
  options.preferred_max_batch = 0;                                          // the CPU gains nothing by larger batches
  options.gpu.megakernel = options.gpu.one_dispatch = MegakernelUse::kOff;  // it begins with a token
  const int n = impl.model.config.n_layers, border = n - split.n_on_gpu;
  std::array<std::unique_ptr<Executable>, 2> parts;
  auto gpu_plan = std::make_unique<Plan>();
  TRY(parts[1], compile_one(impl, BackendKind::kWebGpu, load, options, *gpu_plan, LayerRange{border, n}));
  TRY(parts[0], compile_one(impl, BackendKind::kCpu, load, options, impl.plan, LayerRange{0, border}));
  impl.backend = BackendKind::kBoth;
  impl.n_split_layers = split.n_on_gpu;
  impl.info.choice = std::move(split.reason);
  impl.gpu_plan = std::move(gpu_plan);
  impl.executable = join_split(std::move(parts));
  return {};
}

Result<void> compile_split_by_memory(Engine::Impl& impl, const LoadOptions& load, const CompileOptions& options) {
  TRY(LayerSplit split, split_by_memory(impl.model, options));
  return compile_split(impl, std::move(split), load, options);
}

// kBoth. What two devices cannot both hold, or cannot share, is divided by layers.
Result<void> compile_on_both(Engine::Impl& impl, const LoadOptions& load, const std::array<CostCurve, 2>* curves,
                             const CompileOptions& options) {
  if (impl.model.config.has_recurrent_layers()) {
    const auto split = compile_split_by_memory(impl, load, options);
    if (split || split.error().code != ErrorCode::kInvalidArgument) return split;
    return fail(ErrorCode::kNotSupported,
                "{}, and two devices cannot share the states of the model's recurrent layers: use the webgpu backend, "
                "or give the number of layers on the GPU",
                split.error().message);
  }
  if (curves) return compile_for_both(impl, {.backend = BackendKind::kBoth, .curves = *curves}, load, options);
  const auto chosen = both_by_curves(impl.model, load, impl.pool->size());
  if (!chosen && chosen.error().code == ErrorCode::kNotFound) {
    // Costs of a whole model cannot be measured on a GPU that does not hold it.
    if (compile_split_by_memory(impl, load, options)) return {};
  }
  TRY_STATUS(chosen);
  return compile_for_both(impl, *chosen, load, options);
}

// kAuto, without costs or if the GPU is cheaper. A GPU that does not hold the model gets the last layers.
Result<void> compile_on_gpu_if_any(Engine::Impl& impl, const LoadOptions& load, const CompileOptions& options) {
  const int n = impl.model.config.n_layers;
  if (kMayHaveTwoDevices && load.gpu_layers && *load.gpu_layers < n) {
    TRY(LayerSplit split, split_with(impl.model.config, *load.gpu_layers));
    return compile_split(impl, std::move(split), load, options);
  }
  auto whole = compile_for(impl, BackendKind::kWebGpu, load, options);
  if (!kMayHaveTwoDevices || whole || whole.error().code != ErrorCode::kOutOfMemory) return whole;
  if (!compile_split_by_memory(impl, load, options)) return whole;
  warn("{}; the others are on the CPU", impl.info.choice);
  return {};
}

// kAuto: the cheaper device if both devices' costs are known. If that is the GPU, or costs are unknown: the GPU if
// there is one that works and holds the model, or the one requested by name; else the CPU.
Result<void> compile_model(Engine::Impl& impl, const LoadOptions& options, const std::array<CostCurve, 2>* curves,
                           PhaseTimes& times) {
  CompileOptions compile{.gpu = options.gpu, .on_progress = options.on_progress, .times = &times};
  if (options.max_batch > 0) {
    compile.max_batch = options.max_batch;
  } else {
    compile.preferred_max_batch = std::min(kMostBatchOnGpu, impl.model.config.n_ctx);
  }
  compile.max_batch = std::min(compile.max_batch, impl.model.config.n_ctx);
  if (kMayHaveTwoDevices && options.backend == BackendKind::kBoth) {
    return compile_on_both(impl, options, curves, compile);
  }
  if (options.backend != BackendKind::kAuto) return compile_for(impl, options.backend, options, compile);
  const bool is_named = !options.gpu.adapter.empty();
  if (is_named || may_have_gpu()) {
    if (const auto chosen = choose_by_curves(impl.model, options, impl.pool->size())) {
      impl.info.choice = chosen->reason;
      if (chosen->backend == BackendKind::kCpu) return compile_for(impl, BackendKind::kCpu, options, compile);
      if (kMayHaveTwoDevices && chosen->backend == BackendKind::kBoth) {
        const auto on_both = compile_for_both(impl, *chosen, options, compile);
        if (on_both) return {};
        compile.end_phase("GPU");
        impl.executable.reset();
        impl.gpu_plan.reset();
        impl.info.choice.clear();
        warn("only one device is used: {}", on_both.error().message);
        if (chosen->alone == BackendKind::kCpu) return compile_for(impl, BackendKind::kCpu, options, compile);
      }
    }
    compile.only_hardware_gpu = true;
    const auto on_gpu = compile_on_gpu_if_any(impl, options, compile);
    if (on_gpu) return {};
    compile.end_phase("GPU");
    impl.info.choice.clear();
    const bool is_expected = on_gpu.error().code == ErrorCode::kNotFound && !is_named;
    if (!is_expected) warn("the GPU is not used: {}", on_gpu.error().message);
  }
  return compile_for(impl, BackendKind::kCpu, options, compile);
}

void describe_head(Engine::Impl& impl) {
  impl.info.head = impl.executable->own_head().value_or(impl.head.describe(impl.model));
  const Model& model = impl.model;
  impl.info.bytes_per_token = model.weights.bytes_per_token(model.config.experts.n_used) +
                              static_cast<uint64_t>(impl.executable->bytes_beyond_plan());
}

Result<std::unique_ptr<ThreadPool>> make_pool(const LoadOptions& options) {
  const int n = ThreadPool::threads_for(options.n_threads);
  auto pool = std::make_unique<ThreadPool>(ThreadPool::Options{.n_threads = n, .pin = options.pin_threads});
  if (options.n_threads > 0 && pool->size() < n) {
    return fail(ErrorCode::kOutOfMemory,
                "the system started only {} of {} threads; ask for fewer, or raise the limit on processes (ulimit -u)",
                pool->size(), n);
  }
  if (options.n_threads == 0 && options.backend != BackendKind::kWebGpu) pool->keep_fast();
  return pool;
}

// Threads that take part in a run.
int n_threads(const Engine::Impl& impl) {
  switch (impl.backend) {
    case BackendKind::kWebGpu:
      return 0;
    case BackendKind::kRef:
      return 1;
    case BackendKind::kAuto:
    case BackendKind::kCpu:
    case BackendKind::kBoth:
      return impl.pool->size();
  }
  CHECK(false);
}

}  // namespace

Result<Engine> Engine::load(const LoadOptions& options) { return load_by_curves(options, nullptr); }

Result<Engine> load_by_curves(const LoadOptions& options, const std::array<CostCurve, 2>* curves) {
  const auto start = std::chrono::steady_clock::now();
  if (options.n_threads < 0 || options.n_threads > kMostThreads) {
    return fail(ErrorCode::kInvalidArgument, "{} threads: give 1 to {}, or 0 for one per CPU", options.n_threads,
                kMostThreads);
  }
  if (options.max_batch < 0)
    return fail(ErrorCode::kInvalidArgument, "max_batch is {}, but cannot be negative", options.max_batch);
  if (options.gpu_layers && (*options.gpu_layers < 1 || options.backend != BackendKind::kAuto)) {
    return fail(ErrorCode::kInvalidArgument,
                "{} layers on a GPU: give at least 1, and no backend; or use the cpu backend", *options.gpu_layers);
  }
  TRY_STATUS(choose_cpu_target());
  std::string path = options.model_path;
  if (path.empty()) {
    TRY(path, default_model_path());
  }
  auto impl = std::make_unique<Engine::Impl>();
  // A GPU takes the weights in pieces, and the CPU those of GGUF files. Keeping the file in memory is fine only if a
  // mapped file costs nothing.
  const bool takes_pieces =
      options.backend == BackendKind::kWebGpu || (options.backend == BackendKind::kCpu && !is_directory(path));
  const bool pieces_do = takes_pieces && !maps_files();
  PhaseTimes times;
  TRY(impl->model,
      open_model(path, options.on_progress, pieces_do ? Access::kPieces : Access::kResident, options.metadata));
  warn_of_ignored_keys(impl->model);
  times.end("file");
  TRY_STATUS(load_text(*impl, options.chat_template));
  times.end("tokenizer");
  impl->info = describe_model(impl->model);
  TRY(impl->pool, make_pool(options));
  impl->embeddings = impl->info.embeddings = options.embeddings;
  if (options.embeddings) {
    TRY(impl->info.pooling, read_pooling(impl->model));
  }
  auto compiled = impl->head.replace_in(impl->model, options.head).and_then([&] {
    return compile_model(*impl, options, curves, times);
  });
  if (!compiled) {
    Error error = std::move(compiled).error();
    error.message = path + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  // A GPU has its own copy of the weights by now. A divided model may be larger than the memory.
  if (impl->backend != BackendKind::kWebGpu && impl->n_split_layers == 0) {
    read_ahead(impl->model, options.on_progress);
    times.end("weights");
  }
  describe_head(*impl);
  impl->info.backend = impl->executable->description();
  impl->info.adapter = impl->executable->gpu_adapter();
  impl->info.n_threads = n_threads(*impl);
  impl->info.load_phases = times.phases();
  impl->load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Engine(std::move(impl));
}

}  // namespace tern
