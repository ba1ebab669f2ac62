// The field in which messages are written, and its two buttons.

import {byId} from '../base/dom.js';

export class Composer {
  #field = byId('composer');
  #send = byId('send');
  #stop = byId('stop');
  #editing = byId('editing');
  #chat;
  #conversation;
  /** @type {import('./conversation.js').Message|null} */
  #edited = null;
  #draft = '';  // what was in the field before editing began

  /** @param {import('./chat.js').Chat} chat @param {import('./conversation.js').Conversation} conversation */
  constructor(chat, conversation) {
    this.#chat = chat;
    this.#conversation = conversation;
    byId('composer-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#field.addEventListener('input', () => this.#fit());
    this.#field.addEventListener('keydown', (event) => this.#key(event));
    this.#stop.addEventListener('click', () => this.#halt());
    byId('editing-cancel').addEventListener('click', () => this.#endEditing(this.#draft));
    document.addEventListener('keydown', (event) => this.#escape(event));
    chat.addEventListener('state', () => this.#stateChanged());
    conversation.addEventListener('change', () => this.#edited && this.#endEditing(this.#draft));
    this.#stateChanged();
    this.#fit();
  }

  focus() {
    this.#field.focus();
  }

  /** Takes a message into the field, for another version of it; without one, the user's last. */
  edit(message = this.#conversation.messages.findLast(({role}) => role === 'user')) {
    if (!message || this.#chat.state !== 'idle') return;
    if (!this.#edited) this.#draft = this.#field.value;
    this.#edited = message;
    byId('editing-what').textContent = message.role === 'user' ?
      'Another version of your message' : 'Another version of the reply';
    this.#editing.hidden = false;
    this.#put(message.content);
    this.focus();
  }

  #submit() {
    const text = this.#field.value;
    if (this.#chat.state !== 'idle' || !text.trim()) return;
    const edited = this.#edited;
    if (edited) this.#endEditing(this.#draft);
    else this.#put('');
    if (edited?.role === 'assistant') this.#chat.rewrite(text, edited);
    else if (edited) this.#chat.resend(text, edited);
    else this.#chat.send(text);
    this.focus();
  }

  #halt() {
    const unanswered = this.#chat.stop();
    if (unanswered && !this.#field.value) this.#put(unanswered);
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
    if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open], :popover-open')) return;
    if (this.#chat.state !== 'idle') this.#halt();
    else if (this.#edited) this.#endEditing(this.#draft);
    else return;
    event.preventDefault();
  }

  #endEditing(text) {
    this.#edited = null;
    this.#editing.hidden = true;
    this.#draft = '';
    this.#put(text);
  }

  #put(text) {
    this.#field.value = text;
    this.#fit();
  }

  #fit() {
    this.#field.style.height = 'auto';
    this.#field.style.height = `${this.#field.scrollHeight}px`;
    this.#send.disabled = !this.#field.value.trim();
  }

  #stateChanged() {
    const idle = this.#chat.state === 'idle';
    const hadFocus = document.activeElement === (idle ? this.#stop : this.#send);
    this.#send.hidden = !idle;
    this.#stop.hidden = idle;
    if (hadFocus) this.focus();
  }
}
