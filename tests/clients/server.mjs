// `tern serve` for a test, and OpenAI's published description of its answers.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));

// A conversation is one text to the model, which the tests' sentences go on in.
const kTemplate = "{{ messages | map(attribute='content') | join(' ') }}";

/** A server on a free port; `stop()` ends it and returns its exit code. */
export async function startServer(...args) {
  const program = process.env.TERN ?? path.join(kRoot, 'build/release/bin/tern');
  const child = spawn(program, ['serve', '--port', '0', '--chat-template', kTemplate, ...args], {stdio: ['ignore', 'inherit', 'pipe']});
  let said = '';
  for await (const piece of child.stderr) {
    said += piece;
    if (said.includes('/v1 until')) break;
  }
  const url = /http:\/\/\S+\/v1/.exec(said)?.[0];
  if (!url) throw new Error(`tern serve did not start: ${said}`);
  return {
    url,
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
