const headers = {'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp'};

export default {
  optimizeDeps: {exclude: ['tern-web']},  // its worker and its .wasm lie beside its scripts
  server: {headers},
  preview: {headers},
};
