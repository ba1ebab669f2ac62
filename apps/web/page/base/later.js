// Views that most visits never open are fetched when they are.

import {load} from './dom.js';

/** @type {Map<string, Promise<void>>} */
const styles = new Map();

/** @param {string} href below the page; its rules hold once this resolves */
function style(href) {
  if (!styles.has(href)) {
    styles.set(href, load('link', {rel: 'stylesheet', href}).catch((error) => {
      styles.delete(href);
      throw error;
    }));
  }
  return styles.get(href);
}

/**
 * @template T
 * @param {string} href of the view's style sheet; '' for none
 * @param {() => Promise<T>} bring imports the view's module and makes the view
 * @returns {() => Promise<T>} gives the one view; where it could not be fetched, the next call tries again
 */
export function later(href, bring) {
  /** @type {Promise<T>|null} */
  let coming = null;
  return () => (coming ??= Promise.all([bring(), href && style(href)]).then(([view]) => view, (error) => {
    coming = null;
    throw error;
  }));
}
