/* Prints the logits of a GGUF model by llama.cpp, for make_packed_goldens.py:
 *
 *     cc llama_logits.c -o llama_logits -lllama && ./llama_logits MODEL.gguf OUT.f32 TOKEN...
 *
 * One forward pass on the CPU with one thread and an f32 KV cache; OUT.f32 gets float32 [n_tokens, n_vocab]. */
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>

static void quiet(enum ggml_log_level level, const char* text, void* data) {
  (void)data;
  if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int n = argc - 3;
  llama_log_set(quiet, NULL);
  ggml_backend_load_all();
  struct llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  struct llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (!model) return 1;
  struct llama_context_params params = llama_context_default_params();
  params.n_ctx = 512;
  params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = 1;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  struct llama_context* context = llama_init_from_model(model, params);
  if (!context) return 1;
  struct llama_batch batch = llama_batch_init(n, 0, 1);
  for (int i = 0; i < n; ++i) {
    batch.token[i] = atoi(argv[i + 3]);
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  batch.n_tokens = n;
  if (llama_decode(context, batch) != 0) return 1;
  FILE* out = fopen(argv[2], "wb");
  if (!out) return 1;
  const size_t n_vocab = (size_t)llama_vocab_n_tokens(llama_model_get_vocab(model));
  for (int i = 0; i < n; ++i) fwrite(llama_get_logits_ith(context, i), sizeof(float), n_vocab, out);
  return fclose(out) == 0 ? 0 : 1;
}
