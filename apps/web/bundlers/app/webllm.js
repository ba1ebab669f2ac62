// A program as WebLLM's users write it; the import is all that tells.
import * as webllm from 'tern-web/webllm';

const show = (text) => {
  document.querySelector('#story').textContent = text;
};

const kOptions = {context_window_size: 256, chat_template: '{{ bos_token }}{{ messages[-1].content }}'};

async function main() {
  const appConfig = {model_list: [{model: '/models/tern-stories.gguf', model_id: 'stories', model_lib: ''}]};
  const engine = await webllm.CreateMLCEngine('stories',
    {appConfig, initProgressCallback: (report) => show(report.text)}, kOptions);
  const messages = [{role: 'user', content: 'Once upon a time'}];
  let message = '';
  const request = {messages, temperature: 0, max_tokens: 40};
  for await (const chunk of await engine.chat.completions.create({...request, stream: true})) {
    message += chunk.choices[0]?.delta?.content || '';
    show(message);
  }
  const reply = await engine.chat.completions.create(request);
  const texts = [reply.choices[0].message.content, await engine.getMessage()];
  if (texts.some((text) => text !== message)) throw new Error('they differ');
  document.documentElement.dataset.flavor = 'threads';
  await engine.unload();

  const worker = new Worker(new URL('./worker.js', import.meta.url), {type: 'module'});
  const there = await webllm.CreateWebWorkerMLCEngine(worker, 'stories', {appConfig}, kOptions);
  const same = await there.chat.completions.create(request);
  if (same.choices[0].message.content !== message) throw new Error('the worker says something else');
  document.title = 'done';
}

main().catch((error) => {
  show(`${error.name}: ${error.message}`);
  document.title = 'failed';
});
