// Files and batches, with OpenAI's own client; see openai.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';

import OpenAI, {toFile} from 'openai';

import {openaiSchemas, startServer} from './server.mjs';

let folder;
let server;
let client;
let check = () => {};

before(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tern-files-'));
  server = await startServer('--files', folder, '--parallel', '4');
  client = new OpenAI({baseURL: server.url, apiKey: 'none', maxRetries: 0});
  check = await openaiSchemas() ?? check;
});

after(async () => {
  assert.equal(await server.stop(), 0);
  fs.rmSync(folder, {recursive: true});
});

const line = (id, body = {}, url = '/v1/completions') => JSON.stringify({
  custom_id: id, method: 'POST', url, body: {prompt: 'Once upon a time', max_tokens: 4, temperature: 0, ...body},
});

const upload = async (lines, more = {}) => {
  const file = await client.files.create(
    {file: await toFile(Buffer.from(lines.join('\n')), 'questions.jsonl'), purpose: 'batch', ...more});
  check('OpenAIFile', file);
  return file;
};

const begin = async (file, more = {}) => {
  const batch = await client.batches.create(
    {input_file_id: file.id, endpoint: '/v1/completions', completion_window: '24h', ...more});
  check('Batch', batch);
  assert.equal(batch.status, 'validating');
  return batch;
};

const end = async ({id}) => {
  for (;;) {
    const batch = await client.batches.retrieve(id);
    check('Batch', batch);
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const linesOf = async (id) => {
  const text = await (await client.files.content(id)).text();
  return text.trim().split('\n').map((each) => JSON.parse(each));
};

test('a file comes, is found and goes', async () => {
  const file = await upload([line('a')], {expires_after: {anchor: 'created_at', seconds: 3600}});
  assert.equal(file.filename, 'questions.jsonl');
  assert.equal(file.expires_at, file.created_at + 3600);
  assert.deepEqual(await client.files.retrieve(file.id), file);
  assert.equal(await (await client.files.content(file.id)).text(), line('a'));
  const gone = await client.files.delete(file.id);
  check('DeleteFileResponse', gone);
  assert.ok(gone.deleted);
  await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
  await assert.rejects(client.files.content(file.id), OpenAI.NotFoundError);
  await assert.rejects(client.files.delete(file.id), OpenAI.NotFoundError);
});

test('lists come in pages', async () => {
  const files = [];
  for (let i = 0; i < 5; i++) files.push(await upload([line(String(i))]));
  const page = await client.files.list({limit: 2, order: 'asc'});
  check('ListFilesResponse', {...page.body});
  const ids = [];
  for await (const {id} of client.files.list({limit: 2, order: 'asc'})) ids.push(id);
  assert.deepEqual(ids.slice(-5), files.map(({id}) => id));
  const latest = [];
  for await (const {id} of client.files.list({limit: 2})) latest.push(id);
  assert.deepEqual(latest, ids.toReversed());
  for (const {id} of files) await client.files.delete(id);
});

test('a batch is answered', async () => {
  const file = await upload([line('a'), line('b', {prompt: 7}), line('c', {model: 'gpt-9'}), line('d')]);
  const batch = await end(await begin(file, {metadata: {why: 'a test'}}));
  assert.equal(batch.status, 'completed');
  assert.deepEqual(batch.request_counts, {total: 4, completed: 2, failed: 2});
  assert.deepEqual(batch.metadata, {why: 'a test'});
  const answers = await linesOf(batch.output_file_id);
  assert.deepEqual(answers.map(({custom_id}) => custom_id).sort(), ['a', 'd']);
  for (const {response, error} of answers) {
    assert.equal(error, null);
    assert.equal(response.status_code, 200);
    check('CreateCompletionResponse', response.body);
  }
  const errors = await linesOf(batch.error_file_id);
  const statuses = errors.map(({custom_id, response}) => [custom_id, response.status_code]);
  assert.deepEqual(Object.fromEntries(statuses), {b: 400, c: 404});
  for (const {response} of errors) check('ErrorResponse', response.body);
  const output = await client.files.retrieve(batch.output_file_id);
  check('OpenAIFile', output);
  assert.equal(output.purpose, 'batch_output');
  const all = await client.batches.list({limit: 1});
  check('ListBatchesResponse', {...all.body});
  assert.equal(all.data[0].id, batch.id);
});

test('what is wrong with a file is told by its line', async () => {
  const file = await upload([line('a'), 'nonsense', line('a'), line('b', {}, '/v1/embeddings')]);
  const batch = await end(await begin(file));
  assert.equal(batch.status, 'failed');
  assert.deepEqual(batch.errors.data.map(({code, line: number}) => [code, number]),
                   [['invalid_json_line', 2], ['duplicate_custom_id', 3], ['mismatched_endpoint', 4]]);
});

test('a batch is cancelled', async () => {
  const lines = Array.from({length: 40}, (_, i) => line(String(i), {max_tokens: 200, ignore_eos: true}));
  const file = await upload(lines);
  const batch = await begin(file);
  await assert.rejects(client.files.delete(file.id), OpenAI.ConflictError);
  const cancelled = await client.batches.cancel(batch.id);
  check('Batch', cancelled);
  assert.ok(['cancelling', 'cancelled'].includes(cancelled.status));
  const over = await end(batch);
  assert.equal(over.status, 'cancelled');
  assert.ok((await client.files.delete(file.id)).deleted);
  await assert.rejects(client.batches.cancel(batch.id), OpenAI.ConflictError);
  await assert.rejects(client.batches.cancel('batch_none'), OpenAI.NotFoundError);
});

test('what cannot be is refused', async () => {
  const file = await upload([line('a')]);
  const bad = (more) => assert.rejects(begin(file, more), OpenAI.BadRequestError);
  await bad({endpoint: '/v1/embeddings'});
  await bad({endpoint: '/v1/nothing'});
  await bad({completion_window: '1h'});
  await bad({metadata: {a: 1}});
  await bad({output_expires_after: {anchor: 'created_at', seconds: 5}});
  await assert.rejects(begin({id: '../../etc/passwd'}), OpenAI.NotFoundError);
  await assert.rejects(upload([line('a')], {purpose: 'fine-tune'}), OpenAI.BadRequestError);
  await assert.rejects(upload(['']), OpenAI.BadRequestError);
});
