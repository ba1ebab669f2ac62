// The published models that Tern is known to run: `tern models --json` as a script. make_published.mjs writes it.

export const kPublished = [
  {
    name: 'bonsai-1.7b', address: 'hf:prism-ml/Bonsai-1.7B-gguf/Bonsai-1.7B-Q1_0.gguf',
    format: 'Q1_0', license: 'Apache-2.0', downloadBytes: 248302272,
    memoryBytes: 712119200, memoryTokens: 4096,
  },
  {
    name: 'bonsai-4b', address: 'hf:prism-ml/Bonsai-4B-gguf/Bonsai-4B-Q1_0.gguf',
    format: 'Q1_0', license: 'Apache-2.0', downloadBytes: 572270624,
    memoryBytes: 1170300040, memoryTokens: 4096,
  },
  {
    name: 'bonsai-8b', address: 'hf:prism-ml/Bonsai-8B-gguf/Bonsai-8B-Q1_0.gguf',
    format: 'Q1_0', license: 'Apache-2.0', downloadBytes: 1158654496,
    memoryBytes: 1756683904, memoryTokens: 4096,
  },
  {
    name: 'ternary-bonsai-1.7b', address: 'hf:prism-ml/Ternary-Bonsai-1.7B-gguf/Ternary-Bonsai-1.7B-Q2_0_g64.gguf',
    format: 'Q2_0', license: 'Apache-2.0', downloadBytes: 490163968,
    memoryBytes: 953980736, memoryTokens: 4096,
  },
  {
    name: 'ternary-bonsai-4b', address: 'hf:prism-ml/Ternary-Bonsai-4B-gguf/Ternary-Bonsai-4B-Q2_0_g64.gguf',
    format: 'Q2_0', license: 'Apache-2.0', downloadBytes: 1137806656,
    memoryBytes: 1735835920, memoryTokens: 4096,
  },
  {
    name: 'ternary-bonsai-8b', address: 'hf:prism-ml/Ternary-Bonsai-8B-gguf/Ternary-Bonsai-8B-Q2_0_g64.gguf',
    format: 'Q2_0', license: 'Apache-2.0', downloadBytes: 2310125920,
    memoryBytes: 2908155136, memoryTokens: 4096,
  },
  {
    name: 'bonsai-27b', address: 'hf:prism-ml/Bonsai-27B-gguf/Bonsai-27B-Q1_0.gguf',
    format: 'Q1_0', license: 'Apache-2.0', downloadBytes: 3803452480,
    memoryBytes: 4217788416, memoryTokens: 4096,
  },
  {
    name: 'ternary-bonsai-27b', address: 'hf:prism-ml/Ternary-Bonsai-27B-gguf/Ternary-Bonsai-27B-Q2_g64.gguf',
    format: 'Q2_0', license: 'Apache-2.0', downloadBytes: 7585330240,
    memoryBytes: 7999666176, memoryTokens: 4096,
  },
  {
    name: 'ternary-bonsai-2-27b', address: 'hf:prism-ml/Ternary-Bonsai-2-27B-gguf/Ternary-Bonsai-2-27B-PQ2_0.gguf',
    format: 'PQ2_0', license: 'Apache-2.0', downloadBytes: 7206168928,
    memoryBytes: 7620376576, memoryTokens: 4096,
  },
  {
    name: 'bitnet-2b-4t', address: 'hf:microsoft/bitnet-b1.58-2B-4T-gguf/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'MIT', downloadBytes: 1187801280,
    memoryBytes: 1494022720, memoryTokens: 4096,
  },
  {
    name: 'falcon3-1b-1.58bit', address: 'hf:tiiuae/Falcon3-1B-Instruct-1.58bit-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 1361904672,
    memoryBytes: 1659154368, memoryTokens: 4096,
  },
  {
    name: 'falcon3-3b-1.58bit', address: 'hf:tiiuae/Falcon3-3B-Instruct-1.58bit-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 2221465632,
    memoryBytes: 2585822016, memoryTokens: 4096,
  },
  {
    name: 'falcon3-7b-1.58bit', address: 'hf:tiiuae/Falcon3-7B-Instruct-1.58bit-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 3278680768,
    memoryBytes: 3743598720, memoryTokens: 4096,
  },
  {
    name: 'falcon3-10b-1.58bit', address: 'hf:tiiuae/Falcon3-10B-Instruct-1.58bit-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 3991393696,
    memoryBytes: 4657730304, memoryTokens: 4096,
  },
  {
    name: 'falcon-e-1b', address: 'hf:tiiuae/Falcon-E-1B-Instruct-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 666324256,
    memoryBytes: 765867264, memoryTokens: 4096,
  },
  {
    name: 'falcon-e-3b', address: 'hf:tiiuae/Falcon-E-3B-Instruct-GGUF/ggml-model-i2_s.gguf',
    format: 'I2_S', license: 'falcon-llm-license', downloadBytes: 999908608,
    memoryBytes: 1133001728, memoryTokens: 4096,
  },
  {
    name: 'qwen3-0.6b', address: 'hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 639446688,
    memoryBytes: 1103257600, memoryTokens: 4096,
  },
  {
    name: 'qwen3-1.7b', address: 'hf:Qwen/Qwen3-1.7B-GGUF/Qwen3-1.7B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 1834426016,
    memoryBytes: 2298236928, memoryTokens: 4096,
  },
  {
    name: 'qwen3-4b', address: 'hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 4274448384,
    memoryBytes: 4878428160, memoryTokens: 4096,
  },
  {
    name: 'qwen3-8b', address: 'hf:Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 8703561728,
    memoryBytes: 9307541504, memoryTokens: 4096,
  },
  {
    name: 'qwen3.5-0.8b', address: 'hf:unsloth/Qwen3.5-0.8B-GGUF/Qwen3.5-0.8B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 800881920,
    memoryBytes: 871415040, memoryTokens: 4096,
  },
  {
    name: 'gemma-4-e2b', address: 'hf:unsloth/gemma-4-E2B-it-GGUF/gemma-4-E2B-it-Q4_K_M.gguf',
    format: 'Q4_K', license: 'Apache-2.0', downloadBytes: 3090917516,
    memoryBytes: 3166414988, memoryTokens: 4096,
  },
  {
    name: 'hy-mt2-1.8b', address: 'hf:tencent/Hy-MT2-1.8B-1.25Bit-GGUF/Hy-MT2-1.8B-1.25Bit.gguf',
    format: 'STQ1_0', license: 'Apache-2.0', downloadBytes: 461860800,
    memoryBytes: 725206048, memoryTokens: 4096,
  },
  {
    name: 'qwen3-30b-a3b', address: 'hf:Qwen/Qwen3-30B-A3B-GGUF/Qwen3-30B-A3B-Q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 32477962240,
    memoryBytes: 32880615424, memoryTokens: 4096,
  },
  {
    name: 'gpt-oss-20b', address: 'hf:ggml-org/gpt-oss-20b-GGUF/gpt-oss-20b-mxfp4.gguf',
    format: 'MXFP4', license: 'Apache-2.0', downloadBytes: 12096558336,
    memoryBytes: 12297884928, memoryTokens: 4096,
  },
  {
    name: 'maple-preview', address: 'hf:deepgrove/maple-preview-GGUF/maple-preview-TQ2_0-head-Q4_K.gguf',
    format: 'TQ2_0', license: 'MIT', downloadBytes: 5901782560,
    memoryBytes: 6097158144, memoryTokens: 4096,
  },
  {
    name: 'llama-3.2-1b', address: 'hf:bartowski/Llama-3.2-1B-Instruct-GGUF/Llama-3.2-1B-Instruct-Q8_0.gguf',
    format: 'Q8_0', license: 'llama3.2', downloadBytes: 1313251456,
    memoryBytes: 1447469184, memoryTokens: 4096,
  },
  {
    name: 'llama-3.2-3b', address: 'hf:bartowski/Llama-3.2-3B-Instruct-GGUF/Llama-3.2-3B-Instruct-Q8_0.gguf',
    format: 'Q8_0', license: 'llama3.2', downloadBytes: 3414061312,
    memoryBytes: 3883823360, memoryTokens: 4096,
  },
  {
    name: 'smollm2-360m', address: 'hf:HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/smollm2-360m-instruct-q8_0.gguf',
    format: 'Q8_0', license: 'Apache-2.0', downloadBytes: 384618240,
    memoryBytes: 552390400, memoryTokens: 4096,
  },
  {
    name: 'phi-3-mini', address: 'hf:microsoft/Phi-3-mini-4k-instruct-gguf/Phi-3-mini-4k-instruct-q4.gguf',
    format: 'Q4_K', license: 'MIT', downloadBytes: 2308148736,
    memoryBytes: 3918761472, memoryTokens: 4096,
  },
];
