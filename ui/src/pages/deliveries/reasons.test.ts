import { expect, test } from 'vitest';
import { isOfProvider } from './reasons';

test.each([
  'The model provider local rejected the key.',
  'The model provider local has no key.',
  'The model provider local offers several models. Choose one: a, b.',
  'Ollama offers several models. Choose one: a, b.',
])('%s: the settings of the provider can help', (error) => {
  expect(isOfProvider(error)).toBe(true);
});

test('other errors are not those of a provider', () => {
  expect(isOfProvider('The channel is disabled.')).toBe(false);
});
