// The list of conversations, in a drawer: open, rename, delete, take along, bring in.

import {byId, icon, make} from '../base/dom.js';
import {formatBytes} from '../base/format.js';
import {
  asMarkdown, exported, findIn, hasAny, importFrom, isConversationKey, nameOf, putBack, remove, rename,
} from './library.js';

/** Hands the user a file. @param {string} name @param {string} text @param {string} type */
function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  make('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const fileName = (name) => name.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'conversation';

function dateOf(ms) {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString(undefined, {hour: 'numeric', minute: '2-digit'}) :
    date.toLocaleDateString(undefined, {day: 'numeric', month: 'short', year: 'numeric'});
}

export class LibraryView {
  #storage;
  #conversation;
  #go;
  #drawer = byId('library');
  #list = byId('library-list');
  #status = byId('library-status');
  #search = byId('library-search');
  #records = [];

  /**
   * @param {Storage|null} storage
   * @param {import('./conversation.js').Conversation} conversation
   * @param {(id: string|null) => void} go opens a conversation; null: a new one
   */
  constructor(storage, conversation, go) {
    this.#storage = storage;
    this.#conversation = conversation;
    this.#go = go;
    byId('library-close').addEventListener('click', () => this.#drawer.close());
    byId('library-new').addEventListener('click', () => this.#leaveTo(null));
    byId('library-export').addEventListener('click', () => (
      download('tern-conversations.json', exported(conversation.all()), 'application/json')));
    this.#search.addEventListener('input', () => this.#showFound());
    byId('library-share').addEventListener('click', () => this.#share());
    const file = byId('library-file');
    byId('library-import').addEventListener('click', () => file.click());
    file.addEventListener('change', () => this.#import(file));
    // A click beside the drawer is one on the dialog itself.
    this.#drawer.addEventListener('click', ({target}) => target === this.#drawer && this.#drawer.close());
    conversation.addEventListener('kept', () => this.#drawer.open && this.show());
    addEventListener('storage', ({key}) => {
      if (this.#drawer.open && isConversationKey(key)) this.show();
    });
  }

  open() {
    this.#conversation.saveGrown();
    this.#status.textContent = '';
    this.#search.value = '';
    this.show();
    this.#drawer.showModal();
    this.#list.querySelector('[aria-current]')?.focus();
  }

  show() {
    this.#records = this.#conversation.all();
    byId('library-export').disabled = this.#records.length === 0;
    byId('library-share').disabled = this.#conversation.messages.length === 0;
    this.#showFound();
  }

  #showFound() {
    const items = [];
    for (const record of this.#records) {
      const around = findIn(record, this.#search.value);
      if (around !== null) items.push(this.#item(record, around));
    }
    this.#list.replaceChildren(...items);
    const none = this.#records.length > 0 ? 'Nothing that was written has this in it.' :
      'What you write is listed here, and kept in this browser only.';
    byId('library-none').textContent = items.length > 0 ? '' : none;
  }

  /** @param {import('./library.js').Record} record @param {string} around what was searched for */
  #item(record, around) {
    const name = nameOf(record);
    const isOpen = record.id === this.#conversation.id;
    const tool = (what, symbol, label, onclick) => make('button', {type: 'button', class: 'tool small-tool',
      data: {testid: `conversation-${what}`}, 'aria-label': `${label}: ${name}`, title: label, onclick}, icon(symbol));
    const item = make('li', {data: {testid: 'conversation', id: record.id}},
        make('button', {type: 'button', class: 'conversation-open', data: {testid: 'conversation-open'},
          'aria-current': isOpen ? 'true' : null, onclick: () => this.#leaveTo(record.id)},
        make('span', {class: 'conversation-name'}, name),
        around && make('span', {class: 'small', data: {testid: 'conversation-found'}}, around),
        make('span', {class: 'small'}, dateOf(record.changed))),
        tool('rename', 'edit', 'Rename', () => this.#rename(item, record)),
        tool('save', 'down', 'Save as Markdown', () => (
          download(`${fileName(name)}.md`, asMarkdown(record), 'text/markdown'))),
        tool('delete', 'bin', 'Delete', () => this.#delete(item, record)));
    return item;
  }

  #leaveTo(id) {
    this.#drawer.close();
    this.#go(id);
  }

  #rename(item, record) {
    const field = make('input', {type: 'text', 'aria-label': 'Name of the conversation', maxlength: 200,
      data: {testid: 'conversation-name'}, value: nameOf(record)});
    let isOver = false;
    const end = (isTaken) => {
      if (isOver) return;
      isOver = true;
      // What was said meanwhile is kept: only the name is this one's.
      const now = this.#conversation.read(record.id);
      const isNew = field.value.trim() !== nameOf(record);
      if (isTaken && now && isNew) this.#tryTo(() => rename(this.#storage, now, field.value));
      if (now && now.id === this.#conversation.id) this.#conversation.record.name = now.name;
      this.show();
      this.#list.querySelector(`[data-id="${record.id}"] [data-testid="conversation-rename"]`)?.focus();
    };
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      end(event.key === 'Enter');
    });
    field.addEventListener('blur', () => end(true));
    item.replaceChildren(field);
    field.focus();
    field.select();
  }

  #delete(item, record) {
    const isOpen = record.id === this.#conversation.id;
    if (isOpen) this.#go(null);
    remove(this.#storage, record.id);
    this.#conversation.forget(record.id);
    this.#conversation.keepUnkept();
    const undo = make('button', {type: 'button', class: 'quiet', data: {testid: 'undo'}, onclick: () => {
      if (!this.#tryTo(() => putBack(this.#storage, record))) return;
      if (isOpen && this.#conversation.messages.length === 0) this.#go(record.id);
      this.show();
    }}, 'Undo');
    item.replaceChildren(make('span', {class: 'conversation-gone'}, `“${nameOf(record)}” was deleted.`), undo);
    byId('library-export').disabled = !hasAny(this.#storage);
    undo.focus();
  }

  async #share() {
    try {
      const {linkTo} = await import('./share.js');
      const link = await linkTo(this.#conversation.record, location.href);
      await navigator.clipboard.writeText(link).catch(() => {
        throw new Error('The browser does not let the page copy the link.');
      });
      this.#status.textContent = `The link was copied (${formatBytes(link.length)}). The whole conversation is in ` +
        'it, for whoever has it; no server gets it.';
    } catch (error) {
      this.#status.textContent = error.message;
    }
  }

  async #import(input) {
    const [file] = input.files;
    input.value = '';  // the same file chosen again is a change too
    if (!file) return;
    try {
      const n = importFrom(this.#storage, await file.text());
      this.#status.textContent = n === 1 ? 'One conversation was added.' : `${n} conversations were added.`;
      this.show();
    } catch (error) {
      this.#status.textContent = `${file.name}: ${error.message}.`;
    }
  }

  #tryTo(write) {
    try {
      write();
      return true;
    } catch {
      this.#status.textContent = 'The browser’s storage is full.';
      return false;
    }
  }
}
