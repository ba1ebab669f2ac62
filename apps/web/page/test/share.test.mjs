import assert from 'node:assert/strict';
import test from 'node:test';

import {newRecord} from '../chat/library.js';
import {linkTo, recordOf} from '../chat/share.js';

const kPage = 'https://tern.test/chat/?backend=cpu#x';
const record = () => ({...newRecord(), version: 2, name: 'On terns', leaf: 1, settings: {temperature: 0.5}, messages: [
  {role: 'user', content: 'How far? 鳥'}, {role: 'assistant', content: 'Far.'},
  {role: 'assistant', content: 'Very far.', after: 0}]});

test('a link holds a conversation with its versions and settings, and none of this visit', async () => {
  const shared = record();
  const link = await linkTo(shared, kPage);
  assert.match(link, /^https:\/\/tern\.test\/chat\/#chat=[\w-]+$/);
  const opened = await recordOf(new URL(link).hash);
  assert.notEqual(opened.id, shared.id);
  for (const name of ['version', 'name', 'leaf', 'settings', 'messages']) assert.deepEqual(opened[name], shared[name]);
});

/** @param {any} value */
const hashOf = async (value) => new URL(await linkTo(value, kPage)).hash;

test('a link that is damaged, too long, or holds something else: one sentence each', async () => {
  const {hash} = new URL(await linkTo(record(), kPage));
  for (const [wrong, why] of [
    [hash.slice(0, -9), /damaged/], ['#chat=', /damaged/], ['#chat=%%%', /damaged/],
    [hash.replace(/.{9}$/, 'AAAAAAAAA'), /damaged/], [`#chat=${'A'.repeat(5e6)}`, /too long/],
    [await hashOf({...record(), messages: []}), /no conversation/],
    [await hashOf({...record(), messages: [{role: 'root', content: 'x'}]}), /no conversation/],
    [await hashOf({...record(), messages: [{role: 'user', content: 'x'.repeat(2e7)}]}), /damaged/],
  ]) {
    await assert.rejects(recordOf(wrong), (error) => why.test(error.message) && /\.$/.test(error.message),
        `${wrong.slice(0, 30)} ${wrong.length}`);
  }
});

test('what does not fit into a link is not put into one', async () => {
  const noise = () => String.fromCharCode(...crypto.getRandomValues(new Uint16Array(10_000)).map((n) => n % 0xd000));
  const long = {...record(), messages: [{role: 'user', content: Array.from({length: 100}, noise).join('')}]};
  await assert.rejects(linkTo(long, kPage), /too long for a link; save it to a file/);
});
