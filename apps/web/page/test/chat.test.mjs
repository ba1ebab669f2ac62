import assert from 'node:assert/strict';
import test, {describe} from 'node:test';
import {setImmediate as turn} from 'node:timers/promises';

import {fitting, guessTokens, storyEnd} from '../chat/context.js';
import {Conversation} from '../chat/conversation.js';
import {
  allRecords, asMarkdown, exported, findIn, importFrom, nameOf, newRecord, readRecord, rename,
} from '../chat/library.js';
import {addressSource, filesSource, Speedometer} from '../model/model_host.js';
import {ScriptedTern, setUp} from './scripted_chat.js';
import {TinyStorage} from './tiny_storage.js';

test('a message that is sent before there is a model waits for it', async () => {
  const {chat, load, said, idle, loads} = setUp();
  chat.send('Hello');
  assert.equal(chat.state, 'waiting');
  await load();
  await idle();
  assert.deepEqual(said(), ['user: Hello', 'assistant: one two']);
  assert.deepEqual(loads[0].options.gpuWithout, ['f16']);
  assert.equal(loads[0].options.backend, 'auto');
});

test('thoughts are kept apart from the reply, and are not told to the model again', async () => {
  const {tern, chat, conversation, load, idle} = setUp();
  tern.script = [{thought: 'Hm'}, {thought: 'm.'}, 'Yes', '.'];
  await load();
  chat.send('Is it?');
  await idle();
  assert.equal(conversation.messages[1].content, 'Yes.');
  assert.equal(conversation.messages[1].thought, 'Hmm.');
  chat.send('Sure?');
  await idle();
  assert.deepEqual(tern.asked[1].prompt.map(({content}) => content), ['Is it?', 'Yes.', 'Sure?']);
});

test('where a model cannot be loaded, the one before comes back, with the reason', async () => {
  const {host, load, loads, tern} = setUp();
  await load();
  for (const [error, title] of [
    [Object.assign(new Error('nothing there'), {code: 'not_found'}), /no model at this address/],
    [Object.assign(new Error('stopped'), {code: 'cancelled'}), null],
  ]) {
    host.load({from: 'bad.gguf', label: 'bad.gguf'});
    await turn();
    loads.at(-1).reject(error);
    await turn();
    assert.equal(loads.at(-1).from, 'm.gguf');
    loads.at(-1).resolve(tern);
    await turn();
    assert.equal(host.phase, 'ready');
    assert.equal(host.source.from, 'm.gguf');
    if (title) assert.match(host.trouble.title, title);
    else assert.equal(host.trouble, null);
  }
});

test('what is tried again is what could not be loaded', async () => {
  const {host, load, loads, tern} = setUp();
  await load();
  host.load({from: 'bad.gguf', label: 'bad.gguf'});
  await turn();
  loads.at(-1).reject(new Error('once'));
  await turn();
  loads.at(-1).resolve(tern);
  await turn();
  host.reload();
  await turn();
  assert.equal(loads.at(-1).from, 'bad.gguf');
  loads.at(-1).resolve(tern);
  await turn();
  assert.equal(host.source.from, 'bad.gguf');
  assert.equal(host.trouble, null);
});

test('a model without a tokenizer is no model for a page', async () => {
  const {host, loads} = setUp();
  host.load({from: 'm.gguf', label: 'm.gguf'});
  await turn();
  const mute = new ScriptedTern({hasTokenizer: false});
  loads.at(-1).resolve(mute);
  await turn();
  assert.equal(host.phase, 'failed');
  assert.match(host.trouble.detail, /has no tokenizer/);
  assert.ok(mute.closed);
});

test('two tabs may show one conversation, and one that does nothing overwrites nothing', async () => {
  const storage = new TinyStorage();
  const one = setUp({storage});
  await one.load();
  one.chat.send('Hello');
  await one.idle();
  const other = setUp({storage});
  assert.deepEqual(other.said(), ['user: Hello', 'assistant: one two']);
  one.chat.send('More');
  await one.idle();
  other.conversation.saveGrown();  // closed, without having said anything
  assert.equal(new Conversation(storage).messages.length, 4);
  let changes = 0;
  other.conversation.addEventListener('change', () => changes++);
  other.conversation.adopt();
  assert.deepEqual(other.said(), one.said());
  assert.equal(changes, 1);
  other.conversation.messages.at(-1).content += ' three';
  other.conversation.grew();
  other.conversation.saveGrown();
  assert.equal(new Conversation(storage).messages[3].content, 'one two three');
});

test('two tabs that begin at once have a conversation each', async () => {
  const storage = new TinyStorage();
  const tabs = [setUp({storage}), setUp({storage})];
  for (const [i, tab] of tabs.entries()) {
    await tab.load();
    tab.chat.send(`Hello from ${i}`);
    await tab.idle();
  }
  assert.deepEqual(allRecords(storage).map(nameOf).sort(), ['Hello from 0', 'Hello from 1']);
});

test('a reply that is stopped by opening another conversation is kept where it belongs', async () => {
  const tern = new ScriptedTern();
  const {conversation, chat, load, storage} = setUp({tern});
  await load();
  const {id} = conversation;
  chat.send('Hello');
  await turn();
  chat.stop();
  conversation.open();
  for (let i = 0; i < 20; i++) await turn();
  conversation.add({role: 'user', content: 'Something else'});
  assert.equal(readRecord(storage, id).messages.length, 2);
  assert.match(readRecord(storage, id).messages[1].note, /stopped/);
  assert.deepEqual(readRecord(storage, conversation.id).messages.map(({content}) => content), ['Something else']);
  conversation.open(id);
  assert.equal(conversation.messages[0].content, 'Hello');
});

test('a message that waits can be taken back', async () => {
  const {chat, load, said, tern} = setUp();
  chat.send('Hello');
  assert.equal(chat.stop().content, 'Hello');
  await load();
  assert.deepEqual(said(), []);
  assert.equal(tern.asked.length, 0);
});

test('the whole conversation and the system prompt are asked', async () => {
  const {chat, load, idle, tern, settings} = setUp();
  await load();
  settings.set('systemPrompt', ' Be brief. ');
  chat.send('A');
  await idle();
  chat.send('B');
  await idle();
  assert.deepEqual(tern.asked[1].prompt, [{role: 'system', content: 'Be brief.'}, {role: 'user', content: 'A'},
    {role: 'assistant', content: 'one two'}, {role: 'user', content: 'B'}]);
});

test('a model without a chat template goes on with the text, and with its own', async () => {
  const {chat, load, idle, tern, conversation} = setUp({tern: new ScriptedTern({hasChatTemplate: false})});
  await load();
  chat.send('Once');
  await idle();
  chat.goOn();
  await idle();
  assert.deepEqual(tern.asked.map(({prompt}) => prompt), ['Once', 'Onceone two']);
  assert.equal(conversation.messages.length, 2);
  assert.equal(conversation.messages[1].content, 'one twoone two');
  chat.send('Another');
  await idle();
  assert.equal(tern.asked[2].prompt, 'Another');
});

test('regenerate and resend take the place of what was there', async () => {
  const {chat, load, idle, tern, said} = setUp();
  await load();
  chat.send('A');
  await idle();
  tern.script = ['three'];
  chat.regenerate();
  await idle();
  assert.deepEqual(said(), ['user: A', 'assistant: three']);
  chat.resend('B');
  await idle();
  assert.deepEqual(said(), ['user: B', 'assistant: three']);
});

test('stop keeps what was written', async () => {
  const {chat, load, idle, tern, conversation} = setUp();
  tern.script = ['a', 'b', 'c', 'd', 'e', 'f'];
  await load();
  chat.addEventListener('piece', ({detail}) => detail.text === 'b' && chat.stop());
  chat.send('A');
  await idle();
  assert.equal(conversation.messages[1].content, 'ab');
  assert.match(conversation.messages[1].note, /stopped/);
  assert.equal(conversation.messages[1].trouble, undefined);
});

test('a lost device: the conversation stays, the model comes back at one call', async () => {
  const {chat, load, loads, idle, tern, conversation, host, storage} = setUp();
  tern.script = ['half', Object.assign(new Error('gone'), {code: 'device_lost'})];
  await load();
  chat.send('A');
  await idle();
  assert.equal(host.phase, 'lost');
  assert.ok(tern.closed);
  assert.deepEqual(host.trouble.remedies, ['reload', 'use_cpu']);
  assert.equal(conversation.messages[1].content, 'half');
  assert.match(conversation.messages[1].trouble, /lost/);
  assert.equal(new Conversation(storage).messages[1].content, 'half', 'kept for the next visit');
  host.reload();
  await turn();
  const fresh = new ScriptedTern();
  loads.at(-1).resolve(fresh);
  await turn();
  chat.regenerate();
  await idle();
  assert.equal(conversation.messages[1].content, 'one two');
  assert.equal(conversation.messages[1].trouble, undefined);
});

test('an error that the model survives is told and leaves it loaded', async () => {
  const {chat, load, idle, tern, host} = setUp();
  tern.script = [Object.assign(new Error('no such role'), {code: 'invalid_argument'})];
  await load();
  const told = [];
  chat.addEventListener('trouble', ({detail}) => told.push(detail));
  chat.send('A');
  await idle();
  assert.equal(host.phase, 'ready');
  assert.equal(told[0].detail, 'no such role');
});

test('loading another model ends the reply that is written', async () => {
  const {chat, load, idle, tern, host, conversation} = setUp();
  tern.script = Array(1000).fill('x');
  await load();
  chat.send('A');
  await turn();
  await turn();
  host.load({from: 'n.gguf', label: 'n.gguf'});
  await idle();
  assert.ok(tern.closed);
  assert.equal(host.phase, 'loading');
  assert.ok(conversation.messages[1].content.length < 1000);
  assert.equal(conversation.messages[1].trouble, undefined);
});

describe('again, by another model', () => {
  async function ask() {
    const all = setUp();
    await all.load();
    all.chat.send('A');
    await all.idle();
    const other = new ScriptedTern({name: 'other'});
    other.script = ['by another'];
    all.chat.regenerateBy(() => all.host.load({from: 'other.gguf', label: 'other'}));
    await turn();
    assert.equal(all.chat.state, 'waiting');
    return {...all, other};
  }

  test('it answers once it is there', async () => {
    const {loads, other, said, idle} = await ask();
    loads.at(-1).resolve(other);
    await idle();
    assert.deepEqual(said(), ['user: A', 'assistant: by another']);
  });

  test('where it cannot be loaded, or that is stopped, the reply of before is there and no other one', async () => {
    for (const how of ['fails', 'is stopped']) {
      const {loads, said, idle, host, conversation} = await ask();
      if (how === 'fails') loads.at(-1).reject(Object.assign(new Error('HTTP 404'), {code: 'not_found'}));
      else host.cancelLoad();
      for (let i = 0; i < 5; i++) await turn();
      const former = new ScriptedTern();
      loads.at(-1).resolve(former);
      await idle();
      assert.equal(host.phase, 'ready');
      assert.deepEqual(said(), ['user: A', 'assistant: one two']);
      assert.deepEqual(former.asked, [], 'the former model is not asked instead');
      assert.equal(conversation.record.messages.length, 2);
      assert.equal(host.trouble?.title !== undefined, how === 'fails', 'a sentence says so');
    }
  });

  test('where neither can be loaded, it waits, and another message can be sent later', async () => {
    const {loads, said, idle, host, chat} = await ask();
    for (let i = 0; i < 2; i++) {
      loads.at(-1).reject(Object.assign(new Error('HTTP 404'), {code: 'not_found'}));
      for (let turns = 0; turns < 5; turns++) await turn();
    }
    assert.equal(host.phase, 'failed');
    chat.stop();
    await idle();
    assert.deepEqual(said(), ['user: A', 'assistant: one two']);
  });
});

test('of two loads, the later counts', async () => {
  const {host, loads} = setUp({deaf: true});
  host.load({from: 'a', label: 'a'});
  await turn();
  host.load({from: 'b', label: 'b'});
  await turn();
  const late = new ScriptedTern({name: 'a'});
  loads[1].resolve(new ScriptedTern({name: 'b'}));
  await turn();
  loads[0].resolve(late);
  await turn();
  await turn();
  assert.equal(host.info.name, 'b');
  assert.ok(late.closed, 'nobody uses it');
  assert.equal(host.phase, 'ready');
});

test('a load that is cancelled or fails leaves a page that can go on', async () => {
  const {host, loads} = setUp();
  host.load({from: 'a', label: 'a'});
  await turn();
  host.cancelLoad();
  await turn();
  assert.equal(host.phase, 'empty');
  assert.equal(host.trouble, null);
  host.reload();
  await turn();
  loads.at(-1).reject(Object.assign(new Error('a: HTTP 404'), {code: 'not_found'}));
  await turn();
  assert.equal(host.phase, 'failed');
  assert.equal(host.trouble.detail, 'a: HTTP 404');
});

test('a stored conversation comes back, a broken one does not', () => {
  const {conversation, storage} = setUp();
  conversation.add({role: 'user', content: 'A'});
  assert.deepEqual(new Conversation(storage).messages, [{role: 'user', content: 'A'}]);
  for (const text of ['{', '{"version":2,"messages":[]}', '{"version":1,"messages":[{"role":"root","content":"x"}]}',
    '{"version":1,"messages":[{"role":"user"}]}', '{"version":1,"messages":{}}']) {
    assert.deepEqual(new Conversation(new TinyStorage({'tern.conversation': text})).messages, [], text);
  }
});

test('what the page kept when it had one conversation is one of them now', () => {
  const messages = [{role: 'user', content: 'Old'}];
  const storage = new TinyStorage({'tern.conversation': JSON.stringify({version: 1, messages})});
  const {id} = new Conversation(storage);
  assert.deepEqual(new Conversation(storage).messages, messages);
  assert.equal(storage.getItem('tern.conversation'), null);
  assert.equal(allRecords(storage).length, 1);
  assert.equal(new Conversation(storage).id, id);
});

test('an empty conversation leaves nothing behind', () => {
  const {conversation, storage} = setUp();
  conversation.add({role: 'user', content: 'A'});
  conversation.takeBack();
  assert.deepEqual(allRecords(storage), []);
});

test('conversations leave and come back as a file, and nothing is overwritten', () => {
  const storage = new TinyStorage();
  const conversation = new Conversation(storage);
  for (const content of ['First', 'Second']) {
    conversation.open();
    conversation.add({role: 'user', content});
  }
  const text = exported(allRecords(storage));
  assert.equal(importFrom(storage, text), 0, 'they are all here');
  const empty = new TinyStorage();
  assert.equal(importFrom(empty, text), 2);
  assert.deepEqual(allRecords(empty), allRecords(storage));
  conversation.add({role: 'user', content: 'changed since'});
  assert.equal(importFrom(storage, text), 1);
  assert.equal(allRecords(storage).length, 3);
  assert.equal(readRecord(storage, conversation.id).messages.length, 2);

  for (const [wrong, why] of [['', /no JSON/], ['{}', /no file of conversations/], ['null', /no file of/],
    [text.replace('"user"', '"root"'), /conversation 1 of the file is damaged/],
    [text.replace(/"id": "\w+"/, '"id": "../x"'), /damaged/]]) {
    assert.throws(() => importFrom(empty, wrong), why);
  }
  const full = new TinyStorage();
  full.isFull = true;
  assert.throws(() => importFrom(full, text), /no room/);
  assert.deepEqual(allRecords(full), []);
});

test('names, and a text for people', () => {
  const record = {...newRecord(), messages: [
    {role: 'user', content: 'Once upon\n a time'}, {role: 'assistant', content: ', the end.', story: true}]};
  assert.equal(nameOf(record), 'Once upon a time');
  assert.equal(asMarkdown(record), '# Once upon a time\n\nOnce upon\n a time, the end.\n');
  const storage = new TinyStorage();
  rename(storage, record, '  A  tale ');
  assert.equal(nameOf(readRecord(storage, record.id)), 'A tale');
  rename(storage, record, '');
  assert.equal(nameOf(readRecord(storage, record.id)), 'Once upon a time');
  record.messages = [{role: 'user', content: 'x'.repeat(100)}, {role: 'assistant', content: 'y'}];
  assert.equal(nameOf(record).length, 60);
  assert.equal(asMarkdown(record).split('\n\n')[1], '**You**');
});

test('a search looks into names and messages, for all words', () => {
  const record = {...newRecord(), name: 'On terns', messages: [{role: 'user', content: 'How far?'},
    {role: 'assistant', content: `${'x '.repeat(60)}Seventy thousand\nkilometers${' y'.repeat(60)}`}]};
  assert.equal(findIn(record, ''), '');
  assert.equal(findIn(record, 'TERN'), '');
  assert.match(findIn(record, 'thousand terns'), /^…(x )+Seventy thousand kilometers y.*…$/);
  assert.equal(findIn(record, 'how'), 'How far?');
  assert.equal(findIn(record, 'thousand gulls'), null);
});

test('a conversation that cannot be kept says so once', () => {
  const {conversation, storage} = setUp();
  let told = 0;
  conversation.addEventListener('trouble', () => told++);
  storage.isFull = true;
  conversation.add({role: 'user', content: 'A'});
  conversation.add({role: 'user', content: 'B'});
  assert.equal(told, 1);
});

test('speed of a download over the last seconds', () => {
  const speed = new Speedometer();
  const at = (ms, loaded, file = 'a') => speed.update({loaded, file, phase: 'download', fromCache: false}, ms);
  assert.equal(at(0, 0), 0);
  assert.equal(at(1000, 1e6), 1e6);
  assert.equal(at(2000, 3e6), 1.5e6);
  assert.equal(at(6000, 3e6), 0, 'it stalls');
  assert.equal(at(7000, 9e6, 'b'), 0, 'another file begins anew');
});

test('where models come from', () => {
  const base = 'https://host/tern/';
  assert.deepEqual(addressSource('models/a%20b.gguf?x#y', base),
      {from: 'https://host/tern/models/a%20b.gguf?x#y', label: 'a b.gguf'});
  assert.deepEqual(addressSource('hf:owner/name', base), {from: 'hf:owner/name', label: 'name'});
  assert.equal(addressSource('https://x.org/dir/', base).label, 'dir');
  const file = {name: 'a.gguf'};
  assert.deepEqual(filesSource([file]), {from: file, label: 'a.gguf'});
  assert.equal(filesSource([{name: 'x', webkitRelativePath: 'phi3/x'}, {name: 'y'}]).label, 'phi3');
});

test('of a long conversation, the end is asked', async () => {
  const said = (n, length) => Array.from({length: n},
      (_, i) => ({role: i % 2 ? 'assistant' : 'user', content: 'x'.repeat(length)}));
  const short = said(5, 30);
  assert.deepEqual(fitting(short, 512, 512), {messages: short, dropped: 0});
  const long = [{role: 'system', content: 'Be brief.'}, ...said(9, 300)];
  const {messages, dropped} = fitting(long, 512, 512);
  assert.equal(dropped, 6);
  assert.deepEqual(messages, [long[0], ...long.slice(7)]);
  assert.equal(messages[1].role, 'user');
  assert.equal(fitting(said(1, 9999), 512, 512).messages.length, 1, 'the last stays: the model says what is wrong');
  assert.ok(guessTokens('鳥は海を渡る') >= 6);

  const {chat, load, idle, tern, conversation} = setUp();
  await load();
  for (const message of said(8, 600)) conversation.add(message);
  chat.send('And now?');
  await idle();
  assert.ok(tern.asked[0].prompt.length < 9);
  assert.match(conversation.messages.at(-1).note, /without the oldest \d+ messages/);
});

test('a reply without a word says why', async () => {
  const tern = new ScriptedTern({hasChatTemplate: false});
  const {chat, conversation, idle, load} = setUp({tern});
  await load();
  chat.send('Once');
  await idle();
  tern.script = [];
  chat.goOn();
  await idle();
  assert.equal(conversation.messages.at(-1).content, 'one two');
  assert.match(conversation.messages.at(-1).note, /^the story has ended here/);
  chat.send('Twice');
  await idle();
  assert.match(conversation.messages.at(-1).note, /^the model wrote nothing: another beginning/);
  tern.script = ['x'];
  chat.goOn();
  await idle();
  assert.doesNotMatch(conversation.messages.at(-1).note, /ended|nothing/);
});

test('a story that has filled the context goes on from its end', () => {
  const text = 'It was so. Then came more of it. '.repeat(60);
  const end = storyEnd(text, 512);
  assert.ok(end.length <= 1024 && text.endsWith(end) && /^(It|Then)/.test(end), end.slice(0, 20));
  assert.equal(storyEnd('Once', 512), 'Once');
  assert.ok(storyEnd('x'.repeat(5000), 512).length <= 1024);
});
