// Replies of a given form, and calls of tools: in a tab on the CPU and on WebGPU, and under Node.

import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {Tern} from '../package/node.js';
import {launch} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {PackageTab} from './support/package_tab.mjs';
import {kDefaultModel, kRoot, kSite, needSite, tern} from './support/project.mjs';

// Hermes models write calls so.
const kTemplate = `{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}
{% endfor %}</tools>{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}\
{% for c in m.tool_calls or [] %}<tool_call>
{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}
{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}`;
// The mark of a call is what the stories' model writes anyway after "Once upon a time".
const kStoryTemplate = `{% for t in tools or [] %}\
{% if t.function.name == 'tern_tool' %}tern_tool{% endif %}{% endfor %}\
{{ bos_token }}{% for m in messages %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}there was\
{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}{% endfor %}{% endfor %}`;

const kTools = [{type: 'function', function: {name: 'weather', parameters: {
  type: 'object', properties: {city: {enum: ['Rome', 'Oslo']}}, required: ['city'], additionalProperties: false}}}];
const kQuestion = [{role: 'user', content: 'Weather?'}];
const kStory = 'Once upon a time, in a small town,';  // the model is sure of how it goes on
const kPerson = {type: 'object', properties: {name: {type: 'string', maxLength: 8}, age: {type: 'integer', minimum: 3,
  maximum: 9}}, required: ['name', 'age'], additionalProperties: false};
const kOf = {temperature: 0, maxTokens: 100};

/** What the native program refuses, in its words. */
function refusedNatively(option, value) {
  try {
    tern('run', '-m', kDefaultModel, '-p', 'x', '-n', '1', option, value);
  } catch (error) {
    return String(error.stderr ?? error.message);
  }
  return 'nothing';
}

/** The same for every way to run: `open(options)` gives {generate, close}. */
function checkAll(open) {
  test('a grammar holds the reply', async () => {
    const model = await open({});
    const free = await model.generate(kStory, {...kOf, maxTokens: 8});
    const held = await model.generate(kStory, {...kOf, jsonSchema: kPerson});
    const {name, age} = JSON.parse(held.text);
    assert.equal(typeof name, 'string');
    assert.ok(age >= 3 && age <= 9, held.text);
    assert.equal(held.stats.finishReason, 'stop_token');
    assert.equal((await model.generate(kStory, {...kOf, regex: '(?:abc){2}'})).text, 'abcabc');
    assert.equal((await model.generate(kStory, {...kOf, grammar: 'root ::= "x"{3}'})).text, 'xxx');
    assert.equal((await model.generate(kStory, {...kOf, ebnf: 'root ::= a.b\n  a.b\na.b ::= "x"'})).text, 'xx');
    const tag = {begin: 'there was', content: {type: 'json_schema', json_schema: kPerson}, end: '!'};
    const structuralTag = {type: 'structural_tag', format: {type: 'triggered_tags', triggers: ['there'], tags: [tag],
      stop_after_first: true}};
    const tagged = await model.generate(kStory, {...kOf, structuralTag});
    const [, before, person] = tagged.text.match(/^(.*?)there was(\{.*\})!$/s);
    assert.ok(free.text.startsWith(before), tagged.text);
    assert.deepEqual(Object.keys(JSON.parse(person)), ['name', 'age']);
    assert.match((await model.generate(kStory, {...kOf, json: true, maxTokens: 9})).text, /^\{/);
    assert.equal((await model.generate(kStory, {...kOf, maxTokens: 8})).text, free.text, 'and no other');
    const cut = await model.generate(kStory, {...kOf, jsonSchema: kPerson, maxTokens: 3});
    assert.equal(cut.stats.finishReason, 'max_tokens');
    for (const [option, key, value] of [['--json-schema', 'jsonSchema', '{"uniqueItems": true}'],
      ['--regex', 'regex', '('], ['--json-schema', 'jsonSchema', '{"type": "objekt"}']]) {
      await assert.rejects(model.generate(kStory, {...kOf, [key]: value}), ({message}) => (
        refusedNatively(option, value).includes(message) ||
        assert.fail(`${message} | ${refusedNatively(option, value)}`)));
    }
    await model.close();
  });

  test('messages have no control tokens', async () => {
    const model = await open({chatTemplate: `${kTemplate}{{ 'ÄÖ' | lower }}`});
    const said = [{role: 'user', content: 'a<|end|><|end|>b'}];
    const count = async (options) => (await model.generate(said, {...kOf, maxTokens: 1, ...options})).stats.nPrompt;
    const more = await count({}) - await count({parseSpecial: true});
    assert.ok(more > 0);
    assert.equal(await count({tools: kTools}) - await count({tools: kTools, parseSpecial: true}), more);
    await model.close();
  });

  test('a call that is required, and its result', async () => {
    const model = await open({chatTemplate: kTemplate});
    for (const toolChoice of ['required', 'weather']) {
      const {text, stats} = await model.generate(kQuestion,
        {...kOf, tools: kTools, toolChoice, parallelToolCalls: false});
      assert.equal(text, '');
      assert.equal(stats.finishReason, 'stop_token');
      const [call, ...more] = stats.toolCalls;
      assert.deepEqual([call.name, more], ['weather', []]);
      assert.ok(['Rome', 'Oslo'].includes(JSON.parse(call.arguments).city), call.arguments);
    }
    const said = {role: 'assistant', content: null,
      tool_calls: [{id: 'a', type: 'function', function: {name: 'weather', arguments: '{"city": "Rome"}'}}]};
    const result = {role: 'tool', tool_call_id: 'a', content: 'Sunny'};
    const answer = await model.generate([...kQuestion, said, result], {...kOf, tools: kTools, maxTokens: 5});
    assert.ok(answer.text.length > 0);
    assert.deepEqual(answer.stats.toolCalls, []);
    await assert.rejects(model.generate(kQuestion, {tools: kTools, toolChoice: 'other'}),
      {code: 'invalid_argument', message: "tools: there is none named 'other'"});
    const parameters = {properties: {n: {uniqueItems: true}}};
    const strict = [{type: 'function', function: {name: 'f', strict: true, parameters}}];
    await assert.rejects(model.generate(kQuestion, {tools: strict}), {code: 'not_supported', message: 'tools: number ' +
      "1, 'f', is strict, but the JSON schema: at '/properties/n/uniqueItems': a reply can be held to different " +
      'items only if their values are few (enum, const, boolean)'});
    await model.close();
  });

  test('a call that the model begins is held, and text is free', async () => {
    const model = await open({chatTemplate: kStoryTemplate});
    const story = [{role: 'user', content: kStory}];
    const of = {...kOf, tools: kTools, parallelToolCalls: false};
    const {stats} = await model.generate(story, of);
    assert.deepEqual(stats.toolCalls.map(({name}) => name), ['weather']);
    assert.ok(['Rome', 'Oslo'].includes(JSON.parse(stats.toolCalls[0].arguments).city));
    const cut = await model.generate(story, {...of, maxTokens: 6});
    assert.equal(cut.stats.finishReason, 'max_tokens');
    assert.deepEqual(cut.stats.toolCalls, []);
    assert.match(cut.text, /there was/);
    const sat = [{role: 'user', content: 'The cat sat'}];
    const free = await model.generate(sat, {...kOf, maxTokens: 12});
    assert.equal((await model.generate(sat, {...of, maxTokens: 12})).text, free.text);
    await model.close();
  });
}

describe('under Node', () => {
  checkAll(async (options) => {
    const model = await Tern.load(path.join(kRoot, 'models/tern-stories.gguf'), {backend: 'cpu', ...options});
    return {
      generate: async (input, wanted) => {
        let text = '';
        for await (const piece of model.generate(input, wanted)) text += piece;
        return {text, stats: model.stats};
      },
      close: () => model.close(),
    };
  });
});

describe('in a tab', () => {
  let server;
  let browser;
  let tab;
  before(async () => {
    needSite();
    server = await FixtureServer.start({root: kSite});
    browser = await launch();
    tab = await PackageTab.open(await browser.newContext(), server);
  });
  after(async () => {
    await browser?.close();
    await server?.down();
  });

  test('what grammars take is fetched when it is first asked for', async () => {
    const fetched = () => server.requests.filter((request) => request.path.endsWith('tern_forms.wasm')).length;
    await tab.load('models/tern-stories.gguf', {backend: 'cpu'});
    await tab.generate(kStory, {...kOf, maxTokens: 3});
    assert.equal(fetched(), 0);
    await tab.generate(kStory, {...kOf, regex: 'a'});
    await tab.generate(kStory, {...kOf, regex: 'b'});
    assert.equal(fetched(), 1);
    await tab.close();
  });

  const open = async (options) => {
    await tab.load('models/tern-stories.gguf', options);
    return {generate: (input, wanted) => tab.generate(input, wanted), close: () => tab.close()};
  };

  describe('on the CPU', () => checkAll((options) => open({backend: 'cpu', ...options})));

  // The GPU chooses until a call begins, and has tokens under way that nobody takes then.
  test('on WebGPU', async () => {
    const model = await open({backend: 'webgpu', chatTemplate: kStoryTemplate});
    const {stats} = await model.generate([{role: 'user', content: kStory}],
      {...kOf, tools: kTools, parallelToolCalls: false});
    assert.deepEqual(stats.toolCalls.map(({name}) => name), ['weather']);
    assert.ok(['Rome', 'Oslo'].includes(JSON.parse(stats.toolCalls[0].arguments).city));
    assert.equal((await model.generate(kStory, {...kOf, regex: 'abc'})).text, 'abc');
    await model.close();
  });
});
