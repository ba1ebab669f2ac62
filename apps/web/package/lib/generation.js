// The loop of a generation: one step of the engine after another, with a look at the world in between.

import {asTernError} from './errors.js';

// So long may pass before waiting events are handled and text is handed on: half a frame.
const kTurnMs = 8;

/**
 * @typedef {object} Outcome
 * @property {'stop_token' | 'stop_string' | 'max_tokens' | 'context_full' | 'cancelled'} reason
 * @property {number[]} tokens sampled, the stop token included
 * @property {object[]} logprobs of each but the stop token, where they were asked for
 * @property {number} nPrompt
 * @property {number} nReused
 * @property {number} timeToFirstTokenMs
 * @property {object} stats of the engine
 */

/**
 * @param {import('./environment.js').Environment} env
 * @param {import('./engine_module.js').EngineModule} engine
 * @param {object} params of the engine's 'begin'
 * @param {{onPiece: (piece: {text: string, nGenerated: number, nPrompt: number, nReused: number, ms: number}) => void,
 *   isCancelled: () => boolean, onToken?: (token: number) => void}} options `onPiece` gets whole characters, the first
 *   at once
 * @returns {Promise<Outcome>}
 */
export async function runGeneration(env, engine, params, {onPiece, isCancelled, onToken = () => {}}) {
  const begin = env.now();
  const {nPrompt, nReused} = await engine.call('begin', params);
  const tokens = [];
  const logprobs = [];
  let text = '';
  let nTold = 0;
  let timeToFirstTokenMs = 0;
  let reason;
  let turn = begin;
  const handOn = () => {
    if (text) {
      onPiece({text, nGenerated: tokens.length, nPrompt, nReused, ms: env.now() - begin,
        ...(logprobs.length > 0 ? {logprobs: logprobs.slice(nTold)} : {})});
    }
    text = '';
    nTold = logprobs.length;
  };

  try {
    while (!reason) {
      if (isCancelled()) {
        reason = 'cancelled';
        await engine.call('cancel');
        break;
      }
      const step = await engine.call('step');
      const isFirst = tokens.length === 0 && step.tokens.length > 0;
      tokens.push(...step.tokens);
      step.tokens.forEach(onToken);
      text += step.text;
      if (step.done) reason = step.reason;
      if (step.logprobs && reason !== 'stop_token') logprobs.push(step.logprobs);
      if (isFirst) timeToFirstTokenMs = env.now() - begin;
      if (isFirst || env.now() - turn >= kTurnMs) {
        handOn();
        await env.nextTurn();
        turn = env.now();
      }
    }
  } catch (error) {
    handOn();
    throw asTernError(error);
  }
  handOn();
  return {reason, tokens, logprobs, nPrompt, nReused, timeToFirstTokenMs, stats: await engine.call('stats')};
}
