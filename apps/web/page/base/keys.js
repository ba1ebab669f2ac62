// Keyboard shortcuts. Single letters only outside of fields, so that they never take a letter from what is written.

import {later} from './later.js';

const list = later('style/menus.css', async () => new (await import('./keys_view.js')).KeysView());

/** code of the key with Alt: [what is pressed, as the list shows it, what it does] */
export const kAltKeys = {
  KeyN: ['new-chat', 'New conversation'],
  KeyK: ['library-open', 'Conversations, and a search in them'],
  KeyM: ['model-chip', 'Models'],
  KeyI: ['panel-toggle', 'Instruments: settings and readings'],
  KeyR: ['regenerate', 'Another reply to your last message'],
  KeyC: ['copy', 'Copy the last reply'],
};

export const openKeys = async () => (await list()).open();

/** @param {() => void} focus goes to the field */
export function connectKeys(focus) {
  document.addEventListener('keydown', (event) => {
    const {altKey, ctrlKey, metaKey, key, code, target} = event;
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const isField = target.matches?.('input:not([type="checkbox"]), textarea, select');
    if (altKey && !ctrlKey && !metaKey && kAltKeys[code]) {
      // The last one of several: of the messages, that is the last message's.
      [...document.querySelectorAll(`[data-testid="${kAltKeys[code][0]}"]`)].at(-1)?.click();
    } else if (key === '/' && (ctrlKey || metaKey)) {
      openKeys();
    } else if (!altKey && !ctrlKey && !metaKey && !isField && (key === '?' || key === '/')) {
      if (key === '?') openKeys();
      else focus();
    } else {
      return;
    }
    event.preventDefault();
  });
}
