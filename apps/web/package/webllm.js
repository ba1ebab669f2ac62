// For programs written against WebLLM: change
//
//   import * as webllm from '@mlc-ai/web-llm';
//
// to
//
//   import * as webllm from 'tern-web/webllm';

import {Tern} from './index.js';
import {makeWebLlm} from './lib/webllm.js';

export {IntegrityError} from './lib/errors.js';
export {isValidSRI, verifyIntegrity} from './lib/integrity.js';
export {ModelType, functionCallingModelIds, prebuiltAppConfig} from './lib/webllm_models.js';
export {ExtensionServiceWorkerMLCEngineHandler, ServiceWorkerMLCEngineHandler} from './lib/webllm_worker.js';
export const {
  MLCEngine, CreateMLCEngine, WebWorkerMLCEngine, CreateWebWorkerMLCEngine, WebWorkerMLCEngineHandler,
  ServiceWorkerMLCEngine, CreateServiceWorkerMLCEngine, hasModelInCache, deleteModelInCache, deleteModelAllInfoInCache,
} = makeWebLlm(Tern);
export {
  ServiceWorkerMLCEngine as ExtensionServiceWorkerMLCEngine,
  CreateServiceWorkerMLCEngine as CreateExtensionServiceWorkerMLCEngine,
};
/** Tern stores a model as a whole: these have nothing of their own to delete. */
export const deleteChatConfigInCache = async () => {};
export const deleteModelWasmInCache = async () => {};
/** WebLLM compiles a library for each model; Tern needs none. */
export const modelLibURLPrefix = '';
export const modelVersion = '';
