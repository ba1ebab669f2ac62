// The list of keyboard shortcuts, fetched when it is first shown.

import {icon, make} from './dom.js';
import {kAltKeys} from './keys.js';

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const [kAlt, kCtrl] = isMac ? ['⌥', '⌘'] : ['Alt', 'Ctrl'];

const kKeys = [
  ['Enter', 'Send the message'],
  ['Shift + Enter', 'Begin a line'],
  ['↑', 'Another version of your last message, in an empty field'],
  ['Escape', 'Stop the reply, or end the editing'],
  ['/', 'To the message field'],
  ...Object.entries(kAltKeys).map(([code, [, what]]) => [`${kAlt} + ${code.at(-1)}`, what]),
  [`? or ${kCtrl} + /`, 'This list'],
];

export class KeysView {
  #dialog = make('dialog', {class: 'keys', 'aria-labelledby': 'keys-title', data: {testid: 'keys'}},
      make('header', {}, make('h2', {id: 'keys-title'}, 'Keys'), make('button', {type: 'button', class: 'tool',
        'aria-label': 'Close', onclick: () => this.#dialog.close()}, icon('close'))),
      make('dl', {}, ...kKeys.flatMap(([keys, what]) => [
        make('dt', {}, ...keys.split(/( \+ | or )/).map((part, i) => i % 2 ? part : make('kbd', {}, part))),
        make('dd', {}, what)])));

  constructor() {
    document.body.append(this.#dialog);
    this.#dialog.addEventListener('click', ({target}) => target === this.#dialog && this.#dialog.close());
  }

  open() {
    this.#dialog.showModal();
  }
}
