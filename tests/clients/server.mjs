// `tern serve` for a test, and OpenAI's published description of its answers.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));

// A conversation is one text to the model, which the tests' sentences go on in. Tools, calls and results are written as
// Hermes models write them.
const kTemplate = `{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}
{% endfor %}</tools>
<tool_call>
{"name": name, "arguments": arguments}
</tool_call>
{% endif %}{% for m in messages %}{{ ' ' if not loop.first }}{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": {{ c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endfor %}`;

/** The sentence that the tests' stories begin with. */
export const kStart = 'Once upon a time there was a little';

/** The schema of a function's arguments whose values all but choose themselves. */
export const kWeather = {
  type: 'object',
  properties: {place: {enum: ['Rome', 'Oslo']}, days: {type: 'integer', minimum: 1, maximum: 9}},
  required: ['place', 'days'],
  additionalProperties: false,
};

/** Fails unless it is an object that kWeather allows. */
export function checkWeather(input) {
  assert.deepEqual(Object.keys(input), ['place', 'days']);
  assert.ok(['Rome', 'Oslo'].includes(input.place));
  assert.ok(Number.isInteger(input.days) && input.days >= 1 && input.days <= 9);
}

/** The texts of a stream's parts, one behind the other. */
export async function joined(stream, textOf = (part) => part) {
  let text = '';
  for await (const part of stream) text += textOf(part) ?? '';
  return text;
}

/** A server on a free port; `stop()` ends it and returns its exit code. */
export async function startServer(...args) {
  const program = process.env.TERN ?? path.join(kRoot, 'build/release/bin/tern');
  const child = spawn(program, ['serve', '--port', '0', '--chat-template', kTemplate, ...args],
    {stdio: ['ignore', 'inherit', 'pipe']});
  let said = '';
  for await (const piece of child.stderr) {
    said += piece;
    if (said.includes('/v1 until')) break;
  }
  const url = /http:\/\/\S+\/v1/.exec(said)?.[0];
  if (!url) throw new Error(`tern serve did not start: ${said}`);
  return {
    url,
    root: new URL(url).origin,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      return code;
    },
  };
}

/** OpenAPI 3.0's "nullable", of which the document still has some, as JSON Schema says it. */
function withNulls(schema) {
  if (Array.isArray(schema)) return schema.map(withNulls);
  if (typeof schema !== 'object' || schema === null) return schema;
  const {nullable, ...rest} = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNulls(value)]));
  if (nullable === undefined || typeof nullable === 'object') return nullable ? {nullable, ...rest} : rest;
  return nullable ? {anyOf: [rest, {type: 'null'}]} : rest;
}

/**
 * A function that checks an answer against a schema of OpenAI's OpenAPI document, whose path $OPENAI_OPENAPI names:
 * https://github.com/openai/openai-openapi has it. Undefined where nobody names it.
 */
export async function openaiSchemas() {
  const file = process.env.OPENAI_OPENAPI;
  if (!file) return undefined;
  const [{default: Ajv}, {parse}] = await Promise.all([import('ajv/dist/2020.js'), import('yaml')]);
  const document = parse(fs.readFileSync(file, 'utf8'));
  const ajv = new Ajv({strict: false, allErrors: true, validateFormats: false});
  ajv.addSchema({$id: 'openai', components: withNulls(document.components)});
  return (name, value) => {
    const validate = ajv.getSchema(`openai#/components/schemas/${name}`);
    if (!validate) throw new Error(`the document has no ${name}`);
    if (!validate(value)) {
      const errors = validate.errors.map(({instancePath, message}) => `${instancePath} ${message}`);
      throw new Error(`${name}: ${errors.join('; ')}\n${JSON.stringify(value)}`);
    }
  };
}
