import assert from 'node:assert/strict';
import test from 'node:test';
import {setImmediate as turn} from 'node:timers/promises';

import {endsOf, pathOf, versionsOf} from '../chat/branches.js';
import {Conversation} from '../chat/conversation.js';
import {allRecords, asMarkdown, exported, importFrom, keyOf, newRecord, readRecord} from '../chat/library.js';
import {ScriptedTern, setUp} from './scripted_chat.js';
import {TinyStorage} from './tiny_storage.js';

const texts = (messages) => messages.map(({content}) => content);

/** A, its reply; A's reply again; B after that; B said differently. */
async function branched(parts = {}) {
  const chat = setUp(parts);
  await chat.load();
  const say = async (script, act) => {
    chat.tern.script = [script];
    act(chat.chat);
    await chat.idle();
  };
  await say('a1', (one) => one.send('A'));
  await say('a2', (one) => one.regenerate());
  await say('b1', (one) => one.send('B'));
  await say('c1', (one) => one.resend('C'));
  return {...chat, say};
}

test('another reply and another message are versions, and nothing is taken away', async () => {
  const {conversation, tern} = await branched();
  assert.deepEqual(texts(conversation.messages), ['A', 'a2', 'C', 'c1']);
  assert.equal(conversation.record.messages.length, 7);
  assert.deepEqual(tern.asked.at(-1).prompt.map(({content}) => content), ['A', 'a2', 'C']);
  const [, a2, c] = conversation.messages;
  assert.deepEqual(texts(conversation.versions(a2)), ['a1', 'a2']);
  assert.deepEqual(texts(conversation.versions(c)), ['B', 'C']);
  conversation.choose(conversation.versions(c)[0]);
  assert.deepEqual(texts(conversation.messages), ['A', 'a2', 'B', 'b1']);
  conversation.choose(conversation.versions(a2)[0]);
  assert.deepEqual(texts(conversation.messages), ['A', 'a1']);
  conversation.choose(a2);
  assert.deepEqual(texts(conversation.messages), ['A', 'a2', 'B', 'b1'], 'as it was left');
});

test('versions of any message: the first, one in the middle, a reply', async () => {
  const {conversation, chat, say} = await branched();
  const [first, reply] = conversation.messages;
  await say('z1', () => chat.resend('Z', first));
  assert.deepEqual(texts(conversation.messages), ['Z', 'z1']);
  assert.deepEqual(texts(conversation.versions(conversation.messages[0])), ['A', 'Z']);
  chat.rewrite('mine', reply);
  assert.deepEqual(texts(conversation.messages), ['A', 'mine']);
  assert.equal(conversation.messages[1].note, 'changed by you');
  await say('m', () => chat.send('More'));
  await say('again', () => chat.regenerate(conversation.messages[1]));
  assert.deepEqual(texts(conversation.messages), ['A', 'again']);
  assert.deepEqual(texts(conversation.versions(conversation.messages[1])), ['a1', 'a2', 'mine', 'again']);
});

test('of stories, beginnings and replies are versions of one another', async () => {
  const {conversation, chat, say} = await branched({tern: new ScriptedTern({hasChatTemplate: false})});
  await say('c2', () => chat.regenerate());
  assert.deepEqual(texts(conversation.versions(conversation.messages.at(-1))), ['b1', 'c1', 'c2']);
  const begun = {role: 'user', content: 'never answered'};
  conversation.add(begun, conversation.before(conversation.messages[2]));
  assert.deepEqual(texts(conversation.versions(begun)), ['b1', 'c1', 'c2', 'never answered']);
});

test('a branched conversation is the same after a reload, and as a file', async () => {
  const {conversation, storage} = await branched();
  conversation.choose(conversation.versions(conversation.messages[2])[0]);
  const again = new Conversation(storage);
  assert.deepEqual(texts(again.messages), ['A', 'a2', 'B', 'b1']);
  assert.deepEqual(again.record, conversation.record);
  assert.equal(again.record.version, 2);
  const other = new TinyStorage();
  assert.equal(importFrom(other, exported(allRecords(storage))), 1);
  assert.deepEqual(readRecord(other, again.id), again.record);
  assert.equal(asMarkdown(again.record), ['# A', '**You**', 'A', 'a2', '**You**', 'B', 'b1',
    '---', '## Version 2, from message 2 on', 'a1',
    '---', '## Version 3, from message 3 on', '**You**', 'C', 'c1\n'].join('\n\n'));
});

test('a conversation without versions is kept as it always was, and one from before opens unchanged', async () => {
  const messages = [{role: 'user', content: 'A'}, {role: 'assistant', content: 'a'}];
  const record = {...newRecord(), changed: 1, messages};
  const text = JSON.stringify(record);
  const conversation = new Conversation(new TinyStorage({[keyOf(record.id)]: text}));
  assert.equal(JSON.stringify(conversation.record), text);
  assert.deepEqual(conversation.messages, messages);
  const {conversation: fresh, chat, load, idle, storage} = setUp();
  await load();
  chat.send('A');
  await idle();
  assert.equal(readRecord(storage, fresh.id).version, 1);
  assert.ok(!('after' in fresh.record.messages[1] || 'leaf' in fresh.record));
});

test('a record whose messages are no tree is not opened', () => {
  const messages = ['A', 'a', 'b'].map((content) => ({role: 'user', content}));
  const open = (more, after) => {
    const record = {...newRecord(), version: 2, messages: messages.map((one) => ({...one})), ...more};
    if (after !== undefined) record.messages[1].after = after;
    return readRecord(new TinyStorage({[keyOf(record.id)]: JSON.stringify(record)}), record.id);
  };
  assert.ok(open({leaf: 1}, -1));
  for (const after of [1, 2, -2, 0.5, 'x', null]) assert.equal(open({}, after), null, String(after));
  for (const leaf of [3, -1, 0.5, 'x']) assert.equal(open({leaf}), null, String(leaf));
});

test('what waits for a model is taken back, and the version before is shown again', async () => {
  const {conversation, chat, host} = await branched();
  const before = JSON.stringify(conversation.record.messages);
  for (const [ask, back] of [[() => chat.regenerate(), ''], [() => chat.resend('D'), 'D'], [() => chat.send('E'), 'E'],
    [() => chat.regenerate(conversation.messages[1]), '']]) {
    host.load({from: 'n.gguf', label: 'n.gguf'});
    ask();
    assert.equal(chat.state, 'waiting');
    assert.equal(chat.stop()?.content ?? '', back);
    assert.deepEqual(texts(conversation.messages), ['A', 'a2', 'C', 'c1']);
    assert.equal(JSON.stringify(conversation.record.messages), before);
    await turn();
  }
});

test('a storage that is full in the middle of a branch: one sentence, and nothing is lost', async () => {
  const {conversation, chat, storage, say, tern} = await branched();
  let told = 0;
  conversation.addEventListener('trouble', () => told++);
  const {id} = conversation;
  tern.script = ['half', ' and'];
  chat.addEventListener('piece', () => {
    storage.isFull = true;
  });
  await say('d1', () => chat.regenerate());
  assert.equal(told, 1);
  assert.ok(conversation.isUnkept);
  conversation.open();
  conversation.open(id);
  assert.deepEqual(texts(conversation.messages), ['A', 'a2', 'C', 'd1'], 'it is still there');
  assert.deepEqual(conversation.all().map((one) => one.messages.length), [8]);
  conversation.adopt();
  assert.equal(conversation.messages.at(-1).content, 'd1');
  storage.isFull = false;
  conversation.keepUnkept();
  assert.ok(!conversation.isUnkept);
  assert.equal(readRecord(storage, id).messages.at(-1).content, 'd1');
});

test('many messages with many versions are one tree', () => {
  const conversation = new Conversation(new TinyStorage());
  const replies = [];
  for (let i = 0; i < 200; i++) {
    conversation.add({role: i % 2 ? 'assistant' : 'user', content: `${i}`});
    if (i % 10 === 9) replies.push(conversation.messages.at(-1));
  }
  for (const reply of replies) conversation.add({role: 'assistant', content: 'v'}, conversation.before(reply));
  assert.equal(endsOf(conversation.record).length, 21);
  for (const reply of replies) assert.equal(versionsOf(conversation.record, reply).length, 2);
  conversation.choose(replies[0]);
  assert.equal(pathOf(conversation.record).length, 200);
});

test('the note names the model once there are several', async () => {
  const {conversation, chat, host, loads, idle} = await branched();
  assert.doesNotMatch(conversation.messages.at(-1).note, /scripted/);
  host.load({from: 'n.gguf', label: 'n.gguf'});
  chat.regenerate();
  await turn();
  loads.at(-1).resolve(new ScriptedTern({name: 'another'}));
  await idle();
  assert.match(conversation.messages.at(-1).note, /^another · /);
  assert.equal(conversation.messages.at(-1).model, 'another');
});
