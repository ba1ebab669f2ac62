// A caller's own function between the model's logits and the choice of a token. The engine calls it in the middle of a
// step, so it has to be where the engine is.

import {InvalidArgumentError} from './errors.js';

export class LogitProcessing {
  #processor;
  /** What went wrong, where something has. @type {InvalidArgumentError | null} */
  error = null;

  /**
   * @param {{processLogits: (logits: Float32Array) => Float32Array,
   *   processSampledToken?: (token: number) => void}} one
   */
  constructor(one) {
    this.#processor = one;
  }

  /** @param {Float32Array} logits the engine's, which are changed @returns {number} 0: it cannot go on */
  process(logits) {
    try {
      // A copy: the engine's memory may be shared with threads, which some functions do not take.
      const made = this.#processor.processLogits(Float32Array.from(logits));
      if (!(made instanceof Float32Array) || made.length !== logits.length) {
        throw new TypeError(`processLogits returns a Float32Array of ${logits.length} logits`);
      }
      logits.set(made);
      return 1;
    } catch (cause) {
      this.#fail(cause);
      return 0;
    }
  }

  /** @param {number} token that was chosen */
  accept(token) {
    try {
      this.#processor.processSampledToken?.(token);
    } catch (cause) {
      throw this.#fail(cause);
    }
  }

  #fail(cause) {
    this.error = new InvalidArgumentError(`the logit processor failed: ${cause?.message ?? cause}`, {cause});
    return this.error;
  }
}
