// The field in which messages are written, what goes along with them, and its buttons.

import {byId, icon, make} from '../base/dom.js';
import {formatCount} from '../base/format.js';
import {guessTokens, wholeText} from './context.js';

/** @typedef {import('./attachments.js').Attachment} Attachment */

const kLong = 3000;        // characters: what is pasted and longer goes along as a text of its own
const kCountAfter = 250;   // ms without a key until tokens are counted

export class Composer {
  #field = byId('composer');
  #send = byId('send');
  #stop = byId('stop');
  #editing = byId('editing');
  #chat;
  #conversation;
  #host;
  #say;
  /** @type {Attachment[]} */
  #files = [];
  /** @type {import('./conversation.js').Message|null} */
  #edited = null;
  /** What was in the field before editing began. @type {{content: string, files: Attachment[]}} */
  #draft = {content: '', files: []};
  #counting = 0;

  /**
   * @param {import('./chat.js').Chat} chat
   * @param {import('./conversation.js').Conversation} conversation
   * @param {import('../model/model_host.js').ModelHost} host
   * @param {(sentence: string) => void} say tells the user something
   */
  constructor(chat, conversation, host, say) {
    this.#chat = chat;
    this.#conversation = conversation;
    this.#host = host;
    this.#say = say;
    byId('composer-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#field.addEventListener('input', () => this.#fit());
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    this.#field.addEventListener('paste', (event) => this.#paste(event));
    this.#stop.addEventListener('click', () => this.#halt());
    this.#connectFiles();
    byId('editing-cancel').addEventListener('click', () => this.#endEditing());
    document.addEventListener('keydown', (event) => this.#escape(event));
    chat.addEventListener('state', () => this.#stateChanged());
    conversation.addEventListener('change', () => this.#edited && this.#endEditing());
    this.#stateChanged();
    this.#fit();
  }

  focus() {
    this.#field.focus();
  }

  /** Takes a message into the field, for another version of it; without one, the user's last. */
  edit(message = this.#conversation.messages.findLast(({role}) => role === 'user')) {
    if (!message || this.#chat.state !== 'idle') return;
    if (!this.#edited) this.#draft = {content: this.#field.value, files: this.#files};
    this.#edited = message;
    byId('editing-what').textContent = message.role === 'user' ?
      'Another version of your message' : 'Another version of the reply';
    this.#editing.hidden = false;
    this.#put(message);
    this.focus();
  }

  /** Has files that are texts go along with the message; says of others why they do not. @param {File[]} files */
  async attach(files) {
    const {readTexts} = await import('./attachments.js');
    const {texts, refused} = await readTexts(files);
    if (refused.length > 0) this.#say(refused.join(' '));
    this.#add(texts);
  }

  #connectFiles() {
    const input = byId('attach-file');
    byId('attach').addEventListener('click', () => input.click());
    input.addEventListener('change', async () => {
      await this.attach([...input.files]);
      input.value = '';  // the same file chosen again is a change too
    });
  }

  /** @param {Attachment[]} files */
  #add(files) {
    // A model that goes on with texts goes on with these.
    if (this.#host.isStory) return this.#put({content: [this.#field.value, ...files.map(({text}) => text)].join('')});
    this.#files = [...this.#files, ...files];
    this.#showFiles();
    this.focus();
  }

  #showFiles() {
    const list = byId('attached');
    list.hidden = this.#files.length === 0;
    list.replaceChildren(...this.#files.map((file) => make('li', {data: {testid: 'attached'}},
        icon('file'), make('span', {}, file.name), make('button', {type: 'button', class: 'quiet',
          'aria-label': `Leave out ${file.name}`, data: {testid: 'attached-remove'}, onclick: () => {
            this.#files = this.#files.filter((one) => one !== file);
            this.#showFiles();
            this.focus();
          }}, icon('close')))));
    this.#fit();
  }

  #paste(event) {
    const {files} = event.clipboardData;
    const text = event.clipboardData.getData('text/plain');
    if (files.length === 0 && (text.length < kLong || this.#host.isStory)) return;
    event.preventDefault();
    if (files.length > 0) return void this.attach([...files]);
    const n = this.#files.filter(({name}) => name.startsWith('pasted')).length;
    this.#add([{name: n > 0 ? `pasted ${n + 1}.txt` : 'pasted.txt', text}]);
  }

  #submit() {
    const text = this.#field.value;
    const files = this.#files;
    if (this.#chat.state !== 'idle' || !this.#isAny()) return;
    const edited = this.#edited;
    if (edited) this.#endEditing();
    else this.#put({content: ''});
    if (edited?.role === 'assistant') this.#chat.rewrite(text, edited);
    else if (edited) this.#chat.resend(text, edited, files);
    else this.#chat.send(text, files);
    this.focus();
  }

  #isAny() {
    return this.#field.value.trim() !== '' || this.#files.length > 0;
  }

  #halt() {
    const unanswered = this.#chat.stop();
    if (unanswered && !this.#isAny()) this.#put(unanswered);
    this.focus();
  }

  #key(event) {
    const {key, shiftKey, isComposing} = event;
    if (key === 'Enter' && !shiftKey && !isComposing && !matchMedia('(pointer: coarse)').matches) {
      event.preventDefault();
      this.#submit();
    } else if (key === 'ArrowUp' && !this.#field.value && !isComposing) {
      event.preventDefault();
      this.edit();
    }
  }

  #escape(event) {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    if (document.querySelector('dialog[open], :popover-open')) return;
    if (this.#chat.state !== 'idle') this.#halt();
    else if (this.#edited) this.#endEditing();
    else return;
    event.preventDefault();
  }

  #endEditing() {
    this.#edited = null;
    this.#editing.hidden = true;
    const draft = this.#draft;
    this.#draft = {content: '', files: []};
    this.#put(draft);
  }

  /** @param {{content: string, files?: Attachment[]}} message */
  #put({content, files = []}) {
    this.#field.value = content;
    this.#files = files;
    this.#showFiles();
  }

  #fit() {
    this.#field.style.height = 'auto';
    this.#field.style.height = `${this.#field.scrollHeight}px`;
    this.#send.disabled = !this.#isAny();
    clearTimeout(this.#counting);
    if (this.#isAny()) this.#counting = setTimeout(() => this.#count(), kCountAfter);
    else byId('composer-count').textContent = '';
  }

  /** Tells how many tokens the message has, by the model's tokenizer where the engine lends it. */
  async #count() {
    const {tern, info} = this.#host;
    const text = wholeText({content: this.#field.value, files: this.#files});
    const exact = await tern?.tokenize?.(text).then(({length}) => length, () => undefined);
    if (text !== wholeText({content: this.#field.value, files: this.#files}) || !this.#isAny()) return;
    const n = exact ?? guessTokens(text);
    const of = info ? ` of ${formatCount(info.nCtx)}` : '';
    byId('composer-count').textContent = `${exact === undefined ? 'about ' : ''}${formatCount(n)}${of} tokens`;
    byId('composer-count').classList.toggle('over', n > (info?.nCtx ?? Infinity));
  }

  #stateChanged() {
    const idle = this.#chat.state === 'idle';
    const hadFocus = document.activeElement === (idle ? this.#stop : this.#send);
    this.#send.hidden = !idle;
    this.#stop.hidden = idle;
    if (hadFocus) this.focus();
  }
}
