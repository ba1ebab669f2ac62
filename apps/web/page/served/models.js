// The menu of a server's models, behind the chip; there is none where the server has one.

import {byId, icon, make} from '../base/dom.js';
import {formatBytes, formatCount} from '../base/format.js';

const kKey = 'tern.served-model';

/** @typedef {import('./server_engine.js').Model} Model */

/** @param {string} base the server's address @param {string} [model] '': the server's first */
export function sourceOf(base, model = '') {
  const from = new URL(base);
  if (model) from.searchParams.set('model', model);
  return {from: from.href, label: model || 'the server’s model'};
}

/** What a conversation goes on with: its own model, else the one that was chosen last, else ''. */
export function chosenFor({record}, storage) {
  try {
    return record.model || (storage?.getItem(kKey) ?? '');
  } catch {
    return '';
  }
}

const kStates = {loading: 'being loaded', downloading: 'being downloaded', unloaded: 'loaded when asked'};

export class ServedMenu {
  #base;
  #list;
  #host;
  #conversation;
  #storage;
  /** The names of those that can chat. @type {string[]} */
  #names = [];
  /** The last one that was asked for here, which need not have come. */
  #tried = '';
  #items = make('ul', {'aria-label': 'Models', id: 'models-list', class: 'models', data: {testid: 'models-list'}});
  #dialog;

  /**
   * @param {string} base
   * @param {() => Promise<Model[]>} list asks the server
   * @param {import('../model/model_host.js').ModelHost} host
   * @param {import('../chat/conversation.js').Conversation} conversation
   * @param {Storage|null} storage
   */
  constructor(base, list, host, conversation, storage) {
    this.#base = base;
    this.#list = list;
    this.#host = host;
    this.#conversation = conversation;
    this.#storage = storage;
    const close = make('button',
      {type: 'button', class: 'tool', 'aria-label': 'Close', onclick: () => this.#dialog.close()}, icon('close'));
    const header = make('header', {}, make('h2', {id: 'models-title'}, 'Models of this server'), close);
    this.#dialog = make('dialog', {
      class: 'model-menu served-models', id: 'model-menu', 'aria-labelledby': 'models-title',
      data: {testid: 'model-menu'},
    }, header, this.#items);
    this.#dialog.addEventListener('click', ({target}) => target === this.#dialog && this.#dialog.close());
    host.addEventListener('phase', () => this.#modelChanged());
    conversation.addEventListener('change', () => this.#conversationChanged());
  }

  /** Those that could be asked instead of the one that is. @returns {{name: string, load: () => void}[]} */
  others() {
    return this.#names.filter((name) => name !== this.#host.info?.name)
        .map((name) => ({name, load: () => this.choose(name)}));
  }

  async open() {
    this.#dialog.showModal();
    try {
      this.#show(await this.#list());
    } catch (error) {
      this.#items.replaceChildren(make('li', {class: 'small'}, error.message));
    }
  }

  /** @param {string} name */
  choose(name) {
    this.#dialog.close();
    const {record} = this.#conversation;
    record.model = name;
    if (record.messages.length > 0) this.#conversation.save();
    try {
      this.#storage?.setItem(kKey, name);
    } catch {
      // Then the next conversation begins with the server's first.
    }
    this.#load(name);
  }

  #load(name) {
    this.#tried = name;
    this.#host.load(sourceOf(this.#base, name));
  }

  #modelChanged() {
    const {phase, tern} = this.#host;
    if (phase !== 'ready') return;
    this.#names = tern.models.map(({id}) => id);
    if (this.#names.length > 1 && byId('model-chip').tagName !== 'BUTTON') this.#offer();
    // Another conversation may have been opened meanwhile. One whose model would not come, or was stopped, is left
    // alone.
    if (this.#conversation.record.model === this.#tried) this.#note();
    else this.#conversationChanged();
  }

  /** A message has the model that answers it, and its conversation stays with that. */
  #note() {
    const {record} = this.#conversation;
    if (this.#names.length > 1 && record.messages.length > 0) record.model ??= this.#host.info?.name;
  }

  #conversationChanged() {
    const {model} = this.#conversation.record;
    const {phase, info} = this.#host;
    if (phase === 'ready' && model && model !== info.name && this.#names.includes(model)) {
      this.#load(model);
    } else {
      this.#note();
    }
  }

  /** The chip becomes a button. */
  #offer() {
    const chip = byId('model-chip');
    const more = icon('more');
    more.classList.add('more');
    chip.replaceWith(make('button', {type: 'button', class: 'chip', id: 'model-chip', title: chip.title,
      'aria-haspopup': 'dialog', data: {testid: 'model-chip'}, onclick: () => this.open()}, ...chip.childNodes, more));
    document.body.append(this.#dialog);
  }

  /** @param {Model[]} models */
  #show(models) {
    this.#items.replaceChildren(...models.map(({id, status, error, meta}) => {
      const isUsed = this.#host.phase === 'ready' && this.#host.info.name === id;
      const about = [meta && `${formatCount(meta.n_params)} parameters`, meta && formatBytes(meta.size),
        isUsed ? 'in use' : kStates[status]].filter(Boolean).join(' · ');
      return make('li', {data: {testid: 'model-item'}}, make('button', {type: 'button', class: 'model-load',
        disabled: isUsed, data: {testid: 'model-item-load'}, onclick: () => this.choose(id)},
      make('span', {class: 'model-name'}, id), make('span', {class: 'small'}, about),
      error && make('span', {class: 'small why-not'}, error)));
    }));
  }
}
