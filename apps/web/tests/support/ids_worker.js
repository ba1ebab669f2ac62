// The engine's module by itself, without the package: the ids that a model chooses.

/** engine: of createTern; load, prompt, maxTokens: of its methods; model: an address */
async function choose({engine, load, model, prompt, maxTokens}) {
  const bytes = new Uint8Array(await (await fetch(model)).arrayBuffer());
  const {default: createTern} = await import(`/tern/dist/${load.backend === 'webgpu' ? 'tern_gpu' : 'tern'}.js`);
  const module = await createTern({
    ...engine,
    ...(load.backend === 'webgpu' ? {gpu: navigator.gpu} : {}),
    files: {
      list: () => ['/model/model.gguf'],
      size: () => bytes.length,
      read: (path, offset, into) => into.set(bytes.subarray(offset, offset + into.length)),
    },
  });
  const info = await module.call('load', {path: '/model/model.gguf', ...load});
  await module.call('begin', {
    tokens: prompt, maxTokens, temperature: 0, topK: 0, topP: 1, minP: 0, repeatPenalty: 1, repeatLastN: 64, seed: 0,
    stop: [], ignoreEos: true,
  });
  const ids = [];
  let text = '';
  for (let step = {done: false}; !step.done;) {
    step = await module.call('step', {});
    ids.push(...step.tokens);
    text += step.text;
  }
  return {ids, text, info, stats: await module.call('stats', {})};
}

onmessage = async ({data}) => {
  try {
    postMessage({value: await choose(data)});
  } catch (error) {
    postMessage({error: `${error.code ?? ''} ${error.message}\n${error.stack ?? ''}`});
  }
};
