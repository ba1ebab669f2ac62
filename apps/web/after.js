// module.call(method, parameters): bindings.cc's tern_call. Rejects with {code, message}. One call at a time.
Module['call'] = async (method, parameters = {}) => {
  const name = stringToNewUTF8(method);
  const text = stringToNewUTF8(JSON.stringify(parameters));
  let answer = 0;
  try {
    answer = await _tern_call(name, text);
  } finally {
    _free(name);
    _free(text);
  }
  if (!answer) throw { code: 'out_of_memory', message: 'the page’s memory is full' };
  const { result, error } = JSON.parse(UTF8ToString(answer));
  _free(answer);
  if (error) throw error;
  if (method === 'stats') result.heapBytes = HEAPU8.length;
  return result;
};
