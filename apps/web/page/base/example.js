// The page shows this until a first message has been sent: how the page's own model answers. Written by
// tests/golden/make_default_model_goldens.py.

export const kExample = {
  asked: 'Tell me a story about a hedgehog and a key.',
  reply: 'Once upon a time, there was a hedgehog named Bella, who had lost a strange key on the moor' +
    ' and could not sleep because of it. She searched high and low. At last she came to a nest.' +
    ' In it sat a puffin, wide and warm. "Excuse me," said Bella, "I am looking for my key." ' +
    '"Not so loud," said the puffin. "You will wake the baby." "Would you like to see it?" The ' +
    'puffin got up for a moment. …',
};
