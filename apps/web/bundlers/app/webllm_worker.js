// The engine of a program that has a worker of its own, as WebLLM's users write it.
import * as webllm from 'tern-web/webllm';

const handler = new webllm.WebWorkerMLCEngineHandler();
globalThis.onmessage = (message) => handler.onmessage(message);
