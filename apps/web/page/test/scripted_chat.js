// A chat whose model says what a test wants.

import assert from 'node:assert/strict';
import {setImmediate as turn} from 'node:timers/promises';

import {Settings} from '../base/settings.js';
import {Chat} from '../chat/chat.js';
import {Conversation} from '../chat/conversation.js';
import {ModelHost} from '../model/model_host.js';
import {TinyStorage} from './tiny_storage.js';

/** The package with a model that says what it is told to, one piece at a time, when `next` is called. */
export class ScriptedTern {
  constructor(info = {}) {
    this.info = {name: 'scripted', backend: 'webgpu', hasChatTemplate: true, nCtx: 512, ...info};
    this.stats = {nGenerated: 0};
    this.asked = [];
    this.closed = false;
  }

  async* generate(prompt, options) {
    this.asked.push({prompt, options});
    for (const piece of this.script ?? ['one', ' two']) {
      await turn();
      if (options.signal.aborted) throw Object.assign(new Error('stopped'), {code: 'cancelled'});
      if (piece instanceof Error) throw piece;
      this.stats.nGenerated++;
      yield piece;
    }
    this.stats.finishReason = 'stop_token';
  }

  async close() {
    this.closed = true;
  }
}

/** deaf: loading does not heed its signal, as when it is done just then */
export function setUp({tern = new ScriptedTern(), storage = new TinyStorage(), deaf = false} = {}) {
  const loads = [];
  const Tern = {load: (from, options) => new Promise((resolve, reject) => {
    loads.push({from, options, resolve, reject});
    const stop = () => reject(Object.assign(new Error('stopped'), {code: 'cancelled'}));
    if (!deaf) options.signal.addEventListener('abort', stop);
  })};
  const settings = new Settings(null);
  const host = new ModelHost(Tern, settings, ['f16']);
  const conversation = new Conversation(storage);
  const chat = new Chat(conversation, host, settings);
  const said = () => conversation.messages.map(({role, content}) => `${role}: ${content}`);
  const idle = async () => {
    for (let i = 0; i < 200 && chat.state !== 'idle'; i++) await turn();
    assert.equal(chat.state, 'idle');
    await turn();
  };
  const load = async () => {
    host.load({from: 'm.gguf', label: 'm.gguf'});
    await turn();
    loads.at(-1).resolve(tern);
    await turn();
  };
  return {tern, loads, settings, host, conversation, chat, said, idle, load, storage};
}
