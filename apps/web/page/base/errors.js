// What went wrong, in plain words, and what the user can do about it.

/**
 * @typedef {'retry'|'use_cpu'|'choose'|'reload'|'storage'} Remedy
 * @typedef {{title: string, detail: string, remedies: Remedy[], code: string}} Trouble
 */

/** @type {Record<string, {title: string, remedies: Remedy[]}>} */
const kLoadTroubles = {
  not_found: {title: 'There is no model at this address.', remedies: ['choose']},
  corruption: {title: 'The model’s file is damaged.', remedies: ['retry', 'choose']},
  not_supported: {title: 'This model cannot be run here.', remedies: ['choose']},
  invalid_argument: {title: 'This cannot be loaded as it was asked for.', remedies: ['choose']},
  out_of_memory: {title: 'There is not enough memory for this model.', remedies: ['use_cpu', 'choose']},
  device_lost: {title: 'The graphics device was lost while the model was loaded.', remedies: ['retry', 'use_cpu']},
  network: {title: 'The download did not go through.', remedies: ['retry', 'choose']},
  quota: {title: 'The browser has too little storage for this model.', remedies: ['storage', 'retry']},
  worker_crashed: {title: 'The engine stopped while the model was loaded.', remedies: ['retry', 'use_cpu']},
};

/** @type {Record<string, {title: string, remedies: Remedy[]}>} */
const kRunTroubles = {
  device_lost: {title: 'The graphics device was lost. Your conversation is kept.', remedies: ['reload', 'use_cpu']},
  worker_crashed: {title: 'The engine stopped. Your conversation is kept.', remedies: ['reload', 'use_cpu']},
  out_of_memory: {title: 'The memory ran out. Your conversation is kept.', remedies: ['reload', 'use_cpu']},
  invalid_argument: {title: 'This message could not be answered.', remedies: []},
  busy: {title: 'The model is still busy with another reply.', remedies: []},
};

/** Whatever else may be the engine adds its own. */
export const kTroubles = {load: kLoadTroubles, run: kRunTroubles};

/** Errors after which the loaded model is gone. */
const kFatal = new Set(['device_lost', 'worker_crashed', 'out_of_memory']);

/** @param {unknown} error */
export const isCancelled = (error) => error?.code === 'cancelled' || error?.name === 'AbortError';

/** @param {unknown} error */
export const isFatal = (error) => kFatal.has(error?.code);

/** @param {unknown} error @param {'load'|'run'} during @param {string} [backend] that was in use @returns {Trouble} */
export function describe(error, during, backend = '') {
  const code = typeof error?.code === 'string' ? error.code : 'internal';
  const known = kTroubles[during][code] ?? {
    title: during === 'load' ? 'The model could not be loaded.' : 'The reply ended with an error.',
    remedies: during === 'load' ? ['retry', 'choose'] : ['reload'],
  };
  const remedies = known.remedies.filter((remedy) => remedy !== 'use_cpu' || backend !== 'cpu');
  return {...known, remedies, detail: String(error?.message ?? error), code};
}

/** @type {Record<Remedy, string>} */
export const kRemedyLabels = {
  retry: 'Try again',
  use_cpu: 'Use the CPU',
  choose: 'Choose another model',
  reload: 'Load the model again',
  storage: 'See what is stored',
};
