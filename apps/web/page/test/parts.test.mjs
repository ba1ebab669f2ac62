import assert from 'node:assert/strict';
import test from 'node:test';

import {wholeText} from '../chat/context.js';
import {Parts, readCall} from '../chat/parts.js';
import {setUp} from './scripted_chat.js';

/** The text, the thoughts and the calls of a reply that comes in such pieces. */
function partsOf(pieces) {
  const parts = new Parts();
  const all = [...pieces.flatMap((piece) => parts.push(piece)), ...parts.end()];
  const begin = all.findLastIndex(({wasThought}) => wasThought) + 1;
  const textIn = (some) => some.filter((part) => typeof part === 'string').join('');
  return {text: textIn(all.slice(begin)), thought: textIn(all.slice(0, begin)) +
    all.map(({thought}) => thought ?? '').join(''), calls: all.flatMap(({call}) => call ?? [])};
}

test('thoughts and calls are told from text, wherever the pieces end', () => {
  for (const [text, wanted] of [
    ['<think>\nHm.\n</think>\n\nYes.', {text: 'Yes.', thought: 'Hm.\n', calls: []}],
    ['Hm.\n</think>\n\nYes.', {text: 'Yes.', thought: 'Hm.\n', calls: []}],
    ['<think>Hm', {text: '', thought: 'Hm', calls: []}],
    ['a < b, <b> and <th>', {text: 'a < b, <b> and <th>', thought: '', calls: []}],
    ['So:\n<tool_call>\n{"name": "f"}\n</tool_call>\n<tool_call>{}</tool_call>.',
      {text: 'So:\n\n.', thought: '', calls: ['\n{"name": "f"}\n', '{}']}],
    ['<tool_call>{"na', {text: '', thought: '', calls: ['{"na']}],
    ['<thinking>a</thinking>b <', {text: 'b <', thought: 'a', calls: []}],
  ]) {
    for (const size of [1, 2, 3, 7, 1000]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g'));
      assert.deepEqual(partsOf(pieces), wanted, `${size}: ${text}`);
    }
  }
});

test('a call is read for people, whatever it is', () => {
  assert.deepEqual(readCall('{"name": "f", "arguments": {"a": 1}}'), {name: 'f', text: '{\n  "a": 1\n}'});
  assert.deepEqual(readCall(' f(1) '), {name: 'a tool', text: 'f(1)'});
  assert.equal(readCall('{"name": 7}').name, '7');
});

test('a reply keeps its parts, and the model is told its calls and texts, not its thoughts', async () => {
  const {chat, conversation, load, idle, tern} = setUp();
  await load();
  tern.script = ['Hm', '.</th', 'ink>', 'Well. <tool_call>', '{"name": "f"}</tool_call>'];
  chat.send('Read this', [{name: 'a.md', text: 'has ``` in it\n'}]);
  await idle();
  const [asked, reply] = conversation.messages;
  assert.deepEqual([reply.thought, reply.content, reply.calls], ['Hm.', 'Well. ', ['{"name": "f"}']]);
  assert.equal(tern.asked[0].prompt[0].content, 'Read this\n\na.md:\n\n````\nhas ``` in it\n````');
  assert.equal(wholeText(asked), tern.asked[0].prompt[0].content);
  chat.send('And?');
  await idle();
  assert.equal(tern.asked[1].prompt[1].content, 'Well. \n\n<tool_call>\n{"name": "f"}\n</tool_call>');
});
