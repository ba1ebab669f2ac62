// What of memory a tab may hope for, so that a model that needs more is refused before it is downloaded.

import {OutOfMemoryError} from './errors.js';
import {humanSize} from './text.js';

// A module has four gigabytes of addresses, and the context and what is computed need some of them.
const kMostWasm = 3.6e9;
// Phones end a tab that takes more than this share of the device's memory, without a word; other devices get slow.
const kShareOfPhone = 0.35;
const kShare = 0.6;
const kPhoneMemory = 4;  // where a phone does not say
const kLargest = 8;      // browsers say at most this, which may be any number

const isPhone = ({userAgentData, userAgent = ''}) => (
  userAgentData?.mobile ?? /Android|iPhone|iPad|Mobile/.test(userAgent));

/**
 * @param {{navigator?: object, isNode?: boolean}} env
 * @param {{isOnGpu: boolean, limit?: number}} how limit: the caller's, instead of what the device says
 * @returns {{most: number, why: string}} bytes; why not more
 */
export function memoryOfTab({navigator = {}, isNode}, {isOnGpu, limit}) {
  if (limit !== undefined) return {most: limit, why: 'memoryLimit allows'};
  const limits = [];
  if (!isOnGpu) limits.push({most: kMostWasm, why: 'a tab without a GPU has'});
  const {deviceMemory} = navigator;
  if (!isNode && isPhone(navigator)) {
    limits.push({most: (deviceMemory ?? kPhoneMemory) * 1e9 * kShareOfPhone, why: 'a tab on this device gets about'});
  } else if (!isNode && deviceMemory < kLargest) {
    limits.push({most: deviceMemory * 1e9 * kShare, why: 'a tab on this device gets about'});
  }
  return limits.reduce((least, one) => (one.most < least.most ? one : least), {most: Infinity, why: ''});
}

/** @param {{most: number, why: string}} memory @param {number} bytes of the model's files @param {string} name */
export function checkMemory({most, why}, bytes, name) {
  if (bytes <= most) return;
  throw new OutOfMemoryError(`${name} needs ${humanSize(bytes)} of memory for its weights, and ` +
    `${why} ${humanSize(most)}; use a smaller model, or set memoryLimit if you know better`);
}
