// The page shows this until a first message has been sent: how the page's own model answers. Written by
// tests/golden/make_default_model_goldens.py.

export const kExample = {
  asked: 'Tell me a story about a hedgehog and a key.',
  reply: 'Once upon a time, there was a hedgehog named Pip, who had lost a round key in the dark ' +
    'woods and could not sleep because of it. In the evening she saw a nest of twigs, and on it' +
    ' a puffin with a happy smile. "Have you seen a key?" asked Pip. "Shh!" said the puffin. "I' +
    ' am hatching." "Here, have a look at my egg." Pip looked, and it was the key. "It kicked, ' +
    'I am almost sure," said the puffin. …',
};
